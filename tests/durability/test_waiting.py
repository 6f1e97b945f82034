"""What a run does while it waits, and under which id it is gone on with."""

from __future__ import annotations

import asyncio
import pathlib
import threading
from contextlib import closing
from datetime import timedelta
from typing import Any

import pytest

import loopworth
from loopworth.runs import approvals
from loopworth.runs.approvals import Approval
from loopworth.runs.decision import Decision, Question
from loopworth.runs.home import home
from loopworth.runs.journal import digest
from loopworth.runs.orphans import orphans
from loopworth.runs.outcome import Diverged, Outcome
from loopworth.runs.store import Store, new_id
from loopworth.runs.wall_clock import moment
from tests.durability.world import Place, Switch
from tests.runs.storing import kept

HEAD = """
workflow: pays
shape: pipeline
input: {who: str}
tools: {pay: {python: "till:pay", effect: irreversible, inline: true}}
gate: {pay: {timeout: 1h}}
"""
TILL = '''
def pay(who: str, amount: int) -> str:
    """Pay."""
'''
EACH = '- {id: all, for_each: [1, 2, 3], call: pay, with: {who: "{{ who }}", amount: "{{ item }}"}}'
ONE = '- {id: all, call: pay, with: {who: "{{ who }}", amount: 1}}'


class Till:
    """A workflow that pays, and what it paid."""

    def __init__(self, folder: pathlib.Path, store: Store, steps: str, head: str = HEAD) -> None:
        (folder / "till.py").write_text(TILL)
        self.file, self.store, self.paid = folder / "pays.yaml", store, list[int]()
        self.file.write_text(f'{head}steps:\n  {steps}\nanswer: "{{{{ all }}}}"\n')

    @property
    def compiled(self) -> Any:
        def pay(who: str, amount: int) -> str:
            """Pay."""
            self.paid.append(amount)
            return f"{who} {amount}"

        return loopworth.compile(self.file, tools={"pay": pay})

    def begin(self, who: str = "Ann", id: str = "") -> str:
        return loopworth.begin(self.store, self.compiled, {"who": who}, id=id)

    def resume(self, id: str) -> Outcome:
        return asyncio.run(loopworth.resume(self.store, id, self.compiled))

    def waiting(self, id: str) -> list[Approval]:
        return [one for one in approvals.of_run(self.store.shelf(), id) if one.state == "waiting"]

    def decide(self, one: Approval, choice: Any) -> None:
        approvals.decide(self.store, one.run, one.id, Decision(choice, "kim", note="no"))


def test_writes_over_a_list_are_made_in_its_order_however_they_wait(tmp_path: pathlib.Path, store: Store) -> None:
    """One that waits holds back those after it, as at a terminal: none is made before it, or past a no."""
    till = Till(tmp_path, store, EACH)
    id = till.begin()
    for choice in ("approve", "reject"):
        assert till.resume(id).exit == "waiting"
        [one] = till.waiting(id)
        till.decide(one, choice)
    assert (till.resume(id).exit, till.paid) == ("rejected", [1])


def test_a_run_is_gone_on_with_by_the_start_of_its_id(tmp_path: pathlib.Path, store: Store) -> None:
    till = Till(tmp_path, store, ONE)
    id = till.begin()
    assert till.resume(id[:8]).exit == "waiting"
    assert store.shelf().run(id).exit == "waiting"


def test_an_id_is_of_one_run(tmp_path: pathlib.Path, store: Store) -> None:
    """Entered again it is the same run; for another input, or as a name that means the newest, it is refused."""
    till = Till(tmp_path, store, ONE)
    id = f"mine-{new_id()}"
    assert till.begin(id=id) == till.begin(id=id) == id
    with pytest.raises(ValueError, match="id"):
        till.begin("Bob", id)
    with pytest.raises(ValueError, match="`last` means the newest run"):
        till.begin(id="last")
    assert store.shelf().run(id).input == {"who": "Ann"}


class Held(Store):
    """Its writer begins with what is careful when somebody waits for it: what came before is there by then, however
    quick it is."""

    def __init__(self, place: Any) -> None:
        self.go, self.holds = threading.Event(), False
        super().__init__(place)

    def submit(self, work: Any, careful: bool = False) -> Any:
        if careful and not self.holds:
            self.holds = True
            self.go.clear()
            super().submit(lambda _: self.go.wait(60))
        return super().submit(work, careful)

    def wait(self, done: Any) -> Any:
        self.go.set()
        return super().wait(done)


def test_hundreds_that_expire_are_decided_in_few_commits(place: str) -> None:
    """What waits for the disk waits together."""
    names = [new_id() for _ in range(300)]
    question = Question("pay", {"amount": 1}, digest(["pay", {"amount": 1}]), timeout=60)
    with closing(Store(place)) as store:
        for name in names:
            approvals.put(store, store.begin(kept(name, source={})).run, 1, "1/gate", question, moment())
    switch = Switch()
    with closing(Held(Place(home(place), switch))) as store:
        due = approvals.expire(store, moment() + timedelta(seconds=61))
    assert set(names) <= {one.run for one in due}
    assert len(switch.passed) <= 2 * 4


@pytest.mark.parametrize("killed", [False, True])
def test_a_run_that_is_no_longer_itself_was_not_killed(tmp_path: pathlib.Path, store: Store, killed: bool) -> None:
    """It ends as it had ended, says why, and is not tried again unasked; what was decided still stands."""
    till = Till(tmp_path, store, ONE)
    id = till.begin()
    till.resume(id)
    [one] = till.waiting(id)
    till.decide(one, "approve")
    if killed:
        store.resume(id)  # an activation that never ends
    alter = "update effect set hash = ? where run = ?"
    store.wait(store.submit(lambda db: db.execute(alter, ("another", id))))
    with pytest.raises(Diverged):
        till.resume(id)
    run = store.shelf().run(id)
    assert (run.state, run.exit, "all/call/gate" in run.note) == (
        "unfinished",
        "harness_error" if killed else "waiting",
        True,
    )
    assert (id in approvals.ready(store.shelf()), id in [lost.run for lost in orphans(store.shelf())]) == (False, False)
    store.wait(store.submit(lambda db: db.execute(alter, (one.hash, id))))
    assert (till.resume(id).exit, till.paid) == ("success", [1])
