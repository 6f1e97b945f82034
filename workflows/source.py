"""What a durable run is made of, and whether it is that still where somebody goes on with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from loopworth.runs.kept import Kept
from loopworth.workflows.compile import Compiled
from loopworth.workflows.origin import changed, made_of


class Changed(Exception):
    """A run cannot go on: what it is made of is no longer what it was. The text names what changed."""


def source(compiled: Compiled, model: str | None = None, given: Sequence[str] | None = None) -> dict[str, Any]:
    """What a run is made of: its files and its code by digest, the schemas of its tools, the names of what a program
    gave it."""
    schemas = {tool.name: tool.parameters for tool in (*compiled.every, *compiled.tools.values())}
    return {**made_of(compiled), "tools": schemas, "model": model, "given": None if given is None else list(given)}


def unchanged(kept: Kept, compiled: Compiled) -> None:
    """Raises Changed where a run would not go on as what it was."""
    if found := list(changes(kept.source, source(compiled))):
        raise Changed(
            f"the run {kept.id} cannot go on: {'; '.join(found)}\n"
            "    what was decided, was decided on what it was: put it back, or begin a new run"
        )


def at_hand(kept: Kept, given: Sequence[str] | None) -> None:
    """Raises Changed where a program gave models or tools to a run, and nobody gives any now: it would go on with those
    of the files."""
    before = kept.source.get("given")
    if before and given is not None and not given:
        raise Changed(
            f"the run {kept.id} cannot go on here: {', '.join(before)} came from a program, and would be another here\n"
            "    resume it from that program, which gives them again"
        )


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """What is another, in words: the arguments of tools first."""
    for name in sorted(before["tools"].keys() | after["tools"].keys()):
        old, new = before["tools"].get(name), after["tools"].get(name)
        if old != new:
            yield schema_change(name, old, new)
    if files := changed(before["files"], after["files"]):
        yield f"{', '.join(files)} changed since it began"


def schema_change(name: str, old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> str:
    if old is None or new is None:
        return f"the tool {name} {'is new' if old is None else 'is gone'}"
    fields, more = set(old.get("properties", {})), set(new.get("properties", {}))
    needed = set(new.get("required", ())) - set(old.get("required", ()))
    words = [
        f"also needs {', '.join(sorted(needed))}" if needed else "",
        f"also takes {', '.join(sorted(more - fields - needed))}" if more - fields - needed else "",
        f"no longer takes {', '.join(sorted(fields - more))}" if fields - more else "",
    ]
    said = ", ".join(filter(None, words))
    return f"the tool {name} now {said}" if said else f"the arguments of the tool {name} have other types now"
