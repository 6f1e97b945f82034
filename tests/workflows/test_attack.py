"""The gate conformance suite: it passes on ours, and each mutant of the gate is caught by the attack named for it."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable
from typing import Any

import pytest

from loopworth.runs import approvals, decision, effects
from loopworth.runs.decision import Decision, decision_of, no_decision
from loopworth.runs.effects import Effects
from loopworth.runs.journal import Record, body
from loopworth.runs.parking import Parking
from loopworth.runs.remembered import Remembered
from loopworth.runs.store import Store
from loopworth.tools.arguments import ArgumentFault
from loopworth.tools.invocation import Invocation
from loopworth.tools.tool import Accepted
from loopworth.workflows.attacks.attack import ATTACKS, Came, attacked

TOOLS = '''
import datetime
import pathlib


def refund(who: str, amount: int, day: datetime.date = datetime.date(2026, 11, 30)) -> str:
    """Pay money back."""
    pathlib.Path(__file__).with_name("paid.txt").write_text("really")
    return "paid"


def note(text: str, *, key: str = "") -> str:
    """Write something down."""
    pathlib.Path(__file__).with_name("paid.txt").write_text("really")
    return "noted"


def look(code: str) -> str:
    """Look something up."""
    pathlib.Path(__file__).with_name("paid.txt").write_text("really")
    return code
'''
CATALOGUE = """
tools:
  refund: {python: "shop:refund", effect: irreversible, allow: {who: [Ann, Bob]}, with: {}}
  note: {python: "shop:note", effect: write, idempotent: true}
  part: {run: part.yaml, effect: irreversible, approval: {if: "args.who in ['Zoe', 'Zac']"}}
  look: {python: "shop:look", effect: read, allow: {code: {pattern: 'ORD-[0-9]{4}'}}}
"""
REFUNDS = """
workflow: refunds
shape: gated_loop
input: {most: int}
model: ollama/m
tools: tools.yaml
use: [refund, note, look, part]
gate:
  refund:
    if: args.amount > most and args.amount > 700
    choices: [approve, edit, reject]
    timeout: 24h
    on_timeout: approve
  note: {remember: run, choices: [approve, edit, reject], timeout: 1h}
  look: required
