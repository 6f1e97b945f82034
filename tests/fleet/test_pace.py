"""The pace of an endpoint, held by a store for all who use it."""

from __future__ import annotations

import asyncio
import pathlib
from contextlib import ExitStack, closing
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopworth.comparisons.fleet.pace import LATER, Shared
from loopworth.comparisons.fleet.workshop import Workshop
from loopworth.models import ModelSpec, open_model
from loopworth.runs.database import Database, Home
from loopworth.runs.home import home
from loopworth.runs.message import Request
from loopworth.runs.store import Store, new_id
from tests.endpoint import Answer, FakeEndpoint, Received, said
from tests.fleet.hosts import asking, chunk_of
from tests.hours import Hours


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> Home:
    """A store of several workers."""
    found = home(tmp_path / "runs.db" if request.param == "sqlite" else request.getfixturevalue("postgres"))
    found.migrate()
    return found


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Home:
    found = home(tmp_path_factory.mktemp("pace") / "runs.db")
    found.migrate()
    return found


Turn = tuple[float, float]
ASKED = Request([{"role": "user", "content": "hello"}], max_tokens=50)


@settings(max_examples=40, deadline=None)
@given(
    st.floats(0, 10),
    st.lists(st.tuples(st.sampled_from(["take", "wait", "pause"]), st.booleans(), st.floats(0, 20)), max_size=20),
)
def test_turns_of_two_workers_are_a_gap_apart_and_outside_every_pause(
    file: Home, gap: float, steps: list[tuple[str, bool, float]]
) -> None:
    """Whichever of them comes; and a turn that is due is not kept back."""
    clock, endpoint, turns, held = [1000.0], new_id(), list[float](), 0.0

    async def played(workers: list[Shared]) -> None:
        nonlocal held
        for step, which, seconds in steps:
            if step == "wait":
                clock[0] += seconds
            elif step == "pause":
                held = max(held, clock[0] + seconds)
                assert await workers[which].pause(endpoint, seconds) >= held
            else:
                due, now = await workers[which].take(endpoint, gap)
                assert (due <= now) == (max(held, turns[-1] + gap if turns else 0.0) <= clock[0])
                if due <= now:
                    turns.append(now)

    with closing(Shared(file, lambda _: clock[0])) as one, closing(Shared(file, lambda _: clock[0])) as other:
        asyncio.run(played([one, other]))


def test_of_many_who_ask_at_once_one_has_the_turn(place: Home) -> None:
    """A turn is taken by one statement: nobody comes between."""

    async def taken(workers: list[Shared]) -> list[Turn]:
        return await asyncio.gather(*(worker.take("e", 1) for worker in workers for _ in range(5)))

    with ExitStack() as stack:
        workers = [stack.enter_context(closing(Shared(place, lambda _: 100.0))) for _ in range(4)]
        found = asyncio.run(taken(workers))
    assert sorted(found) == [(100.0, 100.0), *[(101.0, 100.0)] * 19]


def test_a_turn_is_by_the_clock_of_the_store(place: Home) -> None:
    """Which all share, whatever the clocks of their hosts say; what was waited for has come."""

    async def taken(one: Shared, other: Shared) -> list[Turn]:
        until = await one.pause("e", 200)
        return [await other.take("e", 0), await other.take("e", 60, until), await one.take("e", 0, until)]

    with closing(Shared(place)) as one, closing(Shared(place)) as other:
        held, mine, next = asyncio.run(taken(one, other))
    assert 0 < held[0] - held[1] <= 200
    assert mine == (held[0], held[0])
    assert next == (pytest.approx(held[0] + 60), held[0])


def test_a_clock_that_was_set_back_holds_nobody_up(place: Home) -> None:
    """No pause is as long as that."""

    async def taken(before: Shared, after: Shared) -> list[Any]:
        await before.pause("e", 10)
        return [await after.take("e", 0), await after.pause("e", 5), await after.take("e", 1)]

    with closing(Shared(place, lambda _: 5000.0)) as before, closing(Shared(place, lambda _: 100.0)) as after:
        assert asyncio.run(taken(before, after)) == [(100.0, 100.0), 105.0, (105.0, 100.0)]


def test_where_the_store_does_not_answer_nothing_is_sent(tmp_path: pathlib.Path) -> None:
    """It is asked again a little later, by a connection of its own; the first failure of a row is told, with why."""
    place, told = home(tmp_path / "runs.db"), list[str]()

    async def taken(pace: Shared) -> list[Any]:
        (tmp_path / "runs.db").mkdir()
        found = [await pace.take("e", 1), await pace.pause("e", 1)]
        (tmp_path / "runs.db").rmdir()
        return [*found, await pace.take("e", 1, LATER[0])]

    with closing(Shared(place, lambda _: 100.0, told.append)) as pace:
        assert asyncio.run(taken(pace)) == [LATER, 0.0, (100.0, 100.0)]
    [why] = told
    assert f"nothing is sent until the store answers: the run store {tmp_path / 'runs.db'}" in why


