"""Repeats: an arm that is shown to do the same every time is not run again; one that may not is."""

from __future__ import annotations

import asyncio
import pathlib
from collections import Counter
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.comparisons.comparison import Comparison
from loopworth.comparisons.execution import compare
from loopworth.comparisons.keeper import Replayer, StoreKeeper
from loopworth.comparisons.repeats import Alike, samples
from loopworth.comparisons.report import report
from loopworth.comparisons.result import Result
from loopworth.comparisons.schedule import plan
from loopworth.comparisons.trial import tried
from loopworth.models import ModelSpec
from loopworth.runs.outcome import Outcome
from loopworth.runs.recording import Recording
from loopworth.runs.shelf import Shelf
from loopworth.runs.store import Store
from tests.comparisons.contenders import Asks, Endpoint, Says, arm, compared, comparison, down

COLD, WARM = ModelSpec("vllm/cold", temperature=0.0), ModelSpec("vllm/warm", temperature=0.7)
N, REPEATS = 6, 5


def asking(spec: ModelSpec, **changes: Any) -> Comparison:
    return comparison([arm("a", Asks(spec.key), spec), arm("b", Says(lambda _: "no"))], N, repeats=REPEATS, **changes)


def ran(given: Comparison, said: Any, spec: ModelSpec, **options: Any) -> tuple[Result, Endpoint]:
    model = Endpoint(said, concurrency=1)
    return compared(given, {spec.name: model}, **options), model


def made(result: Result, arm: str = "a") -> Counter[str]:
    return Counter(trial.task for trial in result.trials if trial.arm == arm)


def test_an_arm_that_does_the_same_is_not_run_again() -> None:
    """Three tasks in three runs each show it; what is planned up to there is made, and one run stands for all."""
    result, model = ran(asking(COLD), lambda q, _: q, COLD)
    assert len(model.asked) == N + N + 3
    assert result.whole
    assert result.status == 0
    assert result.verdict is not None
    assert (result.verdict.arms[0].n, result.verdict.arms[0].left_out) == (N, 0)
    found = report(result)
    assert [round(one.share, 3) for one in found.arms[0].passes] == [1.0] * REPEATS
    assert (found.arms[0].made, found.arms[0].planned) == (N + N + 3, N * REPEATS)
    assert any("later repeats were skipped" in warning for warning in found.warnings)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (WARM, lambda q, _: q),  # it samples: nine equal answers are no proof
        (ModelSpec("vllm/unsaid"), lambda q, _: q),
        (COLD, lambda q, n: q if n != N + 5 else "?"),  # one run of a task came out otherwise before it was shown
        (COLD, lambda q, n: down() if n == 2 else q),  # an endpoint that fails now and then is not the same
    ],
)
def test_an_arm_that_may_do_otherwise_is_run_as_often_as_planned(spec: ModelSpec, said: Any) -> None:
    """Every repeat is made."""
    result, _ = ran(asking(spec), said, spec)
    runs = Counter(trial.task for trial in result.final if trial.arm == "a")
    assert set(runs.values()) == {REPEATS}
    assert not any("skipped" in warning for warning in report(result).warnings if warning.startswith("a"))


def test_two_repeats_show_nothing() -> None:
    """It takes three runs of a task."""
    given = comparison([arm("a", Says(str)), arm("b", Says(lambda _: "no"))], N, repeats=2)
    assert set(made(compared(given)).values()) == {2}


def test_what_stops_early_skips_them_too() -> None:
    """There a task's repeats follow each other, so that three tasks have all, and the others one run."""
    given = asking(COLD, stop_early=True)
    result, _ = ran(given, lambda q, n: q if int(q) % 2 else "no", COLD)
    counts = list(made(result).values())
    assert counts[:3] == [REPEATS] * 2 + [3]
    assert set(counts[3:]) == {1}
    assert result.verdict is not None
    assert result.verdict.arms[0].left_out == 0


def test_a_comparison_that_goes_on_or_is_replayed_skips_what_was_skipped(tmp_path: pathlib.Path) -> None:
    """Nothing is asked again, nothing is missing, and all figures are as they were."""
    given, model = asking(COLD), Endpoint(lambda q, _: q, concurrency=1)
    store = Store(tmp_path / "runs.db")

    def once(keeper: Any) -> Result:
        return asyncio.run(compare(given, open=lambda _: model, keeper=keeper))

    first = once(StoreKeeper.anew(store, given))
    asked = len(model.asked)
    again = once(StoreKeeper.going_on(store, given, first.id, True))
    shelf: Shelf = store.shelf()
    kept = [Recording(one, shelf.records(one.id), shelf.outcome(one.id)) for one in shelf.trials(first.id)]
    replayed = once(Replayer(Recording(shelf.run(first.id)), kept))
    store.close()
    assert len(model.asked) == asked == N + N + 3
    assert again.whole
    assert replayed.whole
    assert first.verdict == again.verdict == replayed.verdict
    assert [one.digest for one in first.final] == [one.digest for one in replayed.final]


@given(st.permutations(range(N * 3)), st.lists(st.sampled_from("xy"), min_size=N * 3, max_size=N * 3))
def test_what_is_shown_depends_on_the_runs_and_not_on_when_they_end(ends: list[int], answers: list[str]) -> None:
    """Any order in which the same runs end shows the same."""
    given = comparison([arm("a", Says(str))], N, repeats=3)
    runs = [
        tried(planned, Outcome("z" if planned.task != "1" else answer), None)
        for planned, answer in zip(plan(given, ("a",), 3), answers, strict=True)
    ]
    runs = [msgspec.structs.replace(run, right=True) for run in runs]
    found = []
    for order in (range(N * 3), ends):
        alike = Alike(given)
        for place in order:
            alike.take(runs[place])
        found.append(alike.shown)
    assert found[0] == found[1]


def test_runs_that_say_nothing_of_their_arm_show_nothing() -> None:
    """An endpoint that is always down does the same every time; nor does its rerun count."""
    given = comparison([arm("a", Says(str))], 3, repeats=3)
    broken, whole = Alike(given), Alike(given)
    for planned in plan(given, ("a",), 3):
        broken.take(tried(planned, Outcome(None, "provider_error"), None))
        whole.take(msgspec.structs.replace(tried(planned, Outcome("x"), None, attempt=1), right=True))
    assert broken.shown == whole.shown == set()


def test_what_samples_is_told_by_its_temperature() -> None:
    """The embedded model is at 0 unless a file says otherwise; an endpoint's own temperature is not known."""
    assert not samples(ModelSpec("local/smollm2-135m"))
    assert samples(ModelSpec("local/smollm2-135m", temperature=0.5))
    assert samples(ModelSpec("local/smollm2-135m", extra={"temperature": 0.5}))
    assert not samples(ModelSpec("scripted", replies=["a"]))
    assert not samples(ModelSpec("local/minilm", labels={"a": ("b",)}))
    assert not samples(ModelSpec("openai/gpt", extra={"temperature": 0}))
    assert samples(ModelSpec("openai/gpt"))
