"""A workflow in which every kind of effect happens, a world that counts them in a file, and the switch that ends a
process at one of its boundaries."""

from __future__ import annotations

import asyncio
import json
import os
import pathlib
import re
import signal
import sys
from collections.abc import Callable
from typing import Any

import loopworth
from loopworth.models import ScriptedModel
from loopworth.runs import approvals
from loopworth.runs.database import Database, Home
from loopworth.runs.decision import Decision
from loopworth.runs.home import home
from loopworth.runs.message import Reply, Request
from loopworth.runs.outcome import Outcome
from loopworth.runs.store import Store

FILES = {
    "main.yaml": """
workflow: everything
shape: pipeline
input: {topic: str}
model: ollama/m
tools: tools.yaml
steps:
  - {id: found, for_each: [A, BB], call: look, with: {code: "{{ item }}"}}
  - {id: said, ask: "Say something about {{ topic }}"}
  - {id: agent, run: agent.yaml, with: {question: "{{ said }} {{ found }}"}}
  - {id: paid, call: pay, with: {amount: 5}}
  - {id: noted, call: note, with: {text: "{{ agent }}"}}
  - {id: short, run: short.yaml, with: {question: "{{ noted }}"}}
answer: {found: "{{ found }}", agent: "{{ agent }}", paid: "{{ paid }}", noted: "{{ noted }}", short: "{{ short }}"}
""",
    "agent.yaml": """
workflow: agent
shape: gated_loop
input: {question: str}
model: ollama/m
tools: tools.yaml
use: [look, refund]
gate: {refund: {choices: [approve, edit, reject]}}
prompt: "{{ question }}"
finish: text
budget: {turns: 5}
""",
    "short.yaml": """
workflow: short
shape: constrained_loop
input: {question: str}
model: ollama/m
tools: tools.yaml
use: [look]
prompt: "{{ question }}"
finish: text
on_limit: answer
budget: {turns: 1}
""",
    "tools.yaml": """
tools:
  look: {python: "absent:look", effect: read, inline: true}
  pay: {python: "absent:pay", effect: irreversible, inline: true}
  note: {python: "absent:note", effect: write, idempotent: true, inline: true}
  refund: {python: "absent:refund", effect: irreversible, inline: true, allow: {who: [Ann, Bob]}}
""",
    "absent.py": '''
def look(code: str) -> str:
    """Look."""

def pay(amount: int) -> str:
    """Pay."""

def note(text: str, *, key: str = "") -> str:
    """Note."""

def refund(who: str, amount: int) -> str:
    """Refund."""
''',
}
REPLIES = {
    "said": "something",
    "agent": [
        {"calls": [{"tool": "look", "arguments": {"code": "C"}}, {"tool": "look", "arguments": {"code": "DD"}}]},
        {"calls": [{"tool": "refund", "arguments": {"who": "Ann", "amount": 250}}]},
        "refunded",
    ],
    "short": [{"calls": [{"tool": "look", "arguments": {"code": "E"}}]}, "in short"],
}
USAGE = {"input": 10, "output": 5}
EDITED = {"who": "Bob", "amount": 30}
LINES = {
    "found/0/call": "look A",
    "found/1/call": "look BB",
    "said/ask": "model said/ask",
    "agent/run/1/ask": "model agent/run/1/ask",
    "agent/run/1/call[0]": "look C",
    "agent/run/1/call[1]": "look DD",
    "agent/run/2/ask": "model agent/run/2/ask",
    "agent/run/2/call[0]": "refund Bob 30",
    "agent/run/3/ask": "model agent/run/3/ask",
    "paid/call": "pay 5",
    "noted/call": "note refunded",
    "short/run/1/ask": "model short/run/1/ask",
    "short/run/1/call[0]": "look E",
    "short/run/limit/ask": "model short/run/limit/ask",
}
"""What the world counts of each effect."""
ONCE = ("agent/run/2/call[0]", "paid/call")
"""The writes that must never be made twice."""


WRITTEN = re.compile(r"(?:insert into|update) (\w+)")
KINDS = {"intent", "tool", "model", "limit"}


class Switch:
    """Ends the process at its n-th boundary, or at one of this name, by SIGKILL; `passed` are the names of all that it
    came past."""

    def __init__(self, fatal: int | str | None = None) -> None:
        self.fatal, self.passed = fatal, list[str]()

    def at(self, boundary: str) -> None:
        self.passed.append(boundary)
        if self.fatal in (len(self.passed), boundary):
            os.kill(os.getpid(), signal.SIGKILL)


class Mortal:
    """A connection whose commits are boundaries, before and after."""

    def __init__(self, inner: Database, switch: Switch) -> None:
        self.inner, self.switch = inner, switch
        self.rollback, self.close = inner.rollback, inner.close
        self.what, self.careful = "", ""

    def begin(self, careful: bool) -> None:
        self.inner.begin(careful)
        self.careful = " (careful)" * careful

    def execute(self, statement: str, values: Any = ()) -> Any:
        if written := WRITTEN.search(statement):
            kinds = KINDS.intersection(value for value in values if isinstance(value, str))
            self.what = " ".join([written[1], *kinds])
        return self.inner.execute(statement, values)

    def commit(self) -> None:
        what = self.what + self.careful
        self.switch.at(f"before the commit of {what}")
        self.inner.commit()
        self.switch.at(f"after the commit of {what}")


