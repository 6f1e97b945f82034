"""Decisions that come at the same moment, on both databases."""

from __future__ import annotations

import asyncio
import os
import threading
from typing import Any

import pytest

from loopworth.runs.approvals import Already, Decided, decide, of_run, ready
from loopworth.runs.decision import Decision, Question
from loopworth.runs.journal import digest
from loopworth.runs.outcome import Waiting
from loopworth.runs.parking import Parking
from loopworth.runs.store import Store, new_id
from tests.runs.storing import kept


def test_of_many_who_come_at_once_and_too_late_each_is_told_so(place: str) -> None:
    """Each try is kept and numbered, whoever else comes at that moment; none ends in an error of the database."""
    store, run = Store(place), os.urandom(4).hex()
    question = Question("pay", {"amount": 1}, digest(["pay", {"amount": 1}]))
    with pytest.raises(Waiting):
        asyncio.run(Parking({}, store, store.begin(kept(run, source={}))).gate(question, "1/gate"))
    assert isinstance(decide(store, run, "1/gate", Decision("approve", "first")), Decided)
    stores = [Store(place) for _ in range(8)]
    start, came = threading.Barrier(len(stores)), list[Any]()

    def vote(mine: Store) -> None:
        start.wait()
        for _ in range(5):
            try:
                came.append(type(decide(mine, run, "1/gate", Decision("reject", "late"))))
            except Exception as error:
                came.append(error)

    threads = [threading.Thread(target=vote, args=(mine,)) for mine in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one in stores:
        one.close()
    [asked] = of_run(store.shelf(), run)
    store.close()
    assert came == [Already] * 40
    assert [ballot.by for ballot in asked.ballots] == ["first"] + ["late"] * 40


def test_a_name_in_another_encoding_decides_as_any(place: str) -> None:
    """A terminal may give halves of characters: they are kept as what can be, and nothing breaks down."""
    store, run = Store(place), new_id()
    question = Question("pay", {"note": "\0\ud800"}, digest(["pay", {"note": "\0\ud800"}]))
    with pytest.raises(Waiting):
        asyncio.run(Parking({}, store, store.begin(kept(run, source={}))).gate(question, "1/gate"))
    assert isinstance(decide(store, run, "1/gate", Decision("reject", "k\udcffm\0", note="n\udcff\0")), Decided)
    [asked] = of_run(store.shelf(), run)
    store.close()
    assert asked.decision is not None
    assert (asked.decision.by[:3], asked.ballots[0].by[:3], asked.decision.note) == ("k?m", "k?m", "n\udcff\0")
    assert not asked.altered


@pytest.mark.parametrize("remember", [True, False])
def test_what_was_decided_while_a_run_is_under_way_stands_for_what_it_asks_next(place: str, remember: bool) -> None:
    """The activation that asks began before the decision: an equal question does not wait for another one."""
    store, run = Store(place), new_id()
    question = Question("pay", {"amount": 1}, digest(["pay", {"amount": 1}]), remember=remember)
    other = Question("pay", {"amount": 2}, digest(["pay", {"amount": 2}]), remember=remember)
    world = Parking({}, store, store.begin(kept(run, source={})))
    for id, asks in (("1/gate", question), ("2/gate", other), ("3/gate", question)):
        with pytest.raises(Waiting):
            asyncio.run(world.gate(asks, id))
        if id == "1/gate":
            decide(store, run, id, Decision("reject", "kim"))
    store.wait(store.submit(lambda db: db.execute("update run set exit = 'waiting' where id = ?", (run,))))
    found = of_run(store.shelf(), run)
    assert [one.state == "decided" for one in found] == [True, False, remember]
    assert [one.winner.by for one in found if one.winner] == ["kim", "kim (remembered)"][: 1 + remember]
    assert run in ready(store.shelf())
    store.close()
