"""Who goes on with a run: one process at a time on this host, told by a lock that ends with the process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from loopworth.runs.database import InUse

try:
    import fcntl
except ImportError:  # Windows: there the epochs alone keep two processes apart
    fcntl = None  # type: ignore[assignment]


@contextmanager
def occupied(folder: Path, run: str) -> Iterator[None]:
    """Hold the lock of a run, a file in `folder`. Raises InUse."""
    if fcntl is None:
        yield
        return
    path = folder / run
    lock = locked(path)
    if lock is None:
        raise InUse(run)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(lock)


def locked(path: Path) -> int | None:
    """The lock's file, open; None where another holds it. One that was removed meanwhile is no lock."""
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.exists() and os.path.samestat(os.fstat(file), path.stat()):
                return file
        except BlockingIOError:
            os.close(file)
            return None
        os.close(file)
