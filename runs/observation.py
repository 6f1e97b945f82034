"""What a tool call came to."""

from __future__ import annotations

from typing import Any, Literal

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
    ones that really ran, after an edit. `owner` is the path of the budget that refused a `not_run` call. `fault` names
    the kind of fault that a comparison put into the call, "" where it put none.
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
