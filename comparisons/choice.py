"""Which tasks of a file count: those for which `where` holds, and of these the first `limit`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from loopworth.comparisons.spec import Tasks
from loopworth.comparisons.tasks import RESERVED, Task, columns
from loopworth.workflows.faults import Fault, suggestion
from loopworth.workflows.form import Spotted
from loopworth.workflows.scope import ANYTHING, Schema, Scope, condition
from loopworth.workflows.template_data import Skipped, TemplateFault
from loopworth.workflows.templates import Template, expression


def chosen(written: Tasks, every: Sequence[Task]) -> tuple[tuple[Task, ...], list[Fault]]:
    """The tasks that count; none where `where` cannot be told, with the faults of that."""
    if written.where is None or not written.sound("where"):
        return tuple(every[: written.limit]), []
    known = {*columns(every), *RESERVED}
    faults = list(unreadable(written.where, written.at("where"), known))
    if faults:
        return (), faults
    holds, kept = expression(written.where), list[Task]()
    for task in every:
        try:
            kept += [task] if holds_of(holds, task, known) else []
        except TemplateFault as fault:
            what = f"`where` fails on task {task.id!r}: {fault.what}"
            faults.append(Fault(task.file, task.line, 1, what, fault.instead))
    if not kept and not faults:
        faults.append(written.at("where").fault(f"`where` holds for none of the {len(every)} tasks"))
    return ((), faults) if faults else (tuple(kept[: written.limit]), [])


def unreadable(where: str, spot: Spotted, known: set[str]) -> Iterator[Fault]:
    """What is wrong with the expression itself: its syntax, and names that are no columns."""
    try:
        unknown = sorted(expression(where).reads - known)
    except TemplateFault:
        unknown = []  # told below, at its line
    for name in unknown:
        what = f"`where` reads {name!r}, which is no column of the tasks"
        yield spot.fault_in(name, what, suggestion(name, known, "columns"))
    names: dict[str, Schema] = dict.fromkeys((*known, *unknown), ANYTHING)
    yield from condition(where, spot, Scope(names, reader="`where`"))


def holds_of(condition: Template, task: Task, known: Iterable[str]) -> bool:
    """Whether it holds of a task, by its columns; those that only other tasks have are not defined."""
    reserved: dict[str, Any] = {name: getattr(task, name) for name in RESERVED}
    absent = {name: Skipped(f"task {task.id!r} has no such field") for name in known if name not in task.fields}
    return condition.holds({**absent, **task.fields, **reserved})
