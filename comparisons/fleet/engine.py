"""The queue of a fleet: DBOS Transact, in the store's own Postgres database, or in a file beside a store's file.

It wants the extra `fleet`. No step of DBOS is used: a chunk that is taken up again asks the store what is there. No row
is ever unpickled: what is not JSON is refused.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NoReturn

import dbos
import msgspec
from dbos import DBOS, DBOSClient, DBOSPortableJSONSerializer
from dbos._serialization import DefaultSerializer
from sqlalchemy.exc import SQLAlchemyError

from loopworth.comparisons.fleet.chunk import Chunk
from loopworth.runs.database import Home, InUse, StoreFault
from loopworth.runs.postgres import Postgres

NAME = "loopworth"
WORKFLOW = "chunk"
VERSION = "1"
"""Of chunks and how they are made: workers serve those of their own version alone."""
POLL = 0.2
"""Seconds between two looks into a queue."""
CHUNKS = 4
"""Chunks of a queue that one worker holds at once; the others are left to other workers."""
THREADS = 32
FAILED = ("ERROR", "MAX_RECOVERY_ATTEMPTS_EXCEEDED", "CANCELLED")

Make = Callable[[Chunk, str], dict[str, Any]]
"""Makes a chunk, which the queue knows by this id; what came of it."""


class Pickled(Exception):
    """A row of the queue is a pickle, which would run whatever is in it."""


def unpickled(*_: Any) -> NoReturn:
    raise Pickled("a row of the queue is pickled: loopworth writes JSON alone, and reads nothing else")


def unwritten(*_: Any) -> str:
    """What stands for the outcome of a row that is refused: the row ends as failed, in the format that it names."""
    return "refused"


def guard() -> None:
    """Refuse pickles. Each row of DBOS names its own format, so to write JSON is not enough."""
    DefaultSerializer.serialize = unwritten  # type: ignore[method-assign, assignment]
    DefaultSerializer.deserialize = unpickled  # type: ignore[method-assign, assignment]


def address(home: Home) -> str:
    """Where the queue of a store is."""
    if isinstance(home, Postgres):
        return home.address
    return f"sqlite:///{file_of(home)}"


def file_of(home: Home) -> Path:
    return Path(str(home)).absolute().with_name("fleet.db")


@contextmanager
def worded(home: Home) -> Iterator[None]:
    """What goes wrong with the queue, in words. Raises StoreFault."""
    try:
        yield
    except (SQLAlchemyError, dbos.error.DBOSException) as error:
        said = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
        raise StoreFault(
            f"the queue of {home}: {said}\n    `loopworth store migrate --store …` makes its tables, once for all hosts"
        ) from None


def migrate(home: Home) -> None:
    """Make the tables of the queue, or bring them up to date."""
    dbos._logger.dbos_logger.setLevel("WARNING")
    if not isinstance(home, Postgres):
        with closing(sqlite3.connect(file_of(home))) as db:
            db.execute("pragma journal_mode=wal")  # it stays with the file: several processes read while one writes
    with worded(home):
        DBOS.migrate(address(home))


def made(home: Home) -> None:
    """Make the file of a queue, as that of its store is made: on first use, by one process, while others wait."""
    while True:
        try:
            with home.occupied("fleet"):
                migrate(home)
                return
        except InUse:
            time.sleep(POLL)


class Queue:
    """The queue, for whoever sends chunks or looks after them. Raises StoreFault."""

    def __init__(self, home: Home) -> None:
        guard()
        self.home = home
        if not isinstance(home, Postgres):
            made(home)
        with worded(home):
            self.client = DBOSClient(
                system_database_url=address(home),
                serializer=DBOSPortableJSONSerializer(),
                application_name=NAME,
                retry_connection_errors=False,
            )
            self.held("")  # tables that are missing are missed here

    def close(self) -> None:
        self.client.destroy()

    def open(self, name: str, most: int | None) -> None:
        """A queue of which so many chunks are under way at once, on all workers together; None is no bound."""
        with worded(self.home):
            self.client.register_queue(
                name,
                global_concurrency=most,
                worker_concurrency=min(CHUNKS, most or CHUNKS),
                polling_interval_sec=POLL,
            )

    def send(self, name: str, chunks: Sequence[Chunk]) -> None:
        with worded(self.home):
            for chunk in chunks:
                self.client.enqueue(
                    {"queue_name": name, "workflow_name": WORKFLOW, "workflow_id": chunk.id, "app_version": VERSION},
                    msgspec.to_builtins(chunk),
                )

    def states(self, ids: Sequence[str]) -> dict[str, tuple[str, str]]:
        """The status of each of these chunks, and why it failed, if it did."""
        with worded(self.home):
            found = self.client.list_workflows(workflow_ids=list(ids), load_input=False)
        return {one.workflow_id: (one.status, told(one)) for one in found}

    def cancelled(self, ids: Sequence[str]) -> list[str]:
        """Those of these chunks that were called off."""
        with worded(self.home):
            found = self.client.list_workflows(
                workflow_ids=list(ids), status="CANCELLED", load_input=False, load_output=False
            )
        return [one.workflow_id for one in found]

    def cancel(self, ids: Sequence[str]) -> None:
        """Drop what has not begun; workers end what has within a second or two."""
        with worded(self.home):
            self.client.cancel_workflows(list(ids))

    def held(self, worker: str) -> list[Any]:
        """The chunks that a worker has begun and not ended."""
        with worded(self.home):
            return self.client.list_workflows(status="PENDING", executor_id=worker, load_input=False, load_output=False)

    def free(self, worker: str) -> int:
        """Give what a worker held back to the queue; how many chunks that was."""
        held = self.held(worker)
        for name in {one.queue_name for one in held}:
            with worded(self.home):
                ids = [one.workflow_id for one in held if one.queue_name == name]
                self.client.resume_workflows(ids, queue_name=name)
        return len(held)


def told(one: Any) -> str:
    """Why a chunk failed, or was refused."""
    if one.error is not None:
        return f"{type(one.error).__name__}: {one.error}"
    return str(one.output.get("refused", "")) if isinstance(one.output, dict) else ""


def serve(home: Home, worker: str, make: Make) -> None:
    """Begin to take chunks, each made in a thread of its own. Raises StoreFault."""
    guard()
    DBOS(
        config={
            "name": NAME,
            "system_database_url": address(home),
            "application_version": VERSION,
            "executor_id": worker,
            "serializer": DBOSPortableJSONSerializer(),
            "max_executor_threads": THREADS,
            "log_level": "WARNING",
            "run_migrations": False,
        }
    )

    @DBOS.workflow(name=WORKFLOW)
    def chunk(given: dict[str, Any]) -> dict[str, Any]:
        return make(msgspec.convert(given, Chunk), str(DBOS.workflow_id))

    with worded(home):
        DBOS.launch()


def leave() -> None:
    """Take no more chunks. What is under way is left as it is."""
    DBOS.destroy()
