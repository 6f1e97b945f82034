"""Who goes on with a run: one process at a time, told by a lock on a file that ends with the process.

The file says where its process is, so that a lock that cannot be seen from here, as that of another host on a network
disk may be, is not taken for one that ended.
"""

from __future__ import annotations

import os
import re
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from loopworth.runs.database import InUse
from loopworth.runs.journal import digest

try:
    import fcntl
except ImportError:  # Windows: there the epochs alone keep two processes apart
    fcntl = None  # type: ignore[assignment]

PLAIN = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}")
"""Ids of runs that are names of files as well."""
LINGERING = 0.2
"""Seconds in which somebody may only be looking."""
BOOT = Path("/proc/sys/kernel/random/boot_id")


@contextmanager
def occupied(folder: Path, run: str) -> Iterator[None]:
    """Hold the lock of a run, a file in `folder`. Raises InUse."""
    if fcntl is None:
        yield
        return
    path = folder / name(run)
    lock = locked(path)
    if lock is None:
        raise InUse(run)
    try:
        with suppress(OSError):  # a disk that is full: then nobody knows where this process was
            os.ftruncate(lock, 0)
            os.pwrite(lock, "\n".join(here()).encode(), 0)
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(lock)


def name(run: str) -> str:
    """Of a run's file; an id that is no plain name, or would lead elsewhere, goes by its digest."""
    return run if PLAIN.fullmatch(run) else f"run-{digest(run)}"


def locked(path: Path) -> int | None:
    """The lock's file, open; None where another holds it. One that was removed meanwhile is no lock."""
    path.parent.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + LINGERING
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.exists() and os.path.samestat(os.fstat(file), path.stat()):
                return file
        except BlockingIOError:
            if time.monotonic() > deadline:
                os.close(file)
                return None
            time.sleep(0.01)
        os.close(file)


def vacant(folder: Path, run: str) -> bool:
    """Whether it is known that no process holds the run: its lock has ended with a process of this host, or there is
    none. What a process elsewhere left is not known."""
    if fcntl is None:
        return False
    try:
        file = os.open(folder / name(run), os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return near(os.read(file, 1000).decode("utf-8", "replace"))
    except OSError:
        return False
    finally:
        os.close(file)


def near(place: str) -> bool:
    """Whether a process was on this host: on the kernel that runs now, or on one of the same name before."""
    host, _, boot = place.partition("\n")
    mine = here()
    return host == mine[0] or (bool(boot) and boot == mine[1])


@cache
def here() -> tuple[str, str]:
    """This host: its name, and the start of its kernel, which all its containers share."""
    try:
        return socket.gethostname(), BOOT.read_text().strip()
    except OSError:
        return socket.gethostname(), ""
