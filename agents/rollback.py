"""`on_bad_call: rollback`: a turn that holds a bad call is taken back whole, before any of its calls is made.

All calls are judged before the first one runs: once a write has happened, nothing may hide it. What the model sees in
place of its reply says why, for the identical request would get the identical reply.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from loopworth.runs.effects import ToolLayer
from loopworth.runs.message import ToolCall
from loopworth.runs.observation import Observation
from loopworth.tools.names import shown

NOT_RUN = "not made: another call of this turn was bad, and the turn was taken back"
TAKEN_BACK = "Your last reply was dropped and none of its calls was made."


def bad_calls(
    calls: Sequence[ToolCall], submitted: Mapping[int, Observation], tools: ToolLayer
) -> dict[int, Observation]:
    """The bad calls of a turn by position, each with what it would be told: an unknown tool, arguments that are not
    accepted, an answer of the wrong type."""
    told = {k: submitted[k] if k in submitted else tools.faulty(call) for k, call in enumerate(calls)}
    return {k: seen for k, seen in told.items() if seen is not None and seen.status != "ok"}


def untouched(call: ToolCall) -> Observation:
    return Observation(call.id, call.tool, "not_run", NOT_RUN)


def instead(bad: Iterable[Observation]) -> str:
    """The one line that the model reads in place of its reply."""
    return f"{TAKEN_BACK} {'; '.join(map(fault, bad))}"


def fault(seen: Observation) -> str:
    why = " ".join(seen.content.split())
    return why if seen.status == "unknown_tool" else f"{shown(seen.tool)}: {why}"
