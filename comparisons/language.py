"""Every kind of file of the language, read and checked together: workflows, catalogues, comparisons and tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loopworth.comparisons import tasks
from loopworth.comparisons.change import vary
from loopworth.comparisons.check import Checking
from loopworth.comparisons.executable import absent
from loopworth.comparisons.spec import Comparison, Tasks
from loopworth.comparisons.tasks import Task
from loopworth.runs.spelling import nearest
from loopworth.workflows import check
from loopworth.workflows.builder import Builder
from loopworth.workflows.document import Document
from loopworth.workflows.faults import Fault, WorkflowFault, in_order, suggestion
from loopworth.workflows.files import Files, newer, sort_of
from loopworth.workflows.form import Spotted
from loopworth.workflows.schema import schema_of
from loopworth.workflows.spec import SHAPES, CatalogueFile, Tool, Workflow

TASK_FILES = (".jsonl", ".ndjson", ".csv")


@dataclass
class Loaded:
    """What was read, by resolved path.

    `tasks` are those of a comparison (once it is checked, those that count; the `whole` file's, if that is asked for),
    or of a task file named by itself; `tables` are the files with tasks.
    """

    files: Files = field(default_factory=Files)
    comparisons: dict[Path, Comparison] = field(default_factory=dict)
    tasks: dict[Path, tuple[Task, ...]] = field(default_factory=dict)
    whole: bool = False
    found: list[Fault] = field(default_factory=list)
    tables: set[Path] = field(default_factory=set)

    @property
    def read(self) -> set[Path]:
        """Every file that was read, by its resolved path: what was named, and what these refer to."""
        return {*self.files.documents, *self.files.texts, *self.tables}

    @property
    def faults(self) -> list[Fault]:
        """Every fault of every file, in order."""
        return in_order([*self.found, *self.files.found])

    @property
    def all_faults(self) -> list[Fault]:
        """The same, and what is not at hand to be run: what runs nothing, as a replay, does not need it."""
        arms = [arm for comparison in self.comparisons.values() for arm in comparison.arms.values()]
        return in_order([*self.faults, *(fault for arm in arms if arm.command for fault in absent(arm.at("command")))])

    def sound(self) -> Loaded:
        """These files; raises WorkflowFault with all their faults if there are any."""
        if self.faults:
            raise WorkflowFault(self.faults)
        return self

    def arm(self, comparison: Comparison, name: str) -> Workflow:
        """The workflow of an arm. KeyError if it could not be read."""
        return self.files.workflow_at(comparison.arms[name], "workflow")

    def add(self, path: Path) -> None:
        """Read a file of any kind, with all it refers to."""
        if path.suffix.lower() in TASK_FILES:
            self.add_tasks(path, path)
            return
        document = self.files.document(path)
        if isinstance(document.value, list):
            self.add_tasks(path, path)
        elif sort_of(document) == "comparison":
            self.add_comparison(path, document)
        else:
            self.files.add(path)

    def add_comparison(self, path: Path, document: Document) -> None:
        if path.resolve() in self.comparisons:
            return
        builder = Builder(document)
        comparison = self.comparisons[path.resolve()] = builder.form(Comparison, document.value)
        self.found += [*builder.faults, *newer(comparison)]
        for arm in comparison.arms.values():
            if isinstance(arm.workflow, str):
                self.files.add(arm.path("workflow"), arm.at("workflow"), "workflow")
        self.found += vary(comparison, self.files)
        if isinstance(comparison.tools, str):
            self.files.add(comparison.path("tools"), comparison.at("tools"), "tools")
        self.files.refer(comparison)
        self.add_tasks_of(path, comparison)

    def add_tasks_of(self, path: Path, comparison: Comparison) -> None:
        written = comparison.tasks
        if isinstance(written, str):
            where, spot = comparison.path("tasks"), comparison.at("tasks")
            self.add_tasks(path, where, spot)
        elif written is not None and isinstance(written.file, str):
            self.add_tasks(path, written.path("file"), written.at("file"), written.rename)

    def add_tasks(
        self,
        owner: Path,
        path: Path,
        spot: Spotted | None = None,
        rename: dict[str, str] | None = None,
    ) -> None:
        """Read the tasks of a comparison (its `owner`), or of a file that was named by itself."""
        if spot is not None:
            if (there := self.files.present(path, spot)) is None:
                return
            path = there
        self.tables.add(path.resolve())
        found, faults = tasks.read_with_faults(path, self.columns(path, rename or {}, owner))
        self.found += faults
        if found:
            self.tasks[owner.resolve()] = found

    def check(self) -> None:
        """Check all that was read."""
        self.files.found += check.faults(self.files)
        for path, comparison in self.comparisons.items():
            if self.whole and isinstance(comparison.tasks, Tasks):
                comparison.tasks.limit = None
            checking = Checking(comparison, self.tasks.get(path), self.files)
            self.found += checking.faults()
            if checking.tasks is not None:
                self.tasks[path] = checking.tasks

    def columns(self, path: Path, rename: dict[str, str], owner: Path) -> dict[str, str]:
        """What can be renamed; with a fault for a column that is not there, the nearest one."""
        if not rename:
            return rename
        known = {name for row in tasks.table_of(path, str(path)).rows for name in row.values}
        written = self.comparisons[owner.resolve()].tasks
        meant = {}
        for old, new in rename.items():
            if old not in known and known and isinstance(written, Tasks):
                what, advice = f"no task has a column {old!r}", suggestion(old, known, "columns")
                self.found.append(written.at("rename", old).fault(what, advice, key=True))
            near = old if old in known else nearest(old, known - rename.keys())
            meant.update({near: new} if near is not None else {})
        return meant


def load(*paths: Path | str, whole: bool = False, given: Mapping[str, Tool] | None = None) -> Loaded:
    """Files of any kind, with all the files they refer to, each read once and checked.

    `given` are tools that a program brings. All faults of all files are in `Loaded.faults`;
    `Loaded.sound()` raises them.
    """
    loaded = Loaded(Files(given=dict(given or {})), whole=whole)
    for path in paths:
        loaded.add(Path(path))
    loaded.check()
    return loaded


def schema() -> dict[str, Any]:
    """The JSON Schema of every kind of YAML file."""
    return schema_of([*SHAPES.values(), CatalogueFile, Comparison])
