"""What the package offers to a program: load, check, compile, run, compare."""

from __future__ import annotations

import asyncio
import os
import warnings
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, nullcontext
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from loopworth.models import Model, ModelSpec, open_model, prepare
from loopworth.models import given as given_models
from loopworth.models.doubts import Doubts
from loopworth.runs import approvals
from loopworth.runs.approvals import Approval, Came
from loopworth.runs.decision import Decision
from loopworth.runs.executor import Executor
from loopworth.runs.hearing import Listener
from loopworth.runs.journal import Journal
from loopworth.runs.kept import Kept
from loopworth.runs.nesting import TOO_DEEP, nested
from loopworth.runs.outcome import Outcome, Said
from loopworth.runs.recording import Recording
from loopworth.runs.store import Store, new_id
from loopworth.runs.wall_clock import now
from loopworth.runs.world import Ask, Live
from loopworth.workflows import activation, durable, origin, typed_answer
from loopworth.workflows import compile as building
from loopworth.workflows import given as given_tools
from loopworth.workflows.compile import Compiled
from loopworth.workflows.drawing import draw
from loopworth.workflows.edited_call import accepted
from loopworth.workflows.faults import Fault, WorkflowFault
from loopworth.workflows.keys import keyed
from loopworth.workflows.load import load_workflow
from loopworth.workflows.source import unchanged
from loopworth.workflows.spec import Workflow

if TYPE_CHECKING:
    from loopworth.comparisons.progress import Progress
    from loopworth.comparisons.result import Result

__all__ = ["begin", "check", "compare", "compile", "draw", "load", "opened", "replay", "resume", "run", "run_sync"]

Models: TypeAlias = Mapping[str, given_models.Given]
"""Models by the name (or the key) that they stand for: an object with `reply`, a function, or another name."""
Tools: TypeAlias = Mapping[str, given_tools.Given]
"""Tools by name: a function, or an entry as a catalogue has it, in which `python` may be a function."""
Runs: TypeAlias = Compiled | Executor | str | Path
"""What can be run: a file, what was compiled of one, or an object with `async run(input, fx) -> Outcome`."""
Place: TypeAlias = Store | str | os.PathLike[str]
"""A run store, or where one is: a file, a folder, or the address of a server."""


def load(path: str | Path) -> Workflow:
    """A workflow file as its typed spec. Raises `WorkflowFault` with every fault of every file it refers to."""
    readable(path)
    return load_workflow(path)[0]


def check(*paths: str | Path, tools: Tools | None = None) -> list[Fault]:
    """Every fault of files of any kind (workflows, catalogues, comparisons, tasks) and of all they refer to; `tools`
    are those that the program will give, as in `compile`."""
    from loopworth.comparisons import language  # imported here: a run needs nothing of comparisons

    readable(*paths)
    try:
        given = given_tools.entries(tools or {})
    except WorkflowFault as faulty:
        return list(faulty.faults)
    return language.load(*paths, given=given).all_faults


def compile(
    path: str | Path,
    *,
    model: str | None = None,
    tools: Tools | None = None,
    environ: Mapping[str, str] | None = None,
) -> Compiled:
    """Load, check and build the workflow in a file. `model` is used in place of every model that the files name.

    `tools` stand in for those of the same name, whose rules stay, or are new in the catalogue. Raises `WorkflowFault`
    with every fault of every file. Secrets are read from `environ` (the process's by default).
    """
    readable(path)
    if not isinstance(model, str | None):
        raise TypeError(
            f"model={model!r} is no name, such as 'ollama/qwen3:4b': give your own to `run`, as models={{…: …}}"
        )
    return building.compile(path, model=model, environ=environ, tools=given_tools.entries(tools or {}))


def readable(*paths: Any) -> None:
    """Raises TypeError for what is no path."""
    for path in paths:
        if not isinstance(path, str | os.PathLike):
            shown = f"{path!r:.80}"
            raise TypeError(f"{shown} is no path: a workflow or a comparison is a YAML file, given by its path")


@asynccontextmanager
async def opened(compiled: Compiled, models: Models | None = None) -> AsyncIterator[Mapping[str, Model]]:
    """All models that a workflow uses, ready to be asked, by key, and what reads their answers loaded; closed at the
    end, but for the caller's own.

    `models` stand in for those that they name. Raises Unavailable, LookupError for a name that nothing asks, and
    `WorkflowFault` where the key of one is not set.
    """
    typed_answer.ready(*compiled.typed)
    own = given_models.by_key(models or {}, compiled.models)
    ours = {
        key: given_models.spec_of(own[key], spec) if key in own else spec
        for key, spec in compiled.models.items()
        if isinstance(own.get(key, ""), str)
    }
    keyed(ours, compiled.named)
    theirs = {key: given_models.opened(one) for key, one in own.items() if key not in ours}
    found = given_models.Opened({**{key: open_model(spec) for key, spec in ours.items()}, **theirs})
    try:
        for model in found.values():
            await prepare(model)
        yield found
    finally:
        for key in ours:
            await found[key].close()


