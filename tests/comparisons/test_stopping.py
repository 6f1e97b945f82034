"""Stopping early: what is run, what is not, and what the verdict then stands on."""

from __future__ import annotations

import dataclasses
import io
import json
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from rich.console import Console

from loopworth.comparisons.arms import Arm
from loopworth.comparisons.comparison import Comparison
from loopworth.comparisons.estimate import Estimate, Load
from loopworth.comparisons.export import to_json
from loopworth.comparisons.report import report
from loopworth.comparisons.result import Result
from loopworth.comparisons.schedule import Planned
from loopworth.comparisons.scores import Score
from loopworth.comparisons.stopping import Stopping
from loopworth.comparisons.table import render
from loopworth.comparisons.trial import tried
from loopworth.comparisons.verdict import Rule
from loopworth.models import ModelSpec
from loopworth.runs.outcome import Outcome
from tests.comparisons.contenders import Asks, Endpoint, Says, arm, compared, comparison, down, reply, tasks

FREE, DEAR = (Estimate(load, load) for load in (Load(), Load(2, 300, 0.0)))
HERE = ModelSpec("vllm/here")


def scripted(name: str, right: Callable[[int], bool], estimate: Estimate | None = None) -> Arm:
    return dataclasses.replace(arm(name, Says(lambda q: q if right(int(q)) else "no")), estimate=estimate)


def early(first: Callable[[int], bool], second: Callable[[int], bool], n: int = 100, **changes: Any) -> Comparison:
    """A free pipeline and a dear agent that are right on these tasks."""
    arms = [scripted("pipeline", first, FREE), scripted("agent", second, DEAR)]
    return comparison(arms, n, **{"stop_early": True, "seed": 3} | changes)


def made(result: Result) -> dict[str, int]:
    return {one.arm: one.made for one in result.spared}


def often(q: int) -> bool:
    return q % 5 < 2


def always(q: int) -> bool:
    return True


def never(q: int) -> bool:
    return False


def test_a_pipeline_that_is_always_right_needs_no_agent_run() -> None:
    """The pipeline runs on all tasks; it fails none, so there is nothing to gain, and no figure of the agent."""
    result = compared(early(always, often))
    assert made(result) == {"pipeline": 100, "agent": 0}
    assert result.verdict is not None
    assert (result.verdict.token, result.status) == ("suffices", 0)
    one = result.verdict.arms[0]
    assert (one.n, one.difference, one.interval, one.suffices_above) == (100, None, None, 1 - 0.01**0.01)
    assert "not run at all" in one.words


def test_an_agent_runs_on_the_failures_first_and_stops_when_they_run_out() -> None:
    """Ten failures of 100, of which it gets three: no other task is run, and that settles it."""
    result = compared(early(lambda q: q > 10, lambda q: q <= 3))
    assert {trial.task for trial in result.final if trial.arm == "agent"} == {str(q) for q in range(1, 11)}
    assert result.verdict is not None
    assert result.verdict.token == "suffices"
    figures = json.loads(to_json(result))["arms"][1]
    assert (figures["selected"], figures["made"], figures["accuracy"]["n"], figures["latency"]["p50"]) == (
        True, 10, 0, None,
    )  # fmt: skip


def test_an_agent_that_gains_more_than_the_gate_lets_pass_runs_on_every_task() -> None:
    """Then its pairs are read in the seeded order, and its figures stand on those alone."""
    result = compared(early(lambda q: q % 10 > 0, lambda q: q % 10 != 1))
    assert made(result)["agent"] > 10
    read = result.counted["agent"]
    assert read is not None
    assert result.verdict is not None
    assert len(read) == result.verdict.arms[0].n


def test_a_large_gain_stops_both_arms() -> None:
    """.4 against 1.0 takes about 17 pairs; little more than those are run, and the rest is told as saved."""
    result = compared(early(often, always, 200))
    assert result.verdict is not None
    assert result.verdict.token == "earns"
    assert result.verdict.arms[0].n < 30
    assert made(result)["agent"] <= result.verdict.arms[0].n + 8
    assert result.spared[1].runs == 200 - made(result)["agent"]
    assert json.loads(to_json(result))["stopped_early"][1]["not_needed"] == result.spared[1].runs


def test_runs_that_the_verdict_did_not_wait_for_are_told() -> None:
    """They are made and listed, and in no figure; else an arm has fewer runs than were made, and nothing says why."""
    result = compared(early(often, always, 200))
    assert result.verdict is not None
    made_of, read = made(result)["agent"], result.verdict.arms[0].n
    assert made_of > read
    said = f"agent: it was settled before {made_of - read} of its {made_of} runs were read: no figure is of them"
    assert said in report(result).warnings


def test_arms_of_like_cost_have_no_gate() -> None:
    """An arm that is not three times as dear runs beside the holder from the first task on."""
    arms = [scripted("a", often, DEAR), scripted("b", often, DEAR)]
    result = compared(comparison(arms, 100, stop_early=True))
    assert made(result)["a"] - made(result)["b"] in range(-8, 9)
    assert Stopping(result.comparison).gates == {}


