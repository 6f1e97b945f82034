"""A world in which nobody is asked while the run waits: the question is put into the store, and the run parks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from loopworth.runs import approvals
from loopworth.runs.decision import Decision, Question
from loopworth.runs.outcome import Waiting
from loopworth.runs.store import Store
from loopworth.runs.stored_journal import StoredJournal
from loopworth.runs.wall_clock import moment
from loopworth.runs.world import Live


class Parking(Live):
    """Live, but for people: a gate leaves its question and ends the activation; a decision starts the next.

    `now` is the clock on the wall, from which a question expires.
    """

    def __init__(
        self,
        models: Mapping[str, Any],
        store: Store,
        journal: StoredJournal,
        now: Callable[[], datetime] = moment,
        **live: Any,
    ) -> None:
        super().__init__(models, **live)
        self._store, self._journal, self._now = store, journal, now

    async def gate(self, question: Question, id: str) -> Decision:
        run, epoch = self._journal.run, self._journal.epoch
        asking = approvals.put(self._store, run, epoch, id, question, self._now())
        try:
            owned = await asyncio.wrap_future(asking)
        except self._store.errors as error:
            raise self._store.wording(error) from None
        approvals.owned(owned, run, id)
        raise Waiting(id)
