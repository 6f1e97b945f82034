"""How runs ended and what that cost, and what a report says of it."""

from __future__ import annotations

import io
import json
from typing import Any

import msgspec
import pytest
from rich.console import Console

from loopworth.comparisons import spending
from loopworth.comparisons.export import to_json
from loopworth.comparisons.figures import batching_words, seen_words
from loopworth.comparisons.result import Result
from loopworth.comparisons.table import render
from loopworth.comparisons.trace import Batch, Trace
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


def test_of_as_many_ends_the_first_stands_first() -> None:
    """In every process alike: nothing depends on the order of a set."""
    exits = ["turn_limit", "empty", "refused", "repetition", "filtered", "success", "truncated"]
    result = compared(comparison([arm("a", Says(str))], len(exits)))
    trials = [msgspec.structs.replace(one, exit=exit) for one, exit in zip(result.final, exits, strict=True)]
    assert [one.exit for one in spending.ends("a", trials)] == exits


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


def test_a_mean_over_some_of_the_runs_names_them() -> None:
    """Calls per run are told of the runs that asked for a tool: where that is not all of them, it says of which."""
    made = [trial for trial in some().final if trial.arm == "b"]
    asked = [msgspec.structs.replace(t, model_calls=4, tool_calls=2, trace=Trace(batch=Batch(2))) for t in made[:3]]
    b = arm("b", Asks(HERE.key), HERE)
    part, all_of_them = spending.batching(b, [*asked, *made[3:]]), spending.batching(b, asked)
    assert part is not None
    assert all_of_them is not None
    calls = "4 model calls for 2 tool calls a run (2.00 each); no turn asked for several at once"
    assert batching_words(part) == f"in the 3 of 6 runs that asked for a tool, {calls}"
    assert batching_words(all_of_them) == calls
    looked = spending.seen("b", asked)
    assert looked is not None
    assert seen_words(looked).startswith(
        "the expected answer stood in an observation in 0 of the 3 runs that called a tool"
    )


def test_an_answer_that_no_run_saw_came_before_nothing() -> None:
    """Runs that ended at a limit and never had it: there is no mean of the calls after it."""
    words = seen_words(spending.Seen("b", 4, 0, None, 2, 0))
    assert words.endswith("in 0 of the 4 runs that called a tool; of 2 runs that ended at a limit 0 had it")


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
