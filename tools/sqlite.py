"""The built-in `sqlite`: one statement on one database file.

Three walls stand round a database that is only read: the file is opened `mode=ro`, `query_only` is on, and an
authorizer lets nothing through but reading. The authorizer keeps ATTACH, PRAGMA, extensions, schema changes and
transactions away from a database that is written, too. Rows, bytes and time are limited.
"""

from __future__ import annotations

import os
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from loopworth.runs.spelling import nearest
from loopworth.tools.arguments import ArgumentFault
from loopworth.tools.fault import ToolFault
from loopworth.tools.made import Made
from loopworth.tools.names import brief, listed, shown
from loopworth.tools.tool import TIMEOUT

Scalar: TypeAlias = str | int | float | bool | None
MOST_ROWS = 200
MOST_BYTES = 1_000_000
"""Bytes of one value, and of one result, where the catalogue does not say."""
STEPS = 1_000
"""Steps of SQLite's machine between two looks at the clock."""
LOCKED = 2.0
"""Seconds to wait for another writer."""

READS = frozenset([sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE])
WRITES = READS | {sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE}
READ_VERBS = ("select", "with", "values")
WRITE_VERBS = (*READ_VERBS, "insert", "update", "delete", "replace")
BANNED = frozenset(["load_extension", "fts3_tokenizer"])
OWN = "data_version"
"""The pragma that full-text tables ask for themselves when they are read."""

LEADING = re.compile(r"(?:\s|--[^\n]*(?:\n|$)|/\*.*?(?:\*/|$))*([A-Za-z]*)", re.DOTALL)
FORBIDDEN = (sqlite3.SQLITE_AUTH, sqlite3.SQLITE_READONLY)
WRONG = (
    sqlite3.SQLITE_ERROR,
    sqlite3.SQLITE_SCHEMA,  # a column that is not there, in a statement for which no table had to be looked up
    sqlite3.SQLITE_CONSTRAINT,
    sqlite3.SQLITE_MISMATCH,
    sqlite3.SQLITE_RANGE,
    sqlite3.SQLITE_TOOBIG,
)
"""Codes of a statement that its author can mend."""


def sqlite(
    *, file: Path, write: bool = False, rows: int = MOST_ROWS, max_bytes: int = MOST_BYTES, timeout: float = TIMEOUT
) -> Made:
    """`timeout` is the tool's own, in seconds: a statement is stopped a little before it."""
    if not file.is_file():
        near = nearest(file.name, os.listdir(file.parent) if file.parent.is_dir() else ())
        hint = f"did you mean {near!r}?" if near else ""
        raise ToolFault(f"there is no database {str(file)!r}", hint, "with", "file")
    made = Database(file, write, rows, max_bytes, timeout)
    return Made(made.write, writes="write") if write else Made(made.read)


