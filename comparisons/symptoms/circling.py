"""Finding the calls that come round again in a run and bring nothing new."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from loopworth.agents.repetition import Repetition, Watch
from loopworth.comparisons.symptoms.conduct import Called, Conduct
from loopworth.comparisons.symptoms.finding import SHORT
from loopworth.runs.message import ToolCall

SAME_CALLS, SAME_ROUNDS = 3, 2
"""How often the same call, or the same cycle of two to four calls, comes in a row."""
EMPTY: tuple[Any, ...] = (None, "", [], {})
NOTHING = re.compile(r"\b(?:no|none|nothing|not found|unknown|0 (?:results|matches|rows|hits))\b")
"""How a result says in words that there is nothing."""


def round_of(run: Conduct) -> tuple[list[Called], int] | None:
    """The longest round of calls that comes again in a row with nothing new, and how often it came.

    None where there is none, and where the run was right.
    """
    rounds = [found for row in run.rows if (found := longest(row.calls, row.repeatable)) is not None]
    calls, times = max(rounds, key=lambda found: found[1] * len(found[0]), default=([], 0))
    stale = all(call.came in ("ok", "repeated", "not_run") and stands(run, call) for call in calls)
    nothing = len(calls) == 1 and all(empty(one) for one in equals(run, calls[0]))
    return (calls, times) if calls and stale and not nothing and run.right is not True else None


def fetched_again(run: Conduct) -> list[Called]:
    """The calls of a loop that bring what another had brought: a third of its calls, and three at least.

    They are equal to one before, though not in a row, or have the same long result under other arguments. None where
    anything that was asked for twice had changed, where the run was right, and of tools that are there to be called
    again.
    """
    for row in run.rows if run.right is not True else ():
        seen, again = set[object](), list[Called]()
        calls = [call for call in row.calls if call.tool not in row.repeatable]
        if changed(run, calls):
            continue
        for call in calls:
            brings = {call.key, (call.tool, None, call.content) if len(call.content) >= SHORT else call.key}
            if call.came == "ok" and not seen.isdisjoint(brings):
                again.append(call)
            seen |= brings
        if len(again) >= max(SAME_CALLS, len(calls) / 3):
            return again
    return []


def changed(run: Conduct, calls: Sequence[Called]) -> bool:
    """Whether any of these calls was answered otherwise than an equal one, or one of its results was left out since."""
    said, elided = dict[tuple[str, str], str](), run.elided
    made = [call for call in run.calls if call.status == "ok"]
    wanted = {call.key for call in calls}
    return any(
        call.at in elided or said.setdefault(call.key, call.content) != call.content
        for call in made
        if call.key in wanted
    )


def longest(calls: Sequence[Called], repeatable: Iterable[str] = ()) -> tuple[list[Called], int] | None:
    """The longest round in a row of calls, and how often it comes; none of tools that are there to be called again."""
    if len({call.key for call in calls}) == len(calls):
        return None  # nothing came twice, as in most runs
    watch, best, most = Watch(Repetition(None, None), dict.fromkeys(repeatable, True)), None, 0
    for k, call in enumerate(calls):
        watch.see(ToolCall("", call.tool, call.arguments or None))
        times, length = watch.round()
        if times >= (SAME_CALLS if length == 1 else SAME_ROUNDS) and times * length > most:
            best, most = (list(calls[k - length + 1 : k + 1]), times), times * length
    return best


def equals(run: Conduct, call: Called) -> list[Called]:
    """The equal calls of a run that were answered."""
    return [one for one in run.calls if one.key == call.key and one.status == "ok"]


def stands(run: Conduct, call: Called) -> bool:
    """Whether equal calls had one answer, so that none was waited for, and it was not left out since."""
    return len({one.content for one in equals(run, call)}) < 2 and run.elided.isdisjoint(
        one.at for one in equals(run, call)
    )


def empty(call: Called) -> bool:
    """Whether a result says that there is nothing, by its value or in a few words."""
    return (call.full in EMPTY and not call.partial) or (
        len(call.content) <= SHORT and NOTHING.search(call.content.lower()) is not None
    )
