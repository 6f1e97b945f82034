"""Decay over k: the reference experiment's figures, and no trend where there can be none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.comparisons.decay import chain, cochran_armitage, cumulative_turns, logit_slope, per_step


def test_the_reference_experiments_steps_come_out() -> None:
    """Accuracy .96, .80, .68, .40 at k = 2..5 is .980, .928, .908, .833 a step; ten turns cost 55."""
    steps = [per_step(accuracy, k) for accuracy, k in ((0.96, 2), (0.80, 3), (0.68, 4), (0.40, 5))]
    assert [round(step, 3) for step in steps] == [0.980, 0.928, 0.908, 0.833]
    assert cumulative_turns(10) == 55


@given(st.floats(0.01, 1), st.integers(1, 12))
def test_a_chain_of_steps_is_the_whole(accuracy: float, k: int) -> None:
    """`chain` undoes `per_step`."""
    assert chain(per_step(accuracy, k), k) == pytest.approx(accuracy)


def test_nothing_trends_over_one_level_or_equal_answers() -> None:
    """None, never a division by zero."""
    assert cochran_armitage([5], [10], [1]) is None
    assert cochran_armitage([10, 10], [10, 10], [1, 2]) is None
    assert cochran_armitage([0, 0], [10, 10], [1, 2]) is None
    assert cochran_armitage([], [], []) is None


def test_a_slope_without_a_limit_is_none() -> None:
    """All right at low k and all wrong at high k: the likelihood has no maximum."""
    assert logit_slope([10, 0], [10, 10], [1, 2]) is None
    assert logit_slope([10, 5, 0], [10, 10, 10], [1, 2, 3]) is None
    assert logit_slope([9, 1], [10, 10], [1, 2]) is not None


def test_a_trend_turns_with_its_levels() -> None:
    """Reversing the levels turns the sign and leaves p."""
    there, back = cochran_armitage([9, 5, 2], [10] * 3, [1, 2, 3]), cochran_armitage([2, 5, 9], [10] * 3, [1, 2, 3])
    assert there
    assert back
    assert there.z == pytest.approx(-back.z)
    assert there.p == pytest.approx(back.p)
