"""Wording: only what an option names may differ between two texts."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.comparisons.wording import Wording

LOOSE = {"case": "ignore", "space": "ignore", "unicode": "nfkc", "punctuation": "ignore"}


@pytest.mark.parametrize(
    ("options", "one", "other"),
    [
        ({"case": "ignore"}, "STRASSE", "straße"),
        ({"space": "ignore"}, " a\t\nb ", "a b"),
        ({"unicode": "nfc"}, "caf\u00e9", "cafe\u0301"),
        ({"unicode": "nfkc"}, "\uff21\ufb01", "Afi"),
        ({"punctuation": "end"}, "Paris. ", "Paris"),
        ({"punctuation": "ignore"}, "\u201cParis\u201d, France!", "Paris France"),
    ],
)
def test_an_option_frees_what_it_names(options: dict[str, Any], one: str, other: str) -> None:
    """Two texts that differ in it alone are one under it, and two without it."""
    assert Wording(**options).folded(one) == Wording(**options).folded(other)
    assert Wording().folded(one) != Wording().folded(other)


@pytest.mark.parametrize("pair", [("3.10", "310"), ("-5", "5"), (".5", "5"), ("60%", "60"), ("1,234", "1234")])
def test_ignored_punctuation_makes_no_number_another(pair: tuple[str, str]) -> None:
    """Marks in and before a number stay, and so does a percent sign."""
    assert len({Wording(punctuation="ignore").folded(text) for text in pair}) == 2


@given(st.text(max_size=30))
def test_folding_is_done_at_once(text: str) -> None:
    """A folded text stays as it is, and composing first changes nothing."""
    wording = Wording(case="ignore", space="ignore", unicode="nfc")
    assert wording.folded(wording.folded(text)) == wording.folded(text)
    assert wording.folded(unicodedata.normalize("NFD", text)) == wording.folded(text)
