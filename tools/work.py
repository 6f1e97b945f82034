"""A tool's function under way: on the event loop or in a thread, never for longer than it may take."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

from loopworth.tools import threads
from loopworth.tools.threads import Ended
from loopworth.tools.tool import Tool

GIVEN_UP: set[asyncio.Future[Ended]] = set()
"""Work that nobody waits for any more; the event loop itself would forget it while it still cleans up."""

UNDER_WAY: ContextVar[tuple[list[str], ...]] = ContextVar("UNDER_WAY", default=())
"""For each call around the present one, from the outermost in: the calls in threads that are under way inside it."""


async def ended(tool: Tool, kwargs: dict[str, Any], seconds: float) -> Ended:
    """What the function came to: its value, or whatever it raised, `SystemExit` and its own `CancelledError` too.

    Raises `TimeoutError` after `seconds`, however the function takes it; its `args` are the names of the calls made
    inside it that are given up with it. When the run itself is cancelled, that passes.
    """
    inside: list[str] = []
    around = UNDER_WAY.get()
    token = UNDER_WAY.set((*around, inside))
    try:
        return await called(tool, kwargs, seconds, around)
    except TimeoutError:
        raise TimeoutError(*inside) from None
    finally:
        UNDER_WAY.reset(token)


async def called(tool: Tool, kwargs: dict[str, Any], seconds: float, around: tuple[list[str], ...]) -> Ended:
    if tool.awaits:
        return await within(seconds, asyncio.ensure_future(awaited(tool.function(**kwargs))))
    if tool.inline:
        value, error = inline(tool.function, kwargs)
    else:
        async with threads.places():
            with noted(tool.name, around):
                value, error = await within(seconds, threads.start(partial(tool.function, **kwargs)))
    if isinstance(value, Awaitable):
        return await within(seconds, asyncio.ensure_future(awaited(value)))
    return value, error


@contextmanager
def noted(name: str, around: tuple[list[str], ...]) -> Iterator[None]:
    """A thread cannot be stopped: if a call around this one is given up, it must say what goes on without it."""
    for inside in around:
        inside.append(name)
    try:
        yield
    finally:
        for inside in around:
            inside.remove(name)


async def within(seconds: float, work: asyncio.Future[Ended]) -> Ended:
    """Wait for `work`; give it up, without waiting for its end, when the time is over or the run is cancelled."""
    loop = asyncio.get_running_loop()
    over = loop.create_future()
    timer = loop.call_later(seconds, release, over)
    work.add_done_callback(lambda _: release(over))
    try:
        await over
    finally:
        timer.cancel()
        if not work.done():
            give_up(work)
    if work in GIVEN_UP:
        raise TimeoutError
    return (None, asyncio.CancelledError()) if work.cancelled() else work.result()


def release(waiting: asyncio.Future[None]) -> None:
    if not waiting.done():
        waiting.set_result(None)


def give_up(work: asyncio.Future[Ended]) -> None:
    GIVEN_UP.add(work)
    work.add_done_callback(GIVEN_UP.discard)
    work.cancel()


async def awaited(value: Awaitable[Any]) -> Ended:
    """An error must not leave the task: `SystemExit` would end the event loop. Only Ctrl-C does."""
    try:
        return await value, None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return None, error


def inline(function: Callable[..., Any], kwargs: dict[str, Any]) -> Ended:
    try:
        return function(**kwargs), None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return None, error
