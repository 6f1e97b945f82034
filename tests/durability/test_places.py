"""The same store in a file and in Postgres."""

from __future__ import annotations

import asyncio
import pathlib
from typing import Any

import pytest

from loopworth.runs.database import VERSION, InUse, StoreFault
from loopworth.runs.home import home
from loopworth.runs.kept import Query, Score
from loopworth.runs.outcome import Fenced, Outcome
from loopworth.runs.shelf import Shelf
from loopworth.runs.store import Store, new_id
from tests.runs.storing import chat, kept, put, record, stored


def test_a_run_is_kept_gone_on_with_and_read_on_both(place: str) -> None:
    """Effects, figures, transcript, halves of surrogate pairs, the character 0; the older activation is fenced off."""
    store, id = Store(place), new_id()
    first = store.begin(kept(id, input={"q": "half \ud800 and \0", "n": [1, None, 2.5]}))
    chat(first, "one", replies=("a",))
    second = store.resume(id)
    with pytest.raises(Fenced):
        put(first, "2/ask", record())
    outcome = chat(second, "one", "two", replies=("b",))
    store.finish(second, outcome)
    shelf = store.shelf()
    run = shelf.run(id[:8])
    assert (run.exit, run.usage.tokens, run.input) == ("success", 30, {"q": "half \ud800 and \0", "n": [1, None, 2.5]})
    found = shelf.outcome(id)
    assert found is not None
    assert found.transcript == outcome.transcript
    assert list(shelf.records(id)) == ["1/ask", "2/ask"]
    store.close()


def test_a_comparison_is_kept_on_both(place: str) -> None:
    """Trials, scores and filters; a trial of a comparison that was taken over does not begin."""
    store, id, name = Store(place), new_id(), new_id()
    store.begin(kept(id, kind="comparison", name=name, began="2026-11-03"))
    trial: dict[str, Any] = {"kind": "trial", "parent": id, "task": "t\0", "repeat": 0, "attempt": 0}
    for k, arm in enumerate("ab"):
        made = store.begin(kept(f"{id}.{k}", arm=arm, began=f"2026-11-0{k + 4}", **trial))
        store.finish(made, Outcome("x", note="nul \0"), Score(right=arm == "a", began=0.1 + k))
    shelf = store.shelf()
    assert [run.right for run in shelf.trials(id)] == [True, False]
    assert shelf.scores(id)[f"{id}.1"].began == 1.1
    found = shelf.runs(Query(comparison=name, arm="b", exit="success", most=1))
    assert [run.id for run in found] == [f"{id}.1"]
    store.resume(id)
    late = store.begin(kept(f"{id}.3", arm="c", **trial), 1)
    with pytest.raises(Fenced):
        put(late, "1/ask", record())
    store.close()


def test_one_process_at_a_time_goes_on_with_a_run(place: str) -> None:
    """The other is told; when the first has ended the way is free, and another run never was in the way."""
    where, id = home(place), new_id()
    with where.occupied(id), where.occupied(new_id()):
        with pytest.raises(InUse, match=f"the run {id} is in use"), where.occupied(id):
            pass
        with pytest.raises(InUse), where.occupied(id):  # a refusal does not free it
            pass
    with where.occupied(id):
        pass


def test_tables_are_made_once_and_brought_up_to_date(place: str) -> None:
    """By `migrate`, which says what it found; a store of the first version is read as any other after it."""
    where = home(place)
    where.migrate()
    assert where.migrate() == VERSION
    assert Shelf(place).runs(Query(workflow="none")) == []


def test_an_address_without_tables_says_what_makes_them(postgres: str) -> None:
    """Nothing is made in somebody's database unasked; a password in the address is not shown."""
    from tests.durability.places import fresh

    with fresh(postgres) as empty:
        secret = empty.replace("postgres:@", "postgres:hushhush99@")
        with pytest.raises(StoreFault, match="has no tables yet: `loopworth store migrate") as caught:
            Store(secret)
        assert "hushhush99" not in str(caught.value)


def test_a_server_that_is_not_there_is_said() -> None:
    """The address and the reason, and what to name instead."""
    says = r"postgresql://me:\*\*\*@127\.0\.0\.1:1/x(.|\n)*name another file with --store"
    with pytest.raises(StoreFault, match=says):
        Store("postgresql://me:hushhush99@127.0.0.1:1/x")


def test_two_stores_write_to_one_database(place: str) -> None:
    """Neither loses what it was told is kept, and a run taken over in between is one's alone."""
    stores, name = [Store(place) for _ in range(2)], new_id()

    async def both() -> None:
        async def one(store: Store, id: str) -> None:
            journal = store.begin(kept(id))
            for k in range(20):
                await journal.put(str(k), record(("m", k)))

        await asyncio.gather(*(one(store, f"{name}{k}{n}") for k, store in enumerate(stores) for n in range(3)))

    asyncio.run(both())
    for store in stores:
        store.close()
    assert [len(Shelf(place).records(f"{name}{k}{n}")) for k in range(2) for n in range(3)] == [20] * 6


