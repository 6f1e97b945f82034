"""The live world: a person who does not come, and one whose asking fails."""

import asyncio

import pytest

from loopworth.runs.decision import Decision, Question
from loopworth.runs.outcome import Waiting
from loopworth.runs.world import Live

ASKED = Question("pay", {"amount": 5}, "h", timeout=0.01, on_timeout="approve")


async def nobody(question, id):
    await asyncio.Event().wait()


def decided(ask, question=ASKED):
    return asyncio.run(Live({}, ask).gate(question, "1/call/gate"))


def test_a_question_that_expires_is_decided_as_its_author_said():
    """By `on_timeout`, and the record says that nobody came."""
    assert decided(nobody) == Decision("approve", "timeout", note="nobody decided within 0.01 s")


def test_an_asker_that_fails_decides_nothing():
    """A time-out of its own, such as that of a mail server, is no decision: it must not approve a payment."""

    async def broken(question, id):
        raise TimeoutError("the mail server did not answer")

    with pytest.raises(TimeoutError, match="mail server"):
        decided(broken)


def test_without_anybody_to_ask_the_run_waits():
    """Nothing is decided by default."""
    with pytest.raises(Waiting) as waiting:
        decided(None)
    assert waiting.value.gates == ("1/call/gate",)
