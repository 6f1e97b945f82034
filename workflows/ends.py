"""How a step ended: what it ended for, and how that is said."""

from __future__ import annotations

from loopworth.runs.exit import Exit
from loopworth.runs.outcome import Failed, Stop

SAID: dict[Exit, str] = {
    "truncated": "was truncated",
    "filtered": "was filtered",
    "refused": "was refused",
    "empty": "came back empty",
    "unparsable": "gave no readable answer",
}


def cause(end: Stop | Failed) -> Exit:
    """What a step ended for."""
    return end.cause if isinstance(end, Failed) else end.exit


def words(end: Stop | Failed) -> str:
    """What happened to a step, to stand behind its name."""
    return f": {end}" if isinstance(end, Failed) else f" {said(end)}"


def said(end: Stop | Failed) -> str:
    """What happened, in words of its own."""
    if isinstance(end, Failed):
        return str(end)
    what = SAID.get(end.exit, f"ended with {end.exit}")
    return f"{what}: {end.note}" if end.note else what
