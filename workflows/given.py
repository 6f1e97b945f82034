"""A program's own objects where files name theirs: the tools of a catalogue, and an executor in a workflow's place."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from loopworth.models.spec import ModelSpec
from loopworth.runs.budget import Limits
from loopworth.runs.effects import Effects
from loopworth.runs.executor import Executor
from loopworth.runs.outcome import Outcome
from loopworth.tools import tool as tools
from loopworth.tools.toolbox import Toolbox
from loopworth.workflows import catalogue, rules
from loopworth.workflows import entries as catalogued
from loopworth.workflows.builder import Builder
from loopworth.workflows.compile import Compiled
from loopworth.workflows.document import Document, Mark, Spot
from loopworth.workflows.faults import Fault, WorkflowFault
from loopworth.workflows.files import Files
from loopworth.workflows.python_name import code_of
from loopworth.workflows.spec import Tool
from loopworth.workflows.type_expression import parse_type

Given: TypeAlias = Callable[..., Any] | Mapping[str, Any]
"""A function, or an entry as a catalogue has it, in which `python` may be a function."""
SHAPE = "executor"


def entries(tools: Mapping[str, Given]) -> dict[str, Tool]:
    """Given tools as entries of a catalogue. Raises WorkflowFault with the faults of all of them.

    The keys are those of a catalogue file. A function alone says no more than itself, so it can stand in for a tool
    that a file names, and a new tool must say its `effect`.
    """
    if not isinstance(tools, Mapping):
        named = ", ".join(f"{getattr(one, '__name__', 'name')!r}: …" for one in as_list(tools)[:3])
        raise TypeError(f"tools={tools!r} gives tools without names: write tools={{{named}}}")
    made = {name: entry(name, said) for name, said in tools.items()}
    if faults := [fault for _, found in made.values() for fault in found]:
        raise WorkflowFault(faults)
    return {name: one for name, (one, _) in made.items()}


def as_list(tools: Any) -> list[Any]:
    return list(tools) if isinstance(tools, list | tuple | set) else [tools]


def entry(name: str, said: Given) -> tuple[Tool, list[Fault]]:
    """One given tool, and what is wrong with it."""
    values = dict(said) if isinstance(said, Mapping) else {"python": said}
    function = values.get("python")
    builder = Builder(document(name, values))
    if not callable(function):
        return builder.form(Tool, values), builder.faults
    made = builder.form(Tool, {**values, "python": "given:it"})
    return made.model_copy(update={"python": function}), builder.faults


def document(name: str, values: dict[str, Any]) -> Document:
    """Where faults of a given tool are: at its function, if that is known."""
    function = values.get("python")
    code = getattr(inspect.unwrap(function) if callable(function) else None, "__code__", None)
    if code is None:
        return Document(f"the tool {name!r} given in Python", values, [])
    mark = Mark(0, code.co_firstlineno, 1)
    return Document(code.co_filename, values, [], spots={(): Spot(mark, mark, 0, False)})


def toolbox(tools: Mapping[str, Given]) -> Toolbox:
    """Given tools by themselves. Raises WorkflowFault."""
    made = entries(tools)
    if faults := catalogued.faults(made, Files()):
        raise WorkflowFault(faults)
    return Toolbox([gated(catalogue.tool(name, entry, os.environ), entry) for name, entry in made.items()])


def gated(tool: tools.Tool, entry: Tool) -> tools.Tool:
    return tool if entry.approval is None else replace(tool, gates=(rules.gate(entry.approval),))


@dataclass(frozen=True, slots=True)
class GivenExecutor:
    """The program's own executor, which must leave an `Outcome`."""

    own: Executor

    async def run(self, input: dict[str, Any], fx: Effects) -> Outcome:
        fx.input = input
        outcome = await self.own.run(input, fx)
        if not isinstance(outcome, Outcome):
            what = f"{name_of(self.own)}.run returned {type(outcome).__name__}"
            raise TypeError(f"{what}: an executor returns an Outcome, such as Outcome(answer)")
        return outcome


def executor(
    own: Executor, tools: Mapping[str, Given], models: Mapping[str, ModelSpec], columns: Mapping[str, Any] | None = None
) -> Compiled:
    """A program's own executor as something that runs like a workflow, with these tools and models.

    `columns` are what it takes of a task. Raises TypeError for what is none, WorkflowFault for faulty tools.
    """
    if isinstance(own, type) or not inspect.iscoroutinefunction(getattr(own, "run", None)):
        raise TypeError(f"{own!r} cannot be run: give a file, or an object with `async run(input, fx) -> Outcome`")
    box = toolbox(tools)
    called = [type(own).run, *(tool.function for tool in box.values())]
    return Compiled(
        name_of(own),
        SHAPE,
        GivenExecutor(own),
        Limits(),
        box,
        models,
        parse_type(columns or {}),
        tuple(sorted(name for name, tool in box.items() if tool.writes)),
        tuple(sorted(name for name, tool in box.items() if tool.gates or tool.asks)),
        code={path for function in called for path in code_of(function)},
    )


def name_of(own: Any) -> str:
    """The name a run is kept under."""
    named = getattr(own, "name", None)
    return named if isinstance(named, str) else type(own).__name__
