"""Who makes the runs of a comparison elsewhere than in this process: a seam, with the fleet behind it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Protocol, TypeAlias

from loopworth.comparisons.endpoints import Open
from loopworth.comparisons.schedule import Due
from loopworth.comparisons.trial import Left, Trial

Came: TypeAlias = tuple[Trial, Left]
"""A run that was made, and what it left."""


class Crew(Protocol):
    """Makes runs elsewhere. `open` opens the models for what is made here, at the pace of all."""

    open: Open

    def makes(self, due: Due) -> bool:
        """Whether it can make this run; the others are made here."""

    def made(self, due: Sequence[Due]) -> AsyncGenerator[Came, None]:
        """The runs as they end. Closing it calls off what has not begun."""
