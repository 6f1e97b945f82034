"""Files below one folder, reached in no other way.

Each name of a path is opened below the folder that is already open, and never if it is a link. What is checked is what
is opened, so nobody can put a link in its place in between. Where a platform cannot open below an open folder
(Windows), the place is checked once more after opening.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from loopworth.runs.spelling import nearest
from loopworth.tools.arguments import ArgumentFault
from loopworth.tools.names import shown

HOLDS = {os.open, os.stat, os.mkdir, os.rename, os.unlink} <= os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
"""Whether the platform opens below an open folder."""
CLOSED = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
UNFOLLOWED = getattr(os, "O_NOFOLLOW", 0)
FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)
"""A pipe must not be waited for before it is known to be one."""
WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL
REPARSED = 0x2000_0000
"""The bit of a Windows reparse tag that says: this stands for another name (a link, a junction)."""


def names(path: str) -> tuple[str, ...]:
    """The names that a path leads through below the root. Raises `ArgumentFault` where it would leave it."""
    if "\\" in path or not path.isprintable() or (os.name == "nt" and ":" in path):
        raise ArgumentFault(f"{shown(path)} is no path here: write names with / between them")
    if path.startswith("/") or re.match("[A-Za-z]:(/|$)", path):
        raise ArgumentFault(f"{shown(path)} is an absolute path: write a path below the root", "not_allowed")
    found: list[str] = []
    for name in path.split("/"):
        if name == ".." and not found:
            raise ArgumentFault(f"{shown(path)} leads out of the root: stay below it", "not_allowed")
        if name == "..":
            found.pop()
        elif name not in ("", "."):
            found.append(name)
    return tuple(found)


def linked(status: os.stat_result) -> bool:
    return stat.S_ISLNK(status.st_mode) or bool(getattr(status, "st_reparse_tag", 0) & REPARSED)


@dataclass(frozen=True, slots=True)
class Folder:
    """An open folder. `fd` is None where the platform cannot hold one; then its path is used."""

    path: str
    fd: int | None

    def at(self, name: str) -> str:
        return name if self.fd is not None else os.path.join(self.path, name)

    def status(self, name: str) -> os.stat_result:
        return os.stat(self.at(name), dir_fd=self.fd, follow_symlinks=False)

    def names(self) -> list[str]:
        """Sorted, so that two equal runs see the same."""
        return sorted(os.listdir(self.path if self.fd is None else self.fd))

    def open(self, name: str, how: int) -> int:
        """The descriptor of `name` itself; a link is refused, also one that came a moment ago."""
        if linked(status := self.status(name)):
            raise refused(name)
        try:
            unfollowed = UNFOLLOWED if self.fd is not None else 0
            fd = os.open(self.at(name), how | CLOSED | unfollowed, dir_fd=self.fd)
        except OSError as error:
            raise refused(name) if error.errno in (errno.ELOOP, errno.EMLINK) else error from None
        if self.fd is None and not os.path.samestat(status, os.fstat(fd)):
            os.close(fd)
            raise refused(name)
        return fd

    def create(self, name: str) -> int:
        return os.open(self.at(name), WRITE | CLOSED, 0o666, dir_fd=self.fd)

    def close(self) -> None:
        if self.fd is not None:
            os.close(self.fd)

    def mkdir(self, name: str) -> None:
        os.mkdir(self.at(name), dir_fd=self.fd)

    def remove(self, name: str) -> None:
        os.unlink(self.at(name), dir_fd=self.fd)

    def rename(self, old: str, new: str) -> None:
        """`new` is replaced; a link there is replaced itself, what it leads to is not touched."""
        if self.fd is None:
            os.replace(self.at(old), self.at(new))
        else:
            os.rename(old, new, src_dir_fd=self.fd, dst_dir_fd=self.fd)


@dataclass(frozen=True, slots=True)
class Root:
    """The folder that an author names (it may be a link itself). `holds`: see `HOLDS`."""

    path: Path
    holds: bool = HOLDS

    @contextmanager
    def folder(self, names: tuple[str, ...], make: bool = False) -> Iterator[Folder]:
        """The folder at `names`, opened name by name; missing ones are made where `make` says so."""
        real = os.path.realpath(self.path)
        here = Folder(real, os.open(real, FOLDER | CLOSED) if self.holds else None)
        try:
            for name in names:
                below = self.below(here, name, make)
                here.close()
                here = below
            yield here
        finally:
            here.close()

    def below(self, here: Folder, name: str, make: bool = False) -> Folder:
        """The folder `name` in an open one. Raises `ArgumentFault`."""
        path = os.path.join(here.path, name)
        try:
            if self.holds:
                return Folder(path, here.open(name, FOLDER))
            if linked(found := here.status(name)):
                raise refused(name)
            if not stat.S_ISDIR(found.st_mode):
                raise NotADirectoryError(errno.ENOTDIR, "", name)
            self.still(path)
            return Folder(path, None)
        except FileNotFoundError:
            if not make:
                raise missing(here, name) from None
            here.mkdir(name)
            return self.below(here, name)
        except NotADirectoryError:
            raise ArgumentFault(f"{shown(name)} is a file, not a folder") from None

    @contextmanager
    def file(self, here: Folder, name: str) -> Iterator[int]:
        """The descriptor of a regular file in an open folder. Raises `ArgumentFault`."""
        try:
            fd = here.open(name, READ)
        except FileNotFoundError:
            raise missing(here, name) from None
        try:
            if not self.holds:
                self.still(os.path.join(here.path, name))
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise ArgumentFault(f"{shown(name)} is not a file")
            yield fd
        finally:
            os.close(fd)

    def still(self, path: str) -> None:
        """Without descriptors: `path` is what it says, with no link on the way."""
        if os.path.normcase(os.path.realpath(path)) != os.path.normcase(path):
            raise refused(os.path.basename(path))


def refused(name: str) -> ArgumentFault:
    return ArgumentFault(f"{shown(name)} is a link: links are not followed", "not_allowed")


def missing(here: Folder, name: str) -> ArgumentFault:
    near = nearest(name, here.names())
    return ArgumentFault(f"there is no {shown(name)}" + (f": did you mean {shown(near)}?" if near else ""))
