"""Effects that are under way at once: all are waited for, and of several ends one counts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from math import inf
from typing import Any

from loopworth.runs.outcome import Failed, Stop, Waiting


async def together(*awaitables: Awaitable[Any]) -> list[Any]:
    """All results, in order, once all have ended: nothing in flight is abandoned.

    Of several ends a bug is raised first, then a limit of the outermost budget, then the first other stop or failure,
    then one `Waiting` for all gates.
    """
    if len(awaitables) == 1:
        return [await awaitables[0]]
    done = await asyncio.gather(*awaitables, return_exceptions=True)
    errors = [result for result in done if isinstance(result, BaseException)]
    if errors:
        raise worst(errors)
    return done


def worst(errors: list[BaseException]) -> BaseException:
    """The one of several ends that counts."""
    ends = (Stop, Failed, Waiting)
    bug = next((error for error in errors if not isinstance(error, ends)), None)
    end = min((error for error in errors if isinstance(error, Stop | Failed)), key=depth, default=None)
    waits = [error for error in errors if isinstance(error, Waiting)]
    note = "; ".join(dict.fromkeys(wait.note for wait in waits if wait.note))
    return bug or end or Waiting(*(gate for wait in waits for gate in wait.gates), note=note)


def depth(end: BaseException) -> float:
    """How far in the budget lies whose limit was hit; what is no limit lies deepest."""
    return len(end.owner) if isinstance(end, Stop) and end.owner is not None else inf
