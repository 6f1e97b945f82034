"""Trials that were made in memory, entered whole."""

from __future__ import annotations

import pathlib
from typing import Any

from loopworth.runs.kept import Score
from loopworth.runs.outcome import Outcome
from loopworth.runs.store import Store, new_id
from tests.runs.storing import kept, record


def test_the_first_to_enter_a_trial_wins(tmp_path: pathlib.Path) -> None:
    """With its effects, outcome and score; the second is told, and changes nothing."""
    store, id = Store(tmp_path / "runs.db"), new_id()
    store.begin(kept(id, kind="comparison"))
    key: dict[str, Any] = {"kind": "trial", "parent": id, "arm": "a", "task": "t", "repeat": 0, "attempt": 0}
    one = kept(f"{id}.1", **key)
    first = store.enter(one, {"1/ask": record(("a", 1))}, Outcome("first"), Score(right=True))
    second = store.enter(one, {"2/ask": record(("b", 2))}, Outcome("second"), Score(right=False))
    assert (first.result(), second.result()) == (True, False)
    shelf = store.shelf()
    found = shelf.outcome(one.id)
    assert found is not None
    assert (found.answer, list(shelf.records(one.id)), shelf.scores(id)[one.id].right) == ("first", ["1/ask"], True)
    store.close()


def test_nothing_is_entered_for_a_comparison_that_was_taken_over(tmp_path: pathlib.Path) -> None:
    """Its epoch is another."""
    store, id = Store(tmp_path / "runs.db"), new_id()
    store.begin(kept(id, kind="comparison"))
    store.resume(id)
    one = kept(f"{id}.1", kind="trial", parent=id, arm="a", task="t", repeat=0, attempt=0)
    assert not store.enter(one, {}, Outcome("late"), Score()).result()
    assert store.enter(one, {}, Outcome("in time"), Score(), parent_epoch=2).result()
    assert [run.state for run in store.shelf().trials(id)] == ["done"]
    store.close()
