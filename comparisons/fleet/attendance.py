"""Which workers are alive: each counts up its own row, and what the others see standing still is dead.

No clock is compared with another host's: a row stands still for so many seconds on the clock of whoever looks.
"""

from __future__ import annotations

from collections.abc import Callable

from loopworth.runs.database import Database
from loopworth.runs.shelf import Shelf
from loopworth.runs.store import Store

PATIENCE = 60.0
"""Seconds without a beat after which a worker counts as dead."""
BEAT = "update worker set beat = ? where id = ?"
ENTER = "insert into worker(id, host, pid, began, beat, epoch) values(?, ?, ?, ?, ?, 1) on conflict do nothing"
CLAIM = "update worker set beat = ? where id = ? and beat = ?"


class Attendance:
    """One worker's view of all. `free` gives a dead worker's chunks back to the queue."""

    def __init__(
        self, store: Store, worker: tuple[str, str, int, str], free: Callable[[str], int], patience: float = PATIENCE
    ) -> None:
        self.store, self.worker, self.free, self.patience = store, worker, free, patience
        self.id, self.n = worker[0], 0
        self.seen: dict[str, tuple[str, float]] = {}

    def beat(self) -> None:
        """Say that this worker is alive; one that was taken for dead is back."""
        self.n += 1
        beat = str(self.n)

        def work(db: Database) -> None:
            if not db.execute(BEAT, (beat, self.id)).rowcount:
                db.execute(ENTER, (*self.worker, beat))

        self.store.wait(self.store.submit(work))

    def reap(self, now: float) -> list[str]:
        """The workers that were found dead, whose chunks others go on with; `now` is in seconds, on any clock."""
        rows = dict(self.store.shelf().select("select id, beat from worker where id <> ?", [self.id]))
        self.seen = {id: self.since(id, beat, now) for id, beat in rows.items()}
        still = [id for id, (_, since) in self.seen.items() if now - since >= self.patience]
        return [id for id in still if self.buried(id)]

    def since(self, id: str, beat: str, now: float) -> tuple[str, float]:
        """A beat, and since when it has been seen."""
        before = self.seen.get(id)
        return before if before is not None and before[0] == beat else (beat, now)

    def buried(self, id: str) -> bool:
        """Whether it was this worker that gave a dead one's chunks back. One that dies over it leaves a beat that
        stands still, so that the next tries again."""
        claim = (f"{self.id} {self.n}", id, self.seen[id][0])
        if not self.store.wait(self.store.submit(lambda db: db.execute(CLAIM, claim).rowcount)):
            return False
        self.free(id)
        self.leave(id)
        return True

    def leave(self, id: str | None = None) -> None:
        """Take a worker, or this one, off the list."""
        gone = (id or self.id,)
        self.store.wait(self.store.submit(lambda db: db.execute("delete from worker where id = ?", gone)))


def alive(shelf: Shelf) -> list[str]:
    """The workers on the list."""
    return [row[0] for row in shelf.select("select id from worker order by id")]
