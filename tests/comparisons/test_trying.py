"""A proposed change is one that the workflow takes, or advice."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from loopworth.comparisons.symptoms.finding import Finding
from loopworth.comparisons.trying import tried

INNER = """
workflow: inner
shape: pipeline
input: {n: int}
tools: {pay: {python: "shop:pay", effect: read}}
steps:
  - {id: order, call: pay, with: {n: "{{ n }}"}}
  - {id: twice, set: "{{ order * 2 }}"}
answer: "{{ twice }}"
"""
OUTER = """
workflow: outer
shape: pipeline
input: {n: int}
steps: [{id: all, run: inner.yaml, with: {n: "{{ n }}"}}]
answer: "{{ all }}"
"""
CODE = 'def pay(n: int) -> int:\n    """Pay."""\n    return n\n'


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    for name, text in {"inner.yaml": INNER, "outer.yaml": OUTER, "shop.py": CODE}.items():
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


def proposed(path: str, value: Any) -> Finding:
    return Finding("it", "tools", "rule", "what", 1, 1, (), path, value, "why")


@pytest.mark.parametrize(
    ("path", "value", "of_inner", "of_outer"),
    [
        ("steps.order.on_error", "skip", False, False),
        ("steps.all.on_error", "skip", False, False),
        ("steps.order.retry", {"attempts": 2}, True, True),
        ("otherwise", {"set": "to a person"}, True, True),
        ("tools.pay.timeout", "9s", True, True),
        ("tools.calculator", {"builtin": "calculator", "effect": "read"}, True, True),
        ("tools.other.timeout", "9s", False, False),
        ("budgets.turns", 9, False, False),
    ],
)
def test_a_change_that_would_be_a_fault_is_advice(
    path: str, value: Any, of_inner: bool, of_outer: bool, folder: pathlib.Path
) -> None:
    """In the workflow of a file, or in one that it runs: then the line is told in the words alone, with what is wrong
    with it; a line that one of them takes stands as it was."""
    finding = proposed(path, value)
    for name, fits in (("inner", of_inner), ("outer", of_outer)):
        found = tried(finding, folder / f"{name}.yaml")
        assert (found == finding) is fits, found.why
        assert bool(found.change) is fits
        assert fits or f"why; `{finding.change}` alone would be a fault here: " in found.why


@pytest.mark.parametrize("text", [None, INNER.replace("pay,", "play,"), "[]", "{"])
def test_nothing_is_told_of_a_file_that_is_gone_or_has_faults(text: str | None, folder: pathlib.Path) -> None:
    """Then the change is what is known of the runs."""
    if text is not None:
        (folder / "it.yaml").write_text(text, "utf-8")
    finding = proposed("steps.order.on_error", "skip")
    assert tried(finding, folder / "it.yaml") == finding
