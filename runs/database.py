"""Where a run store is, and how it is spoken to: one small seam, with SQLite and Postgres behind it.

A statement is SQL that both understand, with `?` for a value. What only Postgres needs stands in it as a comment.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from loopworth.runs.outcome import Fenced

VERSION = 4
"""Of the tables. An older store is brought up to date, a newer one is refused."""
HOME = Path(".loopworth")
FILE = "runs.db"
ADVICE = "\n    name another file with --store, or keep nothing with --no-store"
SHARE = "/* for share */"
"""Keeps the row of a run from being taken over until this is committed. In SQLite one process writes at a time."""


class StoreFault(OSError):
    """The run store cannot be used: the file, the disk, the server, or another version. The text says what to do."""


class InUse(Fenced):
    """Another process goes on with this run."""

    def __init__(self, run: str) -> None:
        super().__init__(f"the run {run} is in use: another process goes on with it")


class Rows(Protocol):
    """What a statement came to."""

    @property
    def rowcount(self) -> int: ...

    def fetchall(self) -> list[Any]: ...

    def fetchone(self) -> Any: ...


class Database(Protocol):
    """One connection."""

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Rows: ...

    def begin(self, careful: bool) -> None:
        """A transaction; a `careful` one is on the disk when it is committed, not only in the operating system."""

    def commit(self) -> None: ...

    def rollback(self) -> None: ...

    def close(self) -> None: ...

    def now(self) -> float:
        """The time for all who use the store, in seconds since 1970: that of its host."""


class Home(Protocol):
    """Where a store is. `errors` is what its driver raises; `str` of it names it, without a password."""

    errors: type[Exception]

    def writing(self) -> Database:
        """A connection to write with. Raises `errors`, OSError."""

    def reading(self) -> Database: ...

    def there(self) -> bool:
        """Whether there is a store to read."""

    def fault(self, error: BaseException) -> StoreFault:
        """What went wrong, in words and with what to do."""

    def occupied(self, run: str) -> AbstractContextManager[None]:
        """This process goes on with a run, until the end of the block or of the process. Raises InUse."""

    def vacant(self, runs: Sequence[str]) -> list[str]:
        """Those of these runs that no process goes on with, as far as can be known from here."""

    def migrate(self) -> int:
        """Make the tables, or bring them up to date; the version that was found, 0 where there were none."""
