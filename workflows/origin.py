"""The files that a workflow was made of, by digest: what it was, and what has changed since."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path

from loopworth.workflows.compile import Compiled


def digests(compiled: Compiled) -> dict[str, str]:
    """The SHA-256 of every file that was read for it, and of its code, by the path from its own file."""
    folder = Path(compiled.file or ".").resolve().parent
    return by_path({*compiled.read, *compiled.code}, folder)


def by_path(files: Iterable[Path], folder: Path) -> dict[str, str]:
    """The SHA-256 of files, by their paths from a folder; none of one that is gone, or cannot be read any more."""
    return {os.path.relpath(path, folder): digest for path in sorted(files) if (digest := of(path))}


def of(path: Path) -> str:
    """The SHA-256 of a file; "" where it is gone, or cannot be read any more."""
    try:
        return sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def changed(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """The files that are others now, new, or gone."""
    return sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))
