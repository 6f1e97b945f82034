"""What was: the record of every effect of a run, by the effect's id."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

import msgspec

from loopworth.runs.usage import Value

T = TypeVar("T")
canonical = msgspec.json.Encoder(order="deterministic").encode
as_it_came = msgspec.json.Encoder().encode


def encode(value: Any) -> bytes:
    """A value's canonical JSON."""
    try:
        return canonical(value)
    except UnicodeEncodeError:
        return halves(value, "deterministic")


def body(value: Any) -> bytes:
    """A record's body keeps the order of keys: a value that is replayed must read in a prompt as it did at first."""
    try:
        return as_it_came(value)
    except UnicodeEncodeError:
        return halves(value, None)


def halves(value: Any, order: Literal["deterministic"] | None) -> bytes:
    """JSON with halves of surrogate pairs in it, which msgspec refuses: they are escaped. Its nan is null here too."""
    text = json.dumps(msgspec.to_builtins(value, order=order))
    strict = json.loads(text, parse_constant=lambda _: None)
    return json.dumps(strict, separators=(",", ":")).encode()


def reader(type: type[T]) -> Callable[[bytes], T]:
    """What reads a record's body as a value of this type."""
    decode = msgspec.json.Decoder(type).decode

    def read(body: bytes) -> T:
        try:
            return decode(body)
        except msgspec.DecodeError:
            return msgspec.convert(json.loads(body), type)

    return read


def digest(value: Any) -> str:
    """A short hash of a value's canonical JSON: what binds a record, or a decision, to the exact request."""
    return asked(value).hash


class Asked(NamedTuple):
    """What an effect was asked: the canonical JSON of its request, and the hash of that."""

    hash: str
    request: bytes


def asked(request: Any) -> Asked:
    text = encode(request)
    return Asked(hashlib.blake2b(text, digest_size=8).hexdigest(), text)


class Record(Value, frozen=True):
    """One effect as it happened. `hash` is of its `request`; `began` and `ended` are seconds on the run's clock.

    `request` and `body` are JSON. The request is kept so that a divergence can be shown; where it is empty, only its
    hash is known.
    """

    hash: str
    kind: Literal["model", "tool", "gate", "limit", "intent"]
    body: bytes = b""
    began: float = 0.0
    ended: float = 0.0
    request: bytes = b""


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
