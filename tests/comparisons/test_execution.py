"""Running a comparison."""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import AsyncGenerator, Sequence
from typing import Any

import pytest

from loopworth.comparisons.crew import Came
from loopworth.comparisons.endpoints import Open
from loopworth.comparisons.execution import GIVE_UP, Execution, Progress, compare
from loopworth.comparisons.export import to_json
from loopworth.comparisons.keeper import Keeper
from loopworth.comparisons.schedule import Due
from loopworth.comparisons.scores import Score
from loopworth.comparisons.table import render
from loopworth.comparisons.trial import left_by, tried
from loopworth.models import ModelSpec, Unavailable, open_model
from loopworth.runs.budget import Limits
from loopworth.runs.effects import Effects
from loopworth.runs.outcome import Outcome, Stop
from loopworth.workflows import typed_answer
from loopworth.workflows.type_expression import parse_type
from tests.comparisons.contenders import (
    Asks,
    Endpoint,
    Says,
    arm,
    compared,
    comparison,
    down,
    reply,
    tasks,
)

HERE, THERE = ModelSpec("vllm/here"), ModelSpec("vllm/there")


def same(question: str, n: int) -> str:
    return question


def test_every_arm_runs_every_task_once_and_is_scored() -> None:
    """One final trial for each planned run, with its figures."""
    right, wrong = arm("right", Asks(HERE.key), HERE), arm("wrong", Says(lambda q: q + "!"))
    result = compared(comparison([right, wrong], 6), {"vllm/here": Endpoint(same)})
    assert [trial.planned for trial in result.final] == list(result.order)
    assert {(trial.arm, trial.right) for trial in result.final} == {("right", True), ("wrong", False)}
    asked = [trial for trial in result.final if trial.arm == "right"]
    assert all((t.model_calls, t.usage.tokens, t.usage.usd, t.exit) == (1, 15, 0.001, "success") for t in asked)
    assert result.status == 0
    assert result.verdict is not None


def test_what_reads_typed_answers_is_loaded_before_the_first_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run's latency is what it took, and no import."""
    number, before = parse_type("int"), list[object]()

    def answered(question: str) -> str:
        before.append("ran")
        return question

    says = arm("says", Says(answered))
    typed = dataclasses.replace(says, workflow=dataclasses.replace(says.workflow, typed=[number]))
    monkeypatch.setattr(typed_answer, "ready", lambda *outputs: before.extend(outputs))
    compared(comparison([typed], 2), {})
    assert before == [number, "ran", "ran"]


def test_an_outcome_without_an_answer_is_wrong_and_not_dropped() -> None:
    """A limit that was hit, or a `null` answer, counts against the arm under its exit reason."""

    def cut(question: str, n: int) -> Any:
        return Stop("turn_limit", "", "turns: 1") if question == "1" else question

    result = compared(
        comparison([arm("a", Asks(HERE.key), HERE), arm("b", Says(lambda _: None))], 3), {"vllm/here": Endpoint(cut)}
    )
    ends = {trial.task: (trial.right, trial.exit) for trial in result.final if trial.arm == "a"}
    assert ends == {"1": (False, "turn_limit"), "2": (True, "success"), "3": (True, "success")}
    assert [trial.right for trial in result.final if trial.arm == "b"] == [False] * 3


def test_no_more_runs_are_under_way_than_the_endpoint_allows() -> None:
    """Two arms that share an endpoint share its slots."""
    model = Endpoint(same, concurrency=3)
    arms = [arm("a", Asks(HERE.key), HERE), arm("b", Asks(HERE.key), HERE)]
    compared(comparison(arms, 10), {"vllm/here": model})
    assert (len(model.asked), model.most) == (20, 3)


