"""Some runs of a comparison that one worker makes, as the queue holds them: plain data, no code and no secret."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from loopworth.comparisons.schedule import Planned
from loopworth.runs.journal import digest
from loopworth.runs.usage import Value

T = TypeVar("T")
SIZE = 25
"""Runs in a chunk: enough that the queue costs little of them, few enough that all workers have some."""


class Ordered(Value, frozen=True):
    """A run to make; `number` is its own within the comparison, and names it in the store."""

    arm: str
    task: str
    repeat: int
    attempt: int
    number: int

    @property
    def planned(self) -> Planned:
        return Planned(self.arm, self.task, self.repeat)


class Chunk(Value, frozen=True):
    """Runs of the comparison with this id, as its activation `epoch` asks for them.

    `file` is the comparison file from the project's folder, `files` the SHA-256 of all that it is made of, `began` UTC
    (ISO 8601). `width` is how many of the runs may be under way at once.
    """

    comparison: str
    epoch: int
    began: str
    file: str
    files: dict[str, str]
    width: int
    runs: tuple[Ordered, ...]

    @property
    def id(self) -> str:
        return f"{self.comparison}:{digest(self)}"

    def run(self, one: Ordered) -> str:
        """The id of a run in the store: the same whoever makes it, and however often."""
        return f"{self.comparison}.{one.number}"


def cut(runs: Sequence[T], size: int = SIZE) -> Iterator[Sequence[T]]:
    """The runs in chunks, in their order."""
    for start in range(0, len(runs), size):
        yield runs[start : start + size]
