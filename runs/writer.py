"""The one thread of a process that writes to a run store. What waits is committed together."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any, TypeAlias

from loopworth.runs.database import Database

Work: TypeAlias = Callable[[Database], Any]
MOST = 500
"""Pieces of work that one commit may hold."""


@dataclass(slots=True)
class Job:
    """Something to write; without work it is done when all before it is.

    `careful` work is on the disk, not only in the operating system, when it is done.
    """

    work: Work | None
    careful: bool = False
    done: Future[Any] = field(default_factory=Future)


class Writer:
    """Does all work in the order in which it was given, in a thread of its own.

    A failure of the database, one of its driver's `errors`, ends it: what came before is kept, what comes after fails
    alike, and `trouble` is the error.
    """

    def __init__(self, connect: Callable[[], Database], errors: type[Exception]) -> None:
        self.jobs: SimpleQueue[Job | None] = SimpleQueue()
        self.trouble: Exception | None = None
        self.connect, self.errors = connect, errors
        self.thread = threading.Thread(target=self.run, name="loopworth-store", daemon=True)
        self.thread.start()

    def submit(self, work: Work | None, careful: bool = False) -> Future[Any]:
        """Have work done; the result is there when it is committed. It cannot be called off."""
        job = Job(work, careful)
        job.done.set_running_or_notify_cancel()
        self.jobs.put(job)
        return job.done

    def close(self) -> None:
        """Wait until all is written."""
        self.jobs.put(None)
        self.thread.join()

    def run(self) -> None:
        db: Database | None = None
        while batch := self.batch():
            try:
                if self.trouble is not None:
                    raise self.trouble
                db = db or self.connect()
                results = committed(db, batch, self.errors)
            except self.errors as error:
                self.trouble = error
                for job in batch:
                    job.done.set_exception(error)
                continue
            for job, result in zip(batch, results, strict=True):
                settle(job, result)
        if db is not None:
            db.close()

    def batch(self) -> list[Job]:
        """All that waits; nothing at the end."""
        found: list[Job] = []
        job = self.jobs.get()
        while job is not None:
            found.append(job)
            if len(found) == MOST:
                break
            try:
                job = self.jobs.get_nowait()
            except Empty:
                break
        if job is None and found:
            self.jobs.put(None)
        return found


def committed(db: Database, batch: list[Job], errors: type[Exception]) -> list[Any]:
    """The results of all work of a batch, in one transaction. Raises what the database raises; a bug is a result."""
    if not any(job.work for job in batch):
        return [None] * len(batch)
    db.begin(careful=any(job.careful for job in batch))
    try:
        results = [outcome(job, db, errors) for job in batch]
        db.commit()
    except BaseException:
        with suppress(errors):
            db.rollback()
        raise
    return results


def outcome(job: Job, db: Database, errors: type[Exception]) -> Any:
    try:
        return None if job.work is None else job.work(db)
    except errors:
        raise
    except Exception as bug:
        return bug


def settle(job: Job, result: Any) -> None:
    if isinstance(result, Exception):
        job.done.set_exception(result)
    else:
        job.done.set_result(result)
