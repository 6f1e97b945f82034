"""Tasks: what every arm is given, and what it should answer. Read from JSONL, CSV or YAML.

A byte order mark and CRLF line ends are taken off. Ids are text, so 1 and "1" are one id; without a column `id` tasks
are numbered from 1. A cell of a CSV file is a text, which each arm reads as the type of its input; one that is empty in
a reserved column says nothing. What a YAML file expects keeps its spelling: 3.10 is not 3.1 where texts are compared.
"""

from __future__ import annotations

import csv
import io
import json
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from loopworth.runs.message import json_of
from loopworth.runs.spelling import nearest
from loopworth.runs.usage import Value
from loopworth.workflows.document import parse, spelled
from loopworth.workflows.faults import Fault, WorkflowFault, suggestion
from loopworth.workflows.vocabulary import called

COLUMNS: dict[str, tuple[str, str, str]] = {
    "id": ("text, or number", "its number, from 1", "What the task is known by; no two have the same."),
    "expected": ("any value", "needed, without `expected_route`", "What the answer is compared with."),
    "expected_route": ("text", "—", "The label that a router should choose."),
    "approve": ("`approve` or `reject`", "the comparison's `approvals`", "How every gate of its runs is answered."),
}
"""The columns of a task file that have a meaning of their own: what each holds, what holds without it, what it is."""
RESERVED = tuple(COLUMNS)
THEIRS: dict[str, str] = {
    "expected": "answer target output label gold reference ideal ground_truth solution correct_answer expected_output",
    "expected_route": "route intent category expected_label",
}
"""A column with a meaning of its own → what other tools call it."""
ONE_OBJECT = 'write one JSON object a line: {"id": 1, "question": "…", "expected": "…"}'


class Task(Value, frozen=True):
    """One case. `fields` are its columns that are not reserved: a workflow's inputs of those names, and tags.

    `cells` are the columns of a CSV file, as the texts that they are there. `places` are the line and the column at
    which each column of the task stands, where that is known.
    """

    id: str
    fields: dict[str, Any]
    expected: Any = None
    expected_route: str | None = None
    approve: Literal["approve", "reject"] | None = None
    file: str = ""
    line: int = 1
    cells: dict[str, str] = {}
    places: dict[str, tuple[int, int]] = {}

    @property
    def where(self) -> str:
        return f"{self.file}:{self.line}"

    def tags(self, inputs: Collection[str]) -> dict[str, Any]:
        """The columns that are not."""
        return {name: value for name, value in self.fields.items() if name not in inputs}


