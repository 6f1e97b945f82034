"""Questions that wait for a person, and what was decided: each once, by whoever comes first.

    waiting(shelf)                                what waits, the oldest first
    found(shelf, "a1b2c3.2")                      one question: the second of the run a1b2c3
    decide(store, run, id, Decision("approve"))   Decided, or Already with who was quicker

A decision is bound to the run, the call's place in it and the hash of its exact canonical arguments. It is a record of
the run's journal as soon as it is made: the next activation finds it there.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeAlias

import msgspec

from loopworth.runs.database import SHARE, Database, StoreFault
from loopworth.runs.decision import Decision, Question, decision_of, example, lapsed, no_decision, short
from loopworth.runs.journal import body, digest, encode, reader
from loopworth.runs.outcome import Fenced
from loopworth.runs.remembered import remembered
from loopworth.runs.rows import text
from loopworth.runs.secrets import hide
from loopworth.runs.shelf import Shelf
from loopworth.runs.store import Store
from loopworth.runs.usage import Value
from loopworth.runs.wall_clock import moment, stamp

ASK = f"""
insert into approval(run, id, n, hash, tool, question, state, asked, expires, epoch)
select ?, ?, (select count(*) + 1 from approval where run = ?), ?, ?, ?, 'waiting', ?, ?, ?
where (select epoch from run where id = ? {SHARE}) = ?
on conflict(run, id) do update set hash = excluded.hash, question = excluded.question, epoch = excluded.epoch
where approval.state = 'waiting'
"""
COLUMNS = """
approval.run, approval.id, approval.n, hash, tool, question, approval.state, decision, approval.asked, expires,
run.name, run.file, run.state, run.exit from approval join run on run.id = approval.run
"""
WHICH = f"select {COLUMNS} where approval.run = ? and approval.id = ?"
WAITING = f"""
select {COLUMNS} where approval.state = 'waiting' and run.state <> 'done' order by approval.asked, run.id, approval.n
"""
TURN = "update approval set run = run where run = ? and id = ?"
"""Holds the question to the end of the transaction, so that tries at the same moment are numbered one after another."""
DECIDE = "update approval set state = 'decided', decision = ?, by = ? where run = ? and id = ? and state = 'waiting'"
BALLOT = """
insert into ballot(run, id, n, at, by, decision, won) select ?, ?, count(*) + 1, ?, ?, ?, ?
from ballot where run = ? and id = ?
"""
RECORD = """
insert into effect(run, id, n, hash, kind, request, body, began, ended, epoch)
select ?, ?, coalesce(max(n), -1) + 1, ?, 'gate', ?, ?, coalesce(max(ended), 0), coalesce(max(ended), 0),
    (select epoch from run where id = ?) from effect where run = ?
"""
EQUAL = "select id, question from approval where run = ? and hash = ? and state = 'waiting' order by n"
BEFORE = "select decision, question from approval where run = ? and hash = ? and state = 'decided' order by n"
BALLOTS = "select at, by, decision, won from ballot where run = ? and id = ? order by n"
READY = """
select distinct run.id from run join approval on approval.run = run.id where run.state <> 'done'
and run.exit = 'waiting' and approval.state = 'decided' and exists(
    select 1 from effect where effect.run = run.id and effect.id = approval.id and effect.epoch = run.epoch)