@dataclass(frozen=True, slots=True)
class Database:
    """One file; a connection lives for one statement."""

    file: Path
    writes: bool = False
    rows: int = MOST_ROWS
    max_bytes: int = MOST_BYTES
    timeout: float = TIMEOUT

    def read(self, sql: str, params: list[Scalar] | dict[str, Scalar] | None = None) -> dict[str, Any]:
        """Read from an SQLite database. `select sql from sqlite_master` shows its tables.

        Args:
            sql: one SELECT, WITH or VALUES statement, with ? or :name where a value of params goes
            params: the values, as a list for ? or by name
        """
        return self.run(sql, params)

    def write(self, sql: str, params: list[Scalar] | dict[str, Scalar] | None = None) -> dict[str, Any]:
        """Read from or change the rows of an SQLite database. `select sql from sqlite_master` shows its tables.

        Args:
            sql: one SELECT, INSERT, UPDATE, DELETE or REPLACE statement, with ? or :name where a value of params goes
            params: the values, as a list for ? or by name
        """
        return self.run(sql, params)

    def run(self, sql: str, params: list[Scalar] | dict[str, Scalar] | None) -> dict[str, Any]:
        verbs = WRITE_VERBS if self.writes else READ_VERBS
        found = LEADING.match(sql)
        verb = found[1].lower() if found else ""
        if verb not in verbs:
            written = f"{verb.upper()} is not allowed" if verb else f"{shown(sql, 40)} is no statement"
            raise ArgumentFault(f"{written}: begin with {listed(map(str.upper, verbs))}", "not_allowed")
        with closing(self.connection()) as connection, self.told(connection):
            self.guard(connection)
            return self.result(connection.execute(sql, [] if params is None else params))

    def connection(self) -> sqlite3.Connection:
        """Never creates a file. Every statement is its own transaction."""
        mode = "rw" if self.writes else "ro"
        address = f"{self.file.absolute().as_uri()}?mode={mode}"
        patience = min(LOCKED, self.timeout / 2)
        made = sqlite3.connect(address, uri=True, timeout=patience, isolation_level=None, cached_statements=0)
        made.text_factory = lambda data: data.decode("utf-8", "replace")
        return made

    def guard(self, connection: sqlite3.Connection) -> None:
        """The walls; what is set by PRAGMA stands before the authorizer, which refuses PRAGMA."""
        if not self.writes:
            connection.execute("pragma query_only = on")
        connection.execute("pragma trusted_schema = off")
        for limit, most in (
            (sqlite3.SQLITE_LIMIT_ATTACHED, 0),
            (sqlite3.SQLITE_LIMIT_LENGTH, self.max_bytes),
            (sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1_000),
        ):
            connection.setlimit(limit, most)
        connection.set_authorizer(self.judge)
        end = time.monotonic() + self.timeout - min(0.5, self.timeout / 10)
        connection.set_progress_handler(lambda: time.monotonic() > end, STEPS)

    def judge(self, action: int, first: str | None, second: str | None, *_: str | None) -> int:
        """SQLite asks this of everything that a statement does."""
        if action == sqlite3.SQLITE_PRAGMA:
            return sqlite3.SQLITE_OK if first == OWN and second is None else sqlite3.SQLITE_DENY
        if action == sqlite3.SQLITE_UPDATE and first == "sqlite_master":
            return sqlite3.SQLITE_OK  # a virtual table declares itself so; SQLite lets nobody really write there
        if action == sqlite3.SQLITE_FUNCTION and str(second).lower() in BANNED:
            return sqlite3.SQLITE_DENY
        allowed = WRITES if self.writes else READS
        return sqlite3.SQLITE_OK if action in allowed else sqlite3.SQLITE_DENY

    def result(self, cursor: sqlite3.Cursor) -> dict[str, Any]:
        """Rows by column. A change is gone through to its end, or it would not happen."""
        names = [column[0] for column in cursor.description or ()]
        if len({*names}) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ArgumentFault(f"two columns are named {shown(twice)}: give each its own name with AS")
        kept: list[dict[str, Any]] = []
        left, more = self.max_bytes, False
        for row in cursor:
            left -= sum(len(each) if isinstance(each, str | bytes) else 8 for each in row)
            more = more or len(kept) >= self.rows or left < 0
            if more and not self.writes:
                break
            if not more:
                kept.append(dict(zip(names, row, strict=True)))
        told: dict[str, Any] = {"rows": kept, "more": more}
        if self.writes:
            told["changed"] = cursor.connection.execute("select changes()").fetchone()[0]
        return told

    @contextmanager
    def told(self, connection: sqlite3.Connection) -> Iterator[None]:
        """What SQLite says, by culprit: the statement's author, its limits, or the database."""
        try:
            yield
        except (sqlite3.ProgrammingError, sqlite3.InterfaceError, sqlite3.Warning, OverflowError) as error:
            raise ArgumentFault(brief(str(error), 300)) from None
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code == sqlite3.SQLITE_INTERRUPT:
                raise TimeoutError(f"the statement was stopped: it may take {self.timeout:g} s") from None
            if code in FORBIDDEN or str(error).startswith("not authorized"):
                raise ArgumentFault(f"{brief(str(error), 300)}: {self.limits()}", "not_allowed") from None
            if code not in WRONG:
                raise
            raise ArgumentFault(brief(str(error), 300) + tables(connection, str(error))) from None

    def limits(self) -> str:
        return "only rows are read and changed here" if self.writes else "this database is only read"


def tables(connection: sqlite3.Connection, why: str) -> str:
    """The tables there are, where the statement names one that is not."""
    if not why.startswith("no such table"):
        return ""
    rows = connection.execute("select name from sqlite_master where type in ('table', 'view') order by name")
    return f": the tables are {listed(name for (name,) in rows)}"
