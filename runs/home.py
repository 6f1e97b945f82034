"""Which place a store's name means: a file, or a database on a server."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from loopworth.runs.database import FILE, HOME, Home, StoreFault
from loopworth.runs.store_file import StoreFile, file_of


def home(given: str | Path | None = None) -> Home:
    """The place of a store: as given, by LOOPWORTH_STORE, or .loopworth/runs.db; a folder holds it as runs.db.

    Raises StoreFault for an address without the driver of Postgres."""
    named = given or os.environ.get("LOOPWORTH_STORE") or HOME / FILE
    if not is_address(named):
        return StoreFile(file_of(named))
    try:  # imported here: psycopg is an extra, and a file needs none
        from loopworth.runs.postgres import Postgres
    except ModuleNotFoundError as missing:
        if missing.name != "psycopg":
            raise
        raise StoreFault("a store in Postgres wants the extra `postgres`: pip install 'loopworth[postgres]'") from None
    return Postgres(str(named))


MOST_FOLDERS = 200
"""Folders right below the current one that are looked into for a store."""


def nearby(used: Home, *beside: Path) -> Iterator[Path]:
    """The stores that other folders hold: those `beside` a file, those above this one, and those right below it.

    Only the default store depends on the folder; one that was named is meant.
    """
    if not isinstance(used, StoreFile) or used.path != HOME / FILE:
        return
    here = Path.cwd()
    found = {here.resolve()}
    for folder in (*beside, *here.parents, *below(here)):
        # `Path.is_file` raises where a folder may not be looked into, as many in /tmp.
        if (real := folder.resolve()) not in found and os.path.isfile(real / HOME / FILE):
            found.add(real)
            yield Path(os.path.relpath(real / HOME / FILE))


def below(folder: Path) -> list[Path]:
    """The folders right below one, up to MOST_FOLDERS of them; none where it may not be read."""
    try:
        return sorted(islice(filter(os.path.isdir, folder.iterdir()), MOST_FOLDERS))
    except OSError:
        return []


def is_address(named: str | Path) -> bool:
    """Whether a store is on a server."""
    return str(named).startswith(("postgresql://", "postgres://"))
