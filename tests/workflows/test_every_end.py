"""Every exit reason of the language: a run that ends in it, replayed to the same end, and its line on the page."""

import asyncio
import pathlib
import re
from typing import get_args

import pytest

from loopworth.models import open_model
from loopworth.runs.budget import Budget
from loopworth.runs.decision import Decision
from loopworth.runs.effects import Effects
from loopworth.runs.executor import execute
from loopworth.runs.exit import Exit
from loopworth.runs.world import Live
from loopworth.workflows.activation import activate
from loopworth.workflows.compile import compile
from tests.workflows.played import Played, pipeline, scripted

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "exit-reasons.md"


def look(code, **more):
    return (
        f"{{calls: [{{tool: lookup, arguments: {{code: {code}}}}}]{''.join(f', {k}: {v}' for k, v in more.items())}}}"
    )


LOOKS = [look("A" * n) for n in range(1, 8)]


def loop(*replies, top="", budget="{turns: 9}", tools="tools.yaml"):
    return f"workflow: w\nshape: open_loop\ntools: {tools}\nprompt: go\nbudget: {budget}\n{top}\n{scripted(*replies)}\n"


ROUTER = f"workflow: w\nshape: router\nchoose: which?\nfrom: {{a: {{set: 1}}, b: {{set: 2}}}}\n{scripted('c', 'd')}"
CALL = "{call: lookup, with: {code: A}}"
ENDS = {
    "success": (loop("'done'"), {}, ""),
    "turn_limit": (loop(*LOOKS, budget="{turns: 2}"), {}, "turns: 2"),
    "tool_call_limit": (loop(*LOOKS, budget="{turns: 9, tool_calls: 2}"), {}, "tool_calls: 2"),
    "token_limit": (
        loop(look("A", usage="{input: 40, output: 30}"), *LOOKS, budget="{turns: 9, tokens: 70}"),
        {},
        "tokens: 70",
    ),
    "cost_limit": (loop(*LOOKS, budget="{turns: 9, usd: 0}"), {}, "usd: 0"),
    "time_limit": (loop("{text: late, seconds: 5}", budget="{turns: 9, time: 2s}"), {}, "time: 2s"),
    "repetition": (loop(*[look("A")] * 3), {}, 'lookup({"code":"A"}) was called 3 times'),
    "tool_failures": (loop(*LOOKS), {"failing": {"A": 9, "AA": 9, "AAA": 9}}, "lookup failed 3 times"),
    "truncated": (loop("{text: half, finish: length}"), {}, "the reply was cut at the output limit"),
    "filtered": (loop("{text: '', finish: content_filter}"), {}, "content filter"),
    "refused": (loop("{message: {role: assistant, content: null, refusal: I cannot}}"), {}, "I cannot"),
    "empty": (loop("''"), {}, "neither text nor a tool call"),
    "unparsable": (loop("'x'", "'y'", top="output: int"), {}, "not accepted"),
    "context_overflow": (
        loop("{error: {status: 400, code: context_length_exceeded, message: too long for 4096}}"),
        {},
        "too long for 4096",
    ),
    "guardrail": (loop(*LOOKS, top="guard: [{on: call, if: \"args.code == 'AA'\", else: enough}]"), {}, "enough"),
    "rejected": (
        pipeline(CALL, answer="1", top="gate: {lookup: required}"),
        {"ask": lambda _: Decision("reject", "me", note="not now")},
        "not now",
    ),
    "waiting": (pipeline(CALL, answer="1", top="gate: {lookup: required}"), {}, "waits for a decision"),
    "check_failed": (
        loop("'done'", top="check: calls | length > 0\nelse: nothing was looked up"),
        {},
        "nothing was looked",
    ),
    "step_failed": (pipeline("{check: 1 > 2, else: no}", answer="1"), {}, "no"),
    "no_route": (ROUTER, {}, "d"),
    "invalid_input": (loop("'done'", top="input: {n: int}"), {"input": {"n": "many"}}, "n"),
    "provider_error": (loop("{error: {status: 401, message: wrong key}}"), {}, "wrong key"),
}
ELSEWHERE = {"cancelled", "harness_error"}


@pytest.mark.parametrize("exit", ENDS)
def test_an_exit_reason_is_reached_and_replayed(tmp_path, exit):
    """It says why in words, keeps what was said and done, and shows no traceback."""
    text, how, note = ENDS[exit]
    outcome = Played(tmp_path, text, **how).outcome
    assert (outcome.exit, outcome.traceback) == (exit, "")
    assert note in outcome.note
    assert (outcome.answer is None) == (exit != "success")
    asked = exit not in ("rejected", "waiting", "step_failed", "invalid_input", "cost_limit")
    assert bool(outcome.model_calls) == asked


def test_a_run_that_somebody_stops_is_cancelled_and_keeps_what_it_did(tmp_path):
    """A call that was under way is in the trace; what was said before is in the transcript."""
    hanging = "{calls: [{tool: slow, arguments: {code: hang}}]}"
    Played(tmp_path, loop(look("A"), "'done'"))
    (tmp_path / "w.yaml").write_text(loop(look("A"), hanging), "utf-8")
    compiled = compile(tmp_path / "w.yaml")

    async def main():
        models = {key: open_model(spec) for key, spec in compiled.models.items()}
        task = asyncio.ensure_future(activate(compiled, {}, Live(models)))
        for _ in range(50):
            await asyncio.sleep(0)
        task.cancel()
        return await task

    outcome = asyncio.run(main())
    assert (outcome.exit, outcome.model_calls) == ("cancelled", 2)
    assert [event.status for event in outcome.events if type(event).__name__ == "ToolCalled"] == ["ok", "cancelled"]


def test_a_bug_of_ours_is_no_fault_of_the_workflow(tmp_path):
    """Its traceback is kept; what was paid is too."""

    async def broken(question, id):
        raise RuntimeError("a bug")

    compiled = Played(tmp_path, pipeline(CALL, answer="1", top="gate: {lookup: required}")).compiled
    fx = Effects(Live({}, broken), None, Budget(compiled.limits), compiled.tools)
    outcome = asyncio.run(execute(compiled.executor, {}, fx))
    assert (outcome.exit, outcome.note) == ("harness_error", "RuntimeError: a bug")
    assert "broken" in outcome.traceback


def test_every_end_has_a_test_and_a_line_on_the_page():
    """No reason is without either, and the page knows none that does not exist."""
    assert {*ENDS, *ELSEWHERE} == set(get_args(Exit))
    table = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")]
    named = [name for line in table for name in re.findall(r"`(\w+)`", line.split("|")[1])]
    assert sorted(named) == sorted(get_args(Exit))
