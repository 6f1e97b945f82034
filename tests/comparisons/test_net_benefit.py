"""What answers are worth in money."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.comparisons.net_benefit import break_even_gain, net_benefit

MONEY = st.floats(0.01, 10)


@given(MONEY, MONEY, MONEY, st.floats(0, 60), st.floats(0, 0.1), st.floats(0, 1))
def test_at_the_break_even_gain_two_arms_are_worth_the_same(
    value: float, wrong: float, money: float, seconds: float, second: float, accuracy: float
) -> None:
    """The dearer arm that gains just this much has the net benefit of the other."""
    gain = break_even_gain(money, seconds, second, value, wrong)
    assert gain is not None
    cheap = net_benefit(value, wrong, accuracy, 0, 0, second)
    assert net_benefit(value, wrong, accuracy + gain, money, seconds, second) == pytest.approx(cheap, abs=1e-6)


def test_an_answer_worth_nothing_has_no_break_even() -> None:
    """None, not a division by zero."""
    assert break_even_gain(1.0, 0, 0, 0, 0) is None
