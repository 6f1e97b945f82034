"""Numbers as they stand in text: found, read exactly, and never worked out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import isfinite
from typing import Any, Literal

from loopworth.runs.usage import Value

LONGEST_TEXT, LONGEST_NUMBER = 20_000, 400
"""How many characters at the end of a text are looked at, and how many a number may have."""
MINUS = "\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d-"
"""What is written for a minus before a number: the short dashes, the sign itself, and last, as in a set, the hyphen."""
MONEY = "$¢£¤¥\u058f\u060b\u20a0-\u20bf\ufdfc\ufe69\uff04\uffe0\uffe1\uffe5\uffe6฿"


class Notation(Value, frozen=True):
    """How numbers are written: whether digits may stand in groups of three, the decimal mark, currency signs."""

    thousands: Literal["accept", "refuse"] = "accept"
    decimal: Literal["point", "comma"] = "point"
    currency: Literal["accept", "refuse"] = "accept"


class Number(Value, frozen=True):
    """A number, whether it had a percent sign, and whether it is a float, exact only within its own rounding."""

    value: Fraction
    percent: bool = False
    rounded: bool = False


def number_in(value: Any, notation: Notation) -> Number | None:
    """The number that `value` is, or the last one on the last line of a text that has a letter or a digit.

    A truth value is no number. Numbers joined by an operator, a date, a range, a version and a code such as `ZRG-14`
    are none either: nothing is worked out. Time is bounded, whatever the text.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return Number(Fraction(int(value))) if abs(value) < 10**LONGEST_NUMBER else None
    if isinstance(value, float):
        return Number(Fraction(repr(float(value))), rounded=True) if isfinite(value) else None
    if not isinstance(value, str):
        return None
    lines = [line for line in value[-LONGEST_TEXT:].splitlines() if any(map(str.isalnum, line))]
    found = list(numbers(lines[-1], notation)) if lines else []
    return found[-1] if found else None


def numbers(line: str, notation: Notation) -> Iterator[Number]:
    """The numbers of a line that are not part of an expression, in order."""
    joined: list[re.Match[str]] = []
    for match in PATTERNS[notation.thousands, notation.decimal].finditer(line):
        if joined and not JOIN.fullmatch(line, joined[-1].end(), match.start()):
            yield from alone(joined, notation)
            joined = []
        joined.append(match)
    yield from alone(joined, notation)


def alone(joined: Sequence[re.Match[str]], notation: Notation) -> Iterator[Number]:
    """The one number of a chain of length 1, if it is no part of a word and its currency sign is accepted."""
    if len(joined) != 1 or WORD.match(joined[0].string, joined[0].end()) or len(joined[0].group()) > LONGEST_NUMBER:
        return
    match = joined[0]
    if match["word"] is not None or (notation.currency == "refuse" and (match["before"] or match["after"])):
        return
    digits = re.sub("[^0-9]", "", match["whole"] or "0")
    sign = "-" if (match["sign"] or "+") in MINUS or match["inner"] else ""
    text = f"{sign}{digits}.{match['part'] or match['only'] or '0'}e{match['exponent'] or '0'}"
    yield Number(Fraction(text), percent=bool(match["percent"]))


JOIN = re.compile(rf"\)*\s*(?:\*\*|//|[+*/^\u00d7÷{MINUS}])\s*\(*|[:.,]?")
"""What stands between the numbers of one expression, date, range, list or version; nothing at all does, too."""
WORD = re.compile(rf"[^\W\d]+[{MINUS}]?\d")
"""What follows a number that only begins a word; `5 km` and `5km` are numbers."""


def compiled(thousands: str, decimal: str) -> re.Pattern[str]:
    """What a number looks like; `word` is what stands before it where it only ends a word."""
    other, mark = (",", r"\.") if decimal == "point" else (r"\.", ",")
    group = rf"[{other}'\u2019_ \u00a0\u2009\u202f]"
    grouped = rf"[0-9]{{1,3}}(?P<group>{group})[0-9]{{3}}(?:(?P=group)[0-9]{{3}})*(?![0-9])|"
    return re.compile(
        rf"""
        (?P<word>(?<=[^\W\d])[{MINUS}]?)?
        (?P<sign>(?<![\d)])[+{MINUS}])?(?P<before>[{MONEY}]\s?)?(?P<inner>(?<=[{MONEY}])[{MINUS}])?
        (?: (?P<whole>{grouped if thousands == "accept" else ""}[0-9]+)(?:{mark}(?P<part>[0-9]+))?
          | (?<![0-9]){mark}(?P<only>[0-9]+) )
        (?:[eE](?P<exponent>[+-]?[0-9]{{1,3}})(?![0-9]))?
        (?P<percent>\s?(?:[%\uff05\u066a]|per\s?cent\b))?(?P<after>\s?[{MONEY}])?
        """,
        re.VERBOSE,
    )


PATTERNS = {(t, d): compiled(t, d) for t in ("accept", "refuse") for d in ("point", "comma")}
