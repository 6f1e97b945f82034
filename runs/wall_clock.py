"""The clock on the wall, in UTC, by which a store stamps what it keeps. Limits and latencies go by the run's clock."""

from __future__ import annotations

from datetime import UTC, datetime


def moment() -> datetime:
    return datetime.now(UTC)


def stamp(time: datetime) -> str:
    """A time as a store holds it: UTC, ISO 8601, to the millisecond. Stamps sort as their times do."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds")


def now() -> str:
    return stamp(moment())
