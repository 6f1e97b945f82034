"""A run store in Postgres: the `Home` of several hosts. The same tables and statements as in a SQLite file.

It wants the extra `postgres`, and its tables from `loopworth store migrate`.
"""

from __future__ import annotations

import os
import re
import select
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit
from weakref import finalize

import psycopg

from loopworth.runs.database import ADVICE, VERSION, InUse, StoreFault
from loopworth.runs.journal import asked
from loopworth.runs.secrets import MASK, learn
from loopworth.runs.store_file import SCHEMA, STEPS

TYPES = {"blob": "bytea", "real": "double precision", "int": "bigint", "without rowid": ""}
WORD = re.compile(rf"\b(?:{'|'.join(TYPES)})\b")
HASTY = "begin; set local synchronous_commit to off"
CONNECT = 10
"""Seconds that a server may take to answer."""
LINGERING = 1.0
"""Seconds in which a server may still hold what a process had that was killed."""
SPARE = 2
"""Connections that are kept to read with."""
FRESH = 30.0
"""Seconds for which they are: between here and the server one that is idle for long may be dropped unsaid."""
MIGRATING = 0x6C777274
"""The lock under which the tables are made."""
KEEPALIVE = {"tcp_keepalives_idle": 30, "tcp_keepalives_interval": 10, "tcp_keepalives_count": 3}
"""So that the server notices within a minute or so, and not in hours, that a host is gone that held a lock."""
HELD = """
select classid::bigint, objid::bigint from pg_locks where locktype = 'advisory' and objsubid = 1 and granted
and database = (select oid from pg_database where datname = current_database())
"""
"""The advisory locks of this database, each in two halves of 32 bits."""


class Connection:
    """One connection, which understands the statements of a SQLite file."""

    def __init__(self, driver: psycopg.Connection[Any]) -> None:
        self.driver = driver

    def execute(self, statement: str, values: Sequence[Any] = ()) -> psycopg.Cursor[Any]:
        return self.driver.execute(spoken(statement).encode(), [told(value) for value in values])

    def begin(self, careful: bool) -> None:
        self.driver.execute("begin; set local synchronous_commit to on" if careful else HASTY)

    def commit(self) -> None:
        self.driver.execute("commit")

    def rollback(self) -> None:
        self.driver.execute("rollback")

    def close(self) -> None:
        self.driver.close()

    def now(self) -> float:
        return float(one(self, "select extract(epoch from clock_timestamp())"))


class Reader(Connection):
    """A connection to read with; closed, it is kept for the next question."""

    def __init__(self, driver: psycopg.Connection[Any], spare: Spare) -> None:
        super().__init__(driver)
        self.spare = spare

    def close(self) -> None:
        self.spare.keep(self.driver)


class Spare:
    """Connections that nobody uses, each with the time since when and the process that opened it. To open one takes
    longer than most questions."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self.kept = list[tuple[psycopg.Connection[Any], float, int]]()

    def keep(self, driver: psycopg.Connection[Any]) -> None:
        idle = driver.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        if idle and len(self.kept) < SPARE:
            self.kept.append((driver, self.clock(), os.getpid()))
        else:
            driver.close()

    def take(self) -> psycopg.Connection[Any] | None:
        """One that can be asked: of this process, used a short while ago, and not closed by the server."""
        with suppress(IndexError):  # another thread may take the last
            while True:
                driver, since, process = self.kept.pop()
                if process != os.getpid():
                    continue  # to close it would end it for the process that this one is a copy of
                if self.clock() - since < FRESH and quiet(driver):
                    return driver
                driver.close()
        return None

    def drain(self) -> None:
        while self.kept:
            self.kept.pop()[0].close()


def quiet(driver: psycopg.Connection[Any]) -> bool:
    """Whether nothing has come since the last answer: what comes unasked is the server's end."""
    try:
        return not driver.closed and not select.select([driver.fileno()], [], [], 0)[0]
    except (OSError, ValueError):  # a file number that is too high to be looked at
        return False


def spoken(statement: str) -> str:
    """A statement in Postgres' words."""
    return statement.replace("%", "%%").replace("?", "%s").replace("/* for share */", "for share")


def told(value: Any) -> Any:
    """A value as Postgres takes it: no text there holds the character 0, and a flag is no number."""
    if isinstance(value, str):
        return value.replace("\0", "\ufffd")
    return int(value) if isinstance(value, bool) else value