def test_a_slow_endpoint_never_holds_up_a_fast_one() -> None:
    """All runs at the fast endpoint end while the slow one still sits on its first."""
    finished = asyncio.Event()

    async def wait(question: str) -> str:
        await finished.wait()
        return question

    def quick(question: str, n: int) -> str:
        if n == 8:
            finished.set()
        return question

    models = {"vllm/here": Endpoint(lambda q, _: wait(q), "slow", 1), "vllm/there": Endpoint(quick, "fast", 1)}
    arms = [arm("slow", Asks(HERE.key), HERE), arm("fast", Asks(THERE.key), THERE), arm("none", Says(str))]

    async def run() -> Any:
        async with asyncio.timeout(5):
            return await compare(comparison(arms, 8), open=lambda spec: models[spec.name])

    assert all(trial.right for trial in asyncio.run(run()).final)


def test_waiting_for_a_slot_is_not_latency() -> None:
    """With one slot the last run queues for as long as all before it take, and is as quick as the first."""

    async def slow(question: str) -> str:
        await asyncio.sleep(0.02)
        return question

    model = Endpoint(lambda q, _: slow(q), concurrency=1)
    last = compared(comparison([arm("a", Asks(HERE.key), HERE)], 5), {"vllm/here": model}).trials[-1]
    assert last.began >= 0.08
    assert last.latency < 0.06


def test_provider_errors_are_made_again_once_at_the_end() -> None:
    """The failed runs of all arms come after all others, in the planned order; the reruns count, the failures cost."""

    def flaky(question: str, n: int) -> Any:
        if question in "12" and n <= 8:
            return down()
        return question

    model = Endpoint(flaky, concurrency=1)
    arms = [arm("a", Asks(HERE.key), HERE), arm("b", Asks(HERE.key), HERE)]
    result = compared(comparison(arms, 4), {"vllm/here": model})
    assert [trial.attempt for trial in result.trials] == [0] * 8 + [1] * 4
    assert [t.planned for t in result.trials[8:]] == [run for run in result.order if run.task in "12"]
    assert all(trial.right for trial in result.final)
    assert len(result.final) == 8


def test_a_pair_that_stays_broken_is_left_out_and_the_verdict_says_so() -> None:
    """It is not wrong: it is counted apart, and with more than 2 % of them nothing is decided."""

    def broken(question: str, n: int) -> Any:
        return down("503 overloaded") if question == "3" else question

    arms = [arm("a", Says(lambda _: "no")), arm("b", Asks(HERE.key), HERE)]
    result = compared(comparison(arms, 30), {"vllm/here": Endpoint(broken)})
    assert [(t.task, t.right, t.note) for t in result.final if t.exit != "success"] == [("3", None, "503 overloaded")]
    assert result.verdict is not None
    assert (result.verdict.arms[0].left_out, result.verdict.token) == (1, "undecided")


def test_a_dead_endpoint_ends_the_comparison_soon() -> None:
    """After a handful of failures without one answer the rest is not tried, and the status is 3."""
    model = Endpoint(lambda *_: down("401 invalid key: set OPENAI_API_KEY"), concurrency=1)
    result = compared(comparison([arm("a", Asks(HERE.key), HERE)], 50), {"vllm/here": model})
    assert len(model.asked) == GIVE_UP
    assert "401 invalid key" in result.stopped
    assert (result.status, result.verdict, model.closed) == (3, None, True)


class Elsewhere:
    """Makes runs in another place, whose endpoint is down when it is first asked."""

    def __init__(self, open: Open) -> None:
        self.open = open

    def makes(self, due: Due) -> bool:
        return True

    async def made(self, due: Sequence[Due]) -> AsyncGenerator[Came, None]:
        for planned, attempt in due:
            outcome = Outcome("found") if attempt else Outcome(None, "provider_error")
            yield tried(planned, outcome, Score(True) if attempt else None, attempt=attempt), left_by(planned, outcome)


def test_a_control_is_given_what_the_run_left_that_counts() -> None:
    """The rerun, also where a crew made it: a vote was cast for the answer that the failed run lacked."""
    run = Execution(comparison([arm("a", Says(str))], 3), None, True, open_model, Keeper(), Elsewhere(open_model))

    async def measured() -> None:
        await run.prepare()
        await run.measured()

    asyncio.run(measured())
    assert [left.answer for left in run.maker.left.values()] == ["found"] * 3


