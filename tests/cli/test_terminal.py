"""Data reaches the terminal as text: it moves no cursor, hides nothing, and is not read as markup."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.cli.terminal import aside, output, shown, write_json
from loopworth.runs.characters import UNSAFE, safe
from loopworth.runs.secrets import learn

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
