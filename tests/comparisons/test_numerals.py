"""Numbers in text: what is one, what is none, and that looking takes no time."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.comparisons.numerals import Notation, number_in

PLAIN = Notation()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("36", "36"),
        ("Begin with 9*4.\n36", "36"),
        ("9 * 4 = 36", "36"),
        ("The answer is **36**.", "36"),
        ("\\boxed{36}", "36"),
        ("Step 3: 36", "36"),
        ("1. 36 days", "36"),
        ("12, 36", "36"),
        ("```\n36\n```", "36"),
        ("36 (12 + 24)", "36"),
        ("1,234", "1234"),
        ("1 234", "1234"),
        ("1\u202f234.5", "1234.5"),
        ("$1,234", "1234"),
        ("-$5", "-5"),
        ("\u22125", "-5"),
        (".5", "0.5"),
        ("1e3", "1000"),
        ("\u20115", "-5"),
        ("\u20135 \u00b0C", "-5"),
        ("\u20bf5", "5"),
        ("1.234 \u20bd", "1.234"),
        ("14kg", "14"),
    ],
)
def test_the_last_number_of_the_last_line_is_found(text: str, value: str) -> None:
    """With its sign, its groups of three and whatever stands around it."""
    found = number_in(text, PLAIN)
    assert found
    assert found.value == Fraction(value)


WORDS = ["", "none", "ZRG-14", "x2", "0x1F", "5km2", "1e4000", "True", "9" * 401, "36\nI am not sure."]
EXPRESSIONS = [
    "5/0",
    "9^9^9^9^9",
    "9**9",
    "12 + 24",
    "10-12",
    "2024-01-05",
    "12:30",
    "10\u201112",
    "1.2.3",
    "1,2,3",
    "1,2345",
]


@pytest.mark.parametrize("text", [*WORDS, *EXPRESSIONS])
def test_an_expression_a_date_or_a_code_is_no_number(text: str) -> None:
    """Nothing is worked out, and no part of a word or of another line is taken for the answer."""
    assert number_in(text, PLAIN) is None


@pytest.mark.parametrize("value", [True, False, None, float("nan"), float("inf"), [1], {"a": 1}])
def test_truth_values_and_what_has_no_size_are_no_numbers(value: object) -> None:
    """`true` is not 1."""
    assert number_in(value, PLAIN) is None
    assert number_in(10**5000, PLAIN) is None


def test_options_say_how_numbers_are_written() -> None:
    """Groups refused, a decimal comma, signs of currency refused."""
    assert number_in("1,234", Notation(thousands="refuse")) is None
    comma = number_in("1.234,5", Notation(decimal="comma"))
    assert comma
    assert comma.value == Fraction("1234.5")
    assert number_in("$5", Notation(currency="refuse")) is None


@given(st.integers(-(10**12), 10**12), st.integers(0, 99))
def test_a_number_is_read_as_it_is_written(whole: int, cents: int) -> None:
    """With and without groups, to the last digit."""
    exact = Fraction(f"{whole}.{cents:02}")
    for text in (f"{whole}.{cents:02}", f"{whole:,}.{cents:02}", f"It is {whole:_}.{cents:02}!"):
        found = number_in(text, PLAIN)
        assert found
        assert found.value == exact


GROUPS = [",", " ", "'", "\u2019", "_", "\u00a0", "\u2009", "\u202f"]


@given(
    st.integers(-(10**15), 10**15),
    st.integers(0, 999),
    st.sampled_from(["", *GROUPS]),
    st.sampled_from(["-", "\u2212", "\u2011", "\u2013"]),
    st.sampled_from([("", ""), ("$", ""), ("\u20ac ", ""), ("", " \u20ac"), ("", "%"), ("", " percent"), ("", " km")]),
    st.booleans(),
)
def test_a_number_is_read_back_in_every_documented_form(
    whole: int, part: int, group: str, minus: str, around: tuple[str, str], comma: bool
) -> None:
    """Groups, minus signs, currency, percent and either decimal mark."""
    digits = f"{abs(whole):,}".replace(",", "." if comma and group == "," else group)
    sign = minus if whole < 0 else ""
    text = f"It is {sign}{around[0]}{digits}{',' if comma else '.'}{part:03}{around[1]}"
    found = number_in(text, Notation(decimal="comma" if comma else "point"))
    assert found
    assert found.value == (-1 if whole < 0 else 1) * Fraction(f"{abs(whole)}.{part:03}")
    assert found.percent is (around[1] in ("%", " percent"))


@pytest.mark.parametrize("part", ["9", "1,", "1 ", "-", "1+", ")", "1\n", "_1", "1,111", "$ ", "1e"])
def test_no_text_takes_long(part: str) -> None:
    """A million characters of anything, well within a second."""
    began = time.process_time()
    number_in(part * (1_000_000 // len(part)), PLAIN)
    assert time.process_time() - began < 1
