"""Replaying a run: nothing is called, nothing is spent, and whatever is not as recorded is said."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from loopworth.runs.decision import Decision, Question
from loopworth.runs.divergence import shown
from loopworth.runs.events import ModelCalled, ToolCalled
from loopworth.runs.exit import BAD_FINISH
from loopworth.runs.journal import body
from loopworth.runs.message import Reply, Request
from loopworth.runs.outcome import Outcome, Said, Stop, Waiting
from loopworth.runs.recording import Recording
from loopworth.runs.world import Nothing


class Replayed(Nothing):
    """The world of a recorded run. It ends where the run ended: at an endpoint that failed, at a gate, at Ctrl-C."""

    def __init__(self, outcome: Outcome | None, watch: Callable[[Said], None] | None = None) -> None:
        self.outcome, self.watch = outcome or Outcome(), watch
        events = self.outcome.events
        self.ends = {e.at: e.finish for e in events if type(e) is ModelCalled and e.finish not in BAD_FINISH}
        self.cut = {e.at for e in events if type(e) is ToolCalled and e.status == "cancelled" and not e.nested}

    def heard(self, said: Said) -> None:
        if self.watch is not None:
            self.watch(said)

    def unrecorded(self, id: str, request: bytes) -> None:
        if id in self.cut:
            raise Stop("cancelled", None, self.outcome.note)
        if id not in self.ends and id not in self.outcome.gates:
            super().unrecorded(id, request)

    async def model(self, request: Request, id: str, seconds: float | None) -> Reply:  # noqa: ARG002
        exit: Any = self.ends[id]
        raise Stop(exit, None, self.outcome.note)

    async def gate(self, question: Question, id: str) -> Decision:  # noqa: ARG002
        raise Waiting(id)


def departed(recording: Recording, outcome: Outcome) -> str:
    """How a replayed run's end is not the recorded one; "" where it is.

    Another answer or exit, and a recorded effect that nothing asked for again, are divergences too.
    """
    if recording.outcome is None:
        return ""
    before, now = recording.outcome, outcome
    if before.exit != now.exit:
        ends = f"    recorded: {before.exit} {before.note}\n    now:      {now.exit} {now.note}"
        return f"the exit is not the recorded one\n{ends}"
    if json.loads(body(before.answer)) != json.loads(body(now.answer)):
        return (
            "the answer is not the recorded one\n"
            f"    recorded: {shown(before.answer)}\n    now:      {shown(now.answer)}"
        )
    asked = {event.at for event in now.events}
    left = next((id for id, record in recording.records.items() if record.kind != "intent" and id not in asked), None)
    return "" if left is None else f"{left}: the recording holds this, and nothing asked for it again"
