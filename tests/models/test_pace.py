"""From when on an endpoint may be asked: what a file says, and what the endpoint asks for, hold for a whole process."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.models import ModelSpec, open_model
from loopworth.models.pace import Memory
from loopworth.runs.message import Reply, Request
from tests.endpoint import Answer, FakeEndpoint, Received, said
from tests.hours import Hours

ASKED = Request([{"role": "user", "content": "hello"}], max_tokens=50)
BUSY = Answer(429, headers={"Retry-After": "7"})


async def asked(calls: int, hours: Hours, *specs: ModelSpec) -> list[Reply]:
    """The replies to so many calls of each of these models at once."""
    models = [open_model(spec, clock=hours, sleep=hours.sleep) for spec in specs]
    try:
        return await asyncio.gather(*(model.reply(ASKED, None) for model in models for _ in range(calls)))
    finally:
        for model in models:
            await model.close()


@given(
    st.floats(0, 10),
    st.lists(st.tuples(st.sampled_from(["take", "wait", "pause"]), st.floats(0, 20)), max_size=40),
)
def test_turns_are_a_gap_apart_and_outside_every_pause(gap: float, steps: list[tuple[str, float]]) -> None:
    """Whatever comes in whatever order; and a turn that is due is not kept back."""
    clock, turns, held = [0.0], list[float](), 0.0
    pace = Memory(lambda: clock[0])

    async def played() -> None:
        nonlocal held
        for step, seconds in steps:
            if step == "wait":
                clock[0] += seconds
            elif step == "pause":
                assert await pace.pause("e", seconds) >= clock[0] + seconds
                held = max(held, clock[0] + seconds)
            else:
                due, now = await pace.take("e", gap)
                free = max(held, turns[-1] + gap if turns else 0.0)
                assert (due <= now) == (free <= clock[0])
                if due <= now:
                    turns.append(now)

    asyncio.run(played())


def test_what_was_waited_for_has_come() -> None:
    """Though a sleep may end a little early by the clock; of other endpoints nothing is held."""
    pace = Memory(lambda: 0.0)

    async def taken() -> list[tuple[float, float]]:
        await pace.pause("e", 7)
        return [await pace.take("e", 1), await pace.take("e", 1, 7), await pace.take("e", 1), await pace.take("f", 1)]

    assert asyncio.run(taken()) == [(7, 0), (7, 7), (8, 0), (0, 0)]


def test_a_rate_holds_over_all_models_of_an_endpoint() -> None:
    """The lowest that one of them names: no more arrive by any time than a second's gap allows."""
    arrived = list[float]()

    async def paced() -> list[Reply]:
        hours = Hours()
        hours.go.set()

        def heard(_: Received) -> Any:
            arrived.append(hours.time)
            return said("hi")

        with FakeEndpoint(last=heard) as fake:
            base = {"base_url": fake.base_url, "concurrency": 4}
            slow = ModelSpec("vllm/slow", requests_per_minute=60, **base)  # type: ignore[arg-type]
            fast = ModelSpec("vllm/fast", requests_per_minute=600, **base)  # type: ignore[arg-type]
            return await asked(8, hours, slow, fast, ModelSpec("vllm/free", **base))  # type: ignore[arg-type]

    replies = asyncio.run(paced())
    assert [reply.text for reply in replies] == ["hi"] * 24
    assert all(n <= 1 + time for n, time in enumerate(sorted(arrived), 1))
    assert sum(bool(reply.waits) for reply in replies) == 23
    assert sum(reply.attempts[0].waited > 0 for reply in replies) == 23


def test_without_a_rate_and_a_pause_nobody_waits() -> None:
    """A call is sent at once, and none of its time is a wait."""

    async def free(fake: FakeEndpoint) -> tuple[list[Reply], list[float]]:
        hours = Hours()
        return await asked(3, hours, ModelSpec("vllm/m", base_url=fake.base_url)), hours.slept

    with FakeEndpoint(last=said("hi")) as fake:
        replies, slept = asyncio.run(free(fake))
    assert ([reply.waits for reply in replies], slept) == ([(), (), ()], [])


@pytest.mark.parametrize("busy", [BUSY, Answer(503, headers={"Retry-After": "7"})])
def test_a_pause_that_one_call_is_told_holds_for_the_others(busy: Answer) -> None:
    """Of another model of the endpoint, too: it sends nothing until the pause is over."""

    async def paused(fake: FakeEndpoint) -> tuple[int, list[float]]:
        hours = Hours()
        one, other = (ModelSpec(f"vllm/{name}", base_url=fake.base_url) for name in ("one", "other"))
        first = asyncio.ensure_future(asked(1, hours, one))
        await hours.until_asleep()
        second = asyncio.ensure_future(asked(1, hours, other))
        await hours.until_asleep()
        meanwhile = len(fake.requests)
        hours.go.set()
        await asyncio.gather(first, second)
        return meanwhile, hours.slept

    with FakeEndpoint(busy, last=said("hi")) as fake:
        assert asyncio.run(paused(fake)) == (1, [7.0, 7.0])
    assert len(fake.requests) == 3


def test_a_call_that_gives_up_leaves_its_pause_to_the_others() -> None:
    """The endpoint asked for it, whoever was told."""

    async def paused(fake: FakeEndpoint) -> list[float]:
        hours = Hours()
        hours.go.set()
        model = open_model(ModelSpec("vllm/m", base_url=fake.base_url, retries=0), clock=hours, sleep=hours.sleep)
        with pytest.raises(Exception, match="status 429"):
            await model.reply(ASKED, None)
        await model.reply(ASKED, None)
        await model.close()
        return hours.slept

    with FakeEndpoint(BUSY, last=said("hi")) as fake:
        assert asyncio.run(paused(fake)) == [7.0]


def test_a_pause_of_ours_is_of_one_call_alone() -> None:
    """Where the endpoint does not say how long, or is merely broken, the others go on."""

    async def paused(fake: FakeEndpoint) -> list[float]:
        hours = Hours()
        spec = ModelSpec("vllm/m", base_url=fake.base_url)
        first = asyncio.ensure_future(asked(1, hours, spec))
        await hours.until_asleep()
        await asked(1, hours, spec)
        hours.go.set()
        await first
        return hours.slept

    for first in (Answer(429), Answer(500)):
        with FakeEndpoint(first, last=said("hi")) as fake:
            assert asyncio.run(paused(fake)) == [0.5]


def test_one_account_does_not_wait_for_another() -> None:
    """At the same address, under another key."""

    async def paused(fake: FakeEndpoint) -> list[float]:
        hours = Hours()
        own, other = (ModelSpec("vllm/m", base_url=fake.base_url, api_key=key) for key in ("KEY_A", "KEY_B"))
        first = asyncio.ensure_future(asked(1, hours, own))
        await hours.until_asleep()
        await asked(1, hours, other)
        hours.go.set()
        await first
        return hours.slept

    with pytest.MonkeyPatch.context() as patch, FakeEndpoint(BUSY, last=said("hi")) as fake:
        patch.setenv("KEY_A", "key of the one")
        patch.setenv("KEY_B", "key of the other")
        assert asyncio.run(paused(fake)) == [7.0]
