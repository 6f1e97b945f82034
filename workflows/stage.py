"""A gated tool of a user's workflow on a stage, where nothing real happens.

Its schema, allow-list, guards and gates are the user's; its function is a fake, a script is the model, and the runs are
durable ones in a store.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from loopworth.agents.loop import Loop
from loopworth.agents.native import Native
from loopworth.agents.repetition import Repetition
from loopworth.models.scripted import ScriptedModel
from loopworth.runs import approvals
from loopworth.runs.approvals import Approval, Came
from loopworth.runs.budget import Limits
from loopworth.runs.effects import Effects, Executor
from loopworth.runs.journal import MemoryJournal, digest, encode
from loopworth.runs.message import ToolCall, user
from loopworth.runs.outcome import Failed, Outcome
from loopworth.runs.store import Store, new_id
from loopworth.runs.world import Decision, Live, Question
from loopworth.tools.allow import Allow, Values
from loopworth.tools.arguments import ArgumentFault
from loopworth.tools.gate import question
from loopworth.tools.tool import Accepted, Tool
from loopworth.tools.toolbox import Toolbox
from loopworth.workflows import compile as building
from loopworth.workflows import durable, reach, spec, verbs
from loopworth.workflows.activation import activate
from loopworth.workflows.catalogue import tool as catalogued
from loopworth.workflows.compile import Compiled
from loopworth.workflows.contract import Contract
from loopworth.workflows.load import load_workflow
from loopworth.workflows.patterns import matching
from loopworth.workflows.samples import objects, values
from loopworth.workflows.types import Type, parse_type
from loopworth.workflows.workflow_tool import workflow_tool

MODEL = "attacker"
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
UNLIMITED = Limits()
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


# -- the user's gated tools --------------------------------------------------------------------------------------------


@dataclass
class Staged(building.Builder):
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


# -- the stage ---------------------------------------------------------------------------------------------------------


def stand_in(tool: Tool, function: Callable[..., Any]) -> Tool:
    """The tool by all its rules, with another function, which gets the canonical arguments. A workflow as a tool stays
    one, which makes a single call."""

    def accept(arguments: dict[str, Any]) -> Accepted:
        made = tool.accept(arguments).arguments
        return Accepted(made, made)

    changed = replace(tool, function=function, accept=accept, asks=False, nested=False)
    made = replace(changed, inline=True, repeatable=True, max_failures=None)
    return workflow_of(made) if tool.nested else made


def workflow_of(tool: Tool) -> Tool:
    """The tool as a workflow whose one call has none of its rules."""
    inner = replace(tool, gates=(), guards=(), allow=Allow())

    async def function(arguments: dict[str, Any], fx: Effects) -> Outcome:
        fx.nested = True
        fx.limit(UNLIMITED)
        fx.tools = Toolbox([inner])
        return Outcome(verbs.value_of(await fx.tool("call", ToolCall("", inner.name, arguments))))

    return replace(tool, function=function, nested=True, inline=False)


def reader(name: str, results: Sequence[Any]) -> Tool:
    """A tool that reads, and has no gate: what it returns is what an attacker wrote."""
    left = list(results)

    def accept(arguments: dict[str, Any]) -> Accepted:
        return Accepted(arguments, {})

    def function() -> Any:
        return left.pop(0) if len(left) > 1 else left[0]

    schema = {"type": "object", "properties": {}}
    return Tool(name, "Read a page.", schema, function, accept, inline=True, repeatable=True)


class Stage:
    """Where runs of a target are made: in a store, which it leaves as it was."""

    def __init__(self, target: Target, place: str, number: int = 0) -> None:
        self.target, self.place, self.number = target, place, number
        self.store = Store(place)
        self.runs: list[str] = []

    @property
    def tool(self) -> Tool:
        return self.target.tool

    @property
    def calls(self) -> tuple[dict[str, Any], ...]:
        return self.target.calls

    def begin(self, *turns: Any, nested: bool = False, read: Sequence[Any] = ()) -> Run:
        """Enter a run in which the model calls the tool with these arguments: a turn is one call's, or a list of
        those of several. The turn `"read"` calls a tool that returns what is in `read`."""
        run = Run(self, turns, nested, read, f"attack{new_id()}")
        durable.begin(self.store, run.compiled(), dict(self.target.input), run.id)
        self.runs.append(run.id)
        return run

    def close(self) -> None:
        """Take the runs of this stage out of the store, and close it."""
        for table, key in (
            ("approval", "run"),
            ("ballot", "run"),
            ("effect", "run"),
            ("transcript", "run"),
            ("run", "id"),
        ):
            for run in () if self.store.failed else self.runs:
                self.alter(f"delete from {table} where {key} = ?", run)
        self.store.close()

    def alter(self, statement: str, *values: Any) -> None:
        """Change the store behind the gate's back."""
        self.store.wait(self.store.submit(lambda db: db.execute(statement, values), careful=True))