@dataclass(frozen=True)
class Row:
    """One record of a file, the line it begins on, and the line and column of each field whose place is known."""

    values: dict[str, Any]
    line: int
    places: Mapping[str, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """The rows of one file, and every fault of reading it; `cells` says that all values are texts of a CSV file."""

    file: str
    rows: list[Row] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    cells: bool = False

    def fault(self, row: Row, name: str, what: str, instead: str = "") -> None:
        self.faults.append(Fault(self.file, *row.places.get(name, (row.line, 1)), what, instead))


def read(path: Path | str, rename: Mapping[str, str] | None = None) -> tuple[Task, ...]:
    """The tasks of a file; `rename` maps names of columns to what they stand for.

    Raises WorkflowFault with every fault of the file.
    """
    tasks, faults = read_with_faults(path, rename)
    if faults:
        raise WorkflowFault(faults)
    return tasks


def read_with_faults(path: Path | str, rename: Mapping[str, str] | None = None) -> tuple[tuple[Task, ...], list[Fault]]:
    """The tasks of a file, and what is wrong with them: none where the file itself could not be read whole."""
    table = table_of(Path(path), str(path))
    whole = not table.faults
    rows = renamed(table, rename or {})
    tasks = [task for number, row in enumerate(rows, 1) if (task := task_of(table, row, number))]
    duplicates(table, tasks)
    if not table.rows and not table.faults:
        table.faults.append(Fault(table.file, 1, 1, "holds no task"))
    return tuple(tasks) if whole else (), table.faults


def columns(tasks: Iterable[Task]) -> set[str]:
    """The columns of any of the tasks that are not reserved."""
    return {name for task in tasks for name in task.fields}


def lacking(tasks: Iterable[Task], names: Collection[str]) -> list[Fault]:
    """A fault for every task that has none of a column that is needed, such as an input or `expected`."""
    return [
        Fault(task.file, task.line, 1, f"task {task.id!r} has no field {name!r}", renaming(name, task.fields))
        for task in tasks
        for name in names
        if name not in task.fields and (name not in RESERVED or getattr(task, name) is None)
    ]


def renaming(name: str, fields: Collection[str]) -> str:
    """The advice for a task without a field: the one that is misspelt, or has the name that other tools give it."""
    if theirs := next((field for field in fields if called(field, THEIRS.get(name, ""))), None):
        return f"write `tasks: {{file: …, rename: {{{theirs}: {name}}}}}`"
    return suggestion(name, fields, "fields")


def pick(tasks: Collection[Task], id: str) -> Task:
    """The task of this id; raises LookupError, with the nearest id, where there is none."""
    for task in tasks:
        if task.id == id:
            return task
    near = nearest(id, (task.id for task in tasks))
    raise LookupError(f"there is no task {id!r}" + (f"; did you mean {near!r}?" if near else f" among {len(tasks)}"))


# -- from rows to tasks ------------------------------------------------------------------------------------------------


def renamed(table: Table, rename: Mapping[str, str]) -> list[Row]:
    """The rows with their columns by the names that they stand for."""
    known = {name for row in table.rows for name in row.values}
    for old, new in rename.items():
        if old not in known and table.rows:
            advice = suggestion(old, known, "columns")
            table.fault(table.rows[0], "", f"there is no column {old!r} to rename to {new!r}", advice)
    rows = []
    for row in table.rows:
        values = {rename.get(name, name): value for name, value in row.values.items()}
        if len(values) < len(row.values):
            table.fault(row, "", "two columns have the same name once they are renamed")
        rows.append(Row(values, row.line, {rename.get(name, name): at for name, at in row.places.items()}))
    return rows


def task_of(table: Table, row: Row, number: int) -> Task | None:
    """The task that a row is; None where it has no id that could be one."""
    id = id_of(table, row, number)
    route, approve = row.values.get("expected_route"), row.values.get("approve")
    if route is not None and not isinstance(route, str):
        table.fault(row, "expected_route", "`expected_route` is the label of a route, a text")
    if approve not in (None, "approve", "reject"):
        table.fault(row, "approve", f"`approve` is approve or reject, not {approve!r}")
    if id is None:
        return None
    fields = {name: value for name, value in row.values.items() if name not in RESERVED}
    expected = row.values.get("expected")
    cells = dict(fields) if table.cells else {}
    return Task(id, fields, expected, route, approve, table.file, row.line, cells, dict(row.places))


def id_of(table: Table, row: Row, number: int) -> str | None:
    """The id of a row as text, its number where it has none."""
    if "id" not in row.values:
        return str(number)
    id = row.values["id"]
    if isinstance(id, bool) or not isinstance(id, str | int | float) or id == "":
        table.fault(row, "id", "`id` is a text or a number")
        return None
    return str(spelled(id))


def duplicates(table: Table, tasks: Iterable[Task]) -> None:
    """A fault for each task whose id an earlier one has."""
    first: dict[str, int] = {}
    for task in tasks:
        if task.id in first:
            what = f"the id {task.id!r} is taken by line {first[task.id]}"
            table.faults.append(Fault(table.file, task.line, 1, what, 'ids are text: 1 and "1" are the same'))
        first.setdefault(task.id, task.line)


# -- from files to rows ------------------------------------------------------------------------------------------------


def table_of(path: Path, file: str) -> Table:
    """The rows of a file, by its ending."""
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        return Table(file, faults=[Fault(file, 1, 1, f"tasks are not read from {path.suffix!r}", ENDINGS)])
    try:
        return reader(path.read_bytes().decode("utf-8-sig"), file)
    except OSError as error:
        return Table(file, faults=[Fault(file, 1, 1, f"cannot be read: {error.strerror}")])
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode("utf-8", "replace")
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        return Table(file, faults=[Fault(file, line, column, "is not UTF-8 text", "save it as UTF-8")])


def from_jsonl(text: str, file: str) -> Table:
    """One JSON object a line; blank lines are skipped."""
    table = Table(file)
    if text.lstrip().startswith("["):
        table.faults.append(Fault(file, 1, 1, "is one JSON list", ONE_OBJECT))
        return table
    # Not splitlines: a JSON text may hold U+2028 and other ends of line as they are.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            values = json_object(line)
            table.rows.append(Row(values, number, {name: (number, column_of(line, name)) for name in values}))
        except json.JSONDecodeError as error:
            table.faults.append(Fault(file, number, error.colno, f"is not JSON: {error.msg.lower()}", ONE_OBJECT))
        except ValueError as error:
            table.faults.append(Fault(file, number, 1, str(error), ONE_OBJECT))
    return table


def json_object(line: str) -> dict[str, Any]:
    """The object on a line; raises ValueError for anything else, and for what JSON does not have."""
    value = json_of(line, object_pairs_hook=once, parse_constant=no_constant)
    if not isinstance(value, dict):
        raise ValueError("is JSON, but not an object")
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("holds half of a surrogate pair, which is no character") from None
    return value


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"has the key {name!r} twice")
        found[name] = value
    return found


