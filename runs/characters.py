"""Text from outside, with the characters that would be obeyed, or would hide, spelled out."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories that move the cursor, hide text, change its direction, or have no meaning here."""

REPLACEMENT = "\ufffd"


def safe(text: str, lines: bool = True) -> str:
    """The text with every control, format or unassigned character spelled out (`\\x1b`), and a sign in the place of
    half a surrogate pair, which stands for no character; `lines` keeps line ends."""
    if text.isascii() and text.isprintable():
        return text
    kept = "\n" if lines else ""
    return "".join(c if c in kept or unicodedata.category(c) not in UNSAFE else spelled(c) for c in text)


def spelled(character: str) -> str:
    if unicodedata.category(character) == "Cs":
        return REPLACEMENT
    return character.encode("unicode_escape").decode("ascii")


def safe_json(value: Any, indent: int | None = None) -> str:
    """A value as JSON that reads back as the same value: what `safe` would spell out, as JSON spells it."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, default=str)
    if text.isascii() and text.isprintable():
        return text
    unsafe = (c != "\n" and unicodedata.category(c) in UNSAFE for c in text)
    return "".join(json.dumps(c)[1:-1] if bad else c for c, bad in zip(text, unsafe, strict=True))
