"""Dates as they stand in text: read as they are written, and never guessed."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from typing import Any, Literal

Order = Literal["none", "day_first", "month_first"]
LONGEST_TEXT = 20_000
"""How many characters at the end of a text are looked at."""
MONTHS = (
    ("january", "jan"),
    ("february", "feb"),
    ("march", "mar"),
    ("april", "apr"),
    ("may",),
    ("june", "jun"),
    ("july", "jul"),
    ("august", "aug"),
    ("september", "sept", "sep"),
    ("october", "oct"),
    ("november", "nov"),
    ("december", "dec"),
)
NUMBER_OF = {word: number for number, words in enumerate(MONTHS, 1) for word in words}


def date_in(value: Any, order: Order = "none", formats: tuple[str, ...] = ()) -> datetime.date | None:
    """The date on the last line of a text that has a letter or a digit; None where it has none, or several.

    Read are 2024-01-05 (also with / or a dot, and with a time of day, which does not count), 5 January 2024 and
    January 5, 2024 (English names, whole or short). 05/01/2024 is read by `order` alone, and a line that one of
    `formats` (of `datetime.strptime`) fits is read by it.
    """
    if not isinstance(value, str):
        return None
    lines = [line for line in value[-LONGEST_TEXT:].splitlines() if any(map(str.isalnum, line))]
    line = lines[-1].strip(" \t*_`\"'.") if lines else ""
    stated = next((day for form in formats if (day := stamped(line, form))), None)
    seen = {stated} if stated else set(dates(line, order))
    return seen.pop() if len(seen) == 1 else None


def dates(line: str, order: Order) -> Iterator[datetime.date | None]:
    """Every date of a line; None for one that no calendar has, and for one whose order is not said."""
    for match in DATE.finditer(line):
        year, month, day = match["y1"], match["m1"], match["d1"]
        if match["y2"] or match["y3"]:
            year, day = match["y2"] or match["y3"], match["d2"] or match["d3"]
            month = str(NUMBER_OF[(match["m2"] or match["m3"]).lower()])
        elif match["y4"]:
            first, second = match["a4"], match["b4"]
            year, (day, month) = match["y4"], ((first, second) if order == "day_first" else (second, first))
        yield None if match["y4"] and order == "none" else calendar(int(year), int(month), int(day))


def calendar(year: int, month: int, day: int) -> datetime.date | None:
    try:
        return datetime.date(year, month, day)
    except ValueError:
        return None


def stamped(text: str, form: str) -> datetime.date | None:
    """The date of a text that has exactly this form."""
    try:
        return datetime.datetime.strptime(text, form).date()  # noqa: DTZ007 - the day as it is written
    except (ValueError, re.error):
        return None


def names_a_day(form: str) -> bool:
    """Whether a form says the year, the month and the day."""
    try:
        return all(stamped(day.strftime(form), form) == day for day in (SOME_DAY, OTHER_DAY))
    except ValueError:
        return False


SOME_DAY, OTHER_DAY = datetime.date(2021, 3, 14), datetime.date(2022, 10, 25)
NAMES = "|".join(sorted(NUMBER_OF, key=len, reverse=True))
TIME = r"(?:[T\ ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:\ ?Z|[+-]\d{2}:?\d{2})?)?"
DATE = re.compile(
    rf"""
    (?<!\w)(?<!\d[-/.:,])(?:
        (?P<y1>\d{{4}})(?P<s1>[-/.])(?P<m1>\d{{1,2}})(?P=s1)(?P<d1>\d{{1,2}}){TIME}
      | (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?:\ of)?[\ .,/-]{{1,2}}(?P<m2>{NAMES})[\ .,/-]{{1,2}}(?P<y2>\d{{4}})
      | (?P<m3>{NAMES})[\ .]{{1,2}}(?P<d3>\d{{1,2}})(?:st|nd|rd|th)?(?:,\ ?|\ )(?P<y3>\d{{4}})
      | (?P<a4>\d{{1,2}})(?P<s4>[-/.])(?P<b4>\d{{1,2}})(?P=s4)(?P<y4>\d{{4}}){TIME}
    )(?!\w)(?![-/.:,]\d)
    """,
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
