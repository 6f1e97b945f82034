"""Data reaches the terminal as text: it moves no cursor, hides nothing, and is not read as markup."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.cli.terminal import aside, output, shown, write_json
from loopworth.runs.characters import UNSAFE, safe
from loopworth.runs.secrets import learn
from tests.cli.kit import ROOT

CLEAR = "\x1b[2J\x1b[31mgone\x1b[0m"


@given(st.text())
def test_no_control_character_passes(text: str) -> None:
    """Whatever the text holds, what is shown has printable characters and line ends alone."""
    assert all(c == "\n" or unicodedata.category(c) not in UNSAFE for c in safe(text))
    assert "\n" not in safe(text, lines=False)


@given(st.text(st.characters(exclude_categories=sorted(UNSAFE))))
def test_ordinary_text_is_left_alone(text: str) -> None:
    """Letters of every script, spaces and symbols are not spelled out."""
    assert safe(text) == text


def test_markup_in_data_is_shown_as_written(capsys: pytest.CaptureFixture[str]) -> None:
    """A model that answers in rich's markup, or a tool that returns an emoji code, changes nothing."""
    output().print(shown("[bold red]hot[/] [link=http://x]here[/link] :smile:"))
    assert capsys.readouterr().out == "[bold red]hot[/] [link=http://x]here[/link] :smile:\n"


def test_escape_sequences_are_spelled_out(capsys: pytest.CaptureFixture[str]) -> None:
    """A tool result cannot clear the screen, or turn the reading direction round."""
    output().print(shown({"text": CLEAR, "name": "abc\u202edef\x9b"}))
    shown_text = capsys.readouterr().out
    assert shown_text == '{"text": "\\u001b[2J\\u001b[31mgone\\u001b[0m", "name": "abc\\u202edef\\x9b"}\n'


def test_json_output_is_ascii_and_valid(capsys: pytest.CaptureFixture[str]) -> None:
    """`--json` prints one document, whatever is in the data; nan, which JSON lacks, is null."""
    write_json({"a": f"{CLEAR}\x7f\x9b\u202e", "b": [float("nan"), 1.5], "c": {1: "x"}})
    text = capsys.readouterr().out
    assert text.isascii()
    assert all(c.isprintable() or c == "\n" for c in text)
    assert json.loads(text) == {"a": f"{CLEAR}\x7f\x9b\u202e", "b": [None, 1.5], "c": {"1": "x"}}


def test_what_a_tool_prints_goes_aside_without_secrets(capsys: pytest.CaptureFixture[str]) -> None:
    """Standard output holds the results alone, and a log of either shows no key."""
    learn("sk-1234567890")
    with aside():
        print("the key is", "sk-1234567890")
        print({"key": "sk-1234567890"}, end="")
    assert tuple(capsys.readouterr()) == ("", "the key is ***\n{'key': '***'}")


LOUD = """
import os, subprocess, sys

def loud() -> str:
    "Say something in every way there is."
    print("printed")
    os.write(1, b"written\\n")
    subprocess.run([sys.executable, "-c", "print('started')"], check=True)
    return "x"
"""
WORKFLOW = """
workflow: loud
shape: pipeline
tools: {loud: {python: "loud:loud", effect: read}}
steps: [{id: said, call: loud}]
answer: "{{ said }}"
"""


def test_nothing_that_a_tool_starts_or_a_library_writes_stands_in_the_results(tmp_path: pathlib.Path) -> None:
    """They write to the descriptor, past Python: it is standard error's by then, and no JSON is broken."""
    (tmp_path / "loud.py").write_text(LOUD, "utf-8")
    (tmp_path / "loud.yaml").write_text(WORKFLOW, "utf-8")
    words = [sys.executable, "-m", "loopworth", "run", "loud.yaml", "--json"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, env=environment, check=True)
    assert json.loads(done.stdout)["answer"] == "x"
    assert {"printed", "written", "started"} <= set(done.stderr.split())


@pytest.mark.parametrize("how", [[], ["--json"]])
def test_a_reader_that_goes_away_ends_it_without_a_word(how: list[str], tmp_path: pathlib.Path) -> None:
    """As with `| head`: status 1, and no traceback."""
    (tmp_path / "said.yaml").write_text('{workflow: w, shape: pipeline, steps: [{id: a, set: x}], answer: "{{ a }}"}')
    words = [sys.executable, "-m", "loopworth", "run", "said.yaml", "--no-store", *how]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path, env=environment) as run:
        assert run.stdout
        assert run.stderr
        run.stdout.close()
        assert (run.wait(), run.stderr.read()) == (1, b"")