def no_constant(name: str) -> Any:
    raise ValueError(f"holds {name}, which is not JSON")


def column_of(line: str, name: str) -> int:
    """Where a key stands on its line, from 1."""
    return max(line.find(json.dumps(name)), line.find(json.dumps(name, ensure_ascii=False)), 0) + 1


def from_csv(text: str, file: str) -> Table:
    """Comma-separated cells under a header; a quoted cell may run over several lines."""
    table = Table(file, cells=True)
    lines = list(io.StringIO(text, newline=""))
    records = csv.reader(lines, strict=True)
    spots, begins = Spots(text, lines), 1
    try:
        header = [name.strip() for name in next(records, [])]
        table.faults.extend(header_faults(header, file))
        begins = records.line_num + 1
        for cells in records:
            if cells:
                values = {name: cell for name, cell in zip(header, cells, strict=False) if said(name, cell)}
                places = dict(zip(header, spots.of_cells(begins, len(cells)), strict=False))
                table.rows.append(Row(values, begins, places))
                if len(cells) != len(header):
                    what = f"has {len(cells)} cells, and the header {len(header)}"
                    table.faults.append(Fault(file, begins, 1, what, 'put a cell that has a comma in quotes: "a, b"'))
            begins = records.line_num + 1
    except csv.Error as error:
        table.faults.append(Fault(file, begins, 1, f"is not CSV: {error}", "long texts are better kept in JSONL"))
    return table


class Spots:
    """Where the cells of a sound CSV file stand."""

    def __init__(self, text: str, lines: Sequence[str]) -> None:
        self.text, self.starts = text, [0]
        for line in lines:
            self.starts.append(self.starts[-1] + len(line))

    def of_cells(self, line: int, n: int) -> Iterator[tuple[int, int]]:
        """The line and the column of each of the n cells of the record that begins on this line."""
        at = self.starts[line - 1]
        for _ in range(n):
            row = bisect_right(self.starts, at, hi=len(self.starts) - 1)
            yield row, at - self.starts[row - 1] + 1
            match = CELL.match(self.text, at)
            at = match.end() + 1 if match else at


CELL = re.compile(r'"(?:[^"]|"")*"|[^,\r\n]*')


def said(name: str, cell: str) -> bool:
    """Whether a cell says anything: an empty one of a reserved column does not."""
    return bool(cell) or name not in RESERVED or name == "id"


def header_faults(header: list[str], file: str) -> Iterator[Fault]:
    if len(header) == 1 and any(mark in header[0] for mark in ";\t"):
        yield Fault(file, 1, 1, "the header has no comma", "separate cells by commas")
    for number, name in enumerate(header, 1):
        if not name:
            yield Fault(file, 1, 1, f"column {number} has no name")
        elif name in header[: number - 1]:
            yield Fault(file, 1, 1, f"two columns are called {name!r}")


def from_yaml(text: str, file: str) -> Table:
    """A list of mappings. Numbers keep their spelling, for an input that is a text."""
    document = parse(text, file)
    table = Table(file, faults=list(document.faults))
    if table.faults:
        return table
    if not isinstance(document.value, list):
        table.faults.append(document.fault((), "tasks are a list", "begin each with `- id: …`"))
        return table
    for number, values in enumerate(document.value):
        line, _ = document.where((number,))
        if not isinstance(values, dict):
            table.faults.append(document.fault((number,), "a task is a mapping of its fields", "- id: …"))
        else:
            table.rows.append(Row(values, line, {name: document.where((number, name)) for name in values}))
    return table


READERS: dict[str, Callable[[str, str], Table]] = {
    ".jsonl": from_jsonl,
    ".ndjson": from_jsonl,
    ".csv": from_csv,
    ".yaml": from_yaml,
    ".yml": from_yaml,
}
ENDINGS = "use .jsonl, .csv or .yaml"
