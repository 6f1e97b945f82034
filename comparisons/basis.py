"""What a kept comparison was made of, and what has changed since."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from loopworth.comparisons.comparison import Comparison
from loopworth.comparisons.environment import environment
from loopworth.comparisons.tasks import Task
from loopworth.runs.kept import Kept, Query
from loopworth.runs.shelf import Shelf
from loopworth.workflows import origin
from loopworth.workflows.document import plain


def place(comparison: Comparison) -> str:
    """The file of a comparison, wherever one stands when it goes on."""
    return str(Path(comparison.file).resolve())


def source(comparison: Comparison) -> dict[str, Any]:
    """What a comparison is made of: digests of its files, and of the tasks that were chosen; and what it is run on."""
    return {
        "files": dict(comparison.files),
        "tasks": choice(comparison),
        "n": len(comparison.tasks),
        "stages": comparison.stages,
        "rows": digest(comparison.tasks),
        "environment": environment(),
        "given_models": dict(comparison.given_models),
    }


def as_answered(comparison: Comparison, before: Kept) -> Comparison:
    """The comparison, with models called what answered then: an object of a program's own may have stood in for one,
    and its words are none of that model's."""
    names = before.input.get("given_models", {}) if isinstance(before.input, dict) else {}
    specs = {key: spec for key, spec in comparison.models.items() if key in names}
    return comparison.asking({key: msgspec.structs.replace(spec, name=names[key]) for key, spec in specs.items()})


def environment_of(before: Kept) -> Mapping[str, Any]:
    """What a comparison was run on; nothing where that was not kept."""
    return dict(before.input.get("environment") or {}) if isinstance(before.input, dict) else {}


def digest(tasks: Iterable[Task]) -> str:
    """Of what is in the tasks, wherever they stand."""
    rows = [[t.id, t.fields, t.expected, t.expected_route, t.approve] for t in tasks]
    return sha256(json.dumps(plain(rows), sort_keys=True, default=str).encode()).hexdigest()


def tasks_file(comparison: Comparison) -> str:
    """The file of the tasks, as `Comparison.files` names it."""
    folder = Path(comparison.file).resolve().parent
    return next((os.path.relpath(Path(task.file).resolve(), folder) for task in comparison.tasks), "the tasks")


def changed(before: Mapping[str, Any], comparison: Comparison) -> list[str]:
    """What has changed since a comparison began: its files, or the choice of tasks."""
    found = origin.changed(before["files"], comparison.files)
    if not found and before["tasks"] != choice(comparison):
        found = [f"the choice of tasks ({before['n']} then, {len(comparison.tasks)} now)"]
    return found


def choice(comparison: Comparison) -> str:
    """A digest of which tasks were chosen."""
    return sha256("\n".join(task.id for task in comparison.tasks).encode()).hexdigest()


def latest(shelf: Shelf, comparison: Comparison) -> Kept | None:
    """The last comparison of this file."""
    of_file = (one for one in shelf.runs(Query(kinds=("comparison",))) if one.file == place(comparison))
    return next(of_file, None)
