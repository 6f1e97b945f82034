"""The built-in `files`: looks into one folder, or writes into it. Links are never followed."""

from __future__ import annotations

import os
import secrets
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loopworth.tools.arguments import ArgumentFault
from loopworth.tools.fault import ToolFault
from loopworth.tools.made import Made
from loopworth.tools.names import shown
from loopworth.tools.root import Folder, Root, linked, missing, names, refused

MOST_BYTES = 1_000_000
"""Bytes of one file that is read or written where the catalogue does not say."""
MOST_ENTRIES = 1_000
MOST_FOUND = 100
MOST_SEARCHED = 50_000_000
"""Bytes that one search may read."""
MOST_LINE = 400
"""Characters shown of a line that was found."""


def files(*, root: Path, write: bool = False, max_bytes: int = MOST_BYTES) -> Made:
    """Without `write` the tool lists, reads and searches; with it, it writes and does nothing else."""
    if not root.is_dir():
        raise ToolFault(f"there is no folder {str(root)!r}", key="with", name="root")
    if write:
        return Made(Writing(Root(root), max_bytes).write, writes="write")
    return Made(Reading(Root(root), max_bytes).look)


@dataclass(frozen=True, slots=True)
class Reading:
    root: Root
    max_bytes: int = MOST_BYTES

    def look(self, path: str = ".", search: str = "") -> Any:
        """Look into the files. A folder's path gives its entries (folders end in /), a file's path its text.

        Args:
            path: a path below the root, such as notes/a.txt; "." is the root
            search: give only the lines that hold this text, of the file or of all files below the folder
        """
        way = names(path)
        with self.root.folder(way[:-1]) as here:
            if way and is_file(here, way[-1]):
                return self.searched(here, [way[-1]], search) if search else self.text(here, way[-1])
        with self.root.folder(way) as here:
            return self.searched(here, here.names(), search) if search else listed(here)

    def text(self, here: Folder, name: str) -> str:
        with self.root.file(here, name) as fd:
            size = os.fstat(fd).st_size
            if size > self.max_bytes:
                why = f"{shown(name)} has {size:,} bytes, and at most {self.max_bytes:,} are read: search in it instead"
                raise ArgumentFault(why)
            return decoded(name, content(fd, self.max_bytes))

    def searched(self, here: Folder, entries: list[str], text: str) -> dict[str, Any]:
        search = Search(self.root, text.casefold(), self.max_bytes)
        search.folder(here, entries, "")
        return search.result()


def listed(here: Folder) -> dict[str, Any]:
    """The entries of a folder; links and the like, which cannot be read, apart from them."""
    entries: list[str] = []
    others: list[str] = []
    for name in here.names():
        mode = here.status(name).st_mode
        if stat.S_ISDIR(mode):
            entries.append(f"{name}/")
        else:
            (entries if stat.S_ISREG(mode) else others).append(name)
    told: dict[str, Any] = {"entries": entries[:MOST_ENTRIES]}
    if len(entries) > MOST_ENTRIES:
        told["more"] = len(entries) - MOST_ENTRIES
    return {**told, "not_readable": others[:MOST_ENTRIES]} if others else told


@dataclass(slots=True)
class Search:
    """One search through files: bounded in what it reads and in what it finds."""

    root: Root
    wanted: str
    max_bytes: int
    found: list[dict[str, Any]] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    bytes: int = 0
    cut: bool = False

    def folder(self, here: Folder, entries: list[str], above: str) -> None:
        for name in entries:
            if self.cut:
                return
            found = here.status(name)
            if stat.S_ISREG(found.st_mode):
                self.file(here, name, above + name, found.st_size)
            elif stat.S_ISDIR(found.st_mode):
                below = self.root.below(here, name)
                try:
                    self.folder(below, below.names(), f"{above}{name}/")
                finally:
                    below.close()
            else:
                self.skipped.append(above + name)

    def file(self, here: Folder, name: str, path: str, size: int) -> None:
        self.bytes += min(size, self.max_bytes)
        if self.bytes > MOST_SEARCHED:
            self.cut = True
            return
        with self.root.file(here, name) as fd:
            data = content(fd, self.max_bytes)
        try:
            lines = decoded(name, data).splitlines()
        except ArgumentFault:
            lines, size = [], self.max_bytes + 1
        if size > self.max_bytes:
            self.skipped.append(path)
        for number, line in enumerate(lines, 1):
            if self.wanted in line.casefold() and not self.cut:
                self.hit({"path": path, "line": number, "text": line.strip()[:MOST_LINE]})

    def hit(self, found: dict[str, Any]) -> None:
        self.cut = len(self.found) >= MOST_FOUND
        if not self.cut:
            self.found.append(found)

    def result(self) -> dict[str, Any]:
        """`more`: the search was cut; `not_searched`: links, binary files, and files too large to be read whole."""
        told: dict[str, Any] = {"found": self.found, "more": self.cut}
        return {**told, "not_searched": self.skipped[:MOST_FOUND]} if self.skipped else told


@dataclass(frozen=True, slots=True)
class Writing:
    root: Root
    max_bytes: int = MOST_BYTES

    def write(self, path: str, text: str) -> dict[str, Any]:
        """Write a text file; one that is there is replaced as a whole, and missing folders are made.

        Args:
            path: a path below the root, such as notes/a.txt
            text: the whole text of the file
        """
        data, way = text.encode(), names(path)
        if len(data) > self.max_bytes:
            raise ArgumentFault(f"the text has {len(data):,} bytes, and at most {self.max_bytes:,} are written")
        if not way or path.endswith("/"):
            raise ArgumentFault(f"{shown(path)} is a folder: name a file in it")
        with self.root.folder(way[:-1], make=True) as here:
            replaced = way[-1] in here.names()
            if replaced and not is_file(here, way[-1]):
                raise ArgumentFault(f"{shown(path)} is a folder: name a file in it")
            self.put(here, way[-1], data)
        return {"path": "/".join(way), "bytes": len(data), "replaced": replaced}

    def put(self, here: Folder, name: str, data: bytes) -> None:
        """Through a file beside it, so that nobody ever sees half a text and nothing is written through a link."""
        beside = f".{secrets.token_hex(8)}.part"
        fd = here.create(beside)
        try:
            with os.fdopen(fd, "wb") as file:
                if not self.root.holds:
                    self.root.still(os.path.join(here.path, beside))
                file.write(data)
            here.rename(beside, name)
        except BaseException:
            here.remove(beside)
            raise


def is_file(here: Folder, name: str) -> bool:
    """Whether it is a file or a folder. Raises `ArgumentFault` where it is neither, or not there."""
    try:
        found = here.status(name)
    except FileNotFoundError:
        raise missing(here, name) from None
    if linked(found):
        raise refused(name)
    if not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode):
        raise ArgumentFault(f"{shown(name)} is neither a file nor a folder")
    return stat.S_ISREG(found.st_mode)


def content(fd: int, most: int) -> bytes:
    """At most `most` bytes from the start of an open file."""
    with os.fdopen(fd, "rb", closefd=False) as file:
        return file.read(most)


def decoded(name: str, data: bytes) -> str:
    """The text of a file. Raises `ArgumentFault` for one that holds none."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise ArgumentFault(f"{shown(name)} is binary ({len(data):,} bytes), not text")
    return text
