"""The run store: every run that was made, with its effects and transcript, in a SQLite file or a Postgres database.

    store = Store(".loopworth/runs.db")
    journal = store.begin(Kept(...))          a run under way; its journal writes each effect as it happens
    store.finish(journal, outcome)            what it came to
    store.resume(id)                          the journal of a run that did not end, with what it holds
    store.shelf()                             what is kept, to be read (runs.shelf)

The rows of a run's effects are its journal: recordings, replays, resumed and durable runs are one format.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import msgspec

from loopworth.runs.database import SHARE, Database, Home, StoreFault
from loopworth.runs.exit import Exit
from loopworth.runs.home import home
from loopworth.runs.journal import Record, body
from loopworth.runs.kept import Kept, Score
from loopworth.runs.outcome import Fenced, Outcome
from loopworth.runs.secrets import hide
from loopworth.runs.shelf import EFFECTS, Shelf
from loopworth.runs.stored_journal import StoredJournal
from loopworth.runs.usage import Usage
from loopworth.runs.writer import Work, Writer

BEGIN = f"""
insert into run(id, kind, parent, name, file, input, began, source, state, epoch)
select ?, ?, ?, ?, ?, ?, ?, ?, 'unfinished', ?
where cast(? as text) is null or (select epoch from run where id = ? {SHARE}) = ?
on conflict do nothing
"""
TRIAL = """
insert into trial(comparison, arm, task, repeat, attempt, run, epoch) values(?, ?, ?, ?, ?, ?, ?)
on conflict do nothing
"""
FINISH = """
update run set state = ?, exit = ?, note = ?, model_calls = ?, tool_calls = ?, usage = ?, tokens = ?, usd = ?,
    seconds = ? where id = ? and epoch = ?
