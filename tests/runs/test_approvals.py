"""Questions in the store: decided once, bound to what was asked, and found again by the run."""

from __future__ import annotations

import asyncio
import pathlib
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from loopworth.runs.approvals import Already, Decided, Refused, decide, expire, found, of_run, ready, waiting
from loopworth.runs.decision import Decision, Question
from loopworth.runs.journal import body, digest
from loopworth.runs.outcome import Fenced, Outcome, Waiting
from loopworth.runs.parking import Parking
from loopworth.runs.store import Store
from loopworth.runs.stored_journal import StoredJournal
from loopworth.runs.wall_clock import moment
from tests.runs.storing import kept

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
CHOICES = ("approve", "edit", "reject")


@pytest.fixture
def store(tmp_path: pathlib.Path) -> Iterator[Store]:
    made = Store(tmp_path / "runs.db")
    yield made
    made.close()


def question(amount: int = 1, **more: Any) -> Question:
    arguments = {"amount": amount}
    return Question("pay", arguments, digest(["pay", arguments]), "Pay?", **{"choices": CHOICES, **more})


def ask(store: Store, journal: StoredJournal, id: str = "1/gate", asked: Question | None = None) -> None:
    world = Parking({}, store, journal, lambda: NOW)
    with pytest.raises(Waiting):
        asyncio.run(world.gate(asked or question(), id))


def parked(store: Store, run: str = "a1", **more: Any) -> StoredJournal:
    """A run that waits at one gate."""
    journal = store.begin(kept(run, source={}))
    ask(store, journal, asked=question(**more))
    store.finish(journal, Outcome(None, "waiting", gates=("1/gate",)), over=False)
    return journal


def test_a_question_waits_with_its_exact_arguments(store: Store) -> None:
    """It is listed with all a person needs, named RUN.N, and asked again it is still one question."""
    journal = parked(store, timeout=3600.0)
    ask(store, journal, asked=question(timeout=3600.0))
    [one] = waiting(store.shelf())
    assert (one.name, one.id, one.tool, one.question.arguments) == ("a1.1", "1/gate", "pay", {"amount": 1})
    assert (one.asked, one.expires) == ("2026-11-30T12:00:00.000+00:00", "2026-11-30T13:00:00.000+00:00")
    assert found(store.shelf(), "a1.1") == found(store.shelf(), "a1") == one


def test_the_first_decision_stands_and_every_try_is_kept(store: Store) -> None:
    """A second, contradicting one is told who was quicker and when; the record shows both."""
    parked(store)
    first = decide(store, "a1", "1/gate", Decision("approve", "Ann"), NOW)
    second = decide(store, "a1", "1/gate", Decision("reject", "Bob", note="no"), NOW + timedelta(seconds=1))
    assert isinstance(first, Decided)
    assert isinstance(second, Already)
    assert str(second) == "a1.1 is already decided: approved by Ann at 2026-11-30T12:00:00.000+00:00"
    [one] = of_run(store.shelf(), "a1")
    tries = [(ballot.by, ballot.decision.choice, ballot.won) for ballot in one.ballots]
    assert tries == [("Ann", "approve", True), ("Bob", "reject", False)]
    assert (one.state, one.decision) == ("decided", Decision("approve", "Ann"))


