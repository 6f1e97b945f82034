"""What stands around a step's act: `on_error`, `repeat`, `retry`, `timeout`, each an act made of an act.

From outside in: for_each, if (both are the pipeline's), on_error, repeat, retry, timeout. A round's place is its
number, a further attempt's `~2`; where an attempt has a budget of its own, the first is a place too.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from loopworth.runs.budget import Limits
from loopworth.runs.effects import Effects
from loopworth.runs.events import StepDone
from loopworth.runs.outcome import Failed, Stop, passes
from loopworth.workflows.ends import said
from loopworth.workflows.template_data import Skipped
from loopworth.workflows.verbs import Act, MayHaveHappened, Names

FIRST = Skipped("there is no round before the first")


def forgiving(act: Act) -> Act:
    """`on_error: skip`: a failure becomes a skipped value that holds its reason."""

    async def run(names: Names, fx: Effects) -> Any:
        try:
            return await act(names, fx)
        except (Failed, Stop) as end:
            if passes(end, fx.path):
                raise
            fx.emit(StepDone(fx.id, "skipped"))
            return Skipped(said(end))

    return run


def repeated(act: Act, times: int, until: Callable[[Names], bool] | None, wait: float, id: str | None) -> Act:
    """`repeat`: rounds until a condition holds, `times` at most; the value is the last round's, whether it held or not.

    A round reads the one before as `last`; `until` also reads the round's own value, by the step's `id`.
    """

    async def run(names: Names, fx: Effects) -> Any:
        last: Any = FIRST
        for round in range(1, times + 1):
            if round > 1 and wait:
                await fx.sleep(str(round), wait)
            value = await act({**names, "last": last}, fx.at(str(round)))
            if until is not None and until({**names, "last": last, **({id: value} if id else {})}):
                break
            last = value
        return value

    return run


def tried(act: Act, attempts: int, wait: float, timeout: float | None) -> Act:
    """`retry` and `timeout`: up to so many attempts, each with its own time; the last one's failure is the step's.

    A write that may have happened is not tried again.
    """
    limits = None if timeout is None else Limits(time=timeout)

    async def run(names: Names, fx: Effects) -> Any:
        for attempt in count(1):
            place = fx if attempt == 1 and limits is None else fx.at(f"~{attempt}", limits)
            try:
                return await act(names, place)
            except (Failed, Stop) as end:
                if attempt == attempts or passes(end, place.path) or isinstance(end, MayHaveHappened):
                    raise
            if wait:
                await fx.sleep(f"~{attempt + 1}", wait)
        raise AssertionError

    return run
