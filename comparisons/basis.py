"""What a kept comparison was made of, and what has changed since."""

from __future__ import annotations

import dataclasses
import json
import os
import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from loopworth.comparisons.comparison import Comparison
from loopworth.comparisons.environment import environment
from loopworth.comparisons.kept_arm import KeptArm, arm_of, entry
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
        "given_arms": [msgspec.to_builtins(entry(arm)) for arm in comparison.arms if arm.origin == "program"],
    }


# -- what a program gave ----------------------------------------------------------------------------------------------

GIVEN_ARM, GIVEN_MODEL, GIVEN = "the arm {!r} given in Python", "the model {!r} given in Python", " given in Python"
"""What it is called among the files."""


def with_given(comparison: Comparison, before: Kept) -> Comparison:
    """The comparison with what a program gave it then. Models are called what answered, since an object may have stood
    in for one. Arms come after the file's, and those that no program gives now are as the store keeps them."""
    made_of = before.input if isinstance(before.input, dict) else {}
    mine = {arm.name: arm for arm in comparison.arms if arm.origin == "program"}
    then = {one.name: mine.get(one.name) or arm_of(one) for one in given_arms(made_of)}
    arms = (*(arm for arm in comparison.arms if arm.name not in then), *then.values())
    whole = dataclasses.replace(comparison, arms=arms, files=still(made_of.get("files", {}), comparison))
    names = made_of.get("given_models", {})
    specs = {key: spec for key, spec in whole.models.items() if key in names}
    return whole.asking({key: msgspec.structs.replace(spec, name=names[key]) for key, spec in specs.items()})


def given_arms(made_of: Mapping[str, Any]) -> list[KeptArm]:
    """The arms that a program gave; of an older version's comparison no more than their names."""
    if "given_arms" in made_of:
        return msgspec.convert(made_of["given_arms"], list[KeptArm])
    found = (re.fullmatch(GIVEN_ARM.format("(.*)"), name) for name in made_of.get("files", {}))
    return [KeptArm(one[1]) for one in found if one is not None]


def still(before: Mapping[str, str], comparison: Comparison) -> dict[str, str]:
    """The digests of what a comparison is made of now, also of the code that its files do not name; what a program gave
    is what it was."""
    folder = Path(comparison.file).resolve().parent
    others = before.keys() - comparison.files.keys()
    found = {name: before[name] if name.endswith(GIVEN) else origin.of(folder / name) for name in others}
    return {**comparison.files, **found}


# -- what it is now ---------------------------------------------------------------------------------------------------


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
    found = origin.changed(before["files"], counted(before, comparison))
    if not found and before["tasks"] != choice(comparison):
        found = [f"the choice of tasks ({before['n']} then, {len(comparison.tasks)} now)"]
    return found


def obstacle(before: Kept, comparison: Comparison) -> tuple[str, str]:
    """Why a comparison cannot be gone on with as it is now, and what to do instead; nothing where it can."""
    other = changed(before.input, comparison)
    lost = [name.removesuffix(GIVEN) for name in other if name.endswith(GIVEN) and name not in comparison.files]
    if lost and before.state == "done":
        return f"{before.id} is finished, and nothing of it is left to be made", f"see it: loopworth report {before.id}"
    if lost:
        call = f"loopworth.compare({Path(comparison.file).name!r}, …, store=…, resume={before.id!r})"
        return f"{before.id} goes on in the program that gave {', '.join(lost)}", f"there: {call}"
    if other:
        why = f"{before.id} cannot be resumed: {', '.join(other)} changed since it began"
        return (
            why,
            "without --resume a comparison begins anew; --resume ID goes on with an earlier one (`loopworth runs`)",
        )
    return "", ""


def counted(before: Mapping[str, Any], comparison: Comparison) -> dict[str, str]:
    """What it is made of now, as far as that counted when it began: of Python an older version counted the files of
    functions alone, and neither what they import nor types."""
    if "given_arms" in before:
        return dict(comparison.files)
    then = before.get("files", {})
    return {name: of for name, of in comparison.files.items() if name in then or not name.endswith(".py")}


def choice(comparison: Comparison) -> str:
    """A digest of which tasks were chosen."""
    return sha256("\n".join(task.id for task in comparison.tasks).encode()).hexdigest()


def latest(shelf: Shelf, comparison: Comparison) -> Kept | None:
    """The last comparison of this file."""
    of_file = (one for one in shelf.runs(Query(kinds=("comparison",))) if one.file == place(comparison))
    return next(of_file, None)
