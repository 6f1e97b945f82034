"""Which place a store's name means: a file, or a database on a server."""

from __future__ import annotations

import os
from pathlib import Path

from loopworth.runs.database import FILE, HOME, Home, StoreFault
from loopworth.runs.store_file import StoreFile, place


def home(given: str | Path | None = None) -> Home:
    """The place of a store: as given, by LOOPWORTH_STORE, or .loopworth/runs.db; a folder holds it as runs.db.

    Raises StoreFault for an address without the driver of Postgres."""
    named = given or os.environ.get("LOOPWORTH_STORE") or HOME / FILE
    if not is_address(named):
        return StoreFile(place(named))
    try:  # imported here: psycopg is an extra, and a file needs none
        from loopworth.runs.postgres import Postgres
    except ModuleNotFoundError as missing:
        if missing.name != "psycopg":
            raise
        raise StoreFault("a store in Postgres wants the extra `postgres`: pip install 'loopworth[postgres]'") from None
    return Postgres(str(named))


def is_address(named: str | Path) -> bool:
    """Whether a store is on a server."""
    return str(named).startswith(("postgresql://", "postgres://"))