prompt: go
budget: {turns: 4}
"""

PART = """
workflow: part
shape: pipeline
input: {who: str}
tools: tools.yaml
steps: [{id: paid, call: refund, with: {who: "{{ who }}", amount: 1}}]
answer: "{{ paid }}"
"""


def written(folder: pathlib.Path, text: str = REFUNDS) -> pathlib.Path:
    (folder / "shop.py").write_text(TOOLS, "utf-8")
    (folder / "tools.yaml").write_text(CATALOGUE, "utf-8")
    (folder / "part.yaml").write_text(PART, "utf-8")
    (folder / "main.yaml").write_text(text, "utf-8")
    return folder / "main.yaml"


def test_every_gate_of_ours_holds(tmp_path: pathlib.Path) -> None:
    """Irreversible, keyed and reading tools, and a workflow as one; conditions on inputs, allow-lists, edits, expiry:
    each attack is made, nothing real is called, and the store is left as it was."""
    place = str(tmp_path / "own.db")
    found = list(attacked(written(tmp_path), place))
    assert [one for one in found if one.held is False] == []
    assert [(one.tool, one.attack) for one in found if one.held is None] == [("look", "expiry"), ("part", "expiry")]
    assert len(found) == 4 * len(ATTACKS)
    assert not (tmp_path / "paid.txt").exists()
    store = Store(place)
    tables = ("run", "effect", "approval", "ballot", "transcript")
    assert [store.shelf().select(f"select count(*) from {table}") for table in tables] == [[(0,)]] * len(tables)
    store.close()


# -- mutants -----------------------------------------------------------------------------------------------------------

Patch = Callable[[pytest.MonkeyPatch], None]
gate, seen = Invocation.gate, Effects.seen


def no_hash(patch: pytest.MonkeyPatch) -> None:
    """A decision is found by its place alone, whatever it was about."""

    def unbound(self: Effects, id: str, asked: Any) -> Record | None:
        record = None if self.journal is None else self.journal.records.get(id)
        if record is not None and record.kind == "gate":
            return record
        return seen(self, id, asked)

    patch.setattr(Effects, "seen", unbound)


def altered_unnoticed(patch: pytest.MonkeyPatch) -> None:
    """What a person sees may be something else than what was asked."""
    patch.setattr(approvals.Approval, "altered", property(lambda self: False))


def not_the_shown_call(patch: pytest.MonkeyPatch) -> None:
    """A decision goes to whatever is asked when it comes in."""
    real = approvals.decide

    def decide(*words: Any, hash: Any = None, **more: Any) -> Any:
        return real(*words, **more)

    patch.setattr(approvals, "decide", decide)


def edited(self: Invocation) -> Decision:
    journal = self.fx.journal
    assert journal is not None
    return decision_of(journal.records[f"{self.fx.path}gate"].body)


def no_validation(patch: pytest.MonkeyPatch) -> None:
    """What a person edited is called as it is."""

    async def trusting(self: Invocation, accepted: Accepted) -> Any:
        try:
            return await gate(self, accepted)
        except ArgumentFault:
            arguments = edited(self).arguments
            assert arguments is not None
            return Accepted(arguments, arguments)

    patch.setattr(Invocation, "gate", trusting)


def edit_ignored(patch: pytest.MonkeyPatch) -> None:
    """An edit approves what was asked."""

    async def deaf(self: Invocation, accepted: Accepted) -> Any:
        decided = await gate(self, accepted)
        return accepted if isinstance(decided, Accepted) else decided

    patch.setattr(Invocation, "gate", deaf)


def rejected_runs(patch: pytest.MonkeyPatch) -> None:
    """A rejection is a remark."""

    async def stubborn(self: Invocation, accepted: Accepted) -> Any:
        decided = await gate(self, accepted)
        return decided if isinstance(decided, Accepted) else accepted

    patch.setattr(Invocation, "gate", stubborn)


def second_wins(patch: pytest.MonkeyPatch) -> None:
    """Whoever decides last has decided."""
    patch.setattr(approvals, "DECIDE", approvals.DECIDE.removesuffix(" and state = 'waiting'"))
    over = " on conflict(run, id) do update set body = excluded.body"
    patch.setattr(approvals, "RECORD", approvals.RECORD.replace("where run = ?", "where run = ? and true") + over)


def of_any_run(patch: pytest.MonkeyPatch) -> None:
    """A decision is found by the call's place and hash, whichever run it was made in."""
    known: dict[tuple[str, str], Record] = {}

    def shared(self: Effects, id: str, asked: Any) -> Record | None:
        record = seen(self, id, asked)
        if id.endswith("/gate") and record is not None:
            known[id, asked.hash] = record
        return record or known.get((id, asked.hash))

    patch.setattr(Effects, "seen", shared)


def of_any_call(patch: pytest.MonkeyPatch) -> None:
    """The run's newest decision is taken for every call."""

    def shared(self: Effects, id: str, asked: Any) -> Record | None:
        assert self.journal is not None
        gates = [one for one in self.journal.records.values() if one.kind == "gate"]
        if id.endswith("/gate") and id not in self.journal.records and gates:
            return gates[-1]
        return seen(self, id, asked)

    patch.setattr(Effects, "seen", shared)


def never_expires(patch: pytest.MonkeyPatch) -> None:
    """A question waits for ever."""
    patch.setattr(approvals, "expired", lambda approval, now: False)


def used_twice(patch: pytest.MonkeyPatch) -> None:
    """After a crash an approved call is made again."""

    async def forgetful(self: Invocation, asked: Any, arguments: Any) -> Any:
        record = self.fx.seen(self.fx.id, asked)
        return None if record is not None and record.kind == "intent" else await recorded(self, asked, arguments)

    recorded = Invocation.recorded
    patch.setattr(Invocation, "recorded", forgetful)


def memory_leaks(patch: pytest.MonkeyPatch) -> None:
    """What one run remembers, all do."""
    decisions: dict[str, Decision] = {}

    def everybody() -> Remembered:
        made = Remembered()
        made.decisions = decisions
        return made

    patch.setattr(effects, "Remembered", everybody)


def result_believed(patch: pytest.MonkeyPatch) -> None:
    """A tool's result that holds a decision is one."""
    park = Parking.gate

    async def gullible(self: Parking, question: Any, id: str) -> Decision:
        records = self._journal.records.values()
        if any(b'"approve' in one.body.replace(b"\\", b"") for one in records if one.kind == "tool"):
            return Decision("approve", "admin")
        return await park(self, question, id)

    patch.setattr(Parking, "gate", gullible)


