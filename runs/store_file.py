"""The file of a run store: its tables, how it is opened, and what can be wrong with it."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from urllib.parse import quote

from loopworth.runs.database import ADVICE, FILE, HOME, VERSION, StoreFault
from loopworth.runs.occupancy import occupied, vacant

APPLICATION = 0x6C777274
"""Marks the file as ours."""
PATIENCE = 10.0
"""Seconds to wait while another process writes."""

SCHEMA = """
create table run(
    id text primary key, kind text not null, parent text, name text not null, file text not null, input blob,
    began text not null, state text not null, exit text, note text not null default '',
    model_calls int not null default 0, tool_calls int not null default 0, usage blob, tokens int, usd real,
    seconds real not null default 0, epoch int not null, source blob) without rowid;
create index run_began on run(began);
create index run_parent on run(parent);
create table effect(
    run text not null, id text not null, n int not null, hash text not null, kind text not null, request blob not null,
    body blob not null, began real not null, ended real not null, epoch int not null,
    primary key(run, id)) without rowid;
create table approval(
    run text not null, id text not null, hash text not null, tool text not null, question blob not null,
    state text not null default 'waiting', decision blob, by text, expires text, epoch int not null,
    n int not null default 0, asked text not null default '',
    primary key(run, id)) without rowid;
create table ballot(
    run text not null, id text not null, n int not null, at text not null, by text not null, decision blob not null,
    won int not null, primary key(run, id, n)) without rowid;
create table trial(
    comparison text not null, arm text not null, task text not null, repeat int not null, attempt int not null,
    run text not null, correct int, harmful int, remark text not null default '', route text,
    latency real not null default 0, began real not null default 0, epoch int not null, figures blob,
    primary key(comparison, arm, task, repeat, attempt)) without rowid;
create index trial_run on trial(run);
create table transcript(run text primary key, codec text not null, body blob not null);
create table worker(id text primary key, host text not null, pid int not null, began text not null, beat text not null,
    epoch int not null) without rowid;
create table pace(endpoint text primary key, free real not null) without rowid;
"""
STEPS = {
    2: """
alter table run add column source blob;
alter table approval add column n int not null default 0;
alter table approval add column asked text not null default '';
create table ballot(
    run text not null, id text not null, n int not null, at text not null, by text not null, decision blob not null,
    won int not null, primary key(run, id, n)) without rowid
