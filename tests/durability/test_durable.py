"""Durable runs: activations that end at a gate and go on from there, one at a time, on what they were begun on."""

from __future__ import annotations

import asyncio
import pathlib
import pickle
import threading
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

import loopworth
from loopworth.models import ScriptedModel
from loopworth.runs import approvals
from loopworth.runs.database import Database, InUse, StoreFault
from loopworth.runs.decision import Decision
from loopworth.runs.home import home
from loopworth.runs.outcome import Diverged, Fenced, Outcome
from loopworth.runs.store import Store, new_id
from loopworth.workflows import durable
from loopworth.workflows.edited_call import accepted
from loopworth.workflows.source import Changed, schema_change
from tests.durability.world import REPLIES, Everything, Life, Place, Switch

AGENT = """
workflow: agent
shape: gated_loop
input: {{q: str}}
model: ollama/m
tools:
  pay: {{python: "shop:pay", effect: irreversible, inline: true, allow: {{who: [Ann, Bob]}}, approval: {gate}}}
  look: {{python: "shop:look", effect: read, inline: true}}
gate: {{pay: required}}
prompt: "{{{{ q }}}}"
finish: text
budget: {{turns: {turns}}}
"""
SHOP = '''
def pay(who: str, amount: int) -> str:
    """Pay."""

def look(code: str) -> str:
    """Look."""
'''
PAY = {"calls": [{"tool": "pay", "arguments": {"who": "Ann", "amount": 1}}]}


class Shop:
    """A workflow with its tools, and what they were called with."""

    def __init__(self, folder: pathlib.Path, store: Store, gate: str = "required", turns: int = 9) -> None:
        (folder / "shop.py").write_text(SHOP)
        self.file = folder / "agent.yaml"
        self.file.write_text(AGENT.format(gate=gate, turns=turns))
        self.store, self.called = store, list[str]()
        self.models = list[ScriptedModel]()

    def tools(self) -> dict[str, Callable[..., Any]]:
        def pay(who: str, amount: int) -> str:
            """Pay."""
            self.called.append(f"pay {who} {amount}")
            return "paid"

        def look(code: str) -> str:
            """Look."""
            self.called.append(f"look {code}")
            return f"{code} is here"

        return {"pay": pay, "look": look}

    @property
    def compiled(self) -> Any:
        return loopworth.compile(self.file, tools=self.tools())

    def begin(self) -> str:
        return loopworth.begin(self.store, self.compiled, {"q": "hi"})

    def resume(self, id: str, *replies: Any) -> Outcome:
        self.models.append(ScriptedModel(list(replies)))
        given = {"ollama/m": self.models[-1]}
        return asyncio.run(loopworth.resume(self.store, id, self.compiled, models=given))

    def decide(self, id: str, choice: Any, **more: Any) -> Any:
        [one] = [one for one in approvals.of_run(self.store.shelf(), id) if one.state == "waiting"]
        return approvals.decide(self.store, id, one.id, Decision(choice, "Kim", **more))


@pytest.fixture
def shop(tmp_path: pathlib.Path, store: Store) -> Shop:
    return Shop(tmp_path, store)


def test_a_run_parks_at_a_gate_and_goes_on_where_it_was(shop: Shop) -> None:
    """Nothing is held meanwhile; the model is not asked again, and the call is made once, as approved."""
    id = shop.begin()
    parked = shop.resume(id, PAY, "done")
    assert (parked.exit, parked.gates, shop.called) == ("waiting", ("1/call[0]/gate",), [])
    assert shop.store.shelf().run(id).state == "unfinished"
    with shop.store.home.occupied(id):
        """Nobody is in it."""
    shop.decide(id, "approve")
    outcome = shop.resume(id, PAY, "done")
    assert (outcome.exit, outcome.answer, shop.called) == ("success", "done", ["pay Ann 1"])
    assert [len(model.requests) for model in shop.models] == [1, 1]
    with pytest.raises(LookupError, match=r"has ended \(success\)"):
        shop.resume(id)


def test_a_rejection_is_read_by_the_model_with_its_reason(shop: Shop) -> None:
    id = shop.begin()
    shop.resume(id, PAY)
    shop.decide(id, "reject", note="not today")
    outcome = shop.resume(id, PAY, "never mind")
    assert (outcome.exit, shop.called) == ("success", [])
    assert outcome.transcript[2].message["content"] == "a person rejected this call: not today"


