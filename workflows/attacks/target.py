"""A gated tool of a user's workflow: the calls that come to its gate, and what becomes of the others."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loopworth.runs.decision import Question
from loopworth.runs.journal import digest, encode
from loopworth.runs.outcome import Failed
from loopworth.tools.allow import Values
from loopworth.tools.arguments import ArgumentFault
from loopworth.tools.gate import question
from loopworth.tools.tool import Tool
from loopworth.workflows import compile as building
from loopworth.workflows import reach, spec
from loopworth.workflows.attacks.patterns import matching
from loopworth.workflows.attacks.samples import objects, values
from loopworth.workflows.catalogue import tool as catalogued
from loopworth.workflows.load import load_workflow
from loopworth.workflows.types import Type
from loopworth.workflows.workflow_tool import workflow_tool

MENTIONED = re.compile(r"-?\d+(?:\.\d+)?|'[^']*'|\"[^\"]*\"")
BAD: tuple[Any, ...] = (
    10**12,
    -(10**12),
    "mallory",
    "../../etc/passwd",
    "'; drop table x; --",
    None,
    True,
    [[]],
    {"": 1},
)
"""What an argument is tried with that a tool should refuse."""
MOST_WAYS = 3
"""Ways to miss a gate that are told."""


@dataclass(frozen=True)
class Target:
    """A tool as one workflow may call it: `calls` are arguments that pass its schema, its allow-list and its guards and
    that its gate asks about, `refused` are arguments that do not pass. `input` is one of the workflow's. `bare` are the
    workflows that may call the same without a gate, and come to that past no gate. Where there are no `calls`, `missed`
    says what became of those that were tried; `astray` does so of those that were given, and do not come to the gate.
    """

    file: str
    workflow: str
    tool: Tool
    takes: Type
    input: Mapping[str, Any]
    calls: tuple[dict[str, Any], ...]
    refused: tuple[dict[str, Any], ...]
    bare: tuple[str, ...] = ()
    missed: str = ""
    astray: tuple[str, ...] = ()

    @property
    def offered(self) -> tuple[str, ...]:
        """What a person may choose about the first call."""
        asked = reached(self.tool, self.input, self.calls[0])
        return asked.choices if isinstance(asked, Question) else ()


@dataclass
class Staged(building.Compiler):
    """Builds a workflow whose tools do nothing, and notes those that have gates. No secret is read."""

    gated: list[tuple[spec.Workflow, spec.Tool, Tool]] = field(default_factory=list)

    def bare_tool(self, name: str, entry: spec.Tool) -> Tool:
        if entry.run is None:
            return catalogued(name, entry)
        inner = self.files.workflow_at(entry)
        self.workflow(inner)
        return workflow_tool(name, entry, inner)[0]

    def tool(self, name: str, entry: spec.Tool, workflow: spec.Workflow) -> Tool:
        made = super().tool(name, entry, workflow)
        if made.gates:
            self.gated.append((workflow, entry, made))
        return made


def targets(
    path: str | Path,
    given: Mapping[str, Sequence[dict[str, Any]]] | None = None,
    input: Mapping[str, Any] | None = None,
) -> list[Target]:
    """The gated tools of a workflow and of all that runs in it. `given` are calls to be tried, by tool, before those
    that are made of its schema, and `input` is one for the workflows that take it, in the place of those that are made.
    Raises WorkflowFault."""
    workflow, files = load_workflow(path)
    builder = Staged(files, {})
    builder.workflow(workflow)
    names = {tool.name for _, _, tool in builder.gated}
    open_ways = reach.reached(workflow, files, names)
    found = []
    for owner, entry, tool in builder.gated:
        bare = tuple(
            one.workflow
            for one in open_ways
            if (other := reach.usable(one, files).get(tool.name)) is not None
            and same(other, entry)
            and other.approval is None
            and tool.name not in one.gate
        )
        found.append(target(str(path), owner, entry, tool, (given or {}).get(tool.name, ()), input, bare))
    return found


def same(one: spec.Tool, other: spec.Tool) -> bool:
    """Whether two entries do the same."""
    return (one.python, one.run, one.builtin) == (other.python, other.run, other.builtin)


def target(
    path: str,
    workflow: spec.Workflow,
    entry: spec.Tool,
    tool: Tool,
    given: Sequence[dict[str, Any]],
    input: Mapping[str, Any] | None,
    bare: tuple[str, ...],
) -> Target:
    takes, more = spec.input_type(workflow), mentioned(entry.approval, workflow.gate.get(tool.name))
    made = list(objects(narrowed(tool), more, tool.parameters, 0))
    tried = taken(takes, input) or list(inputs(takes, more))
    best: tuple[dict[str, Any], list[dict[str, Any]]] = ({}, [])
    for one in tried:
        calls = fitting(tool, one, [*given, *made])
        if len(calls) > len(best[1]):
            best = (one, calls)
        if len(calls) > 1:
            break
    refused = tuple(faulty(tool, best[1][0])) if best[1] else ()
    first = best[0] if best[1] else next(iter(tried), None)
    missed = "" if best[1] else misses(tool, first, [*given, *made])
    came = [(one, reached(tool, first or {}, one)) for one in given]
    astray = tuple(f"{spelled(one)}: such calls {why}" for one, why in came if isinstance(why, str))
    return Target(path, workflow.workflow, tool, takes, best[0], tuple(best[1]), refused, bare, missed, astray)


def taken(takes: Type, input: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """The input that was given, where a workflow takes it."""
    try:
        return [] if input is None else [takes.check(dict(input))]
    except ValueError:
        return []


def mentioned(*gates: spec.GateSpec | None) -> list[Any]:
    """The numbers and texts in the conditions of gates: what they ask about is near them."""
    written = " ".join(str(gate.if_ or "") for gate in gates if isinstance(gate, spec.Gate))
    found = MENTIONED.findall(written)
    return [one[1:-1] if one[0] in "'\"" else float(one) if "." in one else int(one) for one in found]


def inputs(takes: Type, more: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """A few inputs of a workflow."""
    left = 6
    for one in objects(takes.schema, more, takes.schema, 0):
        try:
            yield takes.check(one)
            left -= 1
        except ValueError:
            continue
        if not left:
            return


def narrowed(tool: Tool) -> dict[str, Any]:
    """The tool's schema with its allow-list in it."""
    fields = dict(tool.parameters.get("properties", {}))
    for name, rule in tool.allow.rules.items():
        allowed = list(rule.values) if isinstance(rule, Values) else matching(rule.pattern.pattern)
        inside = fields[name].get("type") == "array"
        fields[name] = {**fields[name], "items": {"enum": allowed}} if inside else {"enum": allowed}
    return {**tool.parameters, "properties": fields}


