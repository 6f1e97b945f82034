"""Text from outside, with the characters that would be obeyed, or would hide, spelled out."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any
from unicodedata import category

from loopworth.runs.joiners import PLACED, placed

UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories that move the cursor, hide text, change its direction, or have no meaning here."""
BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")
"""Letters and marks that show no sign."""

REPLACEMENT = "\ufffd"


def safe(text: str, lines: bool = True) -> str:
    """The text with every control, format or unassigned character spelled out (`\\x1b`), and a sign in the place of
    half a surrogate pair, which stands for no character; `lines` keeps line ends. What joins two letters or two emoji,
    or selects the form of a sign, stays where it does that."""
    if text.isascii() and text.isprintable():
        return text
    return spelt(text, "\n" if lines else "", spelled)


def spelled(character: str) -> str:
    if category(character) == "Cs":
        return REPLACEMENT
    return character.encode("unicode_escape").decode("ascii")


def safe_json(value: Any, indent: int | None = None) -> str:
    """A value as JSON that reads back as the same value: what `safe` would spell out, as JSON spells it."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, default=str)
    if text.isascii() and text.isprintable():
        return text
    return spelt(text, "\n", lambda character: json.dumps(character)[1:-1])


def spelt(text: str, kept: str, spelling: Callable[[str], str]) -> str:
    """The text with the `spelling` of each character that would be obeyed, or would hide, but for those `kept`."""
    odd = {sign: spelling(sign) for sign in set(text) if hides(sign) and sign not in kept}
    if not odd:
        return text
    if odd.keys() & PLACED:
        signs = enumerate(text)
        return "".join(s if s in PLACED and placed(text, at) else odd.get(s, s) for at, s in signs)
    return text.translate({ord(sign): words for sign, words in odd.items()})


@lru_cache(4096)
def hides(sign: str) -> bool:
    return category(sign) in UNSAFE or sign in BLANK or sign in PLACED