def test_edited_arguments_are_checked_again_when_they_run(tmp_path: pathlib.Path, store: Store) -> None:
    """Whoever put them into the store: what the allow-list does not let through is not called."""
    shop = Shop(tmp_path, store, gate="{choices: [approve, edit, reject]}")
    shop.file.write_text(shop.file.read_text().replace("gate: {pay: required}", "").replace("gated_loop", "open_loop"))
    id = shop.begin()
    shop.resume(id, PAY)
    with pytest.raises(approvals.Refused, match='"Eve" is not allowed'):
        accepted(shop.compiled, "pay", '{"who": "Eve", "amount": 2}')
    shop.decide(id, "edit", arguments={"who": "Eve", "amount": 2})
    outcome = shop.resume(id, PAY, "well")
    assert ([seen.status for seen in outcome.calls], shop.called) == (["not_allowed"], [])


def test_a_question_expires_whoever_comes(tmp_path: pathlib.Path, store: Store) -> None:
    """The next activation finds it decided as the author said, by the clock on the wall."""
    shop = Shop(tmp_path, store, gate="{timeout: 60s, on_timeout: approve}")
    shop.file.write_text(shop.file.read_text().replace("gate: {pay: required}", "").replace("gated_loop", "open_loop"))
    id = shop.begin()
    began = datetime.now(UTC)
    for after, exit in ((0, "waiting"), (59, "waiting"), (61, "success")):
        now = began + timedelta(seconds=after)
        models = {key: ScriptedModel([PAY, "done"]) for key in shop.compiled.models}
        wall = partial(datetime.fromisoformat, f"{now}")
        outcome = asyncio.run(durable.go_on(store, id, shop.compiled, models, wall))
        assert outcome.exit == exit
    assert shop.called == ["pay Ann 1"]


def test_two_processes_do_not_go_on_with_one_run(shop: Shop) -> None:
    """One does; the other ends at once with a message, and nothing of the first is disturbed."""
    id = shop.begin()
    inside, free = threading.Event(), threading.Event()

    class Slow(ScriptedModel):
        async def reply(self, *args: Any) -> Any:
            inside.set()
            await asyncio.to_thread(free.wait, 30)
            return await super().reply(*args)

    came: list[Outcome] = []

    def first() -> None:
        given = {"ollama/m": Slow(["done"])}
        came.append(asyncio.run(loopworth.resume(shop.store, id, shop.compiled, models=given)))

    thread = threading.Thread(target=first, daemon=True)
    thread.start()
    assert inside.wait(30)
    with pytest.raises(InUse, match=f"the run {id} is in use: another process goes on with it"):
        shop.resume(id, "other")
    free.set()
    thread.join()
    assert [outcome.answer for outcome in came] == ["done"]


def test_a_twin_that_no_lock_keeps_out_is_fenced_off(shop: Shop) -> None:
    """Where a lock does not reach, the epoch does: the older activation ends at its next effect."""
    id = shop.begin()

    class Overtaken(ScriptedModel):
        async def reply(self, *args: Any) -> Any:
            shop.store.resume(id)
            return await super().reply(*args)

    with pytest.raises(Fenced, match="another process has taken over"):
        asyncio.run(loopworth.resume(shop.store, id, shop.compiled, models={"ollama/m": Overtaken([PAY])}))
    assert shop.called == []


def test_a_decision_while_the_run_is_under_way_is_gone_on_with(shop: Shop) -> None:
    """A call of the same turn takes longer than the person: the process goes on itself, and nothing is lost."""
    shop.file.write_text(shop.file.read_text().replace("effect: read, inline: true", "effect: read"))
    id = shop.begin()
    calls = {"calls": [*PAY["calls"], {"tool": "look", "arguments": {"code": "A"}}]}

    def look(code: str) -> str:
        """Look."""
        deadline = time.monotonic() + 30
        while not [one for one in approvals.waiting(shop.store.shelf()) if one.run == id]:
            assert time.monotonic() < deadline
        shop.decide(id, "approve")
        return "here"

    compiled = loopworth.compile(shop.file, tools={**shop.tools(), "look": {"python": look, "effect": "read"}})
    given = {"ollama/m": ScriptedModel([calls, "done"])}
    outcome = asyncio.run(loopworth.resume(shop.store, id, compiled, models=given))
    assert (outcome.exit, shop.called) == ("success", ["pay Ann 1"])


