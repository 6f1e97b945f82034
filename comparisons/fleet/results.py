"""What workers have entered into the store, read many runs at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loopworth.runs.kept import Kept, Score
from loopworth.runs.outcome import Outcome
from loopworth.runs.shelf import RUN, Shelf, kept_of, outcome_of, score_of, unpressed

MOST = 500
"""Runs that one question is about."""
SCORES = "select run, correct, harmful, remark, route, latency, began from trial where run in"
BODIES = "select run, body from transcript where run in"


def ended(shelf: Shelf, runs: Sequence[str]) -> Iterator[tuple[Kept, Score, Outcome]]:
    """Those of these runs that have ended. Workers enter them whole, so whatever is there has ended."""
    for start in range(0, len(runs), MOST):
        some = runs[start : start + MOST]
        kept = [kept_of(row) for row in shelf.select(f"select {RUN} where run.id in {marks(some)}", some)]
        if not kept:
            continue
        there = [one.id for one in kept]
        scores = {run: score_of(rest) for run, *rest in shelf.select(f"{SCORES} {marks(there)}", there)}
        bodies = dict(shelf.select(f"{BODIES} {marks(there)}", there))
        for one in kept:
            yield one, scores[one.id], outcome_of(unpressed(bodies[one.id], f"the transcript of the run {one.id}"))


def marks(values: Sequence[str]) -> str:
    return f"({', '.join('?' * len(values))})"
