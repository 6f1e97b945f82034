"""The natural order of texts."""

from __future__ import annotations

import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from loopworth.comparisons.natural_order import natural


@pytest.mark.parametrize(
    "texts",
    [
        ["1", "2", "10", "100"],
        ["a", "a-09", "a-9", "a-10", "b"],
        ["k1-02", "k1-10", "k2-01", "k10-1"],
        ["v1.2", "v1.10", "v2"],
        ["", "0", "7", "9" * 5_000, "1" + "0" * 5_000, "word", "\u0663"],
    ],
)
def test_numbers_in_texts_are_compared_by_size(texts: list[str]) -> None:
    """However long they are; and words as words."""
    mixed = random.Random(0).sample(texts, len(texts))
    assert sorted(mixed, key=natural) == texts


@given(st.lists(st.text("a0129-. ", max_size=6)))
@example(["9", "09"])
def test_there_is_one_order_of_any_texts(texts: list[str]) -> None:
    """Whatever order they come in: 09 and 9 are as large, and are still told apart."""
    other_way = texts[::-1]
    assert sorted(texts, key=natural) == sorted(other_way, key=natural)
