"""The run store: what was made outlives the process, whatever happens to the file."""

from __future__ import annotations

import asyncio
import pathlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from loopworth.runs.home import home
from loopworth.runs.kept import Kept, Query, Score
from loopworth.runs.outcome import Fenced, Outcome
from loopworth.runs.shelf import AT_ONCE, Shelf
from loopworth.runs.store import Store
from loopworth.runs.store_file import VERSION, StoreFault, opened
from tests.runs.storing import chat, kept, put, record, stored


@pytest.fixture
def store(tmp_path: pathlib.Path) -> Iterator[Store]:
    made = Store(tmp_path / "runs.db")
    yield made
    made.close()


def test_what_was_put_is_there_for_another_process(store: Store) -> None:
    """A put is over when it is committed: another connection sees it, before the run or the store ends."""
    journal = store.begin(kept())
    put(journal, "1/ask", record())
    assert Shelf(store.path).records("a1") == {"1/ask": record()} == journal.records


def test_a_run_is_kept_with_its_effects_and_its_outcome(tmp_path: pathlib.Path) -> None:
    """What is read is what was made: records, events, transcript, figures."""
    store = stored(tmp_path, "one", "two", "three")
    shelf = store.shelf()
    again = chat(store.begin(kept("a2")), "one", "two", "three", replies=("one!", "two!", "three!"))
    found = shelf.outcome("a1")
    assert found is not None
    assert (found.transcript, found.usage, found.answer) == (again.transcript, again.usage, "three!")
    run = shelf.run("a1")
    assert (run.state, run.exit, run.model_calls, run.usage.tokens) == ("done", "success", 3, 45)
    assert list(shelf.records("a1")) == ["1/ask", "2/ask", "3/ask"]
    store.close()


def test_many_outcomes_are_read_at_once_in_the_order_that_is_asked_for(store: Store) -> None:
    """Without those of runs that did not end; however many there are."""
    ids = [f"b{k}" for k in range(AT_ONCE + 3)]
    for k, id in enumerate(ids):
        journal = store.begin(kept(id))
        if k != 1:
            store.finish(journal, Outcome(k))
    shelf = store.shelf()
    wanted = [*reversed(ids), "nobody"]
    assert [(id, outcome.answer) for id, outcome in shelf.outcomes(wanted)] == [
        (id, int(id[1:])) for id in reversed(ids) if id != "b1"
    ]
    assert list(shelf.outcomes([])) == []


def test_a_resumed_run_goes_on_from_its_effects(store: Store) -> None:
    """What the first activation was answered is not asked again; the next record takes its place behind."""
    first = store.begin(kept())
    chat(first, "one", "two", replies=("a", "b"))
    outcome = chat(store.resume("a1"), "one", "two", "three", replies=("c",))
    assert [said.message["content"] for said in outcome.transcript] == ["one", "a", "two", "b", "three", "c"]
    assert outcome.usage.tokens == 45
    assert list(Shelf(store.path).records("a1")) == ["1/ask", "2/ask", "3/ask"]


def test_an_older_activation_is_fenced_off(store: Store) -> None:
    """Once another has taken over, the first one's next effect fails, and so does its end."""
    first = store.begin(kept())
    second = store.resume("a1")
    with pytest.raises(Fenced, match="a1"):
        put(first, "1/ask", record())
    put(second, "1/ask", record())
    store.finish(first, Outcome("late"))
    assert store.shelf().run("a1").exit is None


def test_a_trial_of_a_comparison_that_was_taken_over_does_not_begin(store: Store) -> None:
    """Its comparison's epoch has moved on."""
    store.begin(kept("c1", kind="comparison"))
    store.resume("c1")
    trial: dict[str, Any] = {"kind": "trial", "parent": "c1", "arm": "a", "task": "1", "repeat": 0, "attempt": 0}
    late, mine = store.begin(kept("c1.1", **trial), 1), store.begin(kept("c1.2", **trial), 2)
    with pytest.raises(Fenced):
        put(late, "1/ask", record())
    put(mine, "1/ask", record())