async def replied(place: Home, url: str, hours: Hours, slow: float) -> list[Any]:
    """Two replies, of a model whose pace is that of a store that takes so long, and of one in this process after it."""

    def asked(_: Database) -> float:
        hours.time += slow
        return hours.time

    found, spec = [], ModelSpec("vllm/m", base_url=url)
    with closing(Shared(place, asked)) as pace:
        model = open_model(spec, clock=hours, sleep=hours.sleep, pace=pace)
        found.append(await model.reply(ASKED, None))
    alone = open_model(spec, clock=hours, sleep=hours.sleep)
    found.append(await alone.reply(ASKED, None))
    for one in (model, alone):
        await one.close()
    return found


def test_the_time_in_which_the_store_is_asked_is_none_of_the_models(place: Home) -> None:
    """It is a wait, as that for a slot. Who opens the model without this pace asks no store."""
    with FakeEndpoint(last=said("hi")) as fake:
        paced, alone = asyncio.run(replied(place, fake.base_url, Hours(), 5.0))
    assert (paced.waits, paced.seconds) == (((0.0, 5.0),), 0.0)
    assert (alone.waits, alone.seconds) == ((), 0.0)


# -- two workers of an endpoint ---------------------------------------------------------------------------------------


class Paced:
    """Two workers of a store, whose clock is that of an endpoint."""

    def __init__(self, store: Store, project: pathlib.Path, hours: Hours) -> None:
        self.store, self.hours, self.paces = store, hours, [Shared(store.home, lambda _: hours.time) for _ in range(2)]
        self.shops = [Workshop(store, project, 8, partial(open_model, pace=pace, **self.seams)) for pace in self.paces]

    @property
    def seams(self) -> dict[str, Any]:
        return {"clock": self.hours, "sleep": self.hours.sleep}

    async def close(self) -> None:
        for shop in self.shops:
            await shop.close()
        for pace in self.paces:
            pace.close()


def test_two_workers_keep_the_rate_of_an_endpoint_together(tmp_path: pathlib.Path) -> None:
    """By no time has it received more than one worker alone may send; no run is lost over it."""
    arrived = list[float]()

    async def made(store: Store, fake: FakeEndpoint) -> list[Any]:
        paced.append(Paced(store, tmp_path, Hours()))
        paced[0].hours.go.set()
        files = [asking(tmp_path, name, 12, fake, "requests_per_minute: 60, concurrency: 4") for name in ("a", "b")]
        chunks = [chunk_of(store, file) for file in files]
        try:
            return await asyncio.gather(*(shop.make(chunk) for shop, chunk in zip(paced[0].shops, chunks, strict=True)))
        finally:
            await paced[0].close()

    def heard(_: Received) -> Any:
        arrived.append(paced[0].hours.time)
        return said("4")

    paced = list[Paced]()
    with FakeEndpoint(last=heard) as fake, closing(Store(tmp_path / "runs.db")) as store:
        assert asyncio.run(made(store, fake)) == [{"made": 12}, {"made": 12}]
    assert len(arrived) == 24
    assert all(n <= 1 + time for n, time in enumerate(sorted(arrived), 1))


def test_a_pause_that_one_worker_is_told_holds_for_the_other(tmp_path: pathlib.Path) -> None:
    """The other sends nothing while it lasts."""

    async def made(store: Store, fake: FakeEndpoint) -> tuple[int, list[float]]:
        hours = Hours()
        paced = Paced(store, tmp_path, hours)
        one, other = (chunk_of(store, asking(tmp_path, name, 1, fake)) for name in ("a", "b"))
        first = asyncio.ensure_future(paced.shops[0].make(one))
        await hours.until_asleep()
        second = asyncio.ensure_future(paced.shops[1].make(other))
        await hours.until_asleep()
        meanwhile = len(fake.requests)
        hours.go.set()
        await asyncio.gather(first, second)
        await paced.close()
        return meanwhile, hours.slept

    busy = Answer(429, headers={"Retry-After": "7"})
    with FakeEndpoint(busy, last=said("4")) as fake, closing(Store(tmp_path / "runs.db")) as store:
        assert asyncio.run(made(store, fake)) == (1, [7.0, 7.0])
    assert len(fake.requests) == 3
