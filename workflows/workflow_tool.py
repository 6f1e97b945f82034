"""A workflow as a tool: `run:` in the catalogue. The model proposes, the workflow executes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from loopworth.runs.budget import Limits
from loopworth.runs.effects import Effects
from loopworth.runs.executor import Executor
from loopworth.runs.outcome import Outcome
from loopworth.tools.allow import Allow
from loopworth.tools.arguments import ArgumentFault
from loopworth.tools.fault import ToolFault
from loopworth.tools.tool import Accepted, Tool
from loopworth.workflows import catalogue, spec
from loopworth.workflows.document import plain
from loopworth.workflows.faults import Fault, WorkflowFault
from loopworth.workflows.type_expression import parse_type
from loopworth.workflows.types import Type

UNLIMITED = Limits()


def workflow_tool(
    name: str,
    entry: spec.Tool,
    inner: spec.Workflow,
    environ: Mapping[str, str] | None = None,
    executor: Executor | None = None,
    limits: Limits = UNLIMITED,
) -> tuple[Tool, list[Fault]]:
    """The tool that runs `inner`: its schema is the workflow's input without what `with` binds. And the faults of its
    `with` and `allow`.

    It runs at the call's place, under the caller's budget and its own `limits`; a `timeout` is its time. Without an
    `executor` it is only good to be checked, and without `environ` secrets are not read.
    """
    keys = catalogue.said(entry)
    rules, timeout = keys.pop("allow", {}), keys.pop("timeout", None)
    if timeout is not None:
        limits = msgspec.structs.replace(limits, time=min(timeout, limits.time or timeout))
    bound, faults = binding(entry, environ)
    shown = {field: kind for field, kind in inner.input.items() if field not in bound}
    takes = parse_type(shown, inner.at("input").base)

    async def function(arguments: dict[str, Any], fx: Effects) -> Outcome:
        assert executor is not None
        fx.nested = True
        fx.limit(limits)
        return await executor.run({**bound, **arguments}, fx)

    allow = Allow()
    try:
        allow = Allow.of(rules, takes.schema)
    except ToolFault as fault:
        faults.append(catalogue.blamed(entry, fault, known=True))
    said = {"description": inner.description or "", **keys}
    made = Tool(
        name, parameters=takes.schema, function=function, accept=accepts(takes), allow=allow, nested=True, **said
    )
    return made, faults


def binding(entry: spec.Tool, environ: Mapping[str, str] | None) -> tuple[dict[str, Any], list[Fault]]:
    """The inputs that `with` gives in advance."""
    try:
        return plain(catalogue.revealed(dict(entry.with_), entry.at("with"), environ)), []
    except WorkflowFault as fault:
        return dict.fromkeys(entry.with_), list(fault.faults)


def accepts(takes: Type) -> Callable[[dict[str, Any]], Accepted]:
    def accept(arguments: dict[str, Any]) -> Accepted:
        try:
            made = takes.check(arguments)
        except ValueError as why:
            raise ArgumentFault(str(why)) from None
        return Accepted(made, made)

    return accept
