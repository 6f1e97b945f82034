"""Small runs to keep."""

from __future__ import annotations

import asyncio
import pathlib
from typing import Any

from loopworth.models import ScriptedModel
from loopworth.runs.effects import Effects
from loopworth.runs.executor import execute
from loopworth.runs.journal import Journal, Record, asked
from loopworth.runs.kept import Kept
from loopworth.runs.message import Request, user
from loopworth.runs.outcome import Outcome
from loopworth.runs.store import Store
from loopworth.runs.stored_journal import StoredJournal
from loopworth.runs.world import Live, World

BEGAN = "2026-11-30T10:00:00.000+00:00"


def kept(id: str = "a1", **more: Any) -> Kept:
    return Kept(**{"id": id, "kind": "run", "name": "w", "file": "w.yaml", "began": BEGAN, **more})


class Chat:
    """Asks each question in one growing conversation."""

    def __init__(self, *questions: str) -> None:
        self.questions = questions

    async def run(self, input: dict[str, Any], fx: Effects) -> Outcome:
        log: list[dict[str, Any]] = []
        for n, question in enumerate(self.questions, 1):
            log.append(user(question))
            fx.record(log[-1])
            reply = await fx.model(f"{n}/ask", Request(list(log), "m"))
            log.append(reply.message)
        return Outcome(reply.text)


def said(text: str) -> dict[str, Any]:
    return {"text": text, "usage": {"input": 10, "output": 5}}


def chat(journal: Journal, *questions: str, replies: tuple[Any, ...] = (), world: World | None = None) -> Outcome:
    """The outcome of a conversation, live on these replies."""
    fx = Effects(world or Live({"m": ScriptedModel([*map(said, replies)])}), journal)
    return asyncio.run(execute(Chat(*questions), {}, fx))


def record(request: Any = ("m", "hi"), body: bytes = b"{}", kind: Any = "tool") -> Record:
    found = asked(request)
    return Record(found.hash, kind, body, 0.0, 1.0, found.request)


def put(journal: StoredJournal, id: str, one: Record) -> None:
    asyncio.run(journal.put(id, one))


def stored(folder: pathlib.Path, *questions: str) -> Store:
    """A store that holds one conversation, under `a1`."""
    store = Store(folder / "runs.db")
    journal = store.begin(kept())
    store.finish(journal, chat(journal, *questions, replies=tuple(f"{q}!" for q in questions)))
    return store