def test_of_many_at_once_one_wins_as_a_whole(store: Store, tmp_path: pathlib.Path) -> None:
    """Each from a store of its own: what stands is one person's choice, note and name."""
    parked(store)
    came: list[Any] = []

    def one(k: int) -> None:
        mine = Store(tmp_path / "runs.db")
        decision = Decision("approve" if k % 2 else "reject", f"p{k}", note=f"n{k}")
        came.append(decide(mine, "a1", "1/gate", decision, NOW))
        mine.close()

    threads = [threading.Thread(target=one, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(isinstance(one, Decided) for one in came) == 1
    [one_] = of_run(store.shelf(), "a1")
    decision = one_.decision
    assert decision is not None
    k = int(decision.by[1:])
    assert decision == Decision("approve" if k % 2 else "reject", f"p{k}", note=f"n{k}")
    assert len(one_.ballots) == 8
    assert [store.shelf().records("a1")["1/gate"].body] == [body(decision)]


def test_a_decision_is_a_record_of_the_run_at_once(store: Store) -> None:
    """Bound to the hash of what was asked; the run is due for its next activation until that has begun."""
    parked(store)
    assert ready(store.shelf()) == []
    decide(store, "a1", "1/gate", Decision("approve", "Ann"), NOW)
    record = store.shelf().records("a1")["1/gate"]
    assert (record.kind, record.hash) == ("gate", question().hash)
    assert ready(store.shelf()) == ["a1"]
    journal = store.resume("a1")
    assert journal.records == {"1/gate": record}
    store.finish(journal, Outcome(None, "waiting", gates=("2/gate",)), over=False)
    assert ready(store.shelf()) == []


def test_what_was_altered_in_the_store_cannot_be_decided(store: Store) -> None:
    """Other arguments than those that were asked about are noticed, and are asked about anew."""
    journal = parked(store)
    altered = body(msgspec.structs.replace(question(), arguments={"amount": 0}))
    store.wait(store.submit(lambda db: db.execute("update approval set question = ?", (altered,))))
    with pytest.raises(Refused, match="its request was altered in the store"):
        decide(store, "a1", "1/gate", Decision("approve", "Ann"), NOW)
    assert expire(store, NOW + timedelta(days=99)) == []
    ask(store, journal)
    assert isinstance(decide(store, "a1", "1/gate", Decision("approve", "Ann"), NOW), Decided)


def test_a_choice_that_is_not_offered_is_refused(store: Store) -> None:
    parked(store, choices=("approve", "reject"))
    with pytest.raises(Refused, match="offers approve or reject, not edit"):
        decide(store, "a1", "1/gate", Decision("edit", "Ann", {"amount": 2}), NOW)
    assert [one.state for one in of_run(store.shelf(), "a1")] == ["waiting"]


@pytest.mark.parametrize("on_timeout", ["approve", "reject"])
def test_nobodys_decision_is_what_the_author_said(store: Store, on_timeout: Any) -> None:
    """From the moment it expires, whoever looks; a person who comes later is told."""
    parked(store, timeout=60.0, on_timeout=on_timeout)
    assert expire(store, NOW + timedelta(seconds=59)) == []
    late = decide(store, "a1", "1/gate", Decision("approve", "Ann"), NOW + timedelta(seconds=60))
    assert isinstance(late, Already)
    assert (late.ballot.by, late.ballot.decision.choice) == ("timeout", on_timeout)
    assert late.ballot.decision.note == "nobody decided within 60 s"
    assert late.ballot.at == "2026-11-30T12:01:00.000+00:00"


def test_all_that_has_expired_is_decided_by_a_sweep(store: Store) -> None:
    parked(store, "a1", timeout=60.0)
    parked(store, "b2", timeout=600.0)
    assert [one.run for one in expire(store, NOW + timedelta(seconds=61))] == ["a1"]
    assert (ready(store.shelf()), [one.run for one in waiting(store.shelf())]) == (["a1"], ["b2"])


def test_a_remembered_decision_stands_for_equal_questions_only(store: Store) -> None:
    """Those of the same run with the same arguments that wait already; a question about others still waits."""
    journal = store.begin(kept("a1", source={}))
    for k, amount in enumerate((1, 1, 2)):
        ask(store, journal, f"1/call[{k}]/gate", question(amount, remember=True))
    came = decide(store, "a1", "1/call[0]/gate", Decision("approve", "Ann"), NOW)
    assert isinstance(came, Decided)
    assert came.also == ("1/call[1]/gate",)
    assert [one.id for one in waiting(store.shelf())] == ["1/call[2]/gate"]
    deciders = [one.decision and one.decision.by for one in of_run(store.shelf(), "a1")]
    assert deciders == ["Ann", "Ann (remembered)", None]


def test_a_remembered_decision_goes_to_no_question_that_does_not_remember_or_offer_it(store: Store) -> None:
    """Of equal calls behind several gates: one that asks every time, and one that offers no edit, still wait; also
    where they are asked after the decision. What was decided for one time only stands for none."""
    journal = store.begin(kept("a1", source={}))
    gates = {"all": {"remember": True}, "once": {}, "fewer": {"remember": True, "choices": ("approve", "reject")}}
    for name, more in gates.items():
        ask(store, journal, f"1/{name}/gate", question(**more))
    came = decide(store, "a1", "1/all/gate", Decision("edit", "Ann", {"amount": 0}), NOW)
    assert isinstance(came, Decided)
    assert came.also == ()
    for name, more in gates.items():
        ask(store, journal, f"2/{name}/gate", question(**more))
    waits = [one.id for one in waiting(store.shelf())]
    assert waits == ["1/once/gate", "1/fewer/gate", "2/once/gate", "2/fewer/gate"]
    decide(store, "a1", "1/once/gate", Decision("approve", "Ann"), NOW)
    ask(store, journal, "3/fewer/gate", question(**gates["fewer"]))
    assert "3/fewer/gate" in [one.id for one in waiting(store.shelf())]


@pytest.mark.parametrize("choice", ["no", "", "yes", "answer", None])
def test_what_a_question_does_not_offer_is_refused(store: Store, choice: Any) -> None:
    """By the same rule as an `ask`, whatever it is; the question still waits."""
    parked(store)
    with pytest.raises(Refused, match=r"^a1.1 offers approve or edit or reject, not "):
        decide(store, "a1", "1/gate", Decision(choice, "Ann"), NOW)
    with pytest.raises(Refused, match=r"^a1.1 takes no edit without arguments: write Decision\(\"edit\""):
        decide(store, "a1", "1/gate", Decision("edit", "Ann"), NOW)
    for said in (True, None, "approve", Decision("approve", by=None)):  # type: ignore[arg-type]
        with pytest.raises(Refused, match=r"is no decision: give a Decision, as Decision\(\"approve\"\)"):
            decide(store, "a1", "1/gate", said, NOW)  # type: ignore[arg-type]
    assert [one.id for one in waiting(store.shelf())] == ["1/gate"]


def test_one_of_five_is_decided_alone(store: Store) -> None:
    """The others stay open, and each has its own name."""
    journal = store.begin(kept("a1", source={}))
    for k in range(5):
        ask(store, journal, f"1/call[{k}]/gate", question(k))
    decide(store, "a1", found(store.shelf(), "a1.4").id, Decision("approve", "Ann"), NOW)
    assert [one.name for one in waiting(store.shelf())] == ["a1.1", "a1.2", "a1.3", "a1.5"]
    with pytest.raises(LookupError, match=r"this run asks a1\.1 \(pay\), a1\.2"):
        found(store.shelf(), "a1")


def test_a_cancelled_run_cannot_be_decided(store: Store) -> None:
    """It has ended: nothing waits, and nothing is called."""
    parked(store)
    assert store.cancel("a1")
    assert not store.cancel("a1")
    assert waiting(store.shelf()) == []
    with pytest.raises(Refused, match=r"its run has ended \(cancelled\), and calls nothing more"):
        decide(store, "a1", "1/gate", Decision("approve", "Ann"), NOW)
    assert store.shelf().records("a1") == {}


def test_an_older_activation_asks_nothing(store: Store) -> None:
    """It is fenced off at its question as at any other effect."""
    journal = store.begin(kept("a1", source={}))
    store.resume("a1")
    with pytest.raises(Fenced, match="1/gate"):
        asyncio.run(Parking({}, store, journal, lambda: NOW).gate(question(), "1/gate"))
    assert waiting(store.shelf()) == []


def test_what_is_not_there_is_said(store: Store) -> None:
    store.begin(kept("a1", source={}))
    with pytest.raises(LookupError, match="asks nothing"):
        found(store.shelf(), "a1")
    with pytest.raises(LookupError, match="asks nothing at 1/gate"):
        decide(store, "a1", "1/gate", Decision("approve"), NOW)
    assert moment().tzinfo is UTC