"""
question_of = reader(Question)


class Ballot(Value, frozen=True):
    """One try to decide a question: who, when (UTC), what, and whether it was the first."""

    at: str
    by: str
    decision: Decision
    won: bool


class Approval(Value, frozen=True):
    """A question of a run (its `n`-th) at the effect `id`, and what came of it. `asked` and `expires` are UTC.

    `workflow` and `file` are the run's, `exit` is how its last activation ended, None while one is under way.
    """

    run: str
    id: str
    n: int
    hash: str
    tool: str
    question: Question
    state: str
    decision: Decision | None
    asked: str
    expires: str | None
    workflow: str
    file: str
    over: bool
    exit: str | None
    ballots: tuple[Ballot, ...] = ()

    @property
    def name(self) -> str:
        """What a person types."""
        return f"{self.run}.{self.n}"

    @property
    def altered(self) -> bool:
        """Whether what is stored is not what was asked."""
        bound = digest([self.question.tool, self.question.arguments])
        return not bound == self.hash == self.question.hash or self.tool != self.question.tool

    @property
    def winner(self) -> Ballot | None:
        return next((one for one in self.ballots if one.won), None)


class Decided(Value, frozen=True):
    """The decision stands; `also` are the equal questions of the run for which it does as well."""

    approval: Approval
    also: tuple[str, ...] = ()


class Already(Value, frozen=True):
    """Somebody was quicker: `ballot` is theirs."""

    approval: Approval
    ballot: Ballot

    def __str__(self) -> str:
        words = {"approve": "approved", "edit": "edited", "reject": "rejected", "answer": "answered"}
        what = words[self.ballot.decision.choice]
        return f"{self.approval.name} is already decided: {what} by {self.ballot.by} at {self.ballot.at}"


class Refused(Exception):
    """The question cannot be decided so; the text says why."""


Came: TypeAlias = Decided | Already


# -- asked -------------------------------------------------------------------------------------------------------------


def put(store: Store, run: str, epoch: int, id: str, question: Question, now: datetime) -> Any:
    """A future of the question's row, on the disk: made now, or brought up to what is asked now while it waits. Its
    result is whether this activation still owns the run."""
    question = hide(question)
    expires = None if question.timeout is None else stamp(now + timedelta(seconds=question.timeout))
    row = (run, id, run, question.hash, question.tool, body(question), stamp(now), expires, epoch)

    def work(db: Database) -> bool:
        if db.execute(ASK, (*row, run, epoch)).rowcount == 1:
            if question.remember:
                recall(db, run, id, stamp(now))
            return True
        return bool(db.execute("select epoch from run where id = ?", (run,)).fetchall()[0][0] == epoch)

    return store.submit(work, careful=True)


def recall(db: Database, run: str, id: str, at: str) -> None:
    """Decide a question as an equal one of its run was decided since this activation began."""
    [asked] = db.execute(WHICH, (run, id)).fetchall()
    approval = approval_of(asked)
    for said, question in db.execute(BEFORE, (run, approval.hash)).fetchall():
        before = decision_of(text(said, "a decision"))
        if question_in(question, approval.tool).remember and not no_decision(approval.question, before):
            stood(db, approval, remembered(before), at)
            return


# -- read --------------------------------------------------------------------------------------------------------------


def waiting(shelf: Shelf) -> list[Approval]:
    """All questions that wait for a decision, the oldest first."""
    return [approval_of(row) for row in shelf.select(WAITING)]


def of_run(shelf: Shelf, run: str) -> list[Approval]:
    """All questions of a run, in the order in which they were asked."""
    rows = shelf.select(f"select {COLUMNS} where approval.run = ? order by approval.n", [run])
    return [voted(shelf, approval_of(row)) for row in rows]


def found(shelf: Shelf, name: str) -> Approval:
    """The question of this name (`RUN.N`), or the only one that waits in the run; a run's id may be shortened, and
    `last` is the run that asked last, whatever was run since.

    Raises LookupError that says which there are.
    """
    start, dot, number = name.rpartition(".")
    start = start if dot and number.isdigit() else name
    run = shelf.run(asked_last(shelf) if start == "last" else start)
    there = of_run(shelf, run.id)
    if dot and number.isdigit():
        wanted = [one for one in there if one.n == int(number)]
    else:
        wanted = [one for one in there if one.state == "waiting"] or there[-1:]
    if len(wanted) == 1:
        return wanted[0]
    which = ", ".join(f"{one.name} ({one.tool})" for one in wanted or there)
    raise LookupError(f"{name}: this run asks {which}: name one" if which else f"{name}: this run asks nothing")


def asked_last(shelf: Shelf) -> str:
    """The run of the newest question, decided or not: who decides twice decides no other. Without one, the newest."""
    newest = shelf.select("select run from approval order by asked desc, run desc limit 1")
    return newest[0][0] if newest else "last"


def approval_of(row: tuple[Any, ...]) -> Approval:
    run, id, n, hash, tool, question, state, decision, asked, expires, name, file, over, exit = row
    decided = None if decision is None else decision_of(text(decision, f"the decision {run}.{n}"))
    asks = question_in(question, tool)
    return Approval(run, id, n, hash, tool, asks, state, decided, asked, expires, name, file, over == "done", exit)


def question_in(row: Any, tool: str) -> Question:
    """The question of a row; one that cannot be read is bound to nothing, so that it counts as altered."""
    try:
        return question_of(text(row, "the question"))
    except (StoreFault, msgspec.MsgspecError) as why:
        return Question(tool, {}, "", f"this question cannot be read: {why}")


def voted(shelf: Shelf, one: Approval) -> Approval:
    return msgspec.structs.replace(one, ballots=ballots_of(shelf.select(BALLOTS, [one.run, one.id])))


def ballots_of(rows: list[Any]) -> tuple[Ballot, ...]:
    said = ((at, by, decision_of(text(decision, "a decision")), bool(won)) for at, by, decision, won in rows)
    return tuple(Ballot(*one) for one in said)


# -- decided -----------------------------------------------------------------------------------------------------------


def decide(
    store: Store, run: str, id: str, decision: Decision, now: datetime | None = None, hash: str | None = None
) -> Came:
    """Decide a question; the first who does wins, and every try is kept. A question that has expired is decided as its
    author said. Raises Refused, and LookupError where there is no such question. `hash` is that of the call which the
    person saw: a question that was asked anew since, about another call, is not decided.

    Edited arguments are not checked here: who decides knows the tool.
    """
    now = now or moment()
    if not isinstance(decision, Decision) or not isinstance(decision.by, str):
        raise Refused(f"{run}: {short(decision)} is no decision: give a Decision, as {example('approve')}")
    by = decision.by.encode("utf-8", "replace").decode()  # a name of another encoding, as a terminal may give one
    decision = hide(msgspec.structs.replace(decision, by=by))

    def work(db: Database) -> Came:
        rows = db.execute(WHICH, (run, id)).fetchall()
        if not rows:
            raise LookupError(f"the run {run} asks nothing at {id}")
        approval = approval_of(rows[0])
        if approval.state == "waiting":
            fitting(approval, decision)
            if hash not in (None, approval.hash):
                raise Refused(f"{approval.name} was asked anew, about another call, since it was shown: look again")
            if expired(approval, now):
                run_out(db, approval)
        return enter(db, approval, decision, stamp(now))

    came: Came = store.wait(store.submit(work, careful=True))
    return came


def fitting(approval: Approval, decision: Decision) -> None:
    """Raises Refused for what cannot be decided."""
    if approval.over:
        raise Refused(f"{approval.name} cannot be decided: its run has ended ({approval.exit}), and calls nothing more")
    if approval.altered:
        raise Refused(
            f"{approval.name} cannot be decided: its request was altered in the store since it was asked\n"
            f"    `loopworth run --durable --resume {approval.run}` asks again, with what is really to be called"
        )
    if why := no_decision(approval.question, decision):
        raise Refused(f"{approval.name} {why}")


def reasoned(decision: Decision) -> None:
    """Raises Refused for a no without a reason, and an answer without words."""
    if decision.choice in ("reject", "answer") and not decision.note.strip():
        raise Refused("say why: the model reads it" if decision.choice == "reject" else "write the answer in words")


def enter(db: Database, approval: Approval, decision: Decision, at: str) -> Came:
    """Enter a try, and the decision where it is the first: in the question's row, and as a record of the run."""
    if not stood(db, approval, decision, at):
        ballots = ballots_of(db.execute(BALLOTS, (approval.run, approval.id)).fetchall())
        return Already(approval, next(one for one in ballots if one.won))
    if not approval.question.remember:
        return Decided(approval)
    rows = db.execute(EQUAL, (approval.run, approval.hash)).fetchall()
    waiting = [msgspec.structs.replace(approval, id=id, question=question_in(row, approval.tool)) for id, row in rows]
    also = [one for one in waiting if one.question.remember and not no_decision(one.question, decision)]
    for one in also:
        stood(db, one, remembered(decision), at)
    return Decided(approval, tuple(one.id for one in also))


