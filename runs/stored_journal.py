"""The journal of one run in a store: what it holds survives the process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Protocol

from loopworth.runs.database import SHARE, Database
from loopworth.runs.journal import Record
from loopworth.runs.outcome import Fenced
from loopworth.runs.packing import Pool
from loopworth.runs.rows import text
from loopworth.runs.writer import Work

PUT = f"""
insert into effect(run, id, n, hash, kind, request, body, began, ended, epoch) select ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
where (select epoch from run where id = ? {SHARE}) = ?
on conflict(run, id) do update set kind = excluded.kind, body = excluded.body, ended = excluded.ended,
    epoch = excluded.epoch
    where effect.kind = 'intent' and (excluded.kind <> 'intent' or effect.epoch < excluded.epoch)
"""


class Writes(Protocol):
    """Where a journal writes: a run store."""

    errors: type[Exception]

    @property
    def failed(self) -> bool: ...

    def submit(self, work: Work | None, careful: bool = False) -> Future[Any]: ...

    def wording(self, error: Exception) -> Exception: ...


class StoredJournal:
    """Writes every effect as it happens; a put is over when it is committed.

    An activation has an epoch, and its puts fail with `Fenced` once another has begun. Where the store itself fails the
    run goes on without it, so that nothing paid is lost to the caller; only a write's intent is refused then, before
    the write is made. `intents` counts the writes under way, `fresh` the records made now.
    """

    def __init__(self, run: str, epoch: int, store: Writes) -> None:
        self.run, self.epoch, self.store = run, epoch, store
        self.records: dict[str, Record] = {}
        self.pool = Pool()
        self.n = 0

    def restore(self, rows: list[tuple[Any, ...]]) -> StoredJournal:
        """Take up what an earlier activation left, in the order in which it was put."""
        self.records = dict(unpacked(rows, self.pool))
        self.n = max((row[1] for row in rows), default=-1) + 1
        return self

    async def put(self, id: str, record: Record) -> None:
        old = self.records.get(id)
        careful = record.kind == "intent" or (old is not None and old.kind == "intent")
        if self.store.failed and record.kind != "intent":
            self.records[id] = record
            return
        done = self.store.submit(self.row(id, record, old), careful)
        try:
            written = await asyncio.wrap_future(done)
        except self.store.errors as error:
            if record.kind == "intent":
                raise self.store.wording(error) from None
            written = 1
        if written != 1:
            raise Fenced(f"another process has taken over the run {self.run}: this one ends at {id}")
        self.records[id] = record

    def row(self, id: str, record: Record, old: Record | None) -> Callable[[Database], int]:
        request = b"" if old is not None else self.pool.pack(record.request)
        values = (self.run, id, self.n, record.hash, record.kind, request, record.body, record.began, record.ended)
        self.n += 1

        def work(db: Database) -> int:
            return db.execute(PUT, (*values, self.epoch, self.run, self.epoch)).rowcount

        return work


def unpacked(rows: list[tuple[Any, ...]], pool: Pool) -> list[tuple[str, Record]]:
    """Records by id, from rows in order: id, n, hash, kind, request, body, began, ended. Raises StoreFault."""
    found = []
    for id, _, hash, kind, request, body, began, ended in rows:
        asked = pool.unpack(text(request, f"the request of the effect {id}"))
        found.append((id, Record(hash, kind, text(body, f"the effect {id}"), began, ended, asked)))
    return found
