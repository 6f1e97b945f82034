"""That an arm hardly ever answered, and why: what a reader has to know before a verdict on it means anything."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from loopworth.comparisons.sentences import counted, listed
from loopworth.runs.exit import Exit
from loopworth.runs.usage import Value

LEAST = 0.5
"""The share of an arm's runs that have to leave an answer."""


class End(Value, frozen=True):
    """How a run ended, and with an answer or without."""

    exit: Exit
    note: str
    answered: bool


def unanswered(ends: Sequence[End], so: str = "") -> str:
    """That less than half of these runs left an answer, how the others ended, what follows (`so`), and the reason that
    most of them have; "" where so many did."""
    without = [end for end in ends if not end.answered]
    if len(ends) - len(without) >= LEAST * len(ends):
        return ""
    said = f"{how(without, len(ends))}{so}"
    why = max(told_alike((end.note,) for end in without if end.note), key=len, default=[])
    if not why:
        return said
    often = "" if len(why) == len(without) else f"; the most frequent reason ({len(why)} of them)"
    return f"{said}{often}: {why[0]}"


def how(without: Sequence[End], of: int) -> str:
    """How the runs without an answer ended, of so many."""
    runs = counted(of, "run")
    ends = Counter("success without an answer" if end.exit == "success" else end.exit for end in without)
    if len(ends) == 1 and len(without) == of:
        return f"{'all ' * (of > 1)}{runs} ended as {next(iter(ends))}"
    return f"{len(without)} of {runs} left no answer ({listed([f'{n} {end}' for end, n in ends.most_common()])})"


def told_alike(told: Iterable[tuple[str, ...]]) -> Iterable[list[str]]:
    """What is told of runs, put together where it differs in figures only."""
    found: dict[str, list[str]] = {}
    for texts in told:
        for words, text in {re.sub(r"[\d,]+", "", text): text for text in texts}.items():
            found.setdefault(words, []).append(text)
    return found.values()
