"""What a program gives a comparison beside its files: arms of its own, and models in the place of those they name.

Both become part of what the comparison is made of: without them it cannot be gone on with.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from msgspec import structs
from pydantic import TypeAdapter, ValidationError

from loopworth.comparisons.arms import Arm
from loopworth.comparisons.basis import GIVEN_ARM, GIVEN_MODEL, latest, obstacle, with_given
from loopworth.comparisons.comparison import Comparison
from loopworth.comparisons.endpoints import Open
from loopworth.comparisons.extension import taken_up
from loopworth.comparisons.keeper import Keeper, Replayer, StoreKeeper
from loopworth.comparisons.program import asked, compiled, fitted, program_inputs
from loopworth.comparisons.tasks import columns, lacking
from loopworth.models import ModelSpec, open_model
from loopworth.models.given import Given, GivenModel, by_key, opened, spec_of
from loopworth.runs.effects import Effects
from loopworth.runs.executor import Executor
from loopworth.runs.kept import Kept
from loopworth.runs.outcome import Outcome
from loopworth.runs.recording import Recording
from loopworth.runs.shelf import Shelf
from loopworth.runs.store import Store
from loopworth.workflows.compile import Compiled
from loopworth.workflows.faults import WorkflowFault
from loopworth.workflows.given import SHAPE
from loopworth.workflows.origin import by_path, of
from loopworth.workflows.python_name import code_of
from loopworth.workflows.spec import Name
from loopworth.workflows.type_expression import parse_type

Joined: TypeAlias = tuple[Comparison, Open, frozenset[str]]
"""A comparison, who opens its models, and the keys of those that are the program's own."""
Contender: TypeAlias = Compiled | Callable[..., Any]
"""What a program gives as an arm: a workflow or an executor of its own, or a function, which is an arm as `python:`."""
NAMES = TypeAdapter[str](Name)
"""What an arm may be called."""


def joined(comparison: Comparison, arms: Mapping[str, Contender], models: Mapping[str, Given]) -> Joined:
    """The comparison with these arms after its own, and with these models.

    Raises ValueError for an arm that the file does not allow, WorkflowFault for tasks that lack what one takes,
    LookupError for a model that nothing asks.
    """
    more = tuple(arm_of(name, workflow, comparison) for name, workflow in arms.items())
    every = (*comparison.arms, *more)
    whole = dataclasses.replace(comparison, arms=every)
    own = by_key(models, whole.models)
    specs = dict(named(own, whole.models))
    files = {**comparison.files, **dict(digests(comparison, more, models))}
    names = {key: spec.name for key, spec in specs.items()}
    whole = dataclasses.replace(whole.asking(specs), files=files, given_models=names)
    given = {specs[key].key: GivenModel(opened(one)) for key, one in own.items() if not isinstance(one, str)}
    return whole, lambda spec: given[spec.key] if spec.key in given else open_model(spec), frozenset(given)


def keeper_of(
    comparison: Comparison,
    whole: Callable[[], Comparison],
    store: Store | None,
    resume: str | None,
    replay: str | None,
    keep: bool,
) -> tuple[Comparison, Keeper]:
    """Who makes the runs: anew, after those that a kept comparison made, or as they were recorded; with the comparison,
    which takes the tasks that it was extended by from the `whole` file's.

    Raises LookupError for a comparison that is not kept, ValueError for one that cannot be gone on with or replayed.
    """
    if store is None and (resume or replay):
        raise ValueError("`resume` and `replay` name a comparison in a run store: give `store` as well")
    if store is None:
        return comparison, Keeper()
    if resume is None and replay is None:
        return comparison, StoreKeeper.anew(store, comparison)
    before = kept(store.shelf(), comparison, resume or replay or "")
    comparison = taken_up(comparison, whole, before.input, strict=resume is not None)
    if resume is None:
        trials = [store.shelf().recording(trial.id) for trial in store.shelf().trials(before.id)]
        return with_given(comparison, before), Replayer(Recording(before), trials, comparison.stop_early)
    why, _ = obstacle(before, comparison)
    if why:
        raise ValueError(why)
    return comparison, StoreKeeper.going_on(store, comparison, before.id, keep)


