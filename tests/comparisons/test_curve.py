"""Accuracy against `group_by`: the trend, one accuracy per step, and what cannot be said."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.comparisons.curve import Point, curve, likeliest

NATIVE = [Point("1", 25, 25), Point("2", 24, 25), Point("3", 20, 25), Point("4", 17, 25), Point("5", 10, 25)]


def test_the_reference_experiment_falls_faster_than_a_chain_of_equal_steps() -> None:
    """Per-step accuracy .980, .928, .908, .833 for k = 2 to 5; the trend is shown, and p^k is ruled out."""
    found = curve("native", "k", NATIVE)
    assert [round(point.per_step or 0, 3) for point in found.points] == [1.0, 0.98, 0.928, 0.908, 0.833]
    assert found.trend is not None
    assert found.trend.z < -5
    assert found.fit is not None
    assert found.fit.p_value is not None
    assert found.fit.p_value < 0.05
    assert "accuracy falls with k" in found.words


@given(st.floats(0.05, 0.99), st.integers(1, 9))
def test_the_fit_finds_the_step_that_made_the_curve(p: float, least: int) -> None:
    """On the exact shares of a chain its accuracy per step comes back."""
    k = [float(least), least + 1.0, least + 4.0]
    assert likeliest([100 * p**level for level in k], [100] * 3, k) == pytest.approx(p, abs=1e-6)


def test_a_chain_of_equal_steps_is_not_ruled_out() -> None:
    """.9^k to the nearest task is described by one accuracy per step."""
    points = [Point(str(k), round(100 * 0.9**k), 100) for k in range(1, 6)]
    fit = curve("a", "k", points).fit
    assert fit is not None
    assert fit.p == pytest.approx(0.9, abs=0.005)
    assert fit.p_value is not None
    assert fit.p_value > 0.9


@pytest.mark.parametrize(
    ("points", "said"),
    [
        ([], "no level was run"),
        ([Point("3", 0, 0)], "no level was run"),
        ([Point("3", 2, 5)], "only one level of k was run: there is no curve"),
        ([Point("low", 2, 5), Point("high", 1, 5)], "the levels of k are no numbers"),
        ([Point("1", 2, 5), Point("nan", 1, 5)], "the levels of k are no numbers"),
        ([Point("1", 5, 5), Point("2", 5, 5)], "every answer is right at every level of k"),
        ([Point("1", 0, 5), Point("2", 0, 5)], "every answer is wrong at every level of k"),
        ([Point("0", 4, 5), Point("1", 2, 5)], "no trend with k is shown"),
        ([Point("-1", 4, 5), Point("2", 2, 5)], "no trend with k is shown"),
    ],
)
def test_what_is_no_curve_gets_a_sentence(points: list[Point], said: str) -> None:
    """One level, words, all alike, a level of 0: nothing raises, and no number is made up."""
    found = curve("a", "k", points)
    assert said in found.words
    assert "nan" not in found.words
    assert all(point.per_step is None or 0 <= point.per_step <= 1 for point in found.points)