class Place:
    """The place of a store, with mortal connections."""

    def __init__(self, inner: Home, switch: Switch) -> None:
        self.inner, self.switch, self.errors = inner, switch, inner.errors

    def writing(self) -> Any:
        return Mortal(self.inner.writing(), self.switch)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def __str__(self) -> str:
        return str(self.inner)


class Speaker(ScriptedModel):
    """A scripted model whose calls are counted, and are boundaries."""

    def __init__(self, log: Callable[[str], None], switch: Switch) -> None:
        super().__init__(REPLIES)
        self.log, self.switch = log, switch

    async def reply(self, request: Request, seconds: float | None, id: str = "") -> Reply:
        self.switch.at(f"before {id}")
        self.log(f"model {id}")
        self.switch.at(f"in {id}")
        await asyncio.sleep(0)
        reply = await super().reply(request, seconds, id)
        self.switch.at(f"after {id}")
        return reply

    def told(self, said: dict[str, Any], request: Request, takes: float) -> Reply:
        return super().told({**said, "usage": USAGE}, request, takes)


class Life:
    """One process' share of a run: where it counts, and what may end it."""

    def __init__(
        self, folder: pathlib.Path, place: str, id: str, name: str = "1", fatal: int | str | None = None
    ) -> None:
        self.folder, self.place, self.id, self.name, self.switch = folder, place, id, name, Switch(fatal)

    def log(self, line: str, kind: str = "log") -> None:
        with (self.folder / f"{self.id}.{self.name}.{kind}").open("a") as file:
            file.write(line + "\n")

    def made(self, name: str, said: Any) -> str:
        """A call of a tool, which is counted in the middle of it."""
        self.switch.at(f"before {name}")
        self.log(f"{name} {said}")
        self.switch.at(f"in {name}")
        return f"{name} {said} done"

    def live(self, everything: Everything) -> Outcome | None:
        """Begin the run if nobody did, go on with it, decide what it asks, until it ends, or waits because nobody knows
        what became of a write."""
        store = Store(Place(home(self.place), self.switch))  # type: ignore[arg-type]  # it is one by its attributes
        everything.life = self
        try:
            if not store.shelf().select("select 1 from run where id = ?", [self.id]):
                loopworth.begin(store, everything.compiled, {"topic": "loops"}, id=self.id)
            while store.shelf().run(self.id).state != "done":
                models = {"ollama/m": Speaker(self.log, self.switch)}
                outcome = asyncio.run(loopworth.resume(store, self.id, everything.compiled, models=models))
                if outcome.exit != "waiting" or not self.decides(store):
                    break
            return store.shelf().outcome(self.id)
        finally:
            store.close()

    def decides(self, store: Store) -> bool:
        """Decide what waits, but for a write of which nobody knows whether it happened."""
        waits = [one for one in approvals.of_run(store.shelf(), self.id) if one.state == "waiting"]
        due = [one for one in waits if not one.id.endswith("/uncertain")]
        for one in due:
            approvals.decide(store, one.run, one.id, Decision("edit", "Kim", EDITED, "less"))
            self.switch.at("after the decision")
        return bool(due)


class Everything:
    """The workflow, compiled once for all lives; its tools are called in that of the `life` that goes on."""

    life: Life

    def __init__(self, folder: pathlib.Path) -> None:
        self.compiled = loopworth.compile(written(folder) / "main.yaml", tools=self.tools())

    def tools(self) -> dict[str, Callable[..., Any]]:
        def note(text: str, *, key: str = "") -> str:
            """Note."""
            self.life.log(key, "keys")
            return self.life.made("note", text)

        def look(code: str) -> str:
            """Look."""
            return self.life.made("look", code)

        def pay(amount: int) -> str:
            """Pay."""
            return self.life.made("pay", amount)

        def refund(who: str, amount: int) -> str:
            """Refund."""
            return self.life.made("refund", f"{who} {amount}")

        return {"look": look, "pay": pay, "note": note, "refund": refund}


def written(folder: pathlib.Path) -> pathlib.Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in FILES.items():
        (folder / name).write_text(text, "utf-8")
    return folder


def main() -> None:
    """Lives, one a line of JSON on standard input, each in a process of its own; the status of each is answered on
    standard output. What they share is made before: the workflow, and the modules of the store's place."""
    folder, place = sys.argv[1:]
    everything = Everything(pathlib.Path(folder))
    home(place)
    for line in sys.stdin:
        what = json.loads(line)
        child = os.fork()
        if child == 0:
            life = Life(pathlib.Path(what.pop("folder")), **what)
            life.live(everything)
            life.log("\n".join(life.switch.passed), "passed")
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        sys.stdout.write(json.dumps(status) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
