"""What was: the record of every effect of a run, by the effect's id."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Literal, Protocol

import msgspec

from loopworth.runs.usage import Value

encode = msgspec.json.Encoder(order="deterministic").encode
body = msgspec.json.Encoder().encode
"""A record's body keeps the order of keys: a value that is replayed must read in a prompt as it did at first."""


def digest(value: Any) -> str:
    """A short hash of a value's canonical JSON: what binds a record, or a decision, to the exact request."""
    return hashlib.blake2b(encode(value), digest_size=8).hexdigest()


class Record(Value, frozen=True):
    """One effect as it happened. `hash` is of its request; `began` and `ended` are seconds on the run's clock."""

    hash: str
    kind: Literal["model", "tool", "gate", "limit", "intent"]
    body: bytes = b""
    began: float = 0.0
    ended: float = 0.0


class Journal(Protocol):
    """Records by effect id. The first writer wins, but for an `intent`, which its result replaces."""

    @property
    def records(self) -> Mapping[str, Record]: ...

    async def put(self, id: str, record: Record) -> None:
        """Keep a record; raises `Fenced` where another activation owns the run."""


class MemoryJournal:
    """A journal in memory: a recording, and what a replay reads."""

    def __init__(self, records: Mapping[str, Record] | None = None) -> None:
        self.records: dict[str, Record] = dict(records or {})

    async def put(self, id: str, record: Record) -> None:
        old = self.records.get(id)
        if old is None or old.kind == "intent":
            self.records[id] = record
