"""A target on a stage, where nothing real happens: the runs in which its gate is attacked.

Its schema, allow-list, guards and gates are the user's; its function is a fake, a script is the model, and the runs are
durable ones in a store.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any

from loopworth.agents.loop import Loop
from loopworth.agents.native import Native
from loopworth.agents.repetition import Repetition
from loopworth.models.scripted import ScriptedModel
from loopworth.runs import approvals
from loopworth.runs.approvals import Approval, Came
from loopworth.runs.budget import Limits
from loopworth.runs.decision import Decision, Question
from loopworth.runs.effects import Effects
from loopworth.runs.executor import Executor
from loopworth.runs.journal import MemoryJournal
from loopworth.runs.message import ToolCall, user
from loopworth.runs.outcome import Outcome
from loopworth.runs.store import Store, new_id
from loopworth.runs.wall_clock import moment
from loopworth.runs.world import Live
from loopworth.tools.allow import Allow
from loopworth.tools.tool import Accepted, Tool
from loopworth.tools.toolbox import Toolbox
from loopworth.workflows import durable, verbs
from loopworth.workflows.activation import activate
from loopworth.workflows.attacks.target import Target, targets
from loopworth.workflows.compile import Compiled
from loopworth.workflows.contract import Contract
from loopworth.workflows.type_expression import parse_type

MODEL = "attacker"
UNLIMITED = Limits()


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

    def go_on(self, wall: Callable[[], datetime] = moment, store: Store | None = None) -> Outcome:
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

    def in_another_process(self) -> dict[str, Any]:
        """One more activation, in a process of its own: what it called, and how it ended."""
        stage = self.stage
        said = {
            **{"file": stage.target.file, "number": stage.number, "place": stage.place, "run": self.id},
            **{"turns": self.turns, "calls": {stage.tool.name: stage.calls}},
        }
        command = [sys.executable, "-c", "from loopworth.workflows.attacks.stage import other; other()"]
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
