"""What text from outside may do where it is shown: be read, and nothing else."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.comparisons.figures import shown
from loopworth.runs.characters import safe, safe_json
from loopworth.runs.joiners import PLACED

NON_JOINER, JOINER = "\u200c", "\u200d"
JOINED = {
    "a family": "👨\u200d👩\u200d👧\u200d👦",
    "a tone of skin": "👩🏽\u200d💻 🧑🏻\u200d🤝\u200d🧑🏿",
    "a form that is selected": "❤\ufe0f\u200d🔥 🏳\ufe0f\u200d🌈 🙂\u200d↔\ufe0f 1\ufe0f⃣ ☀\ufe0f",
    "Persian": "می\u200cخواهم، کتاب\u200cها",  # noqa: RUF001 - letters of Arabic script
    "Persian with vowels": "بِه\u200cتَر",
    "Hindi": "क्\u200dष क्\u200cष",
    "Bengali": "র\u200d্যাব",
    "Sinhala": "ශ්\u200dරී ලංකා",
    "Kannada": "ಸಾಫ್ಟ್\u200cವೇರ್",
    "Malayalam": "അവന്\u200d പോയി",
    "an ideograph of a name": "葛\U000e0100城",
}


@pytest.mark.parametrize("text", JOINED.values(), ids=JOINED)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    """What joins emoji or letters, and what selects a form, is part of it: on a page, in JSON, in a table."""
    assert PLACED & set(text)
    assert safe(text) == text
    assert safe_json(text) == f'"{text}"'
    assert shown(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "pay{}pal", "{}", "a{}", "{}a", "1{}2", "\u05d0{}\u05d1", "\u0645{}", "{}\u0645", "\u0645{} \u0645",
        "\u0645{}{}\u0645",
        "\u062f{}\u0631", "\u0915{}\u0937", "\u0915\u094d{}{}\u0937", "x\u094d{}x", "\u0915\u094d{}\u0301a",
        "👨{}", "{}👨", "👨{}{}👩", "👨{}a", "a{}👩", "👨\n{}👩", "👨\u202e{}👩",
    ],
)  # fmt: skip
@pytest.mark.parametrize("sign", [NON_JOINER, JOINER, "\ufe0f", "\U000e0100"])
def test_what_joins_nothing_is_spelled_out(text: str, sign: str) -> None:
    """Between Latin letters, at an end, twice, beside what Unicode does not let join: nobody would see it."""
    made = safe(text.format(*[sign] * text.count("{}")))
    assert sign not in made.replace("👨\ufe0f", "👨")  # which selects a form


@pytest.mark.parametrize(
    "sign", ["\x1b", "\u202e", "\u2066", "\u200b", "\u00ad", "\u3164", "\U000e0041", "\ue000", "\u2028"]
)
def test_no_place_makes_text_of_what_is_obeyed_or_hides(sign: str) -> None:
    """Marks that turn a line, escapes, blanks that are letters: also among letters and emoji that join."""
    for text in JOINED.values():
        for at in range(len(text) + 1):
            assert sign not in safe(f"{text[:at]}{sign}{text[at:]}")


SIGNS = "a1 \n\u0645\u062f\u064e\u0915\u094d\u0937\u093f\u09cd👨👩🏽❤\ufe0f\u200c\u200d\u202e\x1b葛\U000e0100\u3164é"


@given(st.text(st.sampled_from(SIGNS), max_size=12) | st.text(max_size=30))
def test_a_joiner_stays_between_two_that_join_and_in_no_other_place(text: str) -> None:
    """Whatever stands around: nothing that is shown is obeyed, or hides; and it is shown once more as it is."""
    made = safe(text)
    assert safe(made) == made
    for at, sign in enumerate(made):
        if sign in (NON_JOINER, JOINER):
            before, after = made[:at][-1:], made[at + 1 :][:1]
            assert unicodedata.category(before or " ")[0] in "LSM"
            assert not before.isascii()
            assert not {before, after} & {NON_JOINER, JOINER}
            assert sign == JOINER or not after.isascii()
        else:
            assert sign == "\n" or unicodedata.category(sign) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    assert json.loads(safe_json(text)) == text


@given(st.sampled_from(sorted(JOINED.values())), st.integers(0, 40))
def test_a_line_that_is_cut_ends_with_no_joiner(text: str, most: int) -> None:
    """What joined has then nothing to join."""
    made = shown(text * 3, most + 2)
    assert safe(made) == made
