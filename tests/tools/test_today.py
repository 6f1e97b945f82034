"""The built-in `today`: a moment in a zone that the author names."""

from datetime import UTC, datetime

import pytest

from loopworth.tools import today
from loopworth.tools.builtin import MAKERS, builtin_tool
from loopworth.tools.fault import ToolFault
from tests.tools.kit import invoke


def clock():
    return datetime(2026, 12, 31, 23, 30, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("timezone", "date", "time", "weekday", "offset"),
    [
        ("UTC", "2026-12-31", "23:30:05", "Thursday", "+00:00"),
        ("Europe/Oslo", "2027-01-01", "00:30:05", "Friday", "+01:00"),
        ("America/St_Johns", "2026-12-31", "20:00:05", "Thursday", "-03:30"),
    ],
)
def test_the_day_is_that_of_the_named_zone(timezone, date, time, weekday, offset):
    """The same moment is another day elsewhere, so the zone is part of the answer."""
    makers = {**MAKERS, "today": today.by(clock)}
    tool = builtin_tool("now", "today", effect="read", bound={"timezone": timezone}, makers=makers)
    told = {"date": date, "time": time, "weekday": weekday, "timezone": timezone, "utc_offset": offset}
    assert invoke(tool).full == told
    assert tool.repeatable


def test_the_real_clock_is_the_default():
    """Without a clock of one's own the moment is now."""
    seen = invoke(builtin_tool("now", "today", effect="read", bound={"timezone": "UTC"}))
    found = datetime.fromisoformat(f"{seen.full['date']}T{seen.full['time']}+00:00")
    assert abs((datetime.now(UTC) - found).total_seconds()) < 60


@pytest.mark.parametrize("timezone", ["Europe/Olso", "Mars", "../../etc/passwd", "/etc/localtime", ""])
def test_a_zone_that_is_not_there_is_the_authors_fault(timezone):
    """Found while the file is checked, with the nearest one."""
    with pytest.raises(ToolFault, match="there is no time zone") as caught:
        builtin_tool("now", "today", effect="read", bound={"timezone": timezone})
    assert (caught.value.key, caught.value.name) == ("with", "timezone")
    assert caught.value.instead