def test_a_bug_in_one_run_is_that_runs_end() -> None:
    """Its traceback is kept, the other runs go on, and the status says that the harness failed."""

    def answer(question: str) -> str:
        if question == "2":
            raise RuntimeError("a bug of ours")
        return question

    result = compared(comparison([arm("a", Says(answer))], 4))
    bug = next(trial for trial in result.final if trial.task == "2")
    assert (bug.exit, bug.right, "a bug of ours" in bug.traceback) == ("harness_error", None, True)
    assert sum(trial.right is True for trial in result.final) == 3
    assert result.status == 3


def test_a_bug_in_a_score_is_that_trials_end() -> None:
    """What scores a run may fail as well; the run's own figures are kept."""

    def broken(answer: Any, expected: Any) -> Any:
        raise ZeroDivisionError

    given = comparison([arm("a", Asks(HERE.key), HERE)], 2)
    object.__setattr__(given, "scorer", broken)
    result = compared(given, {"vllm/here": Endpoint(same)})
    assert {(t.exit, t.right, t.model_calls) for t in result.final} == {("harness_error", None, 1)}


class Stubborn:
    """Does not end when it is cancelled."""

    began = 0

    async def run(self, input: dict[str, Any], fx: Effects) -> Outcome:
        self.began += 1
        until = time.monotonic() + 1.5
        while time.monotonic() < until:
            try:
                await asyncio.sleep(0.05)
            except asyncio.CancelledError:
                continue
        return Outcome("late")


def test_cancelling_returns_what_is_done_at_once() -> None:
    """What was in flight is kept as cancelled, also where it does not end; there is no verdict."""
    stubborn = Stubborn()
    arms = [arm("quick", Says(str)), arm("stuck", Asks(HERE.key), HERE), arm("stubborn", stubborn, THERE)]
    models = {"vllm/here": Endpoint(lambda *_: asyncio.sleep(60), "slow"), "vllm/there": Endpoint(same, "other", 1)}

    async def run() -> tuple[Any, float]:
        running = asyncio.ensure_future(compare(comparison(arms, 5), open=lambda spec: models[spec.name]))
        await asyncio.sleep(0.2)
        running.cancel()
        began = time.monotonic()
        result = await running
        return result, time.monotonic() - began

    result, took = asyncio.run(run())
    ends = sorted((trial.arm, trial.exit) for trial in result.final)
    assert ends == [("quick", "success")] * 5 + [("stubborn", "cancelled")] + [("stuck", "cancelled")] * 2
    assert took < 10
    assert stubborn.began == 1, "no run is begun after the end"
    assert (result.interrupted, result.status, result.verdict) == (True, 130, None)


def test_later_repeats_have_seeds_of_their_own_the_same_for_all_arms() -> None:
    """A model's seed stays in the first round and changes in each later one; a model without one gets none."""
    seeded = ModelSpec("vllm/here", seed=5)
    arms = [
        arm("a", Asks(seeded.key), seeded),
        arm("b", Asks(seeded.key, seed=9), seeded),
        arm("c", Asks(THERE.key), THERE),
    ]
    models = {"vllm/here": Endpoint(same, concurrency=1), "vllm/there": Endpoint(same, "there")}
    compared(comparison(arms, 1, repeats=3), models)
    sent = [request.seed for request in models["vllm/here"].asked]
    assert set(sent[:2]) == {None, 9}
    assert None not in sent[2:]
    assert len(set(sent)) == 6
    assert {request.seed for request in models["vllm/there"].asked} == {None}


def test_repeats_on_the_embedded_model_differ() -> None:
    """It always has a seed, also where the file gives none."""
    local, model = ModelSpec("local/small"), Endpoint(same, "local", 1)
    compared(comparison([arm("a", Asks(local.key), local)], 1, repeats=3), {"local/small": model})
    assert len({request.seed for request in model.asked}) == 3


def test_an_arm_that_never_works_ends_a_comparison_where_others_do() -> None:
    """One endpoint may know one model and not another: its answers do not hide that."""
    wrong = ModelSpec("vllm/there")
    models = {"vllm/here": Endpoint(same, concurrency=1), "vllm/there": Endpoint(lambda *_: down("404"), concurrency=1)}
    arms = [arm("good", Asks(HERE.key), HERE), arm("bad", Asks(wrong.key), wrong)]
    result = compared(comparison(arms, 50), models)
    assert "'bad'" in result.stopped
    assert len(result.trials) < 20


