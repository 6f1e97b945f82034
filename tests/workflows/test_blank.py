"""Texts that are there to be read: one that is blank is a fault at its place, with what to write instead."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from typing import Annotated, Any, get_args, get_origin

import pytest
from pydantic import AfterValidator

from loopworth.comparisons.spec import Comparison
from loopworth.workflows.form import Form, Spoken, all_forms, members, metadata, unwrapped
from loopworth.workflows.spec import Duration, Verbatim
from tests.workflows.written import faults, loop, steps

ONE = "and this is blank; write one"
OR_NONE = f"{ONE}, or leave the key out"
BUDGET = "budget: {turns: 3}"
ROUTER = "workflow: w\nshape: router\nmodel: ollama/m\nchoose: q\nfrom: {x: {set: 1, description: BLANK}}\n"


def agent(*lines: str) -> str:
    return loop("open_loop", BUDGET, *lines)


def prompted(prompt: str) -> str:
    return agent().replace("'{{ q }}'", prompt)


def chosen(labels: str) -> str:
    return steps(f"- {{id: a, choose: Which?, from: {labels}}}")


@pytest.mark.parametrize("nothing", ['""', '"   "', '"\\n\\t"'])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (prompted("BLANK"), f"`prompt` must be a text, or {{file: …}}, or a list, {ONE}"),
        (agent("instructions: BLANK"), OR_NONE),
        (agent("description: BLANK"), f"`description` must be a text, {OR_NONE}"),
        (prompted("[{role: user, content: BLANK}]"), f"`content` must be a text, {ONE}"),
        (prompted("[{role: user, content: [{type: text, text: BLANK}]}]"), f"`text` must be a text, {ONE}"),
        (agent("check: answer", "else: BLANK"), f"`else` must be a text, {OR_NONE}"),
        (agent("guard: [{on: answer, if: answer, else: BLANK}]"), f"`else` must be a text, {OR_NONE}"),
        (agent("gate: {lookup: {ask: BLANK}}"), f"{OR_NONE} (then: whether the call may be made, with its arguments)"),
        (steps("- {id: a, ask: BLANK}"), "`ask` must be a text"),
        (steps("- {id: a, choose: BLANK, from: [x, y]}"), "`choose` must be a text"),
        (chosen("{x: BLANK, y: what it means}"), "`x` must be a text, or {description: …"),
        (chosen("{x: {description: BLANK}, y: what it means}"), f"`description` must be a text, {OR_NONE}"),
        (chosen("{x: {examples: [BLANK]}, y: what it means}"), f"each of `examples` must be a text, {ONE}"),
        (steps("- {check: 1 > 0, else: BLANK}"), f"`else` must be a text, {OR_NONE}"),
        (steps("- {check: BLANK}"), f"`check` must be an expression, {OR_NONE}"),
        (ROUTER, f"`description` must be a text, {OR_NONE}"),
    ],
)
def test_a_text_that_says_nothing_is_a_fault_at_its_place(
    tmp_path: pathlib.Path, text: str, said: str, nothing: str
) -> None:
    """Prompts, questions, what labels mean, what is told where a check fails: one slip is one fault."""
    [line] = [one for one in faults(tmp_path, text.replace("BLANK", nothing)) if "`examples` belong" not in one]
    assert said in line
    number, column = line.partition(" ")[0].split(":")
    assert text.splitlines()[int(number) - 1][int(column) - 1 :].startswith("BLANK")


def test_a_prompt_without_a_message_or_from_a_blank_file_says_nothing(tmp_path: pathlib.Path) -> None:
    """As little as a blank text does."""
    (tmp_path / "blank.md").write_text(" \n\n", "utf-8")
    [line] = faults(tmp_path, steps("- {id: a, ask: {file: blank.md}}"))
    assert "blank.md' is blank; write what it is to say, or name another file" in line
    [line] = faults(tmp_path, steps("- {id: a, ask: []}"))
    assert "`ask` is empty" in line
    [line] = faults(tmp_path, steps("- {id: a, ask: [{role: user, content: []}]}"))
    assert f"`content` must be a text, {ONE}" in line


def test_a_value_may_be_blank(tmp_path: pathlib.Path) -> None:
    """`set`, `with` and `answer` are no prose: a text of nothing is a value like any other."""
    assert faults(tmp_path, steps('- {id: a, set: ""}', '- {id: b, set: {x: " "}}', answer='""')) == []
    assert faults(tmp_path, steps('- {id: a, call: pay, with: {amount: "{{ 1 }}"}}', answer="[]")) == []


def texts(annotation: Any) -> Iterator[Any]:
    """The alternatives of a field, and of what its lists and mappings hold, that are a text."""
    for option in members(annotation):
        if unwrapped(option) is str:
            yield option
        if get_origin(unwrapped(option)) in (list, dict):
            yield from texts(get_args(unwrapped(option))[-1])


def marked(option: Any) -> bool:
    """Whether it is said what a blank text is there; names and durations have a form of their own."""
    has_a_form = any(isinstance(mark, AfterValidator) for mark in metadata(option))
    return option == Verbatim or has_a_form or any(isinstance(mark, Spoken) for mark in metadata(option))


def test_every_text_of_the_language_says_what_a_blank_one_is() -> None:
    """Each is to be read, is passed on as it stands, or has a form of its own: a new key cannot forget it."""
    assert Comparison in all_forms(Form)
    unsaid = [
        (form.__name__, name)
        for form in all_forms(Form)
        for name, info in form.model_fields.items()
        for option in texts(Annotated[(info.annotation, *info.metadata)] if info.metadata else info.annotation)
        if option != Duration and not marked(option)
    ]
    assert unsaid == []
