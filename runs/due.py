"""What there is to do in a store, whoever looks: a sweep, the patrol, `serve`."""

from __future__ import annotations

from datetime import datetime

from loopworth.runs.approvals import Approval, expire, ready
from loopworth.runs.orphans import Orphan, orphans
from loopworth.runs.store import Store
from loopworth.runs.usage import Value


class Due(Value, frozen=True):
    """What a look through a store found: questions that expired, runs that a decision waits to be gone on with, and
    runs whose process is gone."""

    expired: tuple[Approval, ...]
    ready: tuple[str, ...]
    orphans: tuple[Orphan, ...]

    @property
    def runs(self) -> dict[str, int | None]:
        """The runs to go on with, each with the epoch that it must still have, where it has to have one."""
        return {**dict.fromkeys(self.ready), **{one.run: one.epoch for one in self.orphans if one.due}}

    @property
    def left(self) -> tuple[Orphan, ...]:
        """Those that no process goes on with unasked."""
        return tuple(one for one in self.orphans if not one.due)


def due(store: Store, now: datetime | None = None) -> Due:
    """Decide what has expired as its author said, and say what is to be gone on with. Raises StoreFault."""
    expired = expire(store, now)
    shelf = store.shelf()
    return Due(tuple(expired), tuple(ready(shelf)), tuple(orphans(shelf, now)))
