"""The built-in `today`: the date and the time of day, in a time zone that the author names."""

from __future__ import annotations

import zoneinfo
from collections.abc import Callable
from datetime import UTC, datetime

from loopworth.runs.spelling import nearest
from loopworth.tools.fault import ToolFault
from loopworth.tools.made import Made

Clock = Callable[[], datetime]
"""The moment it is, with a time zone."""


def now() -> datetime:
    return datetime.now(UTC)


def by(clock: Clock) -> Callable[..., Made]:
    """The maker of `today` that reads this clock."""

    def today(*, timezone: str) -> Made:
        zone = zone_of(timezone)

        def look() -> dict[str, str]:
            """The date and the time it is now."""
            return told(clock().astimezone(zone), timezone)

        return Made(look, inline=True, repeatable=True)

    return today


def zone_of(name: str) -> zoneinfo.ZoneInfo:
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        near = nearest(name, zoneinfo.available_timezones())
        hint = f"did you mean {near!r}?" if near else "write one such as UTC or Europe/Oslo"
        raise ToolFault(f"there is no time zone {name!r}", hint, "with", "timezone") from None


def told(moment: datetime, timezone: str) -> dict[str, str]:
    return {
        "date": f"{moment:%Y-%m-%d}",
        "time": f"{moment:%H:%M:%S}",
        "weekday": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")[moment.weekday()],
        "timezone": timezone,
        "utc_offset": moment.isoformat()[-6:],
    }
