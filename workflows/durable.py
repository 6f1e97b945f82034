"""Runs that outlive their process: begun in the store, gone on with by whoever comes, until they end.

One run is one or more *activations*. One ends where the run ends, where its process is killed, or at a gate, as
`waiting`; then no process and no slot is held. The next one goes on from the records of those before it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from loopworth.models.doubts import Doubts
from loopworth.runs import approvals
from loopworth.runs.database import InUse, StoreFault
from loopworth.runs.journal import Record, encode
from loopworth.runs.kept import Kept
from loopworth.runs.outcome import Diverged, Outcome
from loopworth.runs.parking import Parking
from loopworth.runs.secrets import hide
from loopworth.runs.store import Store, new_id
from loopworth.runs.wall_clock import moment, now
from loopworth.workflows.activation import activate
from loopworth.workflows.compile import Compiled
from loopworth.workflows.source import at_hand, source, unchanged

AT_REST = ("cancelled", "waiting", "provider_error", "harness_error")
"""Ends of an activation after which the run can be gone on with."""


def begin(
    store: Store,
    compiled: Compiled,
    input: dict[str, Any],
    id: str = "",
    model: str | None = None,
    given: Sequence[str] | None = None,
) -> str:
    """Enter a run; nothing of it is made yet. `model` is what it was compiled with in the place of every other, `given`
    are the models and tools that a program gives it, where that is known already. A run of this `id` that is there
    already is that run: raises ValueError where it is of another workflow or input, or where no run can have this id.
    """
    if id == "last":
        raise ValueError("`last` means the newest run: give this one another id")
    made_of = source(compiled, model, given)
    file = str(Path(compiled.file).resolve()) if compiled.file else ""
    journal = store.begin(Kept(id or new_id(), "run", compiled.name, file, now(), input=input, source=made_of))
    there = store.shelf().run(journal.run)  # on the disk before anything is paid
    if id and (there.kind, there.name, there.file, encode(there.input)) != (
        "run",
        compiled.name,
        file,
        encode(hide(input)),
    ):
        raise ValueError(f"there is a run {id} already, of another workflow or input: give this one an id of its own")
    return journal.run


async def go_on(
    store: Store,
    id: str,
    compiled: Compiled,
    models: Mapping[str, Any],
    wall: Callable[[], datetime] = moment,
    given: Sequence[str] | None = None,
    epoch: int | None = None,
    **live: Any,
) -> Outcome:
    """Go on with a run, from what its journal holds, to its end or until it waits for a person and nothing is decided.

    `given` are the models and tools that came from a program, where that is known: such a run is left to programs.
    `epoch` is the run's as it was found, where it is gone on with unasked. `live` is what `Live` takes. Raises InUse
    where another process does so, or did since, Changed, Fenced, Diverged, and LookupError where there is nothing to go
    on with.
    """
    id = unended(store, id).id
    outcome = await activation(store, id, compiled, models, wall, given, epoch, **live)
    while outcome.exit == "waiting" and not store.failed and id in approvals.ready(store.shelf()):
        try:
            outcome = await activation(store, id, compiled, models, wall, given, **live)
        except InUse:  # whoever decided goes on with it
            break
    return outcome


async def activation(
    store: Store,
    id: str,
    compiled: Compiled,
    models: Mapping[str, Any],
    wall: Callable[[], datetime],
    given: Sequence[str] | None = None,
    epoch: int | None = None,
    **live: Any,
) -> Outcome:
    """One activation of a run; no other process has one of it meanwhile. Where the store fails, its outcome is told and
    not kept."""
    with store.home.occupied(id):
        kept = unended(store, id)
        if epoch not in (None, kept.epoch):
            raise InUse(id)
        at_hand(kept, given)
        unchanged(kept, compiled)
        approvals.expire(store, wall(), id)
        try:
            journal = store.resume(id, None if given is None else {**kept.source, "given": list(given)})
            take_up(models, journal.records)
            world = Parking(models, store, journal, wall, doubts=Doubts(models), **live)
            outcome = await activate(compiled, kept.input, world, journal, id)
        except (Diverged, StoreFault) as why:  # it is no run whose process was killed: whoever sweeps lets it be
            store.put_back(id, kept.epoch + 1, kept.exit or "harness_error", str(why))
            raise
        store.finish(journal, outcome, over=outcome.exit not in AT_REST)
        with suppress(StoreFault):
            store.shelf()  # it is written before another may go on
        return outcome


def take_up(models: Mapping[str, Any], records: Mapping[str, Record]) -> None:
    """Tell the models that count what they gave, as a scripted one does, what that was."""
    for key, model in models.items():
        if hasattr(model, "take_up"):
            asked = [(id, json.loads(one.request)) for id, one in records.items() if one.kind == "model"]
            model.take_up([id for id, request in asked if request["model"] == key])


def unended(store: Store, id: str) -> Kept:
    """The run that can be gone on with. Raises LookupError."""
    kept = store.shelf().run(id)
    if kept.kind != "run" or "tools" not in (kept.source or {}):
        raise LookupError(f"{id} is no durable run: `loopworth run --durable` makes one")
    if kept.state == "done":
        raise LookupError(f"the run {id} has ended ({kept.exit}): there is nothing to go on with")
    return kept
