"""Tools that a workflow overrides: later entries win key by key, and may only tighten what guards a tool."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from loopworth.tools import allow
from loopworth.tools.pattern import allowing
from loopworth.workflows.faults import Fault
from loopworth.workflows.form import Spotted
from loopworth.workflows.spec import AllowPattern, Gate, GateSpec, Tool

EFFECTS = ("read", "write", "irreversible")


def merged(layers: Iterable[tuple[dict[str, Tool], Spotted]]) -> tuple[dict[str, Tool], list[Fault]]:
    """One catalogue of several: the tools by name, an MCP server's under `server_tool`, and the faults of merging."""
    tools: dict[str, Tool] = {}
    faults: list[Fault] = []
    for entries, _ in layers:
        for name, entry in entries.items():
            if name in tools:
                faults += loosened(name, tools[name], entry)
                tools[name] = laid_over(tools[name], entry)
            else:
                tools[name] = entry
    return {**tools, **served(tools)}, faults + list(clashes(tools))


def served(tools: dict[str, Tool]) -> dict[str, Tool]:
    """What MCP servers bring, by full name."""
    return {
        f"{server}_{name}": tool
        for server, entry in tools.items()
        if "mcp" in entry.given
        for name, tool in (entry.use or {}).items()
    }


def clashes(tools: dict[str, Tool]) -> Iterator[Fault]:
    for name, tool in served(tools).items():
        if name in tools:
            yield tool.spot.fault(f"the tool {name!r} is in the catalogue already", "rename that one", key=True)
        elif not re.fullmatch("[a-zA-Z0-9_-]{1,64}", name):
            yield tool.spot.fault(f"{name!r} is longer than the 64 letters a tool's name may have", key=True)


def laid_over(below: Tool, above: Tool) -> Tool:
    """`below` with the keys of `above`; each key keeps the place it was written at."""
    sources = set(Tool.SOURCES)
    dropped = sources - above.given if sources & above.given else set()
    values: dict[str, Any] = dict.fromkeys(dropped)
    for key in above.given:
        if above.sound(key):
            values[key] = above[key]
    if "allow" in values:
        values["allow"] = {**below.allow, **above.allow}
    made = below.model_copy(update={f"{key}_" if key == "with" else key: value for key, value in values.items()})
    made._spots = {key: spot for key, spot in below._spots.items() if key not in dropped} | above._spots
    made._broken = (below._broken - above.given) | above._broken
    return made


def stand_in(tool: Tool, other: Tool | None) -> Tool:
    """A tool with the implementation and the bound arguments of another; what that one does not say stays."""
    return tool if other is None else laid_over(tool.model_copy(update={"with_": {}}), other)


def loosened(name: str, below: Tool, above: Tool) -> Iterator[Fault]:
    """The faults of an override that takes a guard away."""
    if above.effect and below.effect and EFFECTS.index(above.effect) < EFFECTS.index(below.effect):
        what = f"`effect` of {name!r} is {below.effect}, and an override may only tighten it"
        yield above.at("effect").fault(what, f"write {below.effect}, or leave it out")
    if above.approval is not None and below.approval is not None and not as_strict(below.approval, above.approval):
        yield above.at("approval").fault(f"`approval` of {name!r} may only be tightened", "write `required`")
    for argument, rule in above.allow.items():
        if argument in below.allow and not within(below.allow[argument], rule):
            unlike = isinstance(rule, AllowPattern)
            may = f"another pattern may allow more for {argument!r}" if unlike else f"this allows more for {argument!r}"
            advice = "list the values that are allowed" if unlike else ""
            yield above.at("allow", argument).fault(f"`allow` of {name!r} may only be tightened, and {may}", advice)


def as_strict(below: GateSpec, above: GateSpec) -> bool:
    """Whether `above` stops every call that `below` stops."""
    if above == "required" or (isinstance(above, Gate) and above.if_ is None):
        return True
    return isinstance(below, Gate) and isinstance(above, Gate) and below.if_ == above.if_


def within(below: list[Any] | AllowPattern, above: list[Any] | AllowPattern) -> bool:
    """Whether all that `above` allows is allowed by `below`."""
    if isinstance(above, AllowPattern):
        return isinstance(below, AllowPattern) and below.pattern == above.pattern
    if isinstance(below, list):
        return {*map(allow.key, above)} <= {*map(allow.key, below)}
    try:
        return all(map(allow.Pattern(allowing(below.pattern)).holds, above))
    except ValueError:  # reported where it was read
        return True
