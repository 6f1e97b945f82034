"""`tools:` of a comparison: other implementations under the names of the arms' tools."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from loopworth.workflows.entries import Entries
from loopworth.workflows.faults import Fault
from loopworth.workflows.files import Files
from loopworth.workflows.overrides import stand_in
from loopworth.workflows.reach import reached
from loopworth.workflows.spec import Tool, Workflow


def uncallable(workflows: Iterable[Workflow], fakes: Mapping[str, Tool], files: Files) -> Iterator[Fault]:
    """The faults of fakes that cannot be called as the tools are whose names they have."""
    for workflow in workflows:
        for one in reached(workflow, files):
            for name, real in files.tools(one).items():
                if name in fakes:
                    yield from otherwise_called(name, real, fakes[name], files)


def otherwise_called(name: str, real: Tool, fake: Tool, files: Files) -> Iterator[Fault]:
    quiet, entry = Entries(files), stand_in(real, fake)  # an entry's own faults are reported where it stands
    tool, other = quiet.tool(name, real), quiet.tool(name, entry)
    if tool is None or other is None:
        return
    takes, gets = (set(one.parameters.get("properties", {})) for one in (tool, other))
    needed: list[Any] = other.parameters.get("required", [])
    closed = other.parameters.get("additionalProperties") is False
    for argument in sorted(takes - gets) if closed else ():
        yield fake.spot.fault(f"the fake of {name!r} has no {argument!r}, which the tool takes", key=True)
    for argument in sorted(set(needed) - takes):
        yield fake.spot.fault(f"the fake of {name!r} needs {argument!r}, which the tool does not take", key=True)
