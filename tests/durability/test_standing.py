"""How far a comparison has come, read from a store of either kind."""

from __future__ import annotations

from loopworth.runs.kept import Kept, Score
from loopworth.runs.outcome import Outcome
from loopworth.runs.standing import Standing, standings
from loopworth.runs.store import Store, new_id
from tests.runs.storing import BEGAN, kept

TRIALS = [
    ("b", "t1", Score(True)),
    ("b", "t3", Score(True)),
    ("b", "t1", Score(False)),
    ("b", "t2", Score(None)),
    ("a", "t1", None),
]
"""Arm, task, and the score of one that is done."""


def test_the_arms_of_a_comparison_stand_the_same_in_both(place: str) -> None:
    """Tasks and runs that are done, runs that are not, scores, and what is spent; another comparison is not counted."""
    store, id = Store(place), new_id()
    for comparison in (id, new_id()):
        store.begin(Kept(comparison, "comparison", "sums", "sums.yaml", BEGAN, input={"n": 4}))
        for n, (arm, task, score) in enumerate(TRIALS):
            key = {"parent": comparison, "arm": arm, "task": task, "repeat": n, "attempt": 1}
            journal = store.begin(kept(f"{comparison}.{n}", kind="trial", **key))
            if score is not None:
                store.finish(journal, Outcome("x"), score)
    found = standings(store.shelf(), id)
    store.close()
    assert sorted(found, key=lambda one: one.arm) == [
        Standing("a", 0, 0, 1, 0, 0, 0.0, 0, BEGAN),
        Standing("b", 3, 4, 0, 2, 1, 0.0, 0, BEGAN),
    ]
