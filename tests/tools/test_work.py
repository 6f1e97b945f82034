"""A function under way: threads, timeouts, and whatever it raises."""

import asyncio
import contextvars
import subprocess
import sys
import threading
import time

import pytest

from loopworth.runs.budget import Limits
from loopworth.runs.message import ToolCall
from loopworth.tools import threads
from loopworth.tools.python import python_tool
from loopworth.tools.toolbox import Toolbox
from tests.tools.kit import invoke, place


def raising(error):
    def sync() -> None:
        raise error

    async def coroutine() -> None:
        raise error

    return {
        "thread": python_tool("t", sync, effect="read"),
        "inline": python_tool("t", sync, effect="read", inline=True),
        "async": python_tool("t", coroutine, effect="read"),
    }


class Mute(Exception):
    """An error whose text cannot be had."""

    def __str__(self):
        raise RuntimeError


@pytest.mark.parametrize("way", ["thread", "inline", "async"])
@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("no such code"), "t failed: ValueError: no such code"),
        (ValueError(), "t failed: ValueError (without a message)"),
        (KeyError("a"), "t failed: KeyError: 'a'"),
        (SystemExit(3), "t failed: SystemExit: 3"),
        (asyncio.CancelledError(), "t failed: CancelledError (without a message)"),
        (TimeoutError(), "t failed: TimeoutError (without a message)"),
        (GeneratorExit(), "t failed: GeneratorExit (without a message)"),
        (Mute(), "t failed: Mute (without a message)"),
        (RuntimeError("a\ud800"), "t failed: RuntimeError: a\ufffd"),
        (ExceptionGroup("a task group", [ExceptionGroup("inner", [ValueError("x")])]), "t failed: ValueError: x"),
        (
            ExceptionGroup("two", [ValueError("x"), Mute()]),
            "t failed: ExceptionGroup: two (2 sub-exceptions): ValueError: x; Mute (without a message)",
        ),
        (RuntimeError("x" * 5000), "t failed: RuntimeError: " + "x" * 2000),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_whatever_a_tool_raises_is_an_observation(way, error, said):
    """It names the type, is never empty, and the process goes on."""
    seen = invoke(raising(error)[way])
    assert (seen.status, seen.content, seen.arguments) == ("tool_error", said, {})


def test_ctrl_c_inside_a_thread_is_the_tools_own():
    """Python raises it in the main thread only; on the event loop it is the user's, and passes."""
    tools = raising(KeyboardInterrupt())
    assert invoke(tools["thread"]).content == "t failed: KeyboardInterrupt (without a message)"
    with pytest.raises(KeyboardInterrupt):
        invoke(tools["inline"])


def test_a_stop_iteration_ends_nothing():
    """It would end a generator or a future in silence."""
    assert invoke(raising(StopIteration("x"))["thread"]).content == "t failed: StopIteration: x"


def test_a_hanging_sync_tool_is_answered_at_its_timeout_and_blocks_no_other():
    """As many hang as there are places; a further call still runs, and a heartbeat ticks all the while."""
    free = threading.Event()
    hanging = python_tool("hang", lambda: free.wait(60), effect="read", timeout=0.2)
    quick = python_tool("quick", lambda: "here", effect="read")
    box, fx = Toolbox([hanging, quick]), place()
    ticks = []

    async def heartbeat():
        while True:
            ticks.append(time.monotonic())
            await asyncio.sleep(0.02)

    async def main():
        beat = asyncio.ensure_future(heartbeat())
        calls = [box.invoke(ToolCall(str(k), "hang"), fx.at(str(k))) for k in range(threads.MOST)]
        seen = await asyncio.gather(*calls, box.invoke(ToolCall("q", "quick"), fx.at("q")))
        beat.cancel()
        return seen

    began = time.monotonic()
    *hung, last = asyncio.run(main())
    assert {seen.content for seen in hung} == {"hang gave no answer within 0.2 s"}
    assert {seen.status for seen in hung} == {"timed_out"}
    assert last.content == "here"
    assert time.monotonic() - began < 20
    assert len(ticks) > 3
    free.set()


def test_two_sync_tools_run_at_the_same_time():
    """Each waits for the other: one after the other they would never end."""
    both = threading.Barrier(2)
    tool = python_tool("meet", lambda: both.wait(5) >= 0, effect="read")
    box, fx = Toolbox([tool]), place()

    async def main():
        return await asyncio.gather(*(box.invoke(ToolCall(str(k), "meet"), fx.at(str(k))) for k in range(2)))

    assert [seen.full for seen in asyncio.run(main())] == [True, True]