""",
    3: "create table pace(endpoint text primary key, free real not null) without rowid",
    4: "alter table trial add column figures blob",
}
"""What brings the tables of the version before to each version."""


class Connection(sqlite3.Connection):
    """A connection that says how sure a commit is to be."""

    careful = False

    def begin(self, careful: bool) -> None:
        if careful is not self.careful:
            self.execute(f"pragma synchronous={'full' if careful else 'normal'}")
            self.careful = careful
        self.execute("begin immediate")

    def now(self) -> float:
        return time.time()


class StoreFile:
    """A store in a SQLite file: the `Home` of one host."""

    errors: type[Exception] = sqlite3.Error

    def __init__(self, path: Path) -> None:
        self.path = path

    def __str__(self) -> str:
        return str(self.path)

    def writing(self) -> Connection:
        self.folder()
        return opened(self.path)

    def folder(self) -> None:
        """The folder is made, and what it holds kept out of version control: transcripts are in clear."""
        folder = self.path.parent
        folder.mkdir(parents=True, exist_ok=True)
        ignore = folder / ".gitignore"
        if folder.name == HOME.name and not ignore.exists():
            ignore.write_text("*\n", "utf-8")

    def reading(self) -> Connection:
        db = reading(self.path)
        if state(db)[1] == VERSION:
            return db
        db.close()
        opened(self.path).close()
        return reading(self.path)

    def there(self) -> bool:
        return self.path.exists()

    def fault(self, error: BaseException) -> StoreFault:
        return fault(self.path, error)

    def occupied(self, run: str) -> AbstractContextManager[None]:
        return occupied(self.locks, run)

    def vacant(self, runs: Sequence[str]) -> list[str]:
        return [run for run in runs if vacant(self.locks, run)]

    @property
    def locks(self) -> Path:
        return self.path.with_name(f"{self.path.name}-runs")

    def migrate(self) -> int:
        before = version(self.path)
        self.writing().close()
        return before


def version(path: Path) -> int:
    """Of the tables in a file; 0 where there are none. Raises sqlite3.Error, StoreFault."""
    if not path.exists():
        return 0
    with contextlib.closing(sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro", uri=True)) as db:
        return state(db)[1]


def file_of(named: str | Path) -> Path:
    """The file of a store that is named so; a folder holds it as runs.db."""
    path = Path(named)
    return path / FILE if path.is_dir() or (not path.suffix and not path.exists()) else path


def opened(path: Path) -> Connection:
    """A connection to write with; the file and its tables are made where there are none. Raises sqlite3.Error."""
    db = sqlite3.connect(path, isolation_level=None, timeout=PATIENCE, check_same_thread=False, factory=Connection)
    try:
        if state(db) == (0, 0):
            create(db, path)
        known(db, path)
        if state(db)[1] < VERSION:
            update(db)
        db.execute("pragma synchronous=normal")
    except BaseException:
        db.close()
        raise
    return db


def state(db: sqlite3.Connection) -> tuple[int, int]:
    """Whose file it is, and of which version."""
    return (db.execute("pragma application_id").fetchone()[0], db.execute("pragma user_version").fetchone()[0])


def create(db: sqlite3.Connection, path: Path) -> None:
    """Make the tables, unless another process is quicker. A file that holds other tables is not touched."""
    if db.execute("select 1 from sqlite_master").fetchone() and state(db) == (0, 0):
        raise StoreFault(f"{path} is a database, but no run store: name another file with --store")
    write_ahead(db)
    db.execute("begin immediate")
    if state(db) == (0, 0):
        for statement in SCHEMA.split(";"):
            db.execute(statement)
        db.execute(f"pragma application_id={APPLICATION}")
        db.execute(f"pragma user_version={VERSION}")
    db.execute("commit")


def update(db: sqlite3.Connection) -> None:
    """Bring older tables up to date, unless another process is quicker."""
    db.execute("begin immediate")
    for step in range(state(db)[1] + 1, VERSION + 1):
        for statement in STEPS[step].split(";"):
            db.execute(statement)
        db.execute(f"pragma user_version={step}")
    db.execute("commit")


def write_ahead(db: sqlite3.Connection) -> None:
    """Readers and one writer do not wait for each other. SQLite itself does not wait for the change to this mode."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            db.execute("pragma journal_mode=wal")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def known(db: sqlite3.Connection, path: Path) -> None:
    """Raises StoreFault for a file that is not ours, or newer than we are."""
    application, version = state(db)
    if application != APPLICATION:
        raise StoreFault(f"{path} is a database, but no run store: name another file with --store")
    if version > VERSION:
        raise StoreFault(
            f"{path} was written by a newer loopworth (version {version} of the store; this one knows {VERSION})\n"
            "    upgrade loopworth, or name another file with --store; nothing was changed"
        )


def reading(path: Path) -> Connection:
    """A connection to read with, on a read-only disk too. Raises sqlite3.Error, StoreFault."""
    for how in ("mode=ro", "mode=ro&immutable=1"):
        db = uri(path, how)
        with contextlib.suppress(sqlite3.OperationalError):
            known(db, path)
            return db
        db.close()
    db = uri(path, "mode=ro")
    known(db, path)
    return db


def uri(path: Path, how: str) -> Connection:
    return sqlite3.connect(f"file:{quote(str(path.absolute()))}?{how}", uri=True, timeout=PATIENCE, factory=Connection)


WORDS = {
    "SQLITE_FULL": "the disk is full: make room",
    "SQLITE_READONLY": "it cannot be written: the file or the disk is read-only",
    "SQLITE_CANTOPEN": "it cannot be opened: is the folder there, and may you write to it?",
    "SQLITE_BUSY": "another process keeps it locked: try again when that has ended",
    "SQLITE_LOCKED": "another process keeps it locked: try again when that has ended",
    "SQLITE_NOTADB": "this file is not a database",
    "SQLITE_CORRUPT": "the file is damaged: keep it aside, and begin another",
    "SQLITE_IOERR": "the disk failed, or is full",
    "SQLITE_PERM": "it cannot be written: permission is denied",
}


def fault(path: Path, error: BaseException) -> StoreFault:
    """What went wrong with the file, in words and with what to do."""
    if isinstance(error, StoreFault):
        return error
    if isinstance(error, OSError):
        return StoreFault(f"the run store {path}: {error.strerror or error}{ADVICE}")
    name = getattr(error, "sqlite_errorname", "")
    words = next((words for start, words in WORDS.items() if name.startswith(start)), "")
    return StoreFault(f"the run store {path}: {words or error} ({str(error) or name}){ADVICE}")
