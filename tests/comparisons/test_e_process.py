"""The e-process: one evidence however it is computed, and rarely large where there is nothing to find."""

from __future__ import annotations

import random
from math import inf, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.comparisons.e_process import conf_seq, log_e, log_e_counts, n_more

OUTCOMES = st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=1, max_size=80)


@given(OUTCOMES, st.floats(-0.9, 0.9))
def test_the_counts_say_all_of_whole_outcomes(x: list[float], margin: float) -> None:
    """The closed form is the product over the sequence, in any order."""
    found = log_e_counts(x.count(1), x.count(-1), len(x), margin)
    assert found == pytest.approx(log_e(x, margin, -1.0), abs=1e-9)
    assert log_e(sorted(x), margin, -1.0) == pytest.approx(found, abs=1e-9)


@given(OUTCOMES, st.floats(-0.9, 0.8))
def test_a_larger_margin_is_harder_to_beat(x: list[float], margin: float) -> None:
    """The evidence falls as the margin rises, so that it can be turned into an interval."""
    assert log_e(x, margin + 0.1, -1.0) <= log_e(x, margin, -1.0) + 1e-12


def test_evidence_reaches_1_over_alpha_rarely_under_the_hypothesis() -> None:
    """Looked at after each of 100 pairs with a true gain of 0, at most 5 % of 100 runs ever pass log 20."""
    draw = random.Random(5)
    passed = 0
    for _ in range(100):
        b = c = 0
        for n in range(1, 101):
            u = draw.random()
            b, c = b + (u < 0.1), c + (0.1 <= u < 0.2)
            if log_e_counts(b, c, n, 0.0) >= log(20):
                passed += 1
                break
    assert passed <= 5


@given(st.integers(1, 200), st.data())
def test_the_confidence_sequence_holds_the_difference_and_mirrors(n: int, data: st.DataObject) -> None:
    """And the margins at its ends are just ruled out."""
    b = data.draw(st.integers(0, n))
    c = data.draw(st.integers(0, n - b))
    lower, upper = conf_seq(b, c, n, 0.05) or (1, 0)
    assert -1 <= lower <= (b - c) / n <= upper <= 1
    assert conf_seq(c, b, n, 0.05) == pytest.approx((-upper, -lower), abs=1e-9)
    assert lower == -1 or log_e_counts(b, c, n, lower) == pytest.approx(log(20), abs=1e-6)


@given(st.integers(1, 15), st.data())
def test_the_forecast_is_the_first_number_that_decides(n: int, data: st.DataObject) -> None:
    """Bisection finds what a search one by one finds."""
    b = data.draw(st.integers(0, n))
    c = data.draw(st.integers(0, n - b))

    def decided(more: int) -> bool:
        s = (n + more) / n
        sides = ((b, c, 0.1), (c, b, 0.0), (c, b, -0.1))
        return any(log_e_counts(x * s, y * s, n + more, m) >= log(20) for x, y, m in sides)

    assert n_more(b, c, n, 0.1, 0.05) == next((m for m in range(1, 10 * n + 1) if decided(m)), None)


def test_odd_input_is_refused_or_has_a_limit() -> None:
    """A value that is no number or under its bound is an error; no pair has no interval and no forecast."""
    with pytest.raises(ValueError, match="number of -1"):
        log_e([float("nan")], 0.0, -1.0)
    with pytest.raises(ValueError, match="number of -1"):
        log_e([-2.0], 0.0, -1.0)
    assert log_e([0.0], -1.0, -1.0) == log_e_counts(0, 0, 1, -1.0) == inf
    assert log_e([-1.0], -1.0, -1.0) == log_e_counts(0, 1, 1, -1.0) == 0.0
    assert conf_seq(0, 0, 0, 0.05) is None
    assert n_more(0, 0, 0, 0.1, 0.05) is None
