"""Dates in text: what is one, what is none, and that no order is guessed."""

from __future__ import annotations

import datetime
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.comparisons.dates import MONTHS, date_in, names_a_day

DAY = datetime.date(2024, 1, 5)


@pytest.mark.parametrize(
    "text",
    [
        "2024-01-05",
        "2024/1/5",
        "2024.01.05",
        "2024-01-05T10:30:00Z",
        "2024-01-05 10:30",
        "5 January 2024",
        "5th of January, 2024",
        "5-Jan-2024",
        "January 5, 2024",
        "Jan. 5th 2024",
        "Friday, 5 JANUARY 2024.",
        "I looked at 3 files.\nIt was due on **5 January 2024**.",
        "5 January 2024 (that is 2024-01-05)",
    ],
)
def test_a_date_is_found_however_it_is_written(text: str) -> None:
    """On the last line, once."""
    assert date_in(text) == DAY


@pytest.mark.parametrize(
    "text",
    [
        "05/01/2024",
        "25.12.2024",
        "2024-02-30",
        "5 January",
        "January 2024",
        "5 January 24",
        "2024-01-05/2024-01-07",
        "2024-01-05-07",
        "A2024-01-05",
        "5 January 2024 or 6 January 2024",
        "5 January 2024, or 05/01/2024",
        "2024-01-05\nI am not sure.",
        "20240105",
        "",
        5,
        True,
    ],
)
def test_what_is_not_one_date_is_none(text: object) -> None:
    """No such day, no year, two days, part of a code, or an order that nobody stated."""
    assert date_in(text) is None


def test_an_order_is_stated() -> None:
    """Day or month first; a day that does not exist in that order is none."""
    assert date_in("05/01/2024", "day_first") == DAY
    assert date_in("1.5.2024", "month_first") == DAY
    assert date_in("25/12/2024", "month_first") is None
    assert date_in("2024-01-05", "month_first") == DAY


def test_forms_of_ones_own_come_first() -> None:
    """A whole line that one of them fits is read by it; a form has to name a day."""
    assert date_in("am: 05.01.24", formats=("am: %d.%m.%y",)) == DAY
    assert date_in("5 January 2024", formats=("%d.%m.%y",)) == DAY
    assert names_a_day("%d.%m.%Y")
    assert not any(map(names_a_day, ("%m/%Y", "%d.%m.", "%q", "")))


@given(st.dates(datetime.date(1000, 1, 1)), st.sampled_from(["day_first", "month_first"]))
def test_every_day_is_read_back(day: datetime.date, order: str) -> None:
    """In each documented form."""
    names = MONTHS[day.month - 1]
    first, second = (day.day, day.month) if order == "day_first" else (day.month, day.day)
    forms = [day.isoformat(), f"{day.year}/{day.month}/{day.day}", f"{first}/{second}/{day.year}"]
    forms += [f"{day.day} {name.title()} {day.year}" for name in names]
    forms += [f"It is {name} {day.day}, {day.year}." for name in names]
    assert {date_in(form, order) for form in forms} == {day}  # type: ignore[arg-type]  # one of two words


@pytest.mark.parametrize("part", ["1/", "January ", "5 of ", "2024-", "1.1.", " ", "5th"])
def test_no_text_takes_long(part: str) -> None:
    """A million characters of anything, well within a second."""
    began = time.process_time()
    date_in(part * (1_000_000 // len(part)), "day_first")
    assert time.process_time() - began < 1