def test_a_decision_that_another_process_goes_on_with_is_left_to_it(shop: Shop) -> None:
    """Who decides has the run by the time that this process looks again: it ends as it was, waiting."""
    id = shop.begin()
    taken: list[Any] = []

    class Elsewhere(Place):
        def occupied(self, run: str) -> Any:
            taken.append(run)
            if len(taken) > 1:
                raise InUse(run)
            return self.inner.occupied(run)

    def look(code: str) -> str:
        """Look."""
        deadline = time.monotonic() + 30
        while not [one for one in approvals.waiting(shop.store.shelf()) if one.run == id]:
            assert time.monotonic() < deadline
        shop.decide(id, "approve")
        return "here"

    calls = {"calls": [*PAY["calls"], {"tool": "look", "arguments": {"code": "A"}}]}
    tools = {**shop.tools(), "look": {"python": look, "effect": "read", "inline": False}}
    store = Store(Elsewhere(shop.store.home, Switch()))  # type: ignore[arg-type]  # it is one by its attributes
    compiled = loopworth.compile(shop.file, tools=tools)
    given = {"ollama/m": ScriptedModel([calls, "done"])}
    outcome = asyncio.run(loopworth.resume(store, id, compiled, models=given))
    store.close()
    assert (outcome.exit, len(taken), shop.called) == ("waiting", 2, [])
    assert approvals.ready(shop.store.shelf()).count(id) == 1


def test_what_was_made_is_told_where_the_store_fails(tmp_path: pathlib.Path) -> None:
    """The disk is full: what was paid is not lost to the caller, and the store says why it is not kept."""
    store = Store(tmp_path / "full.db")
    shop = Shop(tmp_path, store)
    id = shop.begin()
    store.wait(store.submit(lambda db: db.execute("pragma max_page_count=1")))
    outcome = shop.resume(id, "x" * 200_000)
    assert (outcome.exit, len(outcome.answer)) == ("success", 200_000)
    assert "the disk is full" in str(store.trouble)
    store.close()


@pytest.mark.parametrize(
    ("what", "old", "new", "says"),
    [
        ("shop.py", "", "", None),
        ("agent.yaml", "turns: 9", "turns: 8", "agent.yaml changed since it began"),
        ("agent.yaml", "allow: {who: [Ann, Bob]}, ", "", "agent.yaml changed since it began"),
    ],
)
def test_a_changed_file_is_not_gone_on_with(shop: Shop, what: str, old: str, new: str, says: str | None) -> None:
    """It is refused with what changed; nothing is called, and put back it goes on."""
    id = shop.begin()
    shop.resume(id, PAY)
    shop.decide(id, "approve")
    file = shop.file.with_name(what)
    before = file.read_text()
    file.write_text(before.replace(old, new))
    if says is not None:
        with pytest.raises(Changed, match=says):
            shop.resume(id, PAY, "done")
        assert shop.called == []
        file.write_text(before)
    assert shop.resume(id, PAY, "done").exit == "success"


def test_a_tool_that_wants_more_than_was_approved_is_not_called(shop: Shop) -> None:
    """The message names the tool and what it also needs."""
    id = shop.begin()
    shop.resume(id, PAY)
    shop.decide(id, "approve")

    def pay(who: str, amount: int, subject: str) -> str:
        """Pay."""
        raise AssertionError("called")

    compiled = loopworth.compile(shop.file, tools={**shop.tools(), "pay": pay})
    with pytest.raises(Changed, match="the tool pay now also needs subject"):
        asyncio.run(loopworth.resume(shop.store, id, compiled, models={"ollama/m": ScriptedModel([])}))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ({"properties": {"a": {}}}, {"properties": {"a": {}, "b": {}}, "required": ["b"]}, "t now also needs b"),
        ({"properties": {"a": {}}}, {"properties": {"b": {}}}, "t now also takes b, no longer takes a"),
        ({"properties": {"a": {"type": "string"}}}, {"properties": {"a": {}}}, "of the tool t have other types now"),
        (None, {}, "the tool t is new"),
        ({}, None, "the tool t is gone"),
    ],
)
def test_a_change_of_a_schema_is_said_in_words(old: Any, new: Any, says: str) -> None:
    assert says in schema_change("t", old, new)


def test_an_altered_record_ends_in_a_message(shop: Shop) -> None:
    """What the model asked for was changed by hand: the approval is for something else, and nothing is called."""
    id = shop.begin()
    shop.resume(id, PAY)
    shop.decide(id, "approve")
    store = shop.store

    def alter(db: Database) -> None:
        [row] = db.execute("select body from effect where run = ? and kind = 'model'", (id,)).fetchall()
        said = bytes(row[0]).replace(b"Ann", b"Bob")
        db.execute("update effect set body = ? where run = ? and kind = 'model'", (said, id))

    store.wait(store.submit(alter))
    with pytest.raises(Diverged, match=r"1/call\[0\]/gate: the arguments who of pay is not the recorded one(.|\n)*Bob"):
        shop.resume(id, PAY, "done")
    assert shop.called == []