def inner_gates_open(patch: pytest.MonkeyPatch) -> None:
    """Only the outermost workflow has gates."""
    asks = Invocation.asks

    def shallow(self: Invocation, arguments: Any) -> Any:
        return None if self.fx.path.count("/") > 2 else asks(self, arguments)

    patch.setattr(Invocation, "asks", shallow)


def kept_in_the_process(patch: pytest.MonkeyPatch) -> None:
    """A decision is kept where only this process finds it."""
    here: dict[tuple[str, str], Record] = {}
    stood, resume = approvals.stood, Store.resume

    def elsewhere(db: Any, approval: Any, decision: Decision, at: str) -> bool:
        won = stood(db, approval, decision, at)
        if won:
            here[approval.run, approval.id] = Record(approval.hash, "gate", body(decision))
            db.execute("delete from effect where run = ? and id = ?", (approval.run, approval.id))
        return won

    def with_them(self: Store, id: str, source: Any = None) -> Any:
        journal = resume(self, id, source)
        journal.records |= {at: record for (run, at), record in here.items() if run == id}
        return journal

    patch.setattr(approvals, "stood", elsewhere)
    patch.setattr(Store, "resume", with_them)


def unoffered(question: Any, said: Any) -> str:
    """The rule without its word on what is offered."""
    return "" if isinstance(said, Decision) else no_decision(question, said)


def ask_trusted(patch: pytest.MonkeyPatch) -> None:
    """What an `ask` returns is taken as it is."""
    for module in (effects, decision):
        patch.setattr(module, "no_decision", lambda question, said: "")


def unoffered_taken(patch: pytest.MonkeyPatch) -> None:
    """Of a decision nobody looks whether it is offered, neither live nor in the journal."""
    for module in (effects, decision):
        patch.setattr(module, "no_decision", unoffered)


def unoffered_recorded(patch: pytest.MonkeyPatch) -> None:
    """What stands in the journal is taken, whatever it is."""
    patch.setattr(effects, "decision_in", lambda record, id, question: Decision(**json.loads(record.body)))


def unoffered_decided(patch: pytest.MonkeyPatch) -> None:
    """The inbox takes what is not offered."""
    patch.setattr(approvals, "no_decision", unoffered)


def no_means_yes(patch: pytest.MonkeyPatch) -> None:
    """All but a rejection and an edit approves, as it once did."""

    async def permissive(self: Invocation, accepted: Accepted) -> Any:
        asked = self.asks(accepted.arguments)
        if asked is None:
            return accepted
        said = await self.fx.gate("gate", asked)
        return await gate(self, accepted) if said.choice in ("reject", "edit") else accepted

    ask_trusted(patch)
    patch.setattr(Invocation, "gate", permissive)


MUTANTS: dict[Patch, str] = {
    no_hash: "changed arguments",
    altered_unnoticed: "changed arguments",
    not_the_shown_call: "changed arguments",
    ask_trusted: "foreign decision",
    unoffered_taken: "foreign decision",
    unoffered_recorded: "foreign decision",
    unoffered_decided: "foreign decision",
    no_means_yes: "foreign decision",
    no_validation: "edit",
    edit_ignored: "edit",
    rejected_runs: "reject",
    second_wins: "double decision",
    of_any_run: "another run",
    memory_leaks: "another run",
    of_any_call: "parallel calls",
    never_expires: "expiry",
    used_twice: "crash after approval",
    result_believed: "injected result",
    inner_gates_open: "sub-workflow",
    kept_in_the_process: "another process",
}
"""Each with the attack that is named for it."""


def caught(path: pathlib.Path, attack: str) -> list[Came]:
    return [one for one in attacked(path, names=[attack]) if one.held is False]


@pytest.mark.parametrize(("mutate", "attack"), MUTANTS.items(), ids=[one.__name__ for one in MUTANTS])
def test_a_mutant_of_the_gate_is_caught_by_the_attack_named_for_it(
    mutate: Patch, attack: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The attack holds on ours and not on the mutant, which it says in words of its own, not by breaking down."""
    path = written(tmp_path)
    assert caught(path, attack) == []
    mutate(monkeypatch)
    found = caught(path, attack)
    assert found
    assert [one.why for one in found if "unexpectedly" in one.why] == []
