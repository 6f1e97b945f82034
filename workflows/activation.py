"""One activation of a compiled workflow: a budget, a place, a run to its end, in a world or as it was recorded."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import msgspec

from loopworth.models.providers import keys
from loopworth.runs.budget import Budget
from loopworth.runs.effects import Effects
from loopworth.runs.executor import execute
from loopworth.runs.journal import Journal, MemoryJournal
from loopworth.runs.outcome import Diverged, Outcome, Said
from loopworth.runs.recording import Recording
from loopworth.runs.replay import Replayed, departed
from loopworth.runs.secrets import hide, learn
from loopworth.runs.world import World
from loopworth.workflows.compile import Compiled


async def activate(
    compiled: Compiled, input: dict[str, Any], world: World, journal: Journal | None = None, run: str = ""
) -> Outcome:
    """Run a workflow in a world. With a journal that holds records, it goes on from them (or replays them).

    `run` names it, so that a run that goes on calls its writes by the same keys.

    What the journal shows as spent is spent, and the run's clock goes on from its last record. The keys that the
    environment holds are secrets from now on, also in the input. Raises `Diverged`.
    """
    budget = Budget(compiled.limits)
    offset = 0.0
    if journal is not None and journal.records:
        budget.restore(journal.records, compiled.tools.allowed_failures())
        offset = max(record.ended for record in journal.records.values())
    learn(*keys(os.environ))
    input = hide(input)
    fx = Effects(world, journal, budget, compiled.tools, offset=offset, run=run)
    return await execute(compiled.executor, input, fx)


async def replay(
    compiled: Compiled, input: dict[str, Any], recording: Recording, watch: Callable[[Said], None] | None = None
) -> Outcome:
    """Run a workflow again on what was recorded, in the time that it took then. Raises `Diverged` at the first request
    that is not the recorded one, and where the run comes out otherwise."""
    journal = MemoryJournal(recording.records)
    outcome = await activate(compiled, input, Replayed(recording.outcome, watch), journal, recording.kept.id)
    if other := departed(recording, outcome):
        raise Diverged(other)
    return msgspec.structs.replace(outcome, seconds=recording.kept.seconds)
