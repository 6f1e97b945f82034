"""The files that a workflow was made of, by digest: what it was, and what has changed since."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from loopworth.workflows.compile import Compiled


def made_of(compiled: Compiled) -> dict[str, dict[str, str]]:
    """The SHA-256 of every file that was read for it, and of its code, each by the path from its own file."""
    folder = Path(compiled.file or ".").resolve().parent
    return {"files": by_path(compiled.read, folder), "code": by_path(compiled.code, folder)}


def then_and_now(source: Mapping[str, Any] | None, compiled: Compiled) -> tuple[dict[str, str] | None, dict[str, str]]:
    """The files that a run's record counts, as they were and as they are now; None where it counts none.

    An older record has its code among the files, or counts none of it: then nothing is told of code.
    """
    now = made_of(compiled)
    if source is None or "files" not in source:
        return None, now["files"]
    before = {**source["files"], **source.get("code", {})}
    code = {name: digest for name, digest in now["code"].items() if "code" in source or name in before}
    return before, {**now["files"], **code}


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