def defined(statements: str) -> Iterator[str]:
    """Definitions of tables in Postgres' words, one by one."""
    for statement in statements.split(";"):
        if statement.strip():
            yield WORD.sub(lambda word: TYPES[word[0]], statement)


class Postgres:
    """A store in a Postgres database, by its address."""

    errors: type[Exception] = psycopg.Error

    def __init__(self, address: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.address = address
        self.spare = Spare(clock)
        finalize(self, self.spare.drain)
        parts = urlsplit(address)
        learn(parts.password, *(value for name, value in parse_qsl(parts.query) if "password" in name))
        user = f"{parts.username}:{MASK}@" if parts.password else f"{parts.username}@" if parts.username else ""
        self.name = urlunsplit((parts.scheme, user + parts.netloc.rpartition("@")[2], parts.path, "", ""))

    def __str__(self) -> str:
        return self.name

    def connected(self) -> Connection:
        driver = psycopg.connect(self.address, autocommit=True, connect_timeout=CONNECT)
        return Connection(driver)

    def writing(self) -> Connection:
        """Raises StoreFault where the tables are missing, or of another version."""
        db = self.connected()
        try:
            self.known(version(db))
        except BaseException:
            db.close()
            raise
        return db

    def reading(self) -> Reader:
        """As `writing`, but by a connection that was used before, where there is one."""
        return Reader(self.spare.take() or self.writing().driver, self.spare)

    def known(self, found: int) -> None:
        if found < VERSION:
            what = "is older than this loopworth" if found else "has no tables yet"
            raise StoreFault(f"the run store {self.name} {what}: `loopworth store migrate --store …` makes them")
        if found > VERSION:
            raise StoreFault(
                f"{self.name} was written by a newer loopworth (version {found} of the store; this one knows {VERSION})"
                "\n    upgrade loopworth, or name another with --store; nothing was changed"
            )

    def there(self) -> bool:
        return True

    def fault(self, error: BaseException) -> StoreFault:
        if isinstance(error, StoreFault):
            return error
        why = " ".join(str(error).split()) or type(error).__name__  # drivers break their lines
        return StoreFault(f"the run store {self.name}: {why}{ADVICE}")

    @contextmanager
    def occupied(self, run: str) -> Iterator[None]:
        """A lock of the server's, which ends with this process' connection. Raises InUse."""
        with closing(self.connected()) as db:
            for setting, value in KEEPALIVE.items():
                db.execute(f"set {setting} = {value}")
            deadline = time.monotonic() + LINGERING
            while not one(db, "select pg_try_advisory_lock(?)", key(run)):
                if time.monotonic() > deadline:
                    raise InUse(run)
                time.sleep(0.02)
            yield

    def vacant(self, runs: Sequence[str]) -> list[str]:
        """Whose lock the server gave to nobody, on any host."""
        if not runs:
            return []
        with closing(self.connected()) as db:
            held = {high << 32 | low for high, low in db.execute(HELD).fetchall()}
        return [run for run in runs if key(run) % 2**64 not in held]

    def migrate(self) -> int:
        with closing(self.connected()) as db:
            db.begin(careful=True)
            db.execute("select pg_advisory_xact_lock(?)", (MIGRATING,))
            before = version(db)
            if before > VERSION:
                self.known(before)
            steps = [SCHEMA] if before == 0 else [STEPS[step] for step in range(before + 1, VERSION + 1)]
            for statement in (statement for step in steps for statement in defined(step)):
                db.execute(statement)
            if before == 0:
                db.execute("create table loopworth(version bigint not null)")
                db.execute("insert into loopworth(version) values(0)")
            db.execute("update loopworth set version = ?", (VERSION,))
            db.commit()
            return before


def key(run: str) -> int:
    """The number of a run's lock."""
    return int(asked(["run", run]).hash, 16) - 2**63


def version(db: Connection) -> int:
    """Of the tables; 0 where there are none."""
    if one(db, "select to_regclass('loopworth')") is None:
        return 0
    return int(one(db, "select version from loopworth"))


def one(db: Connection, question: str, *values: Any) -> Any:
    """The one value that answers a question."""
    return db.execute(question, values).fetchall()[0][0]
