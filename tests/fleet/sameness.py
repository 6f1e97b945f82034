"""What two results have in common that differ in times alone."""

from __future__ import annotations

import json
import re
from typing import Any

from loopworth.comparisons.export import to_json
from loopworth.comparisons.result import Result

TIMES = {
    "began", "ended", "seconds", "latency", "queued", "prepared_seconds", "p50", "p95", "time", "time_median",
    "seconds_median", "waits", "waited",
}  # fmt: skip
"""The fields of a document that are times."""


def timeless(value: Any) -> Any:
    """A document without what is a time."""
    if isinstance(value, dict):
        return {name: timeless(part) for name, part in value.items() if name not in TIMES}
    if isinstance(value, list):
        return [timeless(part) for part in value]
    return re.sub(r"[\d.]+ s\b", "… s", value) if isinstance(value, str) else value


def told(result: Result) -> dict[str, Any]:
    """A result as JSON without what the store calls it, its trials in the planned order: in which they ended is a time
    too."""
    found: dict[str, Any] = json.loads(to_json(result))
    del found["id"]
    place = {(one.arm, one.task, one.repeat): n for n, one in enumerate(result.order)}
    found["trials"].sort(key=lambda one: (place[one["arm"], one["task"], one["repeat"]], one["attempt"]))
    return found