def test_nothing_was_run_when_it_was_interrupted_while_preparing() -> None:
    """The report of no run at all can still be printed."""

    def open(_: ModelSpec) -> Any:
        raise asyncio.CancelledError

    result = asyncio.run(compare(comparison([arm("a", Asks(HERE.key), HERE)]), open=open))
    assert (result.trials, result.status) == ((), 130)
    assert to_json(result)
    assert render(result)


def test_a_scripted_model_begins_anew_with_each_run() -> None:
    """Its list of replies is that of one run, whatever else runs beside it."""
    scripted = ModelSpec("scripted", replies=["1"])
    result = asyncio.run(compare(comparison([arm("a", Asks(scripted.key), scripted)], 3), open=open_model))
    assert [trial.exit for trial in result.final] == ["success"] * 3
    assert sum(trial.right is True for trial in result.final) == 1


def test_the_budget_of_a_comparison_stops_it() -> None:
    """No new run is started once it is spent, and nothing is decided."""
    given = comparison([arm("a", Asks(HERE.key), HERE), arm("b", Says(str))], 10, limits=Limits(usd=0.003))
    result = compared(given, {"vllm/here": Endpoint(same, concurrency=1)})
    assert sum(trial.arm == "a" for trial in result.final) == 3
    assert "$0.003" in result.stopped
    assert result.verdict is None


def test_a_model_that_cannot_be_made_ready_ends_it_before_any_run() -> None:
    """The caller is told why: nothing was run, nothing was paid."""

    model = Endpoint(same)

    def open(spec: ModelSpec) -> Any:
        if spec == THERE:
            raise Unavailable("no weights")
        return model

    arms = [arm("a", Asks(HERE.key), HERE), arm("b", Asks(THERE.key), THERE)]
    with pytest.raises(Unavailable, match="no weights"):
        asyncio.run(compare(comparison(arms), open=open))
    assert not model.asked
    assert model.closed


def test_progress_counts_what_is_done_and_spent() -> None:
    """The watcher sees every trial once; the last figures are those of the result."""
    seen: list[Progress] = []

    def cost(question: str, n: int) -> Any:
        return reply(question)

    given = comparison([arm("a", Asks(HERE.key), HERE), arm("b", Says(str))], 5)
    result = compared(given, {"vllm/here": Endpoint(cost)}, watch=seen.append)
    told = [progress for progress in seen if progress.last is not None]
    assert [progress.last for progress in told] == list(result.trials)
    assert told[-1].done == {"a": 5, "b": 5}
    assert (told[-1].total, told[-1].phase) == (5, "running")
    assert told[-1].usd == pytest.approx(result.usd) == pytest.approx(0.005)


def test_nobody_asked_for_transcripts_so_none_are_kept() -> None:
    """Without `keep` a trial holds figures alone."""
    given = comparison([arm("a", Asks(HERE.key), HERE)], 2, tasks=tasks(2))
    kept, bare = (compared(given, {"vllm/here": Endpoint(same)}, keep=keep).trials[0] for keep in (True, False))
    assert b"assistant" in bytes(kept.transcript)
    assert [bytes(part) for part in (bare.transcript, bare.events, bare.calls, bare.answer)] == [b"null"] * 4


def test_a_run_that_says_it_was_cancelled_ends_no_other() -> None:
    """One of a log, or of an executor of one's own: it is counted apart, and the rest is run."""

    class Cancels:
        async def run(self, input: dict[str, Any], fx: Effects) -> Outcome:
            return Outcome(None, "cancelled") if int(input["question"]) % 2 else Outcome(input["question"])

    result = compared(comparison([arm("says", Says(str)), arm("cancels", Cancels())], 40))
    assert [len([one for one in result.trials if one.arm == name]) for name in ("says", "cancels")] == [40, 40]
    assert sum(one.exit == "cancelled" for one in result.trials) == 20