def kept(shelf: Shelf, comparison: Comparison, id: str) -> Kept:
    """What is kept of a comparison by this id; `last` is the last one of its file. Raises LookupError, ValueError."""
    before = latest(shelf, comparison) if id == "last" else shelf.run(id)
    if before is None:
        raise LookupError(f"no comparison of {comparison.file} is kept")
    if (before.kind, before.name) != ("comparison", comparison.name):
        raise ValueError(f"{before.id} is the {before.kind} {before.name!r}, and no comparison {comparison.name!r}")
    return before


def arm_of(name: str, own: Contender, comparison: Comparison) -> Arm:
    """An arm of the program's own, held to what the arms of the file are held to."""
    try:
        NAMES.validate_python(name)
    except ValidationError as fault:
        raise ValueError(fault.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")) from None
    if any(arm.name == name for arm in comparison.arms):
        raise ValueError(f"the file has an arm {name!r}: give yours another name")
    files = (arm.workflow.input for arm in comparison.arms if not arm.foreign)
    taken = program_inputs(files, columns(comparison.tasks))
    if not isinstance(own, Compiled):
        workflow = of_function(name, own, taken)
    elif own.shape == SHAPE:
        input = parse_type({column: {"json_schema": {}} for column in taken})
        workflow = dataclasses.replace(own, executor=Witnessed(own.executor), input=input)
    elif faults := lacking(comparison.tasks, own.input.schema.get("required", ())):
        raise WorkflowFault(faults)
    else:
        workflow = own
    if workflow.writes and comparison.spec.get("writes") != "allowed":
        what = f"the arm {name!r} may write ({', '.join(workflow.writes)}), once for every task"
        raise ValueError(f"{what}: write `writes: allowed` into {comparison.file} if that may happen")
    if workflow.gates and comparison.approvals is None and any(task.approve is None for task in comparison.tasks):
        what = f"the arm {name!r} may reach a gate ({', '.join(workflow.gates)}), and nothing says what to answer"
        raise ValueError(f"{what}: write `approvals: approve` or `approvals: reject` into {comparison.file}")
    return Arm(name, workflow, origin="program")


@dataclasses.dataclass(frozen=True, slots=True)
class Witnessed:
    """An executor of the program's own. What one used that does nothing by `fx` is unknown, as it is of a function."""

    own: Executor

    async def run(self, input: dict[str, Any], fx: Effects) -> Outcome:
        try:
            return await self.own.run(input, fx)
        finally:
            if not fx.trace():
                asked(None, fx, SHAPE)


def of_function(name: str, function: Callable[..., Any], columns: list[str]) -> Compiled:
    """A function as what an arm runs. Raises ValueError where it needs what no task has."""
    try:
        taken, called = fitted(function, columns)
    except ValueError as why:
        raise ValueError(f"the arm {name!r} {why}") from None
    code = code_of(function) or code_of(type(function).__call__)
    return dataclasses.replace(compiled(name, "python", called, taken, None), code=code)


def named(own: Mapping[str, Given], specs: Mapping[str, ModelSpec]) -> Iterator[tuple[str, ModelSpec]]:
    """What a report calls each given model, by its key; different ones have different names."""
    taken: dict[str, list[Given]] = {}
    for key, one in own.items():
        spec = spec_of(one, specs[key])
        alike = taken.setdefault(spec.name, [])
        if not any(one is other for other in alike):
            alike.append(one)
        n = next(n for n, other in enumerate(alike, 1) if one is other)
        yield key, spec if n == 1 else structs.replace(spec, name=f"{spec.name}-{n}")


def digests(comparison: Comparison, arms: tuple[Arm, ...], models: Mapping[str, Given]) -> Iterator[tuple[str, str]]:
    """The SHA-256 of the files and the code of arms and models, by words that say what was given."""
    folder = Path(comparison.file).resolve().parent
    for arm in arms:
        yield GIVEN_ARM.format(arm.name), ""
        yield from by_path((*arm.workflow.read, *arm.workflow.code), folder).items()
    for name, own in models.items():
        code = code_of(own if inspect.isroutine(own) else getattr(type(own), "reply", None))
        made_of = "".join(map(of, code)) or (own if isinstance(own, str) else "")
        yield GIVEN_MODEL.format(name), made_of
