"""The calls of a turn have their one answer each, whatever ends the run among them."""

import asyncio
from dataclasses import replace

import pytest

from loopworth.agents.last_word import last_word
from loopworth.agents.protocols import PROTOCOLS
from loopworth.models import ScriptedModel
from loopworth.runs.budget import Budget, Limits
from loopworth.runs.effects import Effects
from loopworth.runs.events import ToolCalled
from loopworth.runs.executor import execute
from loopworth.runs.message import Reply, ToolCall
from loopworth.runs.outcome import Outcome, Stop
from loopworth.runs.world import Live
from loopworth.tools.python import python_tool
from loopworth.tools.toolbox import Toolbox
from loopworth.workflows.type_expression import parse_type
from tests.agents.conversation import Heard, faults
from tests.agents.kit import DONE, TOOLS, calls, make, results, run

LAST = last_word("m", PROTOCOLS["native"]([], parse_type("str"), "text"))


def nested(end=None, limits=None):
    """A tool that runs a part of its own, which calls `lookup` twice and ends as told."""

    async def function(arguments, fx):
        fx.nested = True
        fx.limit(limits or Limits())
        for n in range(2):
            seen = await fx.tool(f"{n}/call", ToolCall("", "lookup", {"code": "A" * (n + 1)}))
            if seen.status == "not_run":
                raise Stop("tool_call_limit", seen.owner, "tool_calls")
        if end is not None:
            raise end
        return Outcome("sub")

    plain = python_tool("sub", lambda: None, effect="write", inline=True)
    return replace(plain, function=function, nested=True)


def test_a_limit_that_is_hit_inside_a_call_does_not_lose_what_the_turn_did():
    """The write beside it was made: the last word is asked with its result in sight, and the record has both."""
    loop = make(tools={**TOOLS, "sub": nested()}, on_limit=LAST)
    model = Heard([calls(("pay", {"amount": 5}), ("sub", {})), "paid, and no more"])
    outcome, _ = run(loop, model, limits=Limits(turns=9, tool_calls=2))
    assert (outcome.exit, outcome.answer) == ("tool_call_limit", "paid, and no more")
    assert results(outcome) == ["paid 5", "no result: the run ended here: tool_call_limit: tool_calls"]
    assert "paid 5" in str(model.sent[-1])
    assert faults([said.message for said in outcome.transcript]) == []


def test_an_inner_limit_does_not_hide_an_outer_one_of_the_same_turn():
    """Both have no call left: what ends is the run, and not only the part."""
    tools = {**TOOLS, "sub": nested(limits=Limits(tool_calls=1))}
    replies = [calls(("sub", {}), ("lookup", {"code": "ZZ"})), "never"]
    outcome, _ = run(make(tools=tools), *replies, limits=Limits(turns=9, tool_calls=1))
    assert (outcome.exit, outcome.answer) == ("tool_call_limit", None)
    inner, _ = run(make(tools=tools), *replies, limits=Limits(turns=9))
    assert (inner.exit, inner.answer) == ("success", "never")


@pytest.mark.parametrize("finish", ["length", "content_filter", "refusal"])
def test_the_calls_of_a_reply_that_ended_badly_are_told_that_they_were_not_made(finish):
    """Half a reply may hold half a call: none of it runs, and the record says so."""
    outcome, _ = run(make(), {**calls(("pay", {"amount": 5}), ("lookup", {"code": "A"})), "finish": finish})
    assert (DONE, outcome.tool_calls) == ([], 0)
    assert results(outcome) == [f"not made: the reply ended with {finish}"] * 2
    assert faults([said.message for said in outcome.transcript]) == []


def test_a_last_word_that_calls_tools_leaves_no_call_without_a_result():
    """None was offered; the record stays a conversation."""
    loop = make(on_limit=LAST)
    outcome, _ = run(loop, *[calls(("lookup", {"code": "A" * n})) for n in (1, 2, 3)], limits=Limits(turns=2))
    assert (outcome.exit, outcome.answer) == ("turn_limit", None)
    assert faults([said.message for said in outcome.transcript]) == []


def test_a_run_that_is_stopped_in_a_call_keeps_what_the_others_came_to():
    """Ctrl-C: the turn is closed, so that the record can be read on."""

    async def hang() -> None:
        """Never return."""
        await asyncio.Event().wait()

    tools = {**TOOLS, "hang": python_tool("hang", hang, effect="read")}

    async def main():
        model = ScriptedModel([calls(("lookup", {"code": "A"}), ("hang", {}))])
        fx = Effects(Live({"m": model}), None, Budget(Limits(turns=9)), Toolbox(tools))
        task = asyncio.ensure_future(execute(make(tools=tools), {"q": "hi"}, fx))
        for _ in range(20):
            await asyncio.sleep(0)
        task.cancel()
        return await task

    outcome = asyncio.run(main())
    assert outcome.exit == "cancelled"
    assert results(outcome) == ["1", "no result: the run ended here: cancelled"]
    assert [e.status for e in outcome.events if isinstance(e, ToolCalled)] == ["ok", "cancelled"]


@pytest.mark.parametrize("many", [3, 5])
def test_failures_of_one_turn_count_together(many):
    """Calls that were under way at once all have their answer; the third failure is the last turn of the run."""

    async def broken(n: int) -> None:
        """Fail."""
        await asyncio.sleep(0)
        raise OSError("down")

    tools = {"broken": python_tool("broken", broken, effect="read", max_failures=3)}
    outcome, model = run(make(tools=tools), calls(*(("broken", {"n": n}) for n in range(many))), "never")
    assert (outcome.exit, outcome.note, len(model.requests)) == ("tool_failures", f"broken failed {many} times", 1)
    assert [seen.status for seen in outcome.calls] == ["tool_error"] * many


def test_failures_count_by_tool_and_a_success_between_does_not_forget_them():
    """Two of one and two of another are no three; the third of one is."""

    def shaky(tool: str, n: int) -> str:
        """Fail where n is odd."""
        if n % 2:
            raise OSError("down")
        return "fine"

    tools = {name: python_tool(name, shaky, effect="read", inline=True, max_failures=3) for name in ("one", "other")}
    ns = [1, 2, 3, 4]
    replies = [calls((tool, {"tool": tool, "n": n})) for tool in ("one", "other") for n in ns]
    outcome, _ = run(make(tools=tools), *replies, "done")
    assert (outcome.exit, outcome.answer) == ("success", "done")
    outcome, _ = run(make(tools=tools), *replies, calls(("other", {"tool": "x", "n": 5})), "done")
    assert (outcome.exit, outcome.note) == ("tool_failures", "other failed 3 times")


def test_a_last_word_has_no_more_time_than_the_run_had():
    """A server that has gone silent holds the run up once more for its limit, and not for as long as it likes."""

    now, seconds_left = [0.0], []

    class Silent:
        async def reply(self, request, seconds):
            seconds_left.append(seconds)
            now[0] += seconds
            return Reply({}, finish="time_limit", seconds=seconds)

    fx = Effects(Live({"m": Silent()}, clock=lambda: now[0]), None, Budget(Limits(turns=9, time=5.0)), Toolbox(TOOLS))
    outcome = asyncio.run(execute(make(on_limit=LAST), {"q": "hi"}, fx))
    assert (outcome.exit, outcome.answer, seconds_left) == ("time_limit", None, [5.0, 5.0])
    assert outcome.note.startswith("time: 5s; the last word was no answer: time_limit")
