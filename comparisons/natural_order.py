"""Natural order of texts: by the words and numbers in them, so that k2 comes before k10."""

from __future__ import annotations

import re
from typing import TypeAlias

NUMBERS = re.compile("([0-9]+)")
Place: TypeAlias = tuple[tuple[tuple[int, str], ...], str]


def natural(text: str) -> Place:
    """What a text is sorted by. A number is compared by its size, however long it is; then the texts as they are."""
    parts = enumerate(NUMBERS.split(text))
    return tuple(size(part) if place % 2 else (0, part) for place, part in parts), text


def size(digits: str) -> tuple[int, str]:
    told = digits.lstrip("0")
    return len(told), told
