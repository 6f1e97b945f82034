"""The figures of a comparison."""

from __future__ import annotations

import dataclasses
from typing import Any

import msgspec
import pytest

from loopworth.comparisons.intervals import mean_log_t, wilson, wilson_clustered
from loopworth.comparisons.report import report
from loopworth.models import ModelSpec
from loopworth.runs.outcome import Stop
from loopworth.runs.usage import Usage
from tests.comparisons.contenders import Asks, Endpoint, Routes, Says, arm, compared, comparison, down, reply, tasks

HERE = ModelSpec("vllm/here")


def test_accuracy_has_wilsons_interval() -> None:
    """Right of all scored runs, at 95 %."""
    result = compared(comparison([arm("a", Says(lambda q: q if int(q) > 2 else "no"))], 8))
    found = report(result).arms[0].figures.accuracy
    assert (found.right, found.runs, found.n, found.share) == (6, 8, 8, 0.75)
    assert found.interval == wilson(6, 8)


def test_repeats_of_a_task_are_not_independent() -> None:
    """The interval is Wilson's at the effective number of runs, not at their number."""
    seen: dict[str, int] = {}

    def half(question: str) -> str:
        seen[question] = seen.get(question, 0) + 1
        return question if int(question) % 2 or seen[question] == 1 else "no"

    result = compared(comparison([arm("a", Says(half))], 10, repeats=2))
    found = report(result).arms[0].figures.accuracy
    assert (found.right, found.runs, found.n) == (15, 20, 10)
    assert found.interval == wilson_clustered([1.0, 0.5] * 5, 2) != wilson(15, 20)


def test_a_mean_has_an_interval_over_tasks_and_not_over_runs() -> None:
    """Calls, tokens and cost alike; tasks of one template are one unit, and of a part of the plan nothing is said."""

    def used(question: str, n: int) -> Any:
        return reply(question, Usage(100 * int(question), 0, usd=0.01 * int(question)))

    given = comparison([arm("a", Asks(HERE.key), HERE)], tasks=tasks(4, made=["x", "x", "y", "z"]), repeats=3)
    one, clustered = (
        report(compared(of, {"vllm/here": Endpoint(used)})).arms[0].figures
        for of in (given, dataclasses.replace(given, cluster="made"))
    )
    assert one.tokens.interval == pytest.approx(mean_log_t([300, 600, 900, 1200], [3] * 4))
    assert one.usd.interval == pytest.approx(mean_log_t([3, 6, 9, 12], [300] * 4))
    assert (one.model_calls_interval, one.tool_calls_interval) == ((1, 1), (0, 0))
    assert clustered.tokens.interval == pytest.approx(mean_log_t([900, 900, 1200], [6, 3, 3]))
    part = compared(given, {"vllm/here": Endpoint(used)}).but(stopped="it was to cost too much")
    assert report(part).arms[0].figures.tokens.interval is None


def test_a_run_counted_apart_is_in_no_figure() -> None:
    """Neither its answer, nor its calls, nor its latency; it is counted by its reason, and the report warns."""

    def broken(question: str, n: int) -> Any:
        return down("429 too many") if question == "1" else question

    result = compared(comparison([arm("a", Asks(HERE.key), HERE)], 4), {"vllm/here": Endpoint(broken)})
    found = report(result)
    assert found.arms[0].figures.accuracy.runs == 3
    assert (found.arms[0].exits, found.arms[0].apart) == ({"success": 3}, {"provider_error": 1})
    usd = found.arms[0].figures.usd
    assert (usd.total, usd.known, usd.unknown) == (pytest.approx(0.003), 3, 0)
    assert any("1 of 4 runs ended as provider_error" in warning and "429" in warning for warning in found.warnings)


def test_what_runs_were_warned_of_is_told_once() -> None:
    """Warnings that differ in figures only are one, with the number of runs and one run's figures."""

    def cut(question: str, n: int) -> Any:
        short = f"the server counted 2,10{question} input tokens, and the request holds about 7,500"
        said = (short, "the endpoint does not take seed") if question != "4" else ()
        return msgspec.structs.replace(reply(question), warnings=said)

    result = compared(comparison([arm("a", Asks(HERE.key), HERE)], 4), {"vllm/here": Endpoint(cut)})
    counted, seed = (text for text in report(result).warnings if text.startswith("a: in "))
    assert counted.startswith("a: in 3 of 4 runs the server counted 2,10")
    assert seed == "a: in 3 of 4 runs the endpoint does not take seed"


def test_exit_reasons_are_counted() -> None:
    """Every scored run is in exactly one of them."""

    def cut(question: str, n: int) -> Any:
        return Stop("token_limit", "", "tokens: 5") if int(question) < 3 else question

    result = compared(comparison([arm("a", Asks(HERE.key), HERE)], 5), {"vllm/here": Endpoint(cut)})
    assert report(result).arms[0].exits == {"success": 3, "token_limit": 2}


