"""Tools that say nothing of themselves to a model that may call them: no fault, and seldom meant."""

from __future__ import annotations

from collections.abc import Iterator

from loopworth.workflows import spec
from loopworth.workflows.catalogue import built
from loopworth.workflows.faults import Fault
from loopworth.workflows.files import Files
from loopworth.workflows.reach import inner, usable


def silent(files: Files) -> Iterator[Fault]:
    """One for each tool of a loop whose name and arguments are all that its model is told."""
    for workflow in files.workflows.values():
        for name, entry in usable(workflow, files).items() if isinstance(workflow, spec.Loop) else ():
            if undescribed(name, entry, files):
                key, instead = said_by(entry)
                what = f"a model is told the name and the arguments of the tool {name!r}, and nothing of what it does"
                yield entry.at(key).fault(what, f"{instead}, or a `description` here")


def undescribed(name: str, entry: spec.Tool, files: Files) -> bool:
    if entry.description or entry.builtin is not None:
        return False
    if entry.run is not None:
        part = inner(entry, files)
        return part is not None and not part.description
    made, _ = built(name, entry) if entry.python is not None else (None, [])
    return made is not None and not made.description.strip()


def said_by(entry: spec.Tool) -> tuple[str, str]:
    """The key that leads to what should say it, and what to write there."""
    return ("run", "give the workflow a `description`") if entry.run is not None else ("python", "write a docstring")
