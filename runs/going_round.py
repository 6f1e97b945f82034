"""Whether a text goes round: it says the same over and over until it ends, or is cut."""

from __future__ import annotations

UNIT, OFTEN = 80, 8
"""Characters of what is said over and over, and times from which on it is; as many characters may come after it, since
it may be cut in the middle."""


def endless(text: str) -> str:
    """The words or digits that a text ends in saying over and over; "" where it does not."""
    end = text.rstrip()[-(OFTEN + 1) * UNIT :]
    return next((said for length in range(1, UNIT + 1) if (said := over_and_over(end, length))), "")


def over_and_over(text: str, length: int) -> str:
    """So many characters, a letter or a digit among them, that come again and again until a text is nearly over."""
    alike = 0  # by characters and not by a pattern: that would try every place and length against each other
    for at in range(length, len(text)):
        alike = alike + 1 if text[at] == text[at - length] else 0
        if alike >= (OFTEN - 1) * length and len(text) - at <= UNIT + 1:
            said = text[at - length : at]
            return said if any(map(str.isalnum, said)) else ""
    return ""