def test_so_many_threads_work_at_once_and_no_more():
    """A turn of a hundred calls waits for places; every call is made in the end."""
    free, started, enough = threading.Event(), [], threading.Event()

    def work(n: int) -> int:
        started.append(n)
        if len(started) == threads.MOST:
            enough.set()
        free.wait(30)
        return n

    box, fx = Toolbox([python_tool("work", work, effect="read")]), place()

    async def main():
        calls = [box.invoke(ToolCall(str(k), "work", {"n": k}), fx.at(str(k))) for k in range(threads.MOST + 6)]
        running = asyncio.gather(*calls)
        await asyncio.to_thread(enough.wait, 30)
        await asyncio.sleep(0)
        at_once = len(started)
        free.set()
        return at_once, [seen.full for seen in await running]

    at_once, done = asyncio.run(main())
    assert (at_once, done) == (threads.MOST, list(range(threads.MOST + 6)))


def test_a_hanging_tool_keeps_no_process_from_exiting():
    """The thread is a daemon; nothing joins it at the end."""
    code = """
import threading
from tests.tools.kit import invoke
from loopworth.tools.python import python_tool
print(invoke(python_tool("hang", lambda: threading.Event().wait(), effect="read", timeout=0.05)).status)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout == "timed_out\n"


def test_an_async_tool_that_cleans_up_for_long_is_not_waited_for():
    """The observation is there at the timeout, though the task lives on."""
    tidied = []

    async def slow() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            tidied.append("began")
            await asyncio.sleep(60)

    began = time.monotonic()
    seen = invoke(python_tool("slow", slow, effect="read", timeout=0.05))
    assert (seen.status, tidied) == ("timed_out", ["began"])
    assert time.monotonic() - began < 20


def test_an_async_tool_that_cancels_its_own_task_gives_an_error():
    """Nobody cancelled the run, so the run goes on."""

    async def rash() -> None:
        asyncio.current_task().cancel()

    assert invoke(python_tool("rash", rash, effect="read")).content == "rash failed: CancelledError (without a message)"


@pytest.mark.parametrize("way", ["thread", "async"])
def test_a_real_cancellation_passes(way):
    """Ctrl-C is not a tool's error."""
    free, started = threading.Event(), threading.Event()

    async def waits() -> None:
        started.set()
        await asyncio.sleep(60)

    tool = python_tool("t", waits if way == "async" else lambda: started.set() or free.wait(60), effect="read")

    async def main():
        task = asyncio.ensure_future(Toolbox([tool]).invoke(ToolCall("c", "t"), place().at("c")))
        await asyncio.to_thread(started.wait, 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    free.set()


def test_a_sync_function_that_returns_a_coroutine_is_awaited():
    """A decorator may hide that a function is async; its value is what counts, within its timeout."""

    async def inner(n):
        await asyncio.sleep(0 if n else 60)
        return n + 1

    def outer(n: int):
        return inner(n)

    for inline in (True, False):
        tool = python_tool("t", outer, effect="read", inline=inline, timeout=0.2)
        assert invoke(tool, {"n": 1}).full == 2
        assert invoke(tool, {"n": 0}).status == "timed_out"


def test_a_thread_sees_the_callers_context():
    """Context variables, as used for tracing, reach the tool."""
    name = contextvars.ContextVar("name", default="none")
    name.set("caller")
    assert invoke(python_tool("t", lambda: name.get(), effect="read")).full == "caller"


def test_threads_are_used_again():
    """A thousand calls do not make a thousand threads."""
    tool = python_tool("t", lambda: threading.get_ident(), effect="read")
    assert len({invoke(tool).full for _ in range(20)}) <= 2


def test_a_read_ends_with_the_runs_time_and_names_its_owner():
    """The limit's owner travels with the answer, or it would look like the tool's own failure."""
    free = threading.Event()
    read = python_tool("t", lambda: free.wait(60), effect="read")
    seen = invoke(read, fx=place(limits=Limits(time=0.05)))
    assert (seen.status, seen.owner) == ("timed_out", "")
    assert seen.content.endswith("when the run's time was over")
    free.set()


def test_a_read_that_ends_with_a_steps_time_names_the_step():
    """A step's timeout is not the run's time, and the message does not send anybody there."""
    free = threading.Event()
    read = python_tool("t", lambda: free.wait(60), effect="read")
    seen = invoke(read, fx=place().at("slow", Limits(time=0.05)))
    assert seen.content.endswith("when the time of slow was over")
    free.set()


def test_a_write_is_cut_by_its_own_timeout_only_and_may_have_happened():
    """The run's deadline lets it finish; its own timeout says that the outcome is open."""
    slept = lambda: time.sleep(0.1) or "done"
    assert invoke(python_tool("t", slept, effect="write"), fx=place(limits=Limits(time=0.02))).full == "done"
    seen = invoke(python_tool("t", slept, effect="write", timeout=0.02))
    assert (seen.status, seen.owner) == ("timed_out", None)
    assert "it may have happened all the same: check before calling it again" in seen.content
