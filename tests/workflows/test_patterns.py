"""Texts that are made of a pattern: what the attacks call a user's tools with."""

from __future__ import annotations

import re
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.workflows.attacks.patterns import matching

PATTERNS = [
    r"ORD-\d{4}",
    r"[a-z]+@example\.com",
    r"(foo|bar)?x{2,3}",
    r"[^a-c]\S\W",
    r"^\w+$",
    r"(?:a|b)*?\s.",
    "ü",
    r"[A-Z]{2}\d{2}[ ]?(?:\d{4}[ ]?){4}\d{1,2}",
    r"(?P<year>20\d\d)-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])",
    r"[\w.+-]+@[\w-]+\.[\w.-]+",
    r"\+?[0-9]{1,3}-[0-9()+\-]{6,12}",
    r"[]a]{2}[^]]",
    r"\x41\u00e9\t\$\.",
    r"\bcase\B.\Z",
    r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    r"a{,3}b{2,}c++",
    r"[\d\-x]+|[^\x00-\x7f]?z",
    r"a||b",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_texts_match_a_pattern_as_a_whole(pattern: str) -> None:
    try:
        holds = re.compile(pattern).fullmatch
    except re.error:
        pytest.skip("this Python does not know it")
    found = matching(pattern)
    assert found
    assert all(holds(text) for text in found)


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a)\1(?<!a)b",
        "(",
        r"(?=x)y",
        "(?i)a",
        r"(?P<n>a)(?P=n)",
        "a{5000}",
        "((a{900}){900}){900}",
        "[",
        "\\",
        "[^\\W\\w]",
        "(a)" * 400 + ")",
    ],
)
def test_a_pattern_that_is_not_understood_gives_nothing(pattern: str) -> None:
    assert matching(pattern) == []


@given(st.text(alphabet=r"ab1|()[]{}^$.*+?\dsw-,x2 ", max_size=12))
def test_whatever_is_written_there_what_comes_of_it_fits(pattern: str) -> None:
    """A pattern of a user never ends in an error of ours, and nothing that it does not match is tried."""
    found = matching(pattern, whole=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert all(re.search(pattern, text) for text in found)