async def run(
    workflow: Runs,
    input: dict[str, Any],
    *,
    models: Models | None = None,
    tools: Tools | None = None,
    ask: Ask | None = None,
    journal: Journal | None = None,
    store: Place | None = None,
    id: str = "",
    watch: Callable[[Said], None] | None = None,
    hear: Listener | None = None,
) -> Outcome:
    """Run a workflow, or an executor of one's own, once, to its end: whatever ends it is the outcome's exit reason, not
    an exception.

    `models` stand in for those that the files name; an executor asks them by these names. Those of `opened` may be
    given where many runs share them. `tools` are as in `compile`, which may have been given them before. `ask` puts a
    gate's question to a person; without it, and where it says what the gate does not offer, a run that reaches a gate
    ends as `waiting`. A `journal` records the run, or
    replays what it holds; a `store` keeps it, each effect as it happens, by this `id` or a new one. `watch` is told of
    every message as it is said, `hear` of the text of replies while it comes. Raises `WorkflowFault`, and LookupError
    or TypeError for what cannot be given so.
    """
    askable(ask)
    compiled = ready(workflow, tools, models)
    if nested(input):
        return Outcome(None, "invalid_input", f"the input {TOO_DEEP}")
    async with opened(compiled, models) as mine:
        world = Live(mine, ask, watch=watch, hear=hear, doubts=Doubts(mine))
        if store is None:
            return await activation.activate(compiled, input, world, journal, id)
        made_of: dict[str, Any] = {"input": input, "source": origin.made_of(compiled)}
        with open_store(store) as kept:
            stored = kept.begin(Kept(id or new_id(), "run", compiled.name, compiled.file, now(), **made_of))
            outcome = await activation.activate(compiled, input, world, stored, stored.run)
            kept.finish(stored, outcome, over=outcome.exit not in ("cancelled", "waiting"))
        return outcome


@contextmanager
def open_store(place: Place) -> Iterator[Store]:
    """The store itself, or one that is opened at its place, and closed at the end, when all is written: what it could
    not write is warned of. Raises StoreFault, TypeError."""
    if isinstance(place, Store):
        yield place
        return
    if not isinstance(place, str | os.PathLike):
        raise TypeError(f"store={place!r:.80} is no run store: give a Store, its file, or postgresql://…")
    store = Store(place if isinstance(place, str) else Path(place))
    try:
        yield store
    finally:
        store.close()
        if store.trouble is not None:
            warnings.warn(f"what came last could not be kept: {store.trouble}", RuntimeWarning, stacklevel=2)