def fitting(tool: Tool, input: Mapping[str, Any], tried: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The canonical arguments, three at most, that reach the gate and close it."""
    found: dict[bytes, dict[str, Any]] = {}
    for arguments in tried:
        asked = reached(tool, input, arguments)
        if isinstance(asked, Question):
            found.setdefault(encode(asked.arguments), asked.arguments)
        if len(found) == 3:
            break
    return list(found.values())


def reached(tool: Tool, input: Mapping[str, Any], arguments: dict[str, Any]) -> Question | str:
    """What a person is asked about a call; or what becomes of it where nobody is."""
    try:
        canonical = tool.check(arguments).arguments
    except ArgumentFault as fault:
        return f"are refused by the tool: {fault}"
    names = {**input, "args": canonical}
    for guard in tool.guards:
        if (cause := guard.cause({**names, "tool": tool.name})) is not None:
            return f"are stopped by a guard: {cause}"
    try:
        asked = question(tool.name, tool.gates, names, digest([tool.name, canonical]))
    except Failed as fault:
        return f"end the run: {fault}"
    return asked or f"pass by, as the gate's condition says (with the input {spelled(dict(input))})"


def misses(tool: Tool, input: Mapping[str, Any] | None, tried: Sequence[dict[str, Any]]) -> str:
    """Why none of these calls comes to the gate, and what to give."""
    if input is None:
        return "no input of its workflow could be made: give one with --input"
    schema = narrowed(tool)
    if lacking := [name for name in schema.get("required", ()) if not values(schema["properties"][name], root=schema)]:
        return f"no call could be made: no value is known for {', '.join(lacking)}; {wanted(tool, ())}"
    ways = Counter(str(reached(tool, input, one)) for one in tried)
    told = "; ".join(f"{count} of {len(tried)} {way}" for way, count in ways.most_common(MOST_WAYS))
    more = f"; and {len(ways) - MOST_WAYS} other ways" if len(ways) > MOST_WAYS else ""
    return f"no call that was made comes to its gate: {told}{more}; {wanted(tool, tried)}"


def wanted(tool: Tool, like: Sequence[Mapping[str, Any]]) -> str:
    """What to give so that a call comes to the gate of a tool."""
    arguments = next(iter(like), None) or dict.fromkeys(tool.parameters.get("properties", {}), "…")
    return f"give one that it asks about, as --call '{tool.name}={spelled(arguments)}', or --input"


def spelled(arguments: Any) -> str:
    return json.dumps(arguments, ensure_ascii=False, default=str)


def faulty(tool: Tool, call: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Arguments that the tool refuses, each in another way."""
    ways = set()
    tried = [{**call, name: value} for name in call for value in BAD]
    for arguments in [*tried, {**call, "no such argument": 1}]:
        try:
            tool.check(arguments)
        except ArgumentFault as fault:
            way = (fault.status, next((name for name in call if call[name] is not arguments.get(name)), ""))
            if way not in ways:
                ways.add(way)
                yield arguments
