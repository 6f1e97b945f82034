"""What a tool call came to."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from loopworth.runs.exit import Exit
from loopworth.runs.journal import reader
from loopworth.runs.usage import Value

Status = Literal[
    "ok",
    "tool_error",
    "invalid_arguments",
    "unknown_tool",
    "not_allowed",
    "rejected",
    "timed_out",
    "repeated",
    "not_run",
    "uncertain",
    "cancelled",
]
FAILED: tuple[Status, ...] = ("tool_error", "timed_out")
"""The statuses that count as a failure of the tool itself (`max_failures`)."""


RAN: tuple[Status, ...] = ("ok", "tool_error", "timed_out", "uncertain", "cancelled")
"""The statuses of a call that reached its tool, or may have."""


class Observation(Value, frozen=True):
    """The one answer to a tool call: exactly one exists for every call id.

    `content` is the text a model reads; `full` is what the tool returned, as plain data. `arguments` are the canonical
    ones that really ran, after an edit. `limit` is the exit reason for which a budget refused a `not_run` call, and
    `owner` the path of that budget. `fault` names the kind of fault that a comparison put into the call, if it put one.
    """

    call: str
    tool: str
    status: Status
    content: str
    full: Any = None
    arguments: Any = None
    seconds: float = 0.0
    owner: str | None = None
    fault: str = ""
    limit: Exit | None = None


read = reader(Observation)


def observation_of(body: bytes) -> Observation:
    """The observation of a record. Older records hold the limit that refused a call in its content alone."""
    seen = read(body)
    older = seen.status == "not_run" and seen.owner is not None and seen.limit is None
    return msgspec.structs.replace(seen, limit=msgspec.convert(seen.content, Exit)) if older else seen
