"""Cost ratios: scale-free, mirrored, and not formed over nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.comparisons.ratios import cost_per_correct, cost_per_correct_ratio, ratio_of_means, ratio_of_means_bca

AMOUNTS = st.lists(st.tuples(st.floats(0.01, 100), st.floats(0.01, 100)), min_size=2, max_size=40)


@given(AMOUNTS)
def test_the_ratio_the_other_way_is_its_inverse(amounts: list[tuple[float, float]]) -> None:
    """So are its limits, and the ratio lies between them."""
    a, p = [x for x, _ in amounts], [y for _, y in amounts]
    there, back = ratio_of_means(a, p), ratio_of_means(p, a)
    assert there
    assert back
    assert there.interval[0] <= there.ratio <= there.interval[1]
    assert (1 / back.interval[1], 1 / back.interval[0]) == pytest.approx(there.interval)


def test_no_ratio_is_formed_over_nothing() -> None:
    """One pair is too few, and an arm that cost 0 has no ratio."""
    assert ratio_of_means([1.0], [2.0]) is None
    assert ratio_of_means([1.0, 2.0], [0.0, 0.0]) is None
    assert ratio_of_means([], []) is None


def test_cost_per_correct_answer_needs_one() -> None:
    """Without a correct answer there is none: not 0 and not infinite."""
    assert cost_per_correct(1.5, 3) == 0.5
    assert cost_per_correct(1.5, 0) is None
    assert cost_per_correct_ratio(1.0, 2, 1.0, 0) is None
    assert cost_per_correct_ratio(1.0, 2, 0.0, 5) is None


def test_a_bootstrap_of_what_never_varies_is_a_point() -> None:
    """No resample differs: the ratio itself, and no warning."""
    assert ratio_of_means_bca([2.0, 4.0], [1.0, 2.0]) == (2.0, 2.0)


@pytest.mark.parametrize(
    ("numerator", "denominator"),
    [([], []), ([1.0], [2.0]), ([1.0, 2.0], [0.0, 0.0]), ([0.0, 0.0, 0.0], [1.0, 2.0, 1.0]), ([1, 2, 3], [0, 1, 0])],
)
def test_a_bootstrap_of_nothing_has_no_interval(numerator: list[float], denominator: list[float]) -> None:
    """As without it, and where a resample may hold nothing but zeros: no warning, no infinity."""
    assert ratio_of_means_bca(numerator, denominator) is None