class Touch:
    """A row that would run code if it was unpickled."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return pathlib.Path.touch, (self.path,)


@pytest.mark.parametrize("where", ["effect set body", "effect set request", "run set input"])
def test_a_row_in_a_foreign_format_is_refused(shop: Shop, tmp_path: pathlib.Path, where: str) -> None:
    """Whatever it is, it is not run: the message says which row, and nothing is called."""
    id, touched = shop.begin(), tmp_path / "touched"
    shop.resume(id, PAY)
    evil = pickle.dumps(Touch(touched))
    name = "id" if where.startswith("run") else "run"
    shop.store.wait(shop.store.submit(lambda db: db.execute(f"update {where} = ? where {name} = ?", (evil, id))))
    with pytest.raises(StoreFault, match="is no JSON: it is in a foreign format, and was not read"):
        shop.resume(id, PAY, "done")
    assert (touched.exists(), shop.called) == (False, [])


def test_a_question_in_a_foreign_format_is_asked_again(shop: Shop, tmp_path: pathlib.Path) -> None:
    """It cannot be decided, and keeps no other from being listed; the run itself knows what it asks."""
    id, touched = shop.begin(), tmp_path / "touched"
    shop.resume(id, PAY)
    evil = pickle.dumps(Touch(touched))
    change = "update approval set question = ? where run = ?"
    shop.store.wait(shop.store.submit(lambda db: db.execute(change, (evil, id))))
    with pytest.raises(approvals.Refused, match="altered"):
        shop.decide(id, "approve")
    assert shop.resume(id, PAY).exit == "waiting"
    shop.decide(id, "approve")
    assert shop.resume(id, PAY, "done").exit == "success"
    assert (touched.exists(), shop.called) == (False, ["pay Ann 1"])


def test_an_endpoint_that_was_down_is_asked_again(shop: Shop) -> None:
    """The run is not lost with it: what was paid stands, and the rest is made."""
    id = shop.begin()
    first = shop.resume(id, {"calls": [{"tool": "look", "arguments": {"code": "A"}}]}, {"error": {"status": 500}})
    assert (first.exit, shop.store.shelf().run(id).state) == ("provider_error", "unfinished")
    assert shop.resume(id, "unused", "done").answer == "done"
    assert shop.called == ["look A"]


def test_what_is_no_durable_run_is_said(shop: Shop) -> None:
    given = {"ollama/m": ScriptedModel(["done"])}
    outcome = loopworth.run_sync(shop.compiled, {"q": "hi"}, models=given, store=shop.store)
    assert outcome.exit == "success"
    id = shop.store.shelf().run("last").id
    with pytest.raises(LookupError, match="is no durable run"):
        shop.resume(id)


def test_an_effect_costs_the_commits_that_it_must(place: str, tmp_path: pathlib.Path) -> None:
    """One for a model call, a read, a limit and a gate, two for a write, of which both are on the disk itself; beside
    them, a run costs its beginning, and the beginning and end of each activation."""
    everything = Everything(tmp_path)
    everything.life = Life(tmp_path, place, new_id())
    commits = Counter[str]()

    class Counting(Switch):
        def at(self, boundary: str) -> None:
            before, commit, what = boundary.partition("the commit of ")
            if commit and before == "after ":
                commits[what] += 1

    store = Store(Place(home(place), Counting()))  # type: ignore[arg-type]  # it is one by its attributes
    compiled = everything.compiled
    id = loopworth.begin(store, compiled, {"topic": "x"})
    model = ScriptedModel(REPLIES)
    for _ in range(2):
        outcome = asyncio.run(loopworth.resume(store, id, compiled, models={"ollama/m": model}))
        for one in approvals.of_run(store.shelf(), id):
            if one.state == "waiting":
                approvals.decide(store, id, one.id, Decision("approve", "Kim"))
    assert outcome.exit == "success"
    store.close()
    writes = ["effect intent (careful)", "effect tool (careful)"]
    assert [commits[name] for name in writes] == [3, 3]
    assert commits["approval (careful)"] == 1
    assert commits["effect (careful)"] == 1  # the decision, which is the person's
    assert commits["effect limit"] == 1
    assert commits["effect model"] + commits["effect tool"] <= 6 + 5  # some reads happen at once, and share a commit
    assert commits["run"] == 1 + 2
    assert commits["transcript"] == 2
    assert sum(commits.values()) <= 3 + 3 + 1 + 1 + 1 + 11 + 3 + 2
