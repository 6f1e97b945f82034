"""What a misspelt word was meant to be: near enough to help, and no further."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.runs.spelling import distance, misspelt, nearest

TOOLS = ["run_command", "read_file", "search_docs"]


@pytest.mark.parametrize("written", ["Read_File", "readFile", "read-file", "read file", "READFILE", "read_fil"])
def test_the_nearest_name_is_found_whatever_the_case_and_the_separators(written: str) -> None:
    """Case, `-`, `_` and spaces are what models change most."""
    assert nearest(written, TOOLS) == "read_file"


@pytest.mark.parametrize(("written", "meant"), [("read", "read_file"), ("search", "search_docs"), ("r", None)])
def test_a_word_means_the_only_one_that_it_begins(written: str, meant: str | None) -> None:
    """Of two that begin so neither is meant."""
    assert nearest(written, TOOLS) == meant
    assert nearest("read", ["read_the_file", "read_a_folder"]) is None


@pytest.mark.parametrize("word", ["shell_exec", "", "___", "x" * 100_000])
def test_nothing_is_near_a_word_that_means_something_else(word: str) -> None:
    """A far guess would mislead more than it helps."""
    assert nearest(word, ["run_command", "read_file"]) is None
    assert nearest(word, []) is None


def test_a_slip_of_the_hand_is_less_than_a_likeness() -> None:
    """Of all words of a language one is always like another; what is swapped, dropped or added is the same word."""
    assert misspelt("truns", ["turns", "times"]) == "turns"
    assert (nearest("max_rounds_x", ["max_rounds"]), misspelt("rounds", ["max_rounds"])) == ("max_rounds", None)


@given(st.text(max_size=8), st.text(max_size=8), st.text(max_size=8))
def test_a_distance_is_symmetric_and_none_only_of_equals(a: str, b: str, c: str) -> None:
    """And no longer than the longer of the two."""
    assert distance(a, b) == distance(b, a) <= max(len(a), len(b))
    assert (distance(a, b) == 0) == (a == b)
    assert distance(a + c, b + c) <= distance(a, b)
