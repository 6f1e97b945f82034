"""A replay calls nothing, comes to what was recorded, and says where it does not."""

from __future__ import annotations

import asyncio
import pathlib
from typing import Any

import msgspec
import pytest

from loopworth.models import ScriptedModel
from loopworth.runs.budget import Budget, Limits
from loopworth.runs.decision import Decision, Question
from loopworth.runs.effects import Effects
from loopworth.runs.executor import execute
from loopworth.runs.journal import MemoryJournal
from loopworth.runs.message import ToolCall
from loopworth.runs.outcome import Diverged, Outcome, Stop, Waiting
from loopworth.runs.recording import Recording
from loopworth.runs.replay import Replayed, departed
from loopworth.runs.world import Live
from loopworth.tools.gate import Gate
from loopworth.tools.python import python_tool
from loopworth.tools.toolbox import Toolbox
from tests.runs.storing import Chat, chat, kept, said, stored

DONE: list[int] = []


def pay(amount: int) -> str:
    """Pay."""
    DONE.append(amount)
    return "paid"


class Pays:
    """Asks whether, then pays."""

    def __init__(self, amount: int = 5) -> None:
        self.amount = amount

    async def run(self, input: dict[str, Any], fx: Effects) -> Outcome:
        seen = await fx.tool("call", ToolCall("c0", "pay", {"amount": self.amount}))
        return Outcome(seen.content)


TOOLS = Toolbox([python_tool("pay", pay, effect="write", inline=True, gates=(Gate(),))])


async def approves(question: Question, id: str) -> Decision:
    return Decision("approve", "me")


async def nobody(question: Question, id: str) -> Decision:
    raise Waiting(id)


def recorded(executor: Any, *replies: Any, ask: Any = None, model: Any = None) -> Recording:
    """A live run, recorded."""
    journal = MemoryJournal()
    world = Live({"m": model or ScriptedModel([*map(said, replies)])}, ask)
    outcome = asyncio.run(execute(executor, {}, Effects(world, journal, Budget(Limits()), TOOLS)))
    return Recording(kept(), journal.records, outcome)


def replayed(recording: Recording, executor: Any) -> Outcome:
    fx = Effects(Replayed(recording.outcome), MemoryJournal(recording.records), None, TOOLS)
    return asyncio.run(execute(executor, {}, fx))


def test_a_replay_comes_to_what_was_recorded() -> None:
    """Equal answers, messages and usage, with no world to ask."""
    recording = recorded(Chat("a", "b"), "one", "two")
    again, first = replayed(recording, Chat("a", "b")), recording.outcome
    assert first is not None
    assert (again.answer, again.transcript, again.usage) == ("two", first.transcript, first.usage)
    assert departed(recording, again) == ""


def test_a_write_is_not_made_again() -> None:
    """Neither the person nor the tool is asked."""
    DONE.clear()
    recording = recorded(Pays(), ask=approves)
    assert (replayed(recording, Pays()).answer, DONE) == ("paid", [5])


@pytest.mark.parametrize(
    ("executor", "where"),
    [
        (Pays(6), "the arguments amount of pay is not the recorded one\n    recorded: 5"),
        (Chat("a"), "1/ask: this is not in the recording"),
    ],
)
def test_what_was_not_recorded_is_not_done(executor: Any, where: str) -> None:
    """Another call, or one more, is a divergence that names it; no tool runs."""
    recording = recorded(Pays(), ask=approves)
    DONE.clear()
    with pytest.raises(Diverged, match=where.replace("(", r"\(")):
        replayed(recording, executor)
    assert DONE == []


def test_a_tool_that_the_recording_does_not_hold_is_not_called() -> None:
    """An approved call that was killed before its result has an intent, or nothing: a replay must not make it."""
    whole = recorded(Pays(), ask=approves)
    DONE.clear()
    for kinds in (("gate",), ("gate", "intent")):
        records = {id: record for id, record in whole.records.items() if record.kind in kinds}
        if "intent" in kinds:
            records["call"] = msgspec.structs.replace(whole.records["call"], kind="intent")
        with pytest.raises(Diverged, match="this is not in the recording"):
            replayed(Recording(kept(), records), Pays())
    assert DONE == []


def test_a_run_that_ended_badly_ends_so_again() -> None:
    """An endpoint that failed, and a gate that nobody has decided: the same exit, note and gates."""

    class Down:
        async def reply(self, request: Any, seconds: float | None) -> Any:
            raise Stop("provider_error", None, "connection refused")

    for recording, executor in (
        (recorded(Chat("a"), model=Down()), Chat("a")),
        (recorded(Pays(), ask=nobody), Pays()),
    ):
        again = replayed(recording, executor)
        assert recording.outcome is not None
        assert (again.exit, again.note, again.gates) == (
            *(recording.outcome.exit, recording.outcome.note),
            recording.outcome.gates,
        )
        assert again.usage == recording.outcome.usage
        assert departed(recording, again) == ""


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"answer": "three"}, 'the answer is not the recorded one\n    recorded: "two"\n    now:      "three"'),
        ({"exit": "empty"}, "the exit is not the recorded one"),
        ({"events": []}, "1/ask: the recording holds this, and nothing asked for it again"),
    ],
)
def test_another_end_is_a_divergence(change: dict[str, Any], words: str) -> None:
    """The same requests may still come to another answer: that is said as well."""
    recording = recorded(Chat("a", "b"), "one", "two")
    assert recording.outcome is not None
    assert words in departed(recording, msgspec.structs.replace(recording.outcome, **change))


def test_a_kept_run_is_a_recording(tmp_path: pathlib.Path) -> None:
    """What the store holds replays like what was recorded in memory."""
    store = stored(tmp_path, "one", "two")
    shelf = store.shelf()
    recording = Recording(shelf.run("a1"), shelf.records("a1"), shelf.outcome("a1"))
    world = Replayed(recording.outcome)
    again = chat(MemoryJournal(recording.records), "one", "two", world=world)
    assert departed(recording, again) == ""
    store.close()
