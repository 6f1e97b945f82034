"""`change:`: the keys that an arm has otherwise than its file; for one arm, or for all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from loopworth.comparisons.check import misplaced
from loopworth.comparisons.spec import Arm, Comparison
from loopworth.workflows.faults import Fault
from loopworth.workflows.files import Files
from loopworth.workflows.variant import Change, Variant, settled


def vary(comparison: Comparison, files: Files) -> Iterator[Fault]:
    """Make the variants of the arms that something is changed for, so that they are checked and run in their place.

    Faults are those of the paths; what a new value does wrong is found where any workflow is checked. What is changed
    for every arm is changed in those that have it, and it is a fault where none has.
    """
    taken, lost = set[str](), dict[str, list[Fault]]()
    for name, arm in comparison.arms.items():
        wanted = dict(changes(comparison, arm))
        made = begun(arm, files) if wanted else None
        if made is None:
            continue
        for path, change in wanted.items():
            faults = list(misplaced(made.base, path, change.spot))
            if not faults and made.change(path, change):
                taken.add(path)
            elif change.everywhere:
                lost.setdefault(path, faults)
            else:
                yield from faults
        enter(made, arm, f"{arm.path('workflow').resolve()}#{name}", files)
    for path in lost.keys() - taken:
        none = comparison.at("change", path).fault(f"no arm has {path!r} to change", "write it for one arm", key=True)
        yield from lost[path] or [none]


def enter(made: Variant, arm: Arm, key: str, files: Files) -> None:
    """Have the variant checked, and run, in the place of the arm's file."""
    files.variants[id(arm)] = files.workflows[Path(key)] = made.workflow()
    files.differences[id(arm)] = settled(made.differences)


def begun(arm: Arm, files: Files) -> Variant | None:
    """The variant of an arm's workflow, before anything is changed."""
    if not isinstance(arm.workflow, str):
        return None
    try:
        return Variant(files.workflow_at(arm, "workflow"), files)
    except KeyError:
        return None


def changes(comparison: Comparison, arm: Arm) -> Iterator[tuple[str, Change]]:
    """What is changed for an arm, by path; its own changes win."""
    for form in (comparison, arm):
        for path, value in form.change.items():
            if form is arm or path not in arm.change:
                yield path, Change(value, form.at("change", path), everywhere=form is comparison)
