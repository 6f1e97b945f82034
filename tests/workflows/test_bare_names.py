"""A name that stands as a text is noted, and is no fault."""

from __future__ import annotations

import pathlib

import pytest

from loopworth.workflows.bare_names import bare
from loopworth.workflows.load import load

PIPELINE = """
workflow: w
shape: pipeline
input: {ticket: str, rows: "list[str]"}
steps:
  - {id: code, set: "x"}
  - STEP
answer: "{{ code }} {{ ticket }} {{ rows }}"
"""


def noted(folder: pathlib.Path, text: str) -> list[str]:
    (folder / "w.yaml").write_text(text, "utf-8")
    files = load(folder / "w.yaml")
    assert files.faults == []
    return [f"{note.line}:{note.column} {note.what}; {note.instead}" for note in bare(files)]


@pytest.mark.parametrize(
    ("step", "at", "meant"),
    [
        ("{set: code}", "7:11", "code"),
        ("{set: {a: [ticket.id]}}", "7:16", "ticket.id"),
        ('{for_each: "{{ rows }}", set: item}', "7:35", "item"),
        ('{set: "see {ticket}"}', "7:16", "ticket"),
        ('{set: "see { rows[0] } of {{ rows }}"}', "7:16", "rows[0]"),
    ],
)
def test_a_name_that_stands_as_a_text_is_noted(tmp_path: pathlib.Path, step: str, at: str, meant: str) -> None:
    """Alone, or in the single braces of other tools: a model or a tool would be given the name itself."""
    [said] = noted(tmp_path, PIPELINE.replace("STEP", step))
    assert said.startswith(f"{at} ")
    assert f"{{{{ {meant} }}}}" in said


@pytest.mark.parametrize(
    "step",
    [
        '{set: "{{ code }}"}',
        "{set: other}",
        "{set: item}",
        "{set: the code}",
        '{set: "${ticket} {other} {{ ticket }}"}',
        "{set: {code: 1}}",
        "{set: '{\"ticket\": 1}'}",
    ],
)
def test_a_text_is_a_text(tmp_path: pathlib.Path, step: str) -> None:
    """A word that is no name here, a sentence, a key, JSON and another language's variable are no slips."""
    assert noted(tmp_path, PIPELINE.replace("STEP", step)) == []


def test_one_of_the_words_that_a_value_may_be_is_no_slip(tmp_path: pathlib.Path) -> None:
    """A step has the name of what it asks for: the tool, its allow-list, the other workflow or the answer lists it."""
    (tmp_path / "code.py").write_text(CODE, "utf-8")
    (tmp_path / "sub.yaml").write_text(SUB, "utf-8")
    assert noted(tmp_path, FIELDS) == ["14:41 'deep' is a text here, and not the value of 'deep'; write \"{{ deep }}\""]


CODE = """
from typing import Literal


def look(field: Literal["budget", "staff"]) -> int:
    return 1


def find(mode: str, at: str = "") -> int:
    return 1
"""
SUB = """
workflow: sub
shape: pipeline
input: {kind: "Literal[wide, narrow]"}
steps: [{id: said, set: "{{ kind }}"}]
answer: "{{ said }}"
"""
FIELDS = """
workflow: w
shape: pipeline
input: {ticket: str}
output: {kind: "Literal[budget, wide]"}
tools:
  look: {python: "code:look", effect: read}
  find: {python: "code:find", effect: read, allow: {mode: [fast]}}
  sub: {run: sub.yaml, effect: read}
steps:
  - {id: budget, call: look, with: {field: budget}}
  - {id: fast, call: find, with: {mode: fast}}
  - {id: deep, call: find, with: {mode: fast, at: x}}
  - {call: find, with: {mode: fast, at: deep}}
  - {id: wide, run: sub.yaml, with: {kind: wide}}
  - {id: narrow, call: sub, with: {kind: narrow}}
answer: {kind: budget}
"""


def test_a_prompt_in_a_file_and_in_messages_is_looked_at_too(tmp_path: pathlib.Path) -> None:
    """Each at its own place."""
    (tmp_path / "p.md").write_text("Look:\n{ticket}\n", "utf-8")
    loop = """
workflow: w
shape: constrained_loop
input: {ticket: str}
model: {name: scripted, replies: [done]}
tools: {now: {builtin: today, with: {timezone: UTC}, effect: read}}
use: [now]
instructions: {file: p.md}
prompt: [{role: user, content: "about {ticket}"}]
budget: {turns: 3}
"""
    assert noted(tmp_path, loop) == [
        "2:1 `{ticket}` is a text here: nothing is filled in; write `{{ ticket }}`",
        "9:39 `{ticket}` is a text here: nothing is filled in; write `{{ ticket }}`",
    ]