def outside(instead: str) -> None:
    """Raises RuntimeError within an event loop that runs, as in a notebook or a web server."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise RuntimeError(f"an event loop is running here: write `{instead}`")


def askable(ask: Any) -> None:
    """Raises TypeError for an `ask` that could not be asked."""
    wanted = "write `async def ask(question, id)`, which returns a Decision"
    if ask is not None and not callable(ask):
        raise TypeError(f"ask={ask!r} cannot be asked: {wanted}")
    try:
        _ = ask is None or signature(ask).bind(None, "")
    except TypeError as why:
        raise TypeError(f"`ask` takes a question and its id ({why}): {wanted}") from None
    except ValueError:
        """It does not say what it takes."""


def ready(workflow: Runs, tools: Tools | None = None, models: Models | None = None) -> Compiled:
    """What there is to run, compiled. Raises `WorkflowFault`, and TypeError for what cannot be run so."""
    if isinstance(workflow, Compiled):
        if tools:
            raise TypeError("a compiled workflow has its tools: give them to `compile`")
        return workflow
    if isinstance(workflow, str | Path):
        return compile(workflow, tools=tools)
    given_models.mapped(models or {})
    named = {name: given_models.spec_of(own, ModelSpec(name)) for name, own in (models or {}).items()}
    return given_tools.executor(workflow, tools or {}, named)


async def replay(
    workflow: Runs,
    recording: Recording,
    *,
    tools: Tools | None = None,
    watch: Callable[[Said], None] | None = None,
) -> Outcome:
    """Run a workflow again on what was recorded: no model is asked, no tool is called, nothing is spent.

    `tools` are those that the run was given. Raises `Diverged` at the first request that is not the recorded one, and
    where the run comes out otherwise.
    """
    return await activation.replay(ready(workflow, tools), recording.kept.input, recording, watch)


def begin(
    store: Place,
    workflow: Compiled | str | Path,
    input: dict[str, Any],
    *,
    tools: Tools | None = None,
    model: str | None = None,
    id: str = "",
) -> str:
    """Enter a durable run in the store, by this id or a new one: `resume` makes it, in this process or in another.

    `model` is what the workflow was compiled with in the place of every other. Where there is a run of this `id`, of
    the same workflow and input, it is that run. Raises WorkflowFault, and ValueError for an `id` that another run has,
    or that none can have, and for an input that is nested without end.
    """
    if nested(input):
        raise ValueError(f"the input {TOO_DEEP}")
    with open_store(store) as kept:
        return durable.begin(kept, ready(workflow, tools), input, id, model)


async def resume(
    store: Place,
    id: str,
    workflow: Compiled | str | Path | None = None,
    *,
    models: Models | None = None,
    tools: Tools | None = None,
    watch: Callable[[Said], None] | None = None,
    hear: Listener | None = None,
    epoch: int | None = None,
) -> Outcome:
    """Make a durable run that `begin` entered, or go on with it, to its end, or until it waits for a person: then
    its questions are in the store, for `runs.approvals`.

    It is the workflow in the run's own file where none is given; `models` and `tools` are those that it was begun with.
    `epoch` is the run's as it was found, where it is gone on with only if nobody else has done so since. Raises InUse
    where another process goes on with it, Changed where it is no longer what it was, Diverged where the journal is not,
    LookupError where there is nothing to go on with.
    """
    with open_store(store) as kept:
        compiled = begun(kept, id, tools) if workflow is None else ready(workflow, tools)
        async with opened(compiled, models) as mine:
            given = (*compiled.given, *(models or {}))
            return await durable.go_on(kept, id, compiled, mine, given=given, epoch=epoch, watch=watch, hear=hear)


def begun(store: Store, id: str, tools: Tools | None = None) -> Compiled:
    """The workflow of a durable run that has not ended, as its file has it now. Raises LookupError, WorkflowFault."""
    kept = durable.unended(store, id)
    return compile(kept.file, model=kept.source["model"], tools=tools)


def decide(store: Store, one: Approval, decision: Decision, arguments: str | None = None) -> Came:
    """Decide a question of a durable run. The arguments of an edit, as JSON, are held against the tool as it is now:
    its schema and its allow-list. Raises Refused, Changed, LookupError, WorkflowFault.
    """
    if arguments is not None and one.state == "waiting":
        approvals.fitting(one, msgspec.structs.replace(decision, arguments={}))  # they are held against the tool below
        compiled = begun(store, one.run)
        unchanged(durable.unended(store, one.run), compiled)
        decision = msgspec.structs.replace(decision, arguments=accepted(compiled, one.tool, arguments))
    return approvals.decide(store, one.run, one.id, decision, hash=one.hash)


def run_sync(
    workflow: Runs,
    input: dict[str, Any],
    *,
    models: Models | None = None,
    tools: Tools | None = None,
    ask: Ask | None = None,
    journal: Journal | None = None,
    store: Place | None = None,
    id: str = "",
    watch: Callable[[Said], None] | None = None,
    hear: Listener | None = None,
) -> Outcome:
    """As `run`, for a program without an event loop. Raises RuntimeError within one."""
    outside("await loopworth.run(…)")
    given: dict[str, Any] = {"ask": ask, "journal": journal, "store": store, "id": id, "watch": watch, "hear": hear}
    return asyncio.run(run(workflow, input, models=models, tools=tools, **given))


async def compare(
    path: str | Path,
    *,
    models: Models | None = None,
    tools: Tools | None = None,
    arms: Mapping[str, Runs | Callable[..., Any]] | None = None,
    watch: Callable[[Progress], None] | None = None,
    keep: bool = True,
    store: Place | None = None,
    resume: str | None = None,
    replay: str | None = None,
) -> Result:
    """Run a comparison file to its end; `watch` is told how far it has come, `keep` keeps transcripts and events in the
    result, a `store` keeps every run as it is made.

    `resume` names a comparison in the store (by its id, or `last`) to go on with, `replay` one to make again from what
    was recorded, at no cost.

    `models` and `tools` stand in for those that the files name, in every arm. `arms` come after those of the file, by
    name: functions, executors and workflows of the program's own. Raises `WorkflowFault`, `Unavailable`, and
    LookupError, TypeError or ValueError for what cannot be given so. Cancelled, it returns what is done.
    """
    # Imported here: a run needs nothing of comparisons.
    from loopworth.comparisons import comparison, execution
    from loopworth.comparisons import given as given_arms

    readable(path)
    entries = given_tools.entries(tools or {})
    more = {name: contender(arm, tools, models) for name, arm in (arms or {}).items()}

    def joined(whole: bool) -> given_arms.Joined:
        return given_arms.joined(comparison.load(path, whole=whole, tools=entries), more, models or {})

    given, open, own = joined(whole=False)
    if replay is None:
        given.at_hand(own)
    with nullcontext() if store is None else open_store(store) as kept:
        given, keeper = given_arms.keeper_of(given, lambda: joined(whole=True)[0], kept, resume, replay, keep)
        return await execution.compare(given, watch=watch, keep=keep, open=open, keeper=keeper)


def contender(arm: Any, tools: Tools | None, models: Models | None) -> Compiled | Callable[..., Any]:
    """An arm of the program's own: a function as it is, or what there is to run."""
    as_it_is = isinstance(arm, Compiled) or (callable(arm) and not hasattr(arm, "run"))
    found: Compiled | Callable[..., Any] = arm if as_it_is else ready(arm, tools, models)
    return found