def test_an_unknown_cost_makes_the_mean_unknown() -> None:
    """It is never taken for 0: the known part stands beside how many are unknown."""

    def cost(question: str, n: int) -> Any:
        return reply(question, Usage(10, 5, usd=None) if question == "1" else Usage(10, 5, usd=0.5))

    result = compared(comparison([arm("a", Asks(HERE.key), HERE)], 3), {"vllm/here": Endpoint(cost)})
    usd = report(result).arms[0].figures.usd
    assert (usd.mean, usd.total, usd.known, usd.unknown, usd.interval) == (None, 1.0, 2, 1, None)
    assert result.usd == 1.0


def test_levels_split_the_same_trials() -> None:
    """The figures by `group_by` add up to those of the arm; numbers come in their order."""
    given = comparison([arm("a", Says(lambda q: q if q in "123" else "no"))], 6)
    given = dataclasses.replace(given, tasks=tasks(6, k=[10, 2, 2, 10, 2, None]), group_by="k", accept=0.6)
    found = report(compared(given))
    assert [level.level for level in found.levels] == ["2", "10", "(none)"]
    assert [(one.figures.accuracy.right, one.figures.accuracy.runs) for one in found.levels] == [(2, 3), (1, 2), (0, 1)]
    assert found.accepted == {"a": "2"}


def test_of_an_arm_without_a_figure_no_level_is_accepted() -> None:
    """Nothing is shown of it: that it is nowhere under the limit would read as if it had been."""
    arms = [arm("a", Says(str)), arm("b", Asks("vllm/here"), HERE)]
    given = dataclasses.replace(comparison(arms), tasks=tasks(4, k=[1, 1, 2, 2]), group_by="k", accept=0.2)
    result = compared(given, {"vllm/here": Endpoint(lambda _, __: down())})
    assert report(result).accepted == {"a": None}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["nan", 10, "inf", 2, "Infinity", 3], ["2", "3", "10", "Infinity", "inf", "nan"]),
        ([True, None, "true", False, {"b": [1, None]}, [2]], ["(none)", "[2]", "false", "true", '{"b": [1, null]}']),
        (["", "  ", "a", "", "b", "a"], ["(empty)", "a", "b"]),
        (
            ["step 10", "step 2", "step 1", "2024-02", "2024-10", 3],
            ["3", "2024-02", "2024-10", "step 1", "step 2", "step 10"],
        ),
    ],
    ids=["words that Python takes for numbers", "values of JSON", "nothing to show", "numbers in words"],
)
def test_levels_are_told_as_the_tasks_write_them(values: list[Any], said: list[str]) -> None:
    """In one order, whatever they are: numbers by size, then words; and none of them is blank."""
    given = dataclasses.replace(comparison([arm("a", Says(str))]), tasks=tasks(6, k=values), group_by="k")
    assert [level.level for level in report(compared(given)).levels] == said


def test_routes_are_scored_and_counted_where_that_is_all_that_is_expected() -> None:
    """A task with only an `expected_route` is right where that route was taken."""
    given = tuple(
        msgspec.structs.replace(task, expected=None, expected_route="even" if int(task.id) % 2 == 0 else "odd")
        for task in tasks(6)
    )
    router = arm("router", Routes(lambda q: "even" if q in "246" or q == "1" else "odd"), shape="router")
    found = report(compared(comparison([router], tasks=given))).arms[0]
    assert (found.figures.accuracy.right, found.figures.accuracy.runs) == (5, 6)
    assert found.route == found.figures.accuracy
    assert found.routes == (("even", "even", 3), ("odd", "even", 1), ("odd", "odd", 2))


def test_an_arm_without_routes_has_no_matrix() -> None:
    """What took no route is not shown as a bad router; where only the route counts it is wrong."""
    given = tuple(msgspec.structs.replace(task, expected=None, expected_route="x") for task in tasks(2))
    found = report(compared(comparison([arm("plain", Says(str))], tasks=given))).arms[0]
    assert (found.route, found.routes, found.figures.accuracy.right) == (None, (), 0)


def test_the_report_warns_where_p95_has_no_limit() -> None:
    """At 8 runs the 95th percentile is the worst of them, and has no upper limit."""
    found = report(compared(comparison([arm("a", Says(str))], 8)))
    assert any("p95 has no upper limit at n = 8" in warning for warning in found.warnings)


def test_the_limit_of_p95_rests_on_one_run_of_a_task() -> None:
    """Repeats of a task are not independent: 60 runs of 30 tasks have no limit, 59 tasks have, once or twice run."""
    for n, repeats, limited in ((30, 2, False), (59, 1, True), (59, 2, True)):
        result = compared(comparison([arm("a", Says(lambda q: object()))], n, repeats=repeats))
        found = report(result).arms[0].latency
        assert (found.n, found.p95_upper is not None, found.note == "") == (n, limited, limited)
