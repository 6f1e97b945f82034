"""Characters that show no sign of their own, and change those around them: what joins two letters or emoji, and what
selects a form. Where they do that they are text; in any other place nobody sees them."""

from __future__ import annotations

import re
from functools import cache
from unicodedata import category, combining, decomposition

NON_JOINER, JOINER = "\u200c\u200d"
SELECTORS = frozenset(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
PLACED = SELECTORS | {NON_JOINER, JOINER}

PICTOGRAPH = re.compile(
    "["
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u2199\u21a9\u21aa\u231a\u231b\u2328\u2388\u23cf\u23e9-\u23f3"
    "\u23f8-\u23fa\u24c2\u25aa\u25ab\u25b6\u25c0\u25fb-\u25fe\u2600-\u2605\u2607-\u2612\u2614-\u2685\u2690-\u2705"
    "\u2708-\u2712\u2714\u2716\u271d\u2721\u2728\u2733\u2734\u2744\u2747\u274c\u274e\u2753-\u2755\u2757"
    "\u2763-\u2767\u2795-\u2797\u27a1\u27b0\u27bf\u2934\u2935\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\u3030\u303d"
    "\u3297\u3299"
    "\U0001f000-\U0001f0ff\U0001f170\U0001f171\U0001f17e\U0001f17f\U0001f18e\U0001f191-\U0001f19a\U0001f201-\U0001f23b"
    "\U0001f250-\U0001f3fa\U0001f400-\U0001f6ff\U0001f774-\U0001f77f\U0001f7d5-\U0001f8ff\U0001f90c-\U0001faff]"
)
"""Extended_Pictographic (UTS 51), as far as it is assigned or likely to be."""
TONES = "\U0001f3fb-\U0001f3ff"
EMOJI = re.compile(f"{PICTOGRAPH.pattern}[\ufe0e\ufe0f{TONES}]?\\Z")
KEYCAPS, KEYCAP = frozenset("0123456789#*"), "\u20e3"
IDEOGRAPH = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")


def placed(text: str, at: int) -> bool:
    """Whether what joins, or selects a form, stands at a place where it does so."""
    if text[at] in SELECTORS:
        return at > 0 and has_forms(text, at)
    return in_emoji(text, at) or in_cursive(text, at) or in_conjunct(text, at)


def has_forms(text: str, at: int) -> bool:
    """Whether the sign before may have a form to select: an emoji, a keycap, a symbol; an ideograph has many."""
    base = text[at - 1]
    if base in KEYCAPS:
        return text[at + 1 : at + 2] == KEYCAP
    if text[at] > "\uffff" or IDEOGRAPH.match(base):
        return IDEOGRAPH.match(base) is not None
    return PICTOGRAPH.match(base) is not None or category(base) in ("Sm", "So")


def in_emoji(text: str, at: int) -> bool:
    """Between two emoji (UAX 29, GB11)."""
    after = PICTOGRAPH.match(text, at + 1)
    return text[at] == JOINER and after is not None and EMOJI.search(text[max(at - 2, 0) : at]) is not None


def in_cursive(text: str, at: int) -> bool:
    """Between two letters of Arabic script that would join (UAX 31, A1), marks on them aside."""
    before, after = around(text, at)
    onward, back = cursive()
    return text[before : before + 1] in onward and text[after : after + 1] in back


def in_conjunct(text: str, at: int) -> bool:
    """By a virama that two letters stand around (UAX 31, A2 and B), or before it (as in Bengali); what joins may also
    end a word, whose last letter is then a half form."""
    before, after = around(text, at)
    if not is_letter(text[before : before + 1]):
        return False
    if any(map(is_virama, text[before + 1 : at])):
        return is_letter(text[after : after + 1]) or (text[at] == JOINER and ends_word(text[at + 1 : at + 2]))
    return before + 1 == at and is_virama(text[at + 1 : at + 2]) and is_letter(text[after : after + 1])


def around(text: str, at: int) -> tuple[int, int]:
    """The places of the signs on both sides that are no marks; what is outside the text has a place that is empty."""
    before, after = at - 1, at + 1
    while before >= 0 and is_mark(text[before]):
        before -= 1
    while after < len(text) and is_mark(text[after]):
        after += 1
    return (before if before >= 0 else len(text)), after


def is_mark(sign: str) -> bool:
    return category(sign)[0] == "M" and sign not in SELECTORS


def is_letter(sign: str) -> bool:
    return sign != "" and category(sign) == "Lo"


def ends_word(sign: str) -> bool:
    return not sign or sign.isspace() or category(sign)[0] == "P"


def is_virama(sign: str) -> bool:
    return sign != "" and combining(sign) == 9


@cache
def cursive() -> tuple[frozenset[str], frozenset[str]]:
    """The letters of Arabic script that join the next one, and those that join the one before: the presentation forms
    are of them."""
    found: dict[str, set[str]] = {"<initial>": set(), "<final>": set()}
    for form, *letters in filter(None, (decomposition(chr(code)).split() for code in range(0xFB50, 0xFF00))):
        if len(letters) == 1 and form in found:
            found[form].add(chr(int(letters[0], 16)))
    return frozenset(found["<initial>"]), frozenset(found["<final>"])
