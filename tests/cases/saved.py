"""A run that is saved and gone on with: its tools, its person, and as many processes as a case needs."""

from __future__ import annotations

import asyncio
import pathlib
from collections.abc import Callable
from typing import Any

import loopworth
from loopworth.runs import approvals
from loopworth.runs.decision import Decision
from loopworth.runs.outcome import Outcome
from loopworth.runs.store import Store

LOOP = """
workflow: saved
shape: open_loop
input: {question: str}
model: ollama/m
prompt: "{{ question }}"
finish: text
"""


class Saved:
    """One durable run. Each step opens the store anew, as another process does; `tools` may be others by then."""

    def __init__(self, folder: pathlib.Path, tools: dict[str, Any], text: str = LOOP + "budget: {turns: 9}\n") -> None:
        self.file, self.place = folder / "saved.yaml", folder / "runs.db"
        self.file.write_text(text, "utf-8")
        self.tools = tools
        self.id = self.with_store(lambda store: loopworth.begin(store, self.compiled, {"question": "go"}))

    @property
    def compiled(self) -> Any:
        return loopworth.compile(self.file, tools=self.tools)

    def with_store(self, act: Callable[[Store], Any]) -> Any:
        store = Store(self.place)
        try:
            return act(store)
        finally:
            store.close()

    def resume(self, model: Any = None) -> Outcome:
        given = {} if model is None else {"ollama/m": model}
        outcome: Outcome = self.with_store(
            lambda store: asyncio.run(loopworth.resume(store, self.id, self.compiled, models=given))
        )
        return outcome

    def asked(self) -> list[approvals.Approval]:
        """All questions of the run, in order."""
        found: list[approvals.Approval] = self.with_store(lambda store: approvals.of_run(store.shelf(), self.id))
        return found

    def waits(self) -> list[approvals.Approval]:
        return [one for one in self.asked() if one.state == "waiting"]

    def decide(self, choice: Any, one: approvals.Approval | None = None, by: str = "Kim", **more: Any) -> Any:
        one = one or self.waits()[0]
        decision = Decision(choice, by, **more)
        return self.with_store(lambda store: approvals.decide(store, self.id, one.id, decision))

    def change(self, statement: str, *values: Any) -> None:
        """Change the saved state by hand."""
        self.with_store(lambda store: store.wait(store.submit(lambda db: db.execute(statement, values))))


def gated(function: Callable[..., Any], effect: str = "irreversible", **more: Any) -> dict[str, Any]:
    return {"python": function, "effect": effect, "approval": "required", "inline": True, **more}


def free(function: Callable[..., Any], effect: str = "read", **more: Any) -> dict[str, Any]:
    return {"python": function, "effect": effect, "inline": True, **more}


def calls(*wanted: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {"calls": [{"tool": tool, "arguments": arguments} for tool, arguments in wanted]}


def results(outcome: Outcome) -> list[Any]:
    """What the model was told of its calls, in order."""
    return [said.message["content"] for said in outcome.transcript if said.message["role"] == "tool"]
