"""How runs ended and what that cost, and what a report says of it."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from rich.console import Console

from loopworth.comparisons import spending
from loopworth.comparisons.export import to_json
from loopworth.comparisons.result import Result
from loopworth.comparisons.table import render
from loopworth.models import ModelSpec, Price
from loopworth.runs.outcome import Stop
from tests.comparisons.contenders import Asks, Endpoint, Says, arm, compared, comparison, down, reply, tasks

HERE = ModelSpec("vllm/here", price=Price(1.0, 2.0))


def some(n: int = 6, **changes: Any) -> Result:
    """Tasks 1 and 2 end at a limit, 3 is wrong, 4 finds the endpoint down, the others are right."""

    def said(question: str, count: int) -> Any:
        if question in ("1", "2"):
            return Stop("turn_limit", "", "turns: 1")
        return down() if question == "4" else reply("no" if question == "3" else question)

    return compared(
        comparison([arm("a", Says(str)), arm("b", Asks(HERE.key), HERE)], n, **changes), {"vllm/here": Endpoint(said)}
    )


def shown(result: Result) -> str:
    console = Console(width=160, record=True, file=io.StringIO())
    console.print(render(result))
    return console.export_text()


def test_exits_are_told_with_what_was_right_and_what_they_cost() -> None:
    """One row for each reason, and each run in one of them; what is unknown stays unknown."""
    ends = {one.exit: one for one in spending.ends("b", [t for t in some().final if t.arm == "b"])}
    assert [(e, one.runs, one.right, one.wrong) for e, one in ends.items()] == [
        ("success", 3, 2, 1),
        ("turn_limit", 2, 0, 2),
        ("provider_error", 1, 0, 0),
    ]
    assert ends["success"].usd == pytest.approx(0.003)
    assert (ends["turn_limit"].tokens, ends["turn_limit"].usd) == (None, None)


def test_right_of_what_is_named() -> None:
    """An outcome without an answer is wrong in the headline; those that answered, and all runs, are told beside it."""
    text = shown(some())
    assert "right of answered" in text
    assert "2/3" in text  # of those that answered
    assert "2/5" in text  # the headline
    assert "2/6" in text  # of all runs


def test_repeats_say_how_often_a_task_is_right_every_time() -> None:
    """pass^k for each k of repeats; never without them, and never for more runs than were made."""
    result = compared(
        comparison([arm("a", Says(str)), arm("b", Says(lambda q: q if int(q) % 2 else "no"))], 6, repeats=3)
    )
    passes = json.loads(to_json(result))["arms"][1]["passes"]
    assert [(one["k"], one["share"]) for one in passes] == [(1, 0.5), (2, 0.5), (3, 0.5)]
    assert "right 3 of 3" in shown(result)
    assert json.loads(to_json(some()))["arms"][1]["passes"] == []


def test_a_curve_stands_under_its_levels() -> None:
    """The words of each arm's curve are in the table and in the JSON."""
    given = tasks(12, size=[1, 2, 3] * 4)
    arms = [arm("a", Says(str)), arm("b", Says(lambda q: q if int(q) % 3 == 1 else "no"))]
    result = compared(comparison(arms, tasks=given, group_by="size"))
    curves = json.loads(to_json(result))["curves"]
    assert [one["arm"] for one in curves] == ["a", "b"]
    assert curves[1]["trend"]["z"] < -2
    assert "accuracy falls with size" in shown(result)


def test_a_tag_with_one_level_is_no_curve() -> None:
    """It says so; no trend, no error."""
    result = compared(comparison([arm("a", Says(str))], tasks=tasks(4, size=[1] * 4), group_by="size"))
    assert "only one level of size was run: there is no curve" in shown(result)
