"""What the package offers to a program: load, check, compile, run, compare."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from loopworth.models import Model, open_model, prepare
from loopworth.runs.journal import Journal, MemoryJournal
from loopworth.runs.kept import Kept, now
from loopworth.runs.outcome import Diverged, Outcome, Said
from loopworth.runs.recording import Recording
from loopworth.runs.replay import Replayed, departed
from loopworth.runs.store import Store, new_id
from loopworth.runs.world import Ask, Live
from loopworth.workflows.activation import activate
from loopworth.workflows.compile import Compiled, compile
from loopworth.workflows.drawing import draw
from loopworth.workflows.faults import Fault
from loopworth.workflows.load import load_workflow
from loopworth.workflows.spec import Workflow

if TYPE_CHECKING:
    from loopworth.comparisons.execution import Progress
    from loopworth.comparisons.result import Result

__all__ = ["check", "compare", "compile", "draw", "load", "opened", "run", "run_sync"]


def load(path: str | Path) -> Workflow:
    """A workflow file as its typed spec. Raises `WorkflowFault` with every fault of every file it refers to."""
    return load_workflow(path)[0]


def check(*paths: str | Path) -> list[Fault]:
    """Every fault of files of any kind (workflows, catalogues, comparisons, tasks) and of all they refer to."""
    from loopworth.comparisons import language  # imported here: a run needs nothing of comparisons

    return language.load(*paths).faults


@asynccontextmanager
async def opened(compiled: Compiled) -> AsyncIterator[Mapping[str, Model]]:
    """All models that a workflow uses, ready to be asked, by key; closed at the end. Raises Unavailable."""
    models = {key: open_model(spec) for key, spec in compiled.models.items()}
    try:
        for model in models.values():
            await prepare(model)
        yield models
    finally:
        for model in models.values():
            await model.close()


async def run(
    workflow: Compiled | str | Path,
    input: dict[str, Any],
    *,
    models: Mapping[str, Model] | None = None,
    ask: Ask | None = None,
    journal: Journal | None = None,
    store: Store | None = None,
    id: str = "",
    watch: Callable[[Said], None] | None = None,
) -> Outcome:
    """Run a workflow once, to its end: whatever ends it is the outcome's exit reason, not an exception.

    `models` are those of `opened`, to be given where many runs share them. `ask` puts a gate's question to a person;
    without it a run that reaches a gate ends as `waiting`. A `journal` records the run, or replays what it holds; a
    `store` keeps it, each effect as it happens, by this `id` or a new one. `watch` is told of every message as it is
    said.
    """
    compiled = workflow if isinstance(workflow, Compiled) else compile(workflow)
    if models is None:
        async with opened(compiled) as mine:
            given: dict[str, Any] = {"ask": ask, "journal": journal, "store": store, "id": id, "watch": watch}
            return await run(compiled, input, models=mine, **given)
    world = Live(models, ask, watch=watch)
    if store is None:
        return await activate(compiled, input, world, journal, id)
    stored = store.begin(Kept(id or new_id(), "run", compiled.name, compiled.file, now(), input=input))
    outcome = await activate(compiled, input, world, stored, stored.run)
    store.finish(stored, outcome, over=outcome.exit not in ("cancelled", "waiting"))
    return outcome


async def replay(
    workflow: Compiled | str | Path, recording: Recording, *, watch: Callable[[Said], None] | None = None
) -> Outcome:
    """Run a workflow again on what was recorded: no model is asked, no tool is called, nothing is spent.

    Raises `Diverged` at the first request that is not the recorded one, and where the run comes out otherwise.
    """
    compiled = workflow if isinstance(workflow, Compiled) else compile(workflow)
    world = Replayed(recording.outcome, watch)
    journal = MemoryJournal(recording.records)
    outcome = await activate(compiled, recording.kept.input, world, journal, recording.kept.id)
    if other := departed(recording, outcome):
        raise Diverged(other)
    return msgspec.structs.replace(outcome, seconds=recording.kept.seconds)


def run_sync(workflow: Compiled | str | Path, input: dict[str, Any], *, ask: Ask | None = None) -> Outcome:
    """As `run`, for a program without an event loop."""
    return asyncio.run(run(workflow, input, ask=ask))


async def compare(
    path: str | Path,
    *,
    watch: Callable[[Progress], None] | None = None,
    keep: bool = True,
    store: Store | None = None,
) -> Result:
    """Run a comparison file to its end; `watch` is told how far it has come, `keep` keeps transcripts and events in the
    result, a `store` keeps every run as it is made.

    Raises `WorkflowFault`, `Unavailable`. Cancelled, it returns what is done.
    """
    # Imported here: a run needs nothing of comparisons.
    from loopworth.comparisons import comparison, execution
    from loopworth.comparisons.keeper import StoreKeeper

    loaded = comparison.load(path)
    keeper = None if store is None else StoreKeeper.anew(store, loaded)
    return await execution.compare(loaded, watch=watch, keep=keep, keeper=keeper)
