"""A text that goes round."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from loopworth.runs.going_round import endless


@settings(deadline=None)
@given(
    st.text("ab", max_size=30), st.text("ab", min_size=1, max_size=4), st.integers(6, 10), st.text("ab", max_size=90)
)
def test_a_reply_goes_round_that_says_the_same_eight_times(before: str, unit: str, times: int, after: str) -> None:
    """As a pattern has it, which on a long text would try every place and length against each other."""
    text = before + unit * times + after
    assert bool(endless(text)) is (re.search(r"(.{1,80}?)\1{7,}.{0,80}\Z", text) is not None)
