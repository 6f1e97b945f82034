"""pass^k: right every time."""

from __future__ import annotations

from itertools import combinations
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.comparisons.reliability import pass_hat_k


@given(st.lists(st.integers(0, 5), min_size=1, max_size=6), st.integers(1, 5))
def test_it_is_the_share_of_subsets_that_are_all_right(correct: list[int], k: int) -> None:
    """By enumeration of every way to pick k of 5 runs."""
    runs = [[i < right for i in range(5)] for right in correct]
    expected = fmean(fmean(all(some) for some in combinations(task, k)) for task in runs)
    assert pass_hat_k(correct, 5, k) == pytest.approx(expected)


def test_more_runs_than_were_made_are_refused() -> None:
    """None, and the same without a task."""
    assert pass_hat_k([2, 1], 2, 3) is None
    assert pass_hat_k([], 2, 1) is None