def test_careful_work_is_on_the_disk_itself(place: str) -> None:
    """An intent and a decision wait for the disk, other effects for the operating system, or the server, only."""
    store = Store(place)
    asked = "pragma synchronous" if not place.startswith("postgres") else "show synchronous_commit"
    ask = lambda db: db.execute(asked).fetchall()[0][0]
    how = [store.wait(store.submit(ask, careful)) for careful in (False, True, False)]
    assert how in ([1, 2, 1], ["off", "on", "off"])
    store.close()


def test_no_activation_takes_over_while_an_older_one_writes(postgres: str) -> None:
    """An effect holds its run until it is committed: a takeover waits for it, and is not overlooked by it."""
    store, id = Store(postgres), new_id()
    journal = store.begin(kept(id))
    store.shelf()
    one, other = home(postgres).writing(), home(postgres).writing()
    one.begin(careful=False)
    assert journal.row("1/ask", record(), None)(one) == 1
    other.execute("set lock_timeout to '50ms'")
    with pytest.raises(home(postgres).errors, match="lock timeout"):
        other.execute("update run set epoch = epoch + 1 where id = ?", (id,))
    one.commit()
    other.execute("update run set epoch = epoch + 1 where id = ?", (id,))
    for connection in (one, other):
        connection.close()
    store.close()


BACKEND = "select pg_backend_pid()"


def test_questions_share_a_connection(postgres: str) -> None:
    """One after another; what is asked at the same time has connections of its own, and of those two are kept."""
    where = home(postgres)
    shelf = Shelf(where)
    [first] = {shelf.select(BACKEND)[0][0] for _ in range(5)}
    several = [where.reading() for _ in range(4)]
    backends = {one.execute(BACKEND).fetchone()[0] for one in several}
    assert (len(backends), first in backends) == (4, True)
    for one in several:
        one.close()
    assert {shelf.select(BACKEND)[0][0] for _ in range(5)} < backends
    again = [where.reading() for _ in range(3)]
    assert len({one.execute(BACKEND).fetchone()[0] for one in again} & backends) == 2
    for one in again:
        one.close()


def test_a_connection_that_the_server_has_ended_is_not_asked_again(postgres: str) -> None:
    """It was started anew, say: the next question has another."""
    shelf = Shelf(home(postgres))
    [(gone,)] = shelf.select(BACKEND)
    assert Shelf(postgres).select("select pg_terminate_backend(cast(? as int), 10000)", [gone]) == [(True,)]
    [(other,)] = shelf.select(BACKEND)
    assert other != gone


def test_a_connection_that_was_idle_for_long_is_not_asked_again(postgres: str) -> None:
    """Whatever lies between may have dropped it unsaid; nor is one that a question has left amid something."""
    from loopworth.runs.postgres import FRESH, Postgres

    clock = [0.0]
    where = Postgres(postgres, lambda: clock[0])
    shelf = Shelf(where)
    backends = [shelf.select(BACKEND)[0][0]]
    clock[0] += FRESH
    backends.append(shelf.select(BACKEND)[0][0])
    with pytest.raises(StoreFault, match="no_such_table"):
        shelf.select("select 1 from no_such_table")
    assert shelf.select(BACKEND)[0][0] == backends[1]
    left = where.reading()
    left.begin(careful=False)
    left.close()
    backends.append(shelf.select(BACKEND)[0][0])
    assert len(set(backends)) == 3


def test_connections_end_with_their_place(postgres: str) -> None:
    """None is left open when nobody has the store any more."""
    where = home(postgres)
    Shelf(where).select(BACKEND)
    assert len(where.spare.kept) == 1  # type: ignore[attr-defined]
    driver = where.spare.kept[0][0]  # type: ignore[attr-defined]
    del where
    assert driver.closed


OLDER = """
alter table run drop column source;
alter table approval drop column n;
alter table approval drop column asked;
drop table ballot;
drop table pace;
alter table trial drop column figures
"""


def older(store: Store, place: str) -> None:
    """Make the tables those of the first version."""

    def work(db: Any) -> None:
        for statement in OLDER.split(";"):
            db.execute(statement)
        db.execute("update loopworth set version = 1" if place.startswith("postgres") else "pragma user_version = 1")

    store.wait(store.submit(work))
    store.close()


def test_a_file_of_the_first_version_is_read_and_written_as_any(tmp_path: pathlib.Path) -> None:
    """It is brought up to date by whoever comes first, a reader too, with all that it holds."""
    for first in (Shelf, Store):
        store = stored(tmp_path / first.__name__, "one")
        older(store, str(store.path))
        first(store.path)
        again = Store(store.path)
        assert (again.shelf().run("a1").exit, again.shelf().run("a1").source) == ("success", None)
        assert again.shelf().select("select count(*) from ballot") == [(0,)]
        again.close()


def test_a_database_of_the_first_version_wants_to_be_migrated(postgres: str) -> None:
    """It says so, and nothing is changed until then; migrated, it holds what it held."""
    from tests.durability.places import fresh

    with fresh(postgres) as address:
        where = home(address)
        assert where.migrate() == 0
        store = Store(address)
        store.begin(kept("a1"))
        older(store, address)
        with pytest.raises(StoreFault, match="is older than this loopworth: `loopworth store migrate"):
            Shelf(address)
        assert (where.migrate(), Shelf(address).run("a1").name) == (1, "w")