def test_the_first_writer_wins_save_over_an_intent(store: Store) -> None:
    """A result replaces the intent of its call, and nothing replaces a result."""
    journal = store.begin(kept())
    put(journal, "pay/call", record(kind="intent"))
    put(journal, "pay/call", record(body=b'"paid"'))
    with pytest.raises(Fenced):
        put(journal, "pay/call", record(body=b'"again"'))
    [found] = Shelf(store.path).records("a1").values()
    assert (found.kind, found.body, found.request) == ("tool", b'"paid"', record().request)


def test_a_cancelled_put_is_kept_all_the_same(store: Store) -> None:
    """What was paid is not lost with the task that waits for the disk."""
    journal = store.begin(kept())

    async def cancelled() -> None:
        putting = asyncio.ensure_future(journal.put("1/ask", record()))
        await asyncio.sleep(0)
        putting.cancel()
        await asyncio.wait([putting])

    asyncio.run(cancelled())
    assert list(store.shelf().records("a1")) == ["1/ask"]


def test_a_full_disk_costs_nothing_that_was_made(store: Store, tmp_path: pathlib.Path) -> None:
    """What was kept stays, the run goes on to its end, and the store says why it stopped."""
    journal = store.begin(kept())
    put(journal, "0/ask", record())
    store.wait(store.submit(lambda db: db.execute("pragma max_page_count=1")))
    outcome = chat(journal, *["x" * 50_000] * 3, replies=("a", "b", "c"))
    assert (outcome.exit, outcome.answer, len(outcome.transcript)) == ("success", "c", 6)
    store.finish(journal, outcome)
    store.close()
    assert "the disk is full" in str(store.trouble)
    assert str(tmp_path) in str(store.trouble)
    assert list(Shelf(store.path).records("a1")) == ["0/ask"]


def test_a_write_whose_intent_cannot_be_kept_is_not_made(store: Store) -> None:
    """An intent says that a write may have happened: without it, it must not."""
    journal = store.begin(kept())
    store.wait(store.submit(lambda db: db.execute("pragma max_page_count=1")))
    with pytest.raises(StoreFault, match="the disk is full"):
        put(journal, "pay/call", record("x" * 100_000, kind="intent"))