@dataclass
class Run:
    """One run on the stage. `called` is what the tool's function was really called with, `keys` by which keys."""

    stage: Stage
    turns: Sequence[Any]
    nested: bool
    read: Sequence[Any]
    id: str
    called: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)

    def fake(self, **arguments: Any) -> str:
        if self.stage.tool.keyed:
            self.keys.append(arguments.pop("key"))
        self.called.append(arguments)
        return str(self.read[0]) if self.read else "done"

    @cached_property
    def names(self) -> tuple[str, str]:
        """The names of the reading tool, and of the workflow that is a tool."""
        mine = self.stage.tool.name
        return ("page" if mine != "page" else "page_2", "part" if mine != "part" else "part_2")

    def script(self) -> list[Any]:
        page, part = self.names
        name = part if self.nested else self.stage.tool.name

        def call(turn: Any) -> dict[str, Any]:
            return {"tool": page, "arguments": {}} if turn == "read" else {"tool": name, "arguments": turn}

        turns = [turn if isinstance(turn, list) else [turn] for turn in self.turns]
        inner = [[{}] for _ in turns] if self.nested else turns
        return [*({"calls": [call(one) for one in turn]} for turn in inner), "done"]

    def compiled(self) -> Compiled:
        """The run's workflow, made anew: no activation knows anything of another but what the store holds."""
        target = self.stage.target
        tool = stand_in(target.tool, self.fake)
        box = Toolbox([tool, reader(self.names[0], self.read or ["nothing"])])
        if self.nested:
            box = Toolbox([self.part(Contract(self.step(tool), box, target.takes))])
        text = parse_type("str")
        loop = Loop(
            lambda _: [user("go")], MODEL, box, Native(list(box.values()), text, "text"), None, Repetition(None, None)
        )
        contract = Contract(loop, box, target.takes)
        return Compiled(target.workflow, "attack", contract, UNLIMITED, box, {}, target.takes, every=[tool])

    def step(self, tool: Tool) -> Executor:
        """The first call as the one step of a workflow."""
        [arguments] = self.turns[0] if isinstance(self.turns[0], list) else [self.turns[0]]
        return verbs.Alone(verbs.call(tool.name, lambda _: arguments, tool.writes))

    def part(self, inner: Executor) -> Tool:
        """A tool that runs a workflow."""

        async def function(_: dict[str, Any], fx: Effects) -> Outcome:
            fx.nested = True
            fx.limit(UNLIMITED)
            return await inner.run(dict(self.stage.target.input), fx)

        made = reader(self.names[1], [""])
        return replace(made, function=function, accept=lambda said: Accepted(said, said), nested=True, inline=False)

    # -- its life ------------------------------------------------------------------------------------------------------

    def go_on(self, wall: Callable[[], datetime] = approvals.moment, store: Store | None = None) -> Outcome:
        """One more activation."""
        models = {MODEL: ScriptedModel(self.script())}
        return asyncio.run(durable.go_on(store or self.stage.store, self.id, self.compiled(), models, wall))

    def asked(self, said: Any) -> Outcome:
        """The run as a program makes it at once, whose `ask` says this of every question; or is this, where it is a
        function."""

        async def ask(question: Question, id: str) -> Any:  # noqa: ARG001
            return said

        world = Live({MODEL: ScriptedModel(self.script())}, said if callable(said) else ask)
        return asyncio.run(activate(self.compiled(), dict(self.stage.target.input), world, MemoryJournal()))

    def questions(self) -> list[Approval]:
        return approvals.of_run(self.stage.store.shelf(), self.id)

    def waiting(self) -> list[Approval]:
        """What waits for a person now."""
        return [one for one in self.questions() if one.state == "waiting"]

    def decide(self, one: Approval, choice: Any, arguments: Any = None, **how: Any) -> Came:
        decision = Decision(choice, "attack", arguments, "said by loopworth attack")
        return approvals.decide(how.pop("store", None) or self.stage.store, self.id, one.id, decision, **how)

    def elsewhere(self) -> dict[str, Any]:
        """One more activation, in a process of its own: what it called, and how it ended."""
        stage = self.stage
        said = {
            **{"file": stage.target.file, "number": stage.number, "place": stage.place, "run": self.id},
            **{"turns": self.turns, "calls": {stage.tool.name: stage.calls}},
        }
        command = [sys.executable, "-c", "from loopworth.workflows.stage import other; other()"]
        done = subprocess.run(command, input=json.dumps(said), capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"the other process ended with {done.returncode}: {done.stderr.strip()[-400:]}")
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return found


def other() -> None:
    """The other process: what to do is told on standard input, what came of it on standard output."""
    said = json.load(sys.stdin)
    stage = Stage(targets(said["file"], said["calls"])[said["number"]], said["place"])
    try:
        run = Run(stage, said["turns"], nested=False, read=(), id=said["run"])
        outcome = run.go_on()
        sys.stdout.write("\n" + json.dumps({"exit": outcome.exit, "called": run.called, "note": outcome.note}) + "\n")
    finally:
        stage.store.close()
