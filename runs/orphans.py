"""Durable runs that were under way when their process ended, and that no other goes on with.

A run is one where its state says that an activation is under way, and no process holds it (`Home.vacant`). Where that
cannot be known from here it is none. The next activation takes it over as it does any other: by the epoch.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from loopworth.runs.database import StoreFault
from loopworth.runs.rows import value
from loopworth.runs.shelf import Shelf
from loopworth.runs.usage import Value
from loopworth.runs.wall_clock import moment

MOST = 3
"""Activations in a row that may leave nothing new."""
ENTERED = timedelta(minutes=5)
"""How long a run may lie that was entered and not begun: whoever entered it still prepares."""
UNDER_WAY = """
select run.id, run.name, run.began, run.epoch, source, coalesce(max(effect.epoch), 1)
from run left join effect on effect.run = run.id
where run.parent is null and run.kind = 'run' and run.state = 'unfinished' and run.exit is null
and run.source is not null
group by run.id, run.name, run.began, run.epoch, source order by run.began, run.id
"""


class Orphan(Value, frozen=True):
    """A run whose process is gone, and its `epoch`; its last `fruitless` activations left nothing new.
    `given` are the models and tools that a program gave it, None where nobody knows."""

    run: str
    workflow: str
    epoch: int
    fruitless: int
    given: tuple[str, ...] | None = ()

    @property
    def hopeless(self) -> bool:
        return self.fruitless >= MOST

    @property
    def due(self) -> bool:
        """Whether another process may go on with it unasked."""
        return self.given == () and not self.hopeless

    @property
    def why(self) -> str:
        """What happened, and what to do."""
        command = f"loopworth run --durable --resume {self.run}"
        if self.given:
            return f"its process ended, and {', '.join(self.given)} came from a program: resume it from there"
        if self.given is None:
            return f"its process ended, or a program has yet to begin with it; to go on: {command}"
        if self.hopeless:
            return f"its process ended, and its last {self.fruitless} tries left nothing new; to try again: {command}"
        return f"its process ended; `loopworth inbox sweep` goes on with it, or: {command}"


def orphans(shelf: Shelf, now: datetime | None = None) -> list[Orphan]:
    """The runs that nobody goes on with although they are under way, the least hopeless first. Raises StoreFault."""
    soon = (now or moment()) - ENTERED
    found = []
    for run, name, began, epoch, source, done in shelf.select(UNDER_WAY):
        made_of = durable(source)
        if made_of is not None and (epoch > 1 or datetime.fromisoformat(began) < soon):
            found.append(Orphan(run, name, epoch, epoch - done, given(made_of)))
    vacant = set(alone(shelf, [one.run for one in found]))
    return sorted((one for one in found if one.run in vacant), key=lambda one: one.fruitless)


def alone(shelf: Shelf, runs: Iterable[str]) -> list[str]:
    """Those of these runs that no process goes on with."""
    try:
        return shelf.home.vacant(tuple(runs))
    except (OSError, shelf.home.errors) as error:
        raise shelf.home.fault(error) from None


def durable(source: Any) -> dict[str, Any] | None:
    """What a durable run is made of; nothing of another, or of one that cannot be read: who resumes it is told."""
    try:
        made_of = value(source, "the source of a run")
    except StoreFault:
        return None
    return made_of if isinstance(made_of, dict) and "tools" in made_of else None


def given(made_of: dict[str, Any]) -> tuple[str, ...] | None:
    names = made_of.get("given")
    return None if names is None else tuple(names)