def altered(path: pathlib.Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute(statement)
        db.commit()


def test_a_newer_file_is_refused_and_left_alone(store: Store) -> None:
    """A store of a later version says which version it is and what to do."""
    store.shelf()
    altered(store.path, f"pragma user_version={VERSION + 1}")
    for way in (Store, Shelf):
        with pytest.raises(StoreFault, match=f"newer loopworth \\(version {VERSION + 1} of the store; this one knows"):
            way(store.path)
    altered(store.path, f"pragma user_version={VERSION}")


def test_a_file_that_is_no_store_is_refused_and_left_alone(tmp_path: pathlib.Path) -> None:
    """Neither a text nor somebody else's database is written to."""
    text, other = tmp_path / "text.db", tmp_path / "other.db"
    text.write_text("dear diary\n" * 100)
    altered(other, "create table mine(x)")
    before = other.read_bytes()
    with pytest.raises(StoreFault, match="not a database"):
        Store(text)
    with pytest.raises(StoreFault, match="a database, but no run store"):
        Store(other)
    assert (text.read_text(), other.read_bytes()) == ("dear diary\n" * 100, before)


def test_a_locked_file_is_said_to_be_locked(store: Store) -> None:
    """Another process that writes for too long is named as the cause, and the run ends whole."""
    journal = store.begin(kept())
    put(journal, "0/ask", record())
    store.wait(store.submit(lambda db: db.execute("pragma busy_timeout=20")))
    with closing(opened(store.path)) as other:
        other.execute("begin immediate")
        assert chat(journal, "hi", "ho", replies=("a", "b")).answer == "b"
    assert "another process keeps it locked" in str(store.trouble)


def test_a_place_that_cannot_be_written_is_said(tmp_path: pathlib.Path) -> None:
    """A file where the folder would be: the path, the reason, and the two ways out."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreFault, match=r"file/runs\.db.*\n    name another file with --store, or keep nothing"):
        Store(tmp_path / "file" / "runs.db")
    with pytest.raises(StoreFault, match="there is no run store"):
        Shelf(tmp_path / "none.db")


def test_the_place_is_given_or_of_the_environment_or_the_folders_own(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder holds it as runs.db; the default folder keeps itself out of version control."""
    monkeypatch.setenv("LOOPWORTH_STORE", str(tmp_path / "env.db"))
    assert [str(home()), str(home(tmp_path))] == [str(tmp_path / "env.db"), str(tmp_path / "runs.db")]
    assert str(home("x.db")) == "x.db"
    monkeypatch.delenv("LOOPWORTH_STORE")
    monkeypatch.chdir(tmp_path)
    Store().close()
    assert (tmp_path / ".loopworth/runs.db").exists()
    assert (tmp_path / ".loopworth/.gitignore").read_text() == "*\n"


def test_runs_are_found_by_what_they_were(store: Store) -> None:
    """Each filter alone, and all together; the newest first; trials only where a question is about them."""
    store.begin(kept("r1", name="hello", began="2026-11-01"))
    store.finish(store.begin(kept("r2", name="hello", began="2026-11-02")), Outcome(None, "turn_limit"))
    store.begin(kept("c1", kind="comparison", name="which", began="2026-11-03"))
    trial: dict[str, Any] = {"kind": "trial", "parent": "c1", "task": "t", "repeat": 0, "attempt": 0}
    for k, arm in enumerate("ab"):
        made = store.begin(kept(f"c1.{k}", arm=arm, began=f"2026-11-0{k + 4}", **trial))
        store.finish(made, Outcome("x"), Score(right=arm == "a"))
    shelf = store.shelf()

    def ids(**query: Any) -> list[str]:
        return [run.id for run in shelf.runs(Query(**query))]

    assert ids() == ["c1", "r2", "r1"]
    assert (ids(workflow="hello"), ids(exit="turn_limit")) == (["r2", "r1"], ["r2"])
    assert (ids(exit="unfinished"), ids(since="2026-11-02"), ids(most=1)) == (["c1", "r1"], ["c1", "r2"], ["c1"])
    assert (ids(comparison="c1"), ids(comparison="which", arm="a")) == (["c1.1", "c1.0"], ["c1.0"])
    assert ids(task="t", arm="b", since="2026-11-05", exit="success") == ["c1.1"]
    assert [run.right for run in shelf.trials("c1")] == [True, False]


def test_a_run_is_named_by_the_start_of_its_id(store: Store) -> None:
    """As long as only one starts so; `last` is the newest, and what is typed is no pattern."""
    for id in ("ab12", "ab34", "cd56"):
        store.begin(kept(id, began=f"2026-11-{id[2:]}"))
    shelf = store.shelf()
    assert (shelf.run("c").id, shelf.run("last").id) == ("cd56", "cd56")
    with pytest.raises(LookupError, match="several runs start with 'ab': ab12, ab34"):
        shelf.run("ab")
    for id in ("*", "zz"):
        with pytest.raises(LookupError, match="there is no run"):
            shelf.run(id)


def test_two_stores_write_to_one_file(tmp_path: pathlib.Path) -> None:
    """Neither loses what it was told is kept."""
    stores = [Store(tmp_path / "runs.db") for _ in range(2)]

    async def both() -> None:
        async def one(store: Store, name: str) -> None:
            journal = store.begin(kept(name))
            for k in range(50):
                await journal.put(str(k), record(("m", k)))

        await asyncio.gather(*(one(store, f"{k}{n}") for k, store in enumerate(stores) for n in range(4)))

    asyncio.run(both())
    for store in stores:
        store.close()
    shelf = Shelf(tmp_path / "runs.db")
    assert [len(shelf.records(f"{k}{n}")) for k in range(2) for n in range(4)] == [50] * 8


def test_a_kept_run_reads_as_it_was_entered(store: Store) -> None:
    """Every field, halves of surrogate pairs and all."""
    entered: Kept = kept("s1", input={"q": "half \ud800", "n": [1, None, 2.5]})
    store.begin(entered)
    assert store.shelf().run("s1") == entered
