"""What a task gives a workflow: its columns, and the cells of a CSV file read as the types of the inputs they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from loopworth.comparisons.tasks import Task
from loopworth.workflows.document import plain
from loopworth.workflows.faults import Fault
from loopworth.workflows.types import Type


def given(task: Task, type: Type) -> dict[str, Any]:
    """The inputs that a task has for a workflow of this type. Raises ValueError where a cell cannot be read."""
    return {
        name: read(task.cells[name], type, name) if name in task.cells else as_input(task.fields[name], type, name)
        for name in type.schema.get("properties", {})
        if name in task.fields and not silent(task, type, name)
    }


def as_input(value: Any, type: Type, name: str) -> Any:
    """A value as an input, of plain types: a number of a YAML file is its spelling where the input is a text."""
    return plain(type.fields[name].check(value) if name in type.fields else value)


def read(cell: str, type: Type, name: str) -> Any:
    """A cell as an input: the text where that is of the input's type, else the value that the text stands for."""
    wanted = type.fields.get(name)
    if wanted is None:
        return cell
    try:
        return wanted.check(cell)
    except ValueError:
        pass
    return wanted.check(None) if not cell.strip() else wanted.read(cell)


def silent(task: Task, type: Type, name: str) -> bool:
    """Whether a cell is empty and may be: the input has a default, and is no text."""
    if task.cells.get(name, "x").strip() or name in type.schema.get("required", ()) or name not in type.fields:
        return False
    try:
        type.fields[name].check(task.cells[name])
    except ValueError:
        return True
    return False


def typed(task: Task, types: Iterable[Type]) -> Task:
    """The task with each cell as the first of these types that has such an input reads it, where it can."""
    found: dict[str, Any] = {}
    for type in types:
        for name in task.cells.keys() & type.fields.keys() - found.keys():
            try:
                found[name] = None if silent(task, type, name) else read(task.cells[name], type, name)
            except ValueError:
                found[name] = task.cells[name]  # a fault of its own, where the task counts
    return msgspec.structs.replace(task, fields={**task.fields, **found}) if found else task


def misfits(tasks: Iterable[Task], types: Mapping[str, Type]) -> Iterator[Fault]:
    """The columns of tasks that are not what an arm takes in, by the arms' input types."""
    for task in tasks:
        said = set[str]()
        for arm, type in types.items():
            for name in type.fields.keys() & task.fields.keys():
                why = misfit(task, type, name)
                if why is not None and f"{name} {why}" not in said:
                    said.add(f"{name} {why}")
                    what = f"task {task.id!r} is no input of the arm {arm!r}: {name} {why}"
                    yield Fault(task.file, *task.places.get(name, (task.line, 1)), what)


def misfit(task: Task, type: Type, name: str) -> str | None:
    """Why a column is not of its input's type; None where it is."""
    try:
        if name not in task.cells:
            as_input(task.fields[name], type, name)
        elif not silent(task, type, name):
            read(task.cells[name], type, name)
    except ValueError as why:
        return str(why)
    return None
