"""The entries of catalogues, held to what every tool must say, and each made into its tool once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from loopworth.tools.tool import Tool
from loopworth.workflows import later, spec
from loopworth.workflows.calls import passed
from loopworth.workflows.catalogue import built
from loopworth.workflows.faults import Fault
from loopworth.workflows.files import Files
from loopworth.workflows.reach import inner, written
from loopworth.workflows.type_expression import TypeFault
from loopworth.workflows.workflow_tool import workflow_tool


def faults(tools: Mapping[str, spec.Tool], files: Files) -> list[Fault]:
    """What is wrong with the entries of a catalogue that stands in another file."""
    entries = Entries(files)
    entries.judge(tools)
    return entries.found + [fault for entry in tools.values() for fault in later.faults(entry)]


@dataclass
class Entries:
    """The entries that a set of files has. `found` fills up with what is wrong with them."""

    files: Files
    found: list[Fault] = field(default_factory=list)
    tools: dict[int, Tool | None] = field(default_factory=dict)
    judged: set[int] = field(default_factory=set)

    def judge(self, tools: Mapping[str, spec.Tool]) -> None:
        """Look at entries that were not looked at before."""
        for name, entry in tools.items():
            if id(entry) not in self.judged:
                self.judged.add(id(entry))
                self.found += sources(name, entry)
                self.tool(name, entry)

    def tool(self, name: str, entry: spec.Tool) -> Tool | None:
        """The tool of an entry, as far as it can be made; None where nothing implements it."""
        if entry.python is None and entry.builtin is None and entry.run is None:
            return None
        if id(entry) not in self.tools:
            self.tools[id(entry)], faults = built(name, entry) if entry.run is None else self.running(name, entry)
            self.found += faults
        return self.tools[id(entry)]

    def running(self, name: str, entry: spec.Tool) -> tuple[Tool | None, list[Fault]]:
        """A tool that runs a workflow: its inputs, and whether it says that it writes."""
        if (part := inner(entry, self.files)) is None:
            return None, []
        faults = []
        if entry.effect == "read" and (tools := sorted(written(part, self.files))):
            what = f"{name!r} runs a workflow that may write ({', '.join(tools)}), and its `effect` is read"
            faults.append(entry.at("effect").fault(what, "write `write` or `irreversible`"))
        try:
            takes = {**spec.input_type(part).schema, "required": []}
            tool, more = workflow_tool(name, entry, part)
        except TypeFault:
            return None, faults
        return tool, [*faults, *passed(entry, "run", entry.with_, takes, f"the workflow {entry.run!r}"), *more]


def sources(name: str, entry: spec.Tool) -> Iterator[Fault]:
    """What every entry has: one implementation, and an effect."""
    given = [key for key in spec.Tool.SOURCES if key in entry.given]
    if not given and "." not in name:
        yield entry.spot.fault(f"the tool {name!r} has no implementation", "write `python: module:function`", key=True)
    for key in given[1:]:
        yield entry.at(key).fault(f"the tool {name!r} has two implementations: {given[0]} and {key}", key=True)
    if "effect" not in entry.given and "mcp" not in given:
        yield entry.spot.fault(f"the tool {name!r} has no `effect`", "write read, write or irreversible", key=True)
