"""Attacks by a crash: a process that ends between an approval and the result of its call."""

from __future__ import annotations

from typing import Any

from loopworth.runs.journal import Record
from loopworth.runs.store import Store
from loopworth.runs.stored_journal import StoredJournal
from loopworth.workflows.attacks.claim import NotHeld, claim, parked
from loopworth.workflows.attacks.stage import Run, Stage


class Crash(BaseException):
    """The process is gone."""


class Mortal(Store):
    """A store whose activations end, as by a crash, at one of their records: `before` or after it is written."""

    kind, before = "tool", True

    def resume(self, id: str, source: Any = None) -> StoredJournal:
        healthy = super().resume(id, source)
        journal = Dying(healthy.run, healthy.epoch, self, self.kind, self.before)
        journal.records, journal.pool, journal.n = healthy.records, healthy.pool, healthy.n
        return journal


class Dying(StoredJournal):
    def __init__(self, run: str, epoch: int, store: Store, kind: str, before: bool) -> None:
        super().__init__(run, epoch, store)
        self.kind, self.before = kind, before

    async def put(self, id: str, record: Record) -> None:
        if record.kind != self.kind:
            await super().put(id, record)
            return
        if not self.before:
            await super().put(id, record)
        raise Crash


CRASHES = {
    "before its intent was written": ("intent", True),
    "before it was made": ("intent", False),
    "before its result was written": ("tool", True),
    "after its result was written": ("tool", False),
}


def crash(stage: Stage) -> str:
    """An approval is used once: after a crash between it and the result, a call that may have happened is not made
    again, unless it is a read or is made with its key."""
    again = not stage.tool.writes or stage.tool.idempotent
    points = {words: at for words, at in CRASHES.items() if stage.tool.writes or at[0] == "tool"}
    for words, (kind, before) in points.items():
        run, one = parked(stage)
        run.decide(one, "approve")
        crashed(run, kind, before)
        outcome = run.go_on()
        most = 2 if again and words == "before its result was written" else 1
        least = 0 if words == "before it was made" and not again else 1
        claim(
            least <= len(run.called) <= most,
            f"after a crash {words} the approved call was made {len(run.called)} times",
        )
        claim(
            all(call == stage.calls[0] for call in run.called),
            f"after a crash {words} another call was made: {run.called}",
        )
        claim(len(set(run.keys)) < 2, f"after a crash {words} the call was made with another key")
        gates = [one.id for one in run.questions() if one.id.endswith("/gate")]
        claim(len(gates) == 1, f"after a crash {words} the question was asked again: {gates}")
        unknown = not again and words in ("before it was made", "before its result was written")
        claim(
            outcome.exit == "waiting" or not unknown,
            f"after a crash {words} the run ended {outcome.exit} without asking",
        )
    return (
        f"crashed at {len(points)} points after the approval: never made twice"
        + " but as a read, or by its key" * again
    )


def crashed(run: Run, kind: str, before: bool) -> None:
    store = Mortal(run.stage.place)
    store.kind, store.before = kind, before
    try:
        run.go_on(store=store)
    except Crash:
        return
    finally:
        store.close()
    raise NotHeld("the approved call was never made")
