"""The handed cases of kind parallel-calls: two calls in one turn of a loop. A second of a case is a tenth here."""

import asyncio
import pathlib
import time
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from ruamel.yaml import YAML

from loopworth.models import ScriptedModel
from loopworth.runs.decision import Decision, Question
from loopworth.runs.journal import MemoryJournal
from loopworth.runs.outcome import Outcome
from loopworth.tools.gate import Gate
from loopworth.tools.python import python_tool
from loopworth.tools.tool import Tool
from tests.agents.kit import calls, make, results, run

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("parallel-calls.yaml"))["cases"]
SECOND = 0.1


class Played(NamedTuple):
    parked: Outcome
    """The first activation, in which nobody decides."""
    outcome: Outcome
    done: list[str]
    seconds: float
    """How long the turn took."""


def tool(words: str, done: list[str]) -> Tool:
    """The fake tool that a line of a case describes."""
    name = words.partition(",")[0].partition(" ")[0]

    async def act() -> str:
        done.append(name)
        if "exception" in words:
            raise LookupError
        await asyncio.sleep({"search": 0.1, "slow": 60}.get(name, 0) * SECOND)
        return f"{name} is done"

    made = python_tool(name, act, effect="irreversible" if "approval" in words else "read")
    gates = (Gate(),) if "approval" in words else ()
    return replace(made, gates=gates, timeout=SECOND if "time limit of 1 s" in words else 60)


def play(given: dict[str, Any]) -> Played:
    """One turn with all calls; a second activation goes on from what the first left, and a person approves."""
    done: list[str] = []
    tools = {each.name: each for each in (tool(words, done) for words in given["calls"])}
    journal, loop = MemoryJournal(), make(tools=tools)

    async def approve(_question: Question, _id: str) -> Decision:
        return Decision("approve")

    began = time.monotonic()
    replies = {"1": calls(*((name, {}) for name in tools)), "2": "finished"}
    parked, _ = run(loop, ScriptedModel(replies), journal=journal)
    seconds = time.monotonic() - began
    outcome, _ = run(loop, ScriptedModel(replies), journal=journal, ask=approve)
    return Played(parked, outcome, done, seconds)


def kept_and_timed_out(played: Played) -> None:
    told = ["search is done", f"slow gave no answer within {SECOND} s"]
    assert results(played.outcome) == results(played.parked) == told
    assert [seen.status for seen in played.outcome.calls] == ["ok", "timed_out"]
    assert SECOND <= played.seconds < 8 * SECOND


def named(played: Played) -> None:
    answers = [said.message for said in played.outcome.transcript if said.message["role"] == "tool"]
    asked = next(said.message["tool_calls"] for said in played.outcome.transcript if "tool_calls" in said.message)
    assert [each["tool_call_id"] for each in answers] == [each["id"] for each in asked]
    assert [each["content"] for each in answers] == ["ok is done", "tool failed: LookupError (without a message)"]


def each_once(played: Played) -> None:
    assert (played.parked.exit, played.parked.gates) == ("waiting", ("1/call[1]/gate",))
    assert played.done == ["read_file", "send_mail"]
    assert (played.outcome.exit, results(played.outcome)) == ("success", ["read_file is done", "send_mail is done"])


EXPECTED = {
    "The first result is kept; the second says timed out after 1 s; the turn ends soon after 1 s.": kept_and_timed_out,
    "The error result has the right id and names the exception type; its text is not empty.": named,
    "After approval and resume each of the two has run exactly once.": each_once,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_parallel_calls(case):
    """What the calls of one turn may come to, and every line of what must come of it."""
    played = play(case["given"])
    for line in case["expect"]:
        EXPECTED[line](played)
