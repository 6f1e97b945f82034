"""The exact paired test: it is symmetric, orders outcomes sensibly, and is never wrong more often than it says."""

from __future__ import annotations

import time
from math import comb, erfc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.comparisons.intervals import score
from loopworth.comparisons.paired_test import exact_p, mcnemar_exact, mcnemar_midp, scores, tail, tail_chances

MARGINS = st.sampled_from([-0.3, -0.1, -0.05, 0.0, 0.05, 0.1, 0.3])


@st.composite
def counts(draw: st.DrawFn, most: int = 40) -> tuple[int, int, int]:
    """(b, c, n) of paired tasks."""
    n = draw(st.integers(1, most))
    b = draw(st.integers(0, n))
    return b, draw(st.integers(0, n - b)), n


@given(counts(), MARGINS)
def test_p_is_a_probability_that_no_rate_of_loss_exceeds(found: tuple[int, int, int], margin: float) -> None:
    """A grid forty times as fine finds no larger tail."""
    b, c, n = found
    p = exact_p(b, c, n, margin)
    points = np.linspace(max(0.0, -margin), (1 - margin) / 2, 3201)
    assert 0 <= p <= 1
    assert tail_chances(tail(b, c, n, margin), n, margin, points).max() <= p + 1e-6


@given(counts(), MARGINS)
def test_the_tail_is_every_outcome_at_least_as_extreme(found: tuple[int, int, int], margin: float) -> None:
    """Bisection finds the outcomes that a full scan finds."""
    b, c, n = found
    gains, losses = np.arange(n + 1)[:, None], np.arange(n + 1)[None, :]
    seen = scores(np.array(b), np.array(c), n, margin)
    inside = (scores(gains, losses, n, margin) >= seen - 1e-9) & (gains + losses <= n)
    assert (inside.sum(axis=1) == tail(b, c, n, margin) + 1).all()


@given(counts(), MARGINS)
def test_one_more_gain_is_never_weaker_evidence(found: tuple[int, int, int], margin: float) -> None:
    """p falls when a tie becomes a gain, and rises when a tie becomes a loss."""
    b, c, n = found
    if b + c < n:
        assert exact_p(b + 1, c, n, margin) <= exact_p(b, c, n, margin) + 1e-9
        assert exact_p(b, c + 1, n, margin) >= exact_p(b, c, n, margin) - 1e-9


@pytest.mark.parametrize("margin", [-0.1, 0.0, 0.1])
@pytest.mark.parametrize("alpha", [0.05, 0.05 / 3])
def test_the_chance_of_a_wrong_rejection_never_exceeds_alpha(margin: float, alpha: float) -> None:
    """By enumeration of every outcome of 15 pairs, over the rates of loss at the margin and below it."""
    n = 15
    ways = np.array([[comb(n, b) * comb(n - b, c) if b + c <= n else 0 for c in range(n + 1)] for b in range(n + 1)])
    reject = np.array([[b + c <= n and exact_p(b, c, n, margin) <= alpha for c in range(n + 1)] for b in range(n + 1)])
    b, c = np.arange(n + 1)[:, None], np.arange(n + 1)[None, :]
    for true in (margin, margin - 0.1):
        for loss in np.linspace(max(0.0, -true), (1 - true) / 2, 150):
            chance = ways * (loss + true) ** b * loss**c * max(1 - 2 * loss - true, 0.0) ** np.maximum(n - b - c, 0)
            assert chance[reject].sum() <= alpha


@given(counts(), MARGINS)
def test_outcomes_are_ordered_by_tangos_score(found: tuple[int, int, int], margin: float) -> None:
    """The vectorised statistic is that of the interval."""
    b, c, n = found
    assert scores(np.array(b), np.array(c), n, margin) == pytest.approx(score(b, c, n, margin), abs=1e-9)


def test_ties_alone_are_no_evidence_of_a_gain() -> None:
    """30 ties: p = 1 against no gain, and a gain of 0.1 is ruled out as (1 - 0.1)^30 says."""
    assert exact_p(0, 0, 30, 0.0) == pytest.approx(1.0)
    assert exact_p(0, 0, 30, -0.1) == pytest.approx(0.9**30)
    assert mcnemar_exact(0, 0) == mcnemar_midp(0, 0) == 1.0


@pytest.mark.parametrize("b", [1100, 50_000])
def test_many_pairs_have_a_p_as_few_do(b: int) -> None:
    """Counts beyond what a float's powers hold; checked against the normal limit."""
    c = b - round(2 * (2 * b) ** 0.5)
    exact, mid = mcnemar_exact(b, c), mcnemar_midp(b, c)
    assert mid < exact
    assert mid == pytest.approx(erfc((b - c) / (b + c) ** 0.5 / 2**0.5), rel=0.01)


def test_no_pair_and_impossible_margins_have_an_answer() -> None:
    """Without a pair nothing is ruled out; no gain exceeds 1, and every gain exceeds less than -1."""
    assert exact_p(0, 0, 0, 0.1) == 1.0
    assert exact_p(5, 0, 5, 1.0) == 1.0
    assert exact_p(0, 5, 5, -1.2) == 0.0


def test_a_thousand_pairs_take_well_under_five_seconds() -> None:
    """The final look is 3 tests and some 15 more for the switch points."""
    began = time.process_time()
    exact_p(321, 123, 1000, 0.0987)
    assert time.process_time() - began < 1