"""
RESUME = "update run set epoch = epoch + 1, exit = null where id = ? returning epoch"
CANCEL = "update run set state = 'done', exit = 'cancelled', epoch = epoch + 1 where id = ? and state <> 'done'"
ABANDON = "update run set exit = null where id = ? and state = 'unfinished' and exit = 'cancelled'"
PUT_BACK = "update run set exit = ?, note = ? where id = ? and epoch = ? and state = 'unfinished'"
SCORE = """
update trial set correct = ?, harmful = ?, remark = ?, route = ?, latency = ?, began = ?, figures = ? where run = ?
"""
TRANSCRIPT = """
insert into transcript(run, codec, body) values(?, ?, ?) on conflict(run) do update set body = excluded.body
"""


def new_id() -> str:
    return os.urandom(5).hex()


class Store:
    """Writes through one thread of its own; `close` waits for what is unwritten. Raises StoreFault.

    `trouble` is what stopped it from writing, if something did: the runs under way go on, and are not kept.
    """

    def __init__(self, place: str | Path | Home | None = None) -> None:
        self.home = home(place) if isinstance(place, str | Path | None) else place
        self.errors = self.home.errors
        try:
            self.home.writing().close()
        except (OSError, self.errors) as error:
            raise self.home.fault(error) from None
        self.writer = Writer(self.home.writing, self.errors)

    @property
    def path(self) -> Path:
        """The file of a store that is one."""
        return Path(str(self.home))

    def begin(self, kept: Kept, parent_epoch: int = 1) -> StoredJournal:
        """Enter a run. A trial is fenced off at its first effect where another process has taken over its comparison,
        whose epoch is then another."""
        self.submit(beginning(kept, parent_epoch))
        return StoredJournal(kept.id, 1, self)

    def resume(self, id: str, source: Any = None) -> StoredJournal:
        """Take a run over from the activation that began it: whatever of that is still alive is fenced off. `source` is
        what it is made of from now on, where that is another."""

        def work(db: Database) -> tuple[int, list[Any]]:
            epoch = db.execute(RESUME, (id,)).fetchall()[0][0]
            if source is not None:
                db.execute("update run set source = ? where id = ?", (body(source), id))
            return epoch, effects(db, id)

        epoch, rows = self.wait(self.submit(work))
        return StoredJournal(id, epoch, self).restore(rows)

    def finish(
        self,
        journal: StoredJournal,
        outcome: Outcome,
        score: Score | None = None,
        *,
        figures: bytes = b"",
        over: bool = True,
    ) -> None:
        """Enter what a run came to; unless it is `over`, it can be gone on with. `figures` are what the comparison of a
        trial wants to read again without the transcript, in a form of its own."""
        self.submit(ending(journal, outcome, score, figures, over))

    def enter(
        self,
        kept: Kept,
        records: Mapping[str, Record],
        outcome: Outcome,
        score: Score,
        *,
        figures: bytes = b"",
        over: bool = True,
        parent_epoch: int = 1,
    ) -> Future[bool]:
        """Enter a trial that was made in memory, with all its effects. Whether it was: the first to enter it wins, and
        none does where another process has taken over its comparison."""
        journal = StoredJournal(kept.id, 1, self)
        begin, end = beginning(kept, parent_epoch), ending(journal, outcome, score, figures, over)
        puts = [journal.row(id, record, None) for id, record in records.items()]

        def work(db: Database) -> bool:
            if not begin(db):
                return False
            for put in puts:
                put(db)
            end(db)
            return True

        return self.submit(work)

    def end(self, id: str, epoch: int, state: str, note: str, usage: Usage, seconds: float) -> None:
        """Enter the end of a comparison."""
        figures = (0, 0, body(usage), usage.tokens, usage.usd, seconds)
        self.submit(lambda db: db.execute(FINISH, (state, None, note, *figures, id, epoch)))

    def cancel(self, id: str) -> bool:
        """End a run that has not ended: whoever goes on with it is fenced off, and what waits is not asked any more.
        Whether there was anything to end."""
        done: bool = self.wait(self.submit(lambda db: db.execute(CANCEL, (id,)).rowcount == 1, careful=True))
        return done

    def put_back(self, id: str, epoch: int, exit: Exit, note: str) -> None:
        """End an activation that could not go on, as the one before it ended."""
        said = hide(note).encode("utf-8", "replace").decode()
        self.submit(lambda db: db.execute(PUT_BACK, (exit, said, id, epoch)))

    def abandon(self, id: str) -> None:
        """Leave a run that this process called off as one whose process is gone: others go on with it."""
        self.submit(lambda db: db.execute(ABANDON, (id,)))

    def renew(self, id: str, input: Any) -> None:
        """A comparison that ended goes on, made of more."""
        made_of = body(input)
        self.submit(lambda db: db.execute("update run set input = ?, state = 'unfinished' where id = ?", (made_of, id)))

    def submit(self, work: Work | None, careful: bool = False) -> Future[Any]:
        return self.writer.submit(work, careful)

    def wait(self, done: Future[Any]) -> Any:
        try:
            return done.result()
        except self.errors as error:
            raise self.wording(error) from None

    @property
    def failed(self) -> bool:
        return self.writer.trouble is not None

    @property
    def trouble(self) -> StoreFault | None:
        """What stopped the writing, in words."""
        return None if self.writer.trouble is None else self.wording(self.writer.trouble)

    def wording(self, error: Exception) -> StoreFault:
        return self.home.fault(error)

    def close(self) -> None:
        """Wait until all is written. `trouble` then says whether it was."""
        self.writer.close()

    def shelf(self) -> Shelf:
        """What is kept, to be read; includes all that was written before."""
        self.wait(self.submit(None))
        return Shelf(self.home)


def beginning(kept: Kept, parent_epoch: int) -> Work:
    """Enters a run; 0 where it is there already, or its comparison was taken over."""
    input = body(hide(kept.input))
    of_comparison = (kept.parent, kept.parent, parent_epoch)
    row = (kept.id, kept.kind, kept.parent, kept.name, kept.file, input, kept.began, body(kept.source), 1)

    def work(db: Database) -> int:
        made = db.execute(BEGIN, (*row, *of_comparison)).rowcount
        if made and kept.kind == "trial":
            key = (kept.parent, kept.arm, kept.task, kept.repeat, kept.attempt)
            db.execute(TRIAL, (*key, kept.id, 1))
        return made

    return work


def ending(journal: StoredJournal, outcome: Outcome, score: Score | None, kept: bytes, over: bool) -> Work:
    """Enters what a run came to."""
    used = outcome.usage
    figures = (outcome.model_calls, outcome.tool_calls, body(used), used.tokens, used.usd, outcome.seconds)
    note = hide(outcome.note).encode("utf-8", "replace").decode()
    row = ("done" if over else "unfinished", outcome.exit, note, *figures)
    text = written(msgspec.structs.replace(outcome, note=note, traceback=hide(outcome.traceback)))

    def work(db: Database) -> None:
        if db.execute(FINISH, (*row, journal.run, journal.epoch)).rowcount != 1:
            raise Fenced(f"another process has taken over the run {journal.run}")
        db.execute(TRANSCRIPT, (journal.run, "zlib", zlib.compress(text, 1)))
        if score is not None:
            db.execute(SCORE, (*score_row(score), zlib.compress(kept, 1) if kept else None, journal.run))

    return work


def effects(db: Database, run: str) -> list[Any]:
    return db.execute(EFFECTS, (run,)).fetchall()


def score_row(score: Score) -> tuple[Any, ...]:
    return (score.right, score.harmful, score.remark, score.route, score.latency, score.began)


def written(outcome: Outcome) -> bytes:
    """An outcome as JSON, whatever its answer is."""
    try:
        return body(outcome)
    except (TypeError, OverflowError):
        return msgspec.json.encode(outcome, enc_hook=str)