def test_small_banks_and_repeats_have_no_gate() -> None:
    """Below 44 tasks no gate can close on .10; it is for one pipeline run per task."""
    assert Stopping(early(always, often, 43)).gates == {}
    assert Stopping(early(always, often, 44)).gates.keys() == {"agent"}
    assert Stopping(early(always, often, 100, repeats=2)).gates == {}


def test_all_failures_and_all_ties_are_no_verdict_for_an_agent() -> None:
    """Nothing right on either side is undecided, however many tasks; ties alone suffice, and are never `better`."""
    both_wrong = compared(early(never, never, 60))
    assert both_wrong.verdict is not None
    assert both_wrong.verdict.token == "undecided"
    assert "nothing to compare" in both_wrong.verdict.arms[0].words
    ties = compared(early(always, always, 60))
    assert ties.verdict is not None
    assert ties.verdict.token == "suffices"


def test_ties_settle_nothing_however_many() -> None:
    """The e-process would say `suffices` after some 40: all are run, and the first difference is what settles it."""
    arms = [scripted("a", always, DEAR), scripted("b", always, DEAR)]
    ties = compared(comparison(arms, 150, stop_early=True))
    assert made(ties) == {"a": 150, "b": 150}
    assert ties.verdict is not None
    assert (ties.verdict.token, ties.verdict.arms[0].n) == ("undecided", 150)
    assert "ties alone decide nothing" in ties.verdict.arms[0].words
    late = int(Stopping(ties.comparison).units[99][0])
    arms[1] = scripted("b", lambda q: q != late, DEAR)
    one = compared(comparison(arms, 150, stop_early=True)).verdict
    assert one is not None
    assert (one.token, one.arms[0].n) == ("suffices", 100)


def test_the_verdict_does_not_depend_on_the_order_in_which_runs_end() -> None:
    """Fed backwards, the same trials settle the same."""
    result = compared(early(lambda q: q % 2 > 0, lambda q: q % 10 < 9))
    backwards = Stopping(result.comparison)
    for trial in reversed(result.trials):
        backwards.take(trial)
    assert backwards.verdict() == result.verdict


def test_with_a_cap_in_the_file_an_arm_that_earns_runs_to_the_end() -> None:
    """A cap on latency takes 59 runs to check, and is looked at once."""
    result = compared(early(often, always, 100, rule=Rule(max_p95=30.0)))
    assert made(result)["agent"] == 100
    assert result.verdict is not None
    assert result.verdict.token == "earns"


def test_a_unit_that_an_endpoint_broke_is_run_again_and_read_at_the_end() -> None:
    """Its first failure does not hold up the others; after the rerun it counts like any."""
    broken = {"3", "7"}

    def said(question: str, n: int) -> Any:
        if question in broken:
            broken.discard(question)
            return down()
        return reply(question if int(question) % 2 else "no")

    arms = [arm("a", Asks(HERE.key), HERE), arm("b", Says(lambda q: q if int(q) % 3 else "no"))]
    result = compared(comparison(arms, 20, stop_early=True), {"vllm/here": Endpoint(said)})
    assert sum(trial.attempt for trial in result.trials) == 2
    assert result.verdict is not None
    assert (result.verdict.arms[0].n, result.verdict.arms[0].left_out) == (20, 0)


def test_a_later_arm_must_beat_whichever_holds_the_place() -> None:
    """The third arm is held against the second once that has earned the place."""
    arms = [scripted("a", often), scripted("b", always), scripted("c", lambda q: q % 9 > 0)]
    result = compared(comparison(arms, 120, stop_early=True))
    assert result.verdict is not None
    assert [(one.arm, one.against, one.token) for one in result.verdict.arms] == [
        ("b", "a", "earns"),
        ("c", "b", "suffices"),
    ]
    told = report(result)
    assert (told.differ, [one.p for one in told.contrasts], told.standings) == (None, [None, None], ())
    assert result.verdict.holder == "b"


def test_repeats_of_a_task_are_one_pair() -> None:
    """A task counts once, by the mean of its runs, and its repeats follow each other."""
    result = compared(early(often, always, 100, repeats=2))
    assert result.verdict is not None
    assert (result.verdict.token, made(result)["agent"] % 2) == ("earns", 0)
    assert made(result)["agent"] < 80


def test_tasks_of_a_cluster_are_one_pair() -> None:
    """The unit is the cluster: five tasks of a template, read when all of them were run."""
    given = tasks(100, kind=[f"k{q // 5}" for q in range(100)])
    result = compared(early(often, always, tasks=given, cluster="kind"))
    assert result.verdict is not None
    assert result.verdict.arms[0].n <= 20


def test_an_extension_keeps_the_order_and_never_looks_again() -> None:
    """The first stage is read as it was; after the look only the e-process goes on."""
    short = early(lambda q: q % 10 < 7, lambda q: q % 11 < 10, 25)
    long = dataclasses.replace(short, tasks=tasks(80), extended=(55,))
    first, second = Stopping(short), Stopping(long)
    assert second.units[:25] == first.units
    result = compared(long)
    assert result.verdict is not None
    (reading,) = replayed(result).readings.values()
    assert reading.looked in (None, 25)


