"""Which place a store's name means: a file, or a database on a server."""

from __future__ import annotations

import os
from pathlib import Path

from loopworth.runs.database import FILE, HOME, Home
from loopworth.runs.store_file import StoreFile, place


def home(given: str | Path | None = None) -> Home:
    """The place of a store: as given, by LOOPWORTH_STORE, or .loopworth/runs.db; a folder holds it as runs.db."""
    named = given or os.environ.get("LOOPWORTH_STORE") or HOME / FILE
    if not is_address(named):
        return StoreFile(place(named))
    # Imported here: psycopg is an extra, and a file needs none.
    from loopworth.runs.postgres import Postgres

    return Postgres(str(named))


def is_address(named: str | Path) -> bool:
    """Whether a store is on a server."""
    return str(named).startswith(("postgresql://", "postgres://"))