def stood(db: Database, approval: Approval, decision: Decision, at: str) -> bool:
    """Whether a try was the first: then it is the decision."""
    run, id, said = approval.run, approval.id, body(decision)
    db.execute(TURN, (run, id))
    won = db.execute(DECIDE, (said, decision.by, run, id)).rowcount == 1
    db.execute(BALLOT, (run, id, at, decision.by, said, int(won), run, id))
    if won:
        asked = encode([approval.question.tool, approval.question.arguments])
        db.execute(RECORD, (run, id, approval.hash, asked, said, run, run))
    return won


def expired(approval: Approval, now: datetime) -> bool:
    return approval.expires is not None and datetime.fromisoformat(approval.expires) <= now


def expire(store: Store, now: datetime | None = None, run: str | None = None) -> list[Approval]:
    """Decide what has expired as its author said, in one run or in all of them."""
    now = now or moment()
    due = [one for one in waiting(store.shelf()) if expired(one, now) and run in (None, one.run) and not one.altered]
    for entered in [store.submit(partial(run_out, approval=one), careful=True) for one in due]:
        store.wait(entered)
    return due


def run_out(db: Database, approval: Approval) -> Came:
    """Decide a question as its author said, when its time was over."""
    return enter(db, approval, lapsed(approval.question), approval.expires or "")


def ready(shelf: Shelf) -> list[str]:
    """The runs that wait although something is decided: the next activation is due."""
    return [row[0] for row in shelf.select(READY)]


def owned(yes: bool, run: str, id: str) -> None:
    """Raises Fenced where the run was taken over."""
    if not yes:
        raise Fenced(f"another process has taken over the run {run}: this one ends at {id}")
