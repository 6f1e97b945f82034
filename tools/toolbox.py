"""The tools of a workflow, and the way in to the one tool layer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from loopworth.runs.effects import Effects
from loopworth.runs.message import ToolCall
from loopworth.runs.observation import Observation
from loopworth.runs.spelling import nearest
from loopworth.tools.arguments import ArgumentFault
from loopworth.tools.gate import Gate
from loopworth.tools.invocation import Invocation, checked
from loopworth.tools.names import listed, shown
from loopworth.tools.tool import Tool


class Toolbox(Mapping[str, Tool]):
    """Tools by name. This is the `ToolLayer` that an `Effects` calls."""

    def __init__(self, tools: Mapping[str, Tool] | Iterable[Tool] = ()) -> None:
        self._tools = dict(tools) if isinstance(tools, Mapping) else {tool.name: tool for tool in tools}

    def __getitem__(self, name: str) -> Tool:
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    async def invoke(self, call: ToolCall, fx: Effects) -> Observation:
        """The one observation of a call, made at the place `fx`."""
        tool = self._tools.get(call.tool)
        if tool is None:
            return Observation(call.id, call.tool, "unknown_tool", unknown(call.tool, self._tools))
        return await Invocation(tool, call, fx).answer()

    def faulty(self, call: ToolCall) -> Observation | None:
        """The answer to a call that would be refused before a person or the tool saw it; touches nothing."""
        tool = self._tools.get(call.tool)
        if tool is None:
            return Observation(call.id, call.tool, "unknown_tool", unknown(call.tool, self._tools))
        try:
            checked(tool, call)
        except ArgumentFault as fault:
            return Observation(call.id, call.tool, fault.status, str(fault))
        return None

    def allowed_failures(self) -> dict[str, int | None]:
        """`max_failures` by tool."""
        return {name: tool.max_failures for name, tool in self._tools.items()}

    def wires(self, names: Iterable[str] | None = None) -> tuple[dict[str, Any], ...]:
        """The tools as a model is told of them: all, or the named ones in their order."""
        return tuple(self._tools[name].wire for name in (self._tools if names is None else names))

    def gated(self, gates: Mapping[str, Gate]) -> Toolbox:
        """The same tools with a workflow's gates added; a gate is never taken away."""
        added = {
            name: replace(self._tools[name], gates=(*self._tools[name].gates, gate)) for name, gate in gates.items()
        }
        return Toolbox({**self._tools, **added})

    def only(self, names: Iterable[str]) -> Toolbox:
        """The named tools alone: to whoever is given this, the others do not exist."""
        return Toolbox({name: self._tools[name] for name in names})


def unknown(name: str, names: Iterable[str]) -> str:
    """The answer to a call of a tool that does not exist: what there is, and the name that was likely meant."""
    known = list(names)
    if not known:
        return f"there is no tool {shown(name)}: there are none here"
    near = nearest(name, known)
    hint = f"did you mean {near}? " if near else ""
    return f"there is no tool {shown(name)}; {hint}the tools are {listed(known)}"
