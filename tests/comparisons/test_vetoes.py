"""Limits on cost, latency and harm."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.comparisons.intervals import event_upper
from loopworth.comparisons.vetoes import clean_runs, cost_veto, harm_veto, latency_veto, saving

TASKS = [str(i) for i in range(100)]
DEAR = {task: 0.10 + 0.01 * (i % 3) for i, task in enumerate(TASKS)}
CHEAP = dict.fromkeys(TASKS, 0.01)
FREE = dict.fromkeys(TASKS, 0.0)


@pytest.mark.parametrize(("cap", "token"), [(5, "over_budget"), (11, "undecided"), (12, None)])
def test_a_cost_ratio_is_over_under_or_not_settled(cap: float, token: str | None) -> None:
    """Eleven times as dear, give or take: over 5, under 12, and 11 lies within the interval."""
    veto = cost_veto(DEAR, CHEAP, cap, 0.05)
    assert (veto and veto.token) == token


def test_no_ratio_is_formed_over_an_arm_that_cost_nothing() -> None:
    """The cap then says so; it holds where neither was billed."""
    veto = cost_veto(DEAR, FREE, 5, 0.05)
    assert veto
    assert veto.token == "undecided"
    assert "cost nothing" in veto.words
    assert cost_veto(FREE, FREE, 5, 0.05) is None
    assert cost_veto(FREE, CHEAP, 5, 0.05) is None


def test_an_unknown_cost_settles_nothing() -> None:
    """One unknown task is enough, and so is no task."""
    veto = cost_veto({**DEAR, "0": None}, CHEAP, 5, 0.05)
    assert veto
    assert (veto.token, "unknown" in veto.words) == ("undecided", True)
    assert cost_veto({}, {}, 5, 0.05) == veto


@pytest.mark.parametrize(("cap", "token"), [(50, "over_budget"), (96, "undecided"), (100, None)])
def test_the_tail_of_latency_is_over_under_or_not_settled(cap: float, token: str | None) -> None:
    """100 runs of 0 to 99 seconds."""
    veto = latency_veto([float(i) for i in range(100)], cap, 0.05)
    assert (veto and veto.token) == token


def test_25_runs_cannot_show_that_a_tail_keeps_its_cap() -> None:
    """However fast they were; without a run there is nothing to check."""
    veto = latency_veto([0.1] * 25, 20, 0.05)
    assert veto
    assert "no upper limit at n = 25: max_p95 takes 59 tasks" in veto.words
    assert latency_veto([], 20, 0.05) is not None


def test_safety_takes_enough_clean_runs() -> None:
    """299 of them for 1 %, fewer do not; one case of harm asks for more."""
    assert harm_veto([False] * 299, 0.01, 0.05) is None
    veto = harm_veto([False] * 200, 0.01, 0.05)
    assert veto
    assert veto.token == "not_shown_safe"
    assert "99 more clean runs" in veto.words
    assert harm_veto([True] + [False] * 299, 0.01, 0.05) is not None


@given(st.integers(0, 3), st.integers(0, 200), st.sampled_from([0.02, 0.1, 0.3]))
def test_the_clean_runs_asked_for_are_the_fewest(k: int, clean: int, cap: float) -> None:
    """That many bring the upper limit under the cap, one fewer does not."""
    n = k + clean
    if event_upper(k, n) >= cap:
        more = clean_runs(k, n, cap, 0.05)
        assert event_upper(k, n + more) < cap <= event_upper(k, n + more - 1)


def test_a_saving_must_be_shown() -> None:
    """Cheaper on every task is; on the mean, with half the tasks dearer, is not; nor unknown, nor over nothing."""
    assert saving(CHEAP, DEAR, 0.05) is not None
    mixed = {task: 0.01 if i % 2 else 0.20 for i, task in enumerate(TASKS)}
    assert sum(mixed.values()) < sum(DEAR.values())
    assert saving(mixed, DEAR, 0.05) is None
    assert saving({**CHEAP, "0": None}, DEAR, 0.05) is None
    assert saving(FREE, FREE, 0.05) is None