def replayed(result: Result) -> Stopping:
    found = Stopping(result.comparison)
    for trial in result.trials:
        found.take(trial)
    return found


def test_prices_give_the_smallest_gain_as_costs_come_in() -> None:
    """Without `min_gain` it is what pays for the agent's extra cost so far; an unknown cost settles nothing."""
    dear = arm("agent", Asks(HERE.key), HERE)
    rule = Rule(correct_is_worth_usd=0.5)
    given = comparison([scripted("pipeline", often), dear], 60, stop_early=True, rule=rule)
    result = compared(given, {"vllm/here": Endpoint(lambda q, n: q)})
    assert result.verdict is not None
    assert (result.verdict.token, result.verdict.arms[0].min_gain) == ("earns", 0.002)
    assert result.spared[1].usd is not None


def test_an_empty_comparison_says_so() -> None:
    """No task: undecided, with a sentence, and nothing is run."""
    result = compared(early(always, always, 0))
    assert result.verdict is not None
    assert (result.verdict.token, result.verdict.arms[0].n) == ("undecided", 0)
    assert "n = 0" in result.verdict.arms[0].words


def test_the_table_says_what_was_saved_and_hides_what_was_selected() -> None:
    """No accuracy of an arm that ran on selected tasks, and the runs that were not needed."""
    console = Console(width=140, record=True, file=io.StringIO())
    console.print(render(compared(early(always, often))))
    shown = console.export_text()
    assert "not run" in shown
    assert "saved: agent: 100 of 100 runs were not needed" in shown


def test_deciding_after_each_of_ten_thousand_pairs_is_quick() -> None:
    """Less than a millisecond of our own for each pair, with the gate and the queues."""
    given = early(lambda q: q % 10 < 8, lambda q: q % 10 > 0, 10_000)
    found = Stopping(given)

    began, n = time.process_time(), 0
    while (planned := found.due({"pipeline": 4, "agent": 4})) is not None:
        found.start(planned)
        right = (int(planned.task) % 10 < 8) if planned.arm == "pipeline" else int(planned.task) % 10 > 0
        spent = time.process_time()
        trial = tried(Planned(planned.arm, planned.task, 0), Outcome("x"), Score(right), keep=False)
        began += time.process_time() - spent
        found.take(trial)
        n += 1
    assert n > 10_000
    assert (time.process_time() - began) / 10_000 < 1e-3


def breaking(
    first: Callable[[int], bool], second: Callable[[int], bool], bad: set[int], times: int = 2, **changes: Any
) -> Result:
    """A pipeline whose endpoint is down for some of 100 questions, so many times for each, and a dear agent."""
    asked = Counter[str]()

    def said(question: str, n: int) -> Any:
        asked[question] += 1
        if int(question) in bad and asked[question] <= times:
            return down()
        return reply(question if first(int(question)) else "no")

    arms = [dataclasses.replace(arm("pipeline", Asks(HERE.key), HERE), estimate=FREE), scripted("agent", second, DEAR)]
    given = comparison(arms, 100, **{"stop_early": True, "seed": 3} | changes)
    return compared(given, {"vllm/here": Endpoint(said)})


def test_a_dear_arm_is_run_where_runs_of_the_holder_stay_broken() -> None:
    """Two failures may be too few, but two broken runs may be failures too: the agent runs on the failures, which it
    gets, and then on every task; the broken pairs are left out and shown, and cost no verdict."""
    result = breaking(lambda q: q > 2, always, {50, 60})
    assert made(result) == {"pipeline": 100, "agent": 100}
    assert result.verdict is not None
    one = result.verdict.arms[0]
    assert (one.token, one.n, one.b, one.left_out) == ("suffices", 98, 2, 2)


def test_a_dear_arm_is_run_no_more_once_what_stays_broken_could_not_make_up_for_what_it_lost() -> None:
    """What is broken counts as gained, and with the failure that is left that is too little: the gate shuts."""
    result = breaking(lambda q: q > 2, lambda q: q > 2, {50, 60})
    assert made(result) == {"pipeline": 100, "agent": 1}
    assert result.verdict is not None
    assert (result.verdict.token, result.verdict.arms[0].left_out) == ("suffices", 2)


def test_more_than_two_in_a_hundred_that_stay_broken_leave_no_verdict_though_all_is_run() -> None:
    """As in a comparison that does not stop early."""
    for early in (True, False):
        result = breaking(lambda q: q > 2, always, {50, 60, 70}, stop_early=early)
        assert Counter(trial.arm for trial in result.final) == {"pipeline": 100, "agent": 100}
        assert result.verdict is not None
        assert (result.verdict.token, result.verdict.arms[0].left_out) == ("undecided", 3)


def test_a_gate_waits_for_the_reruns_of_the_holder() -> None:
    """Five runs that break once are no failures: made again they leave nothing to be gained, and no run is needed."""
    result = breaking(always, always, {10, 20, 30, 40, 50}, times=1)
    assert made(result) == {"pipeline": 100, "agent": 0}
    assert result.verdict is not None
    assert (result.verdict.token, result.verdict.arms[0].left_out) == ("suffices", 0)
