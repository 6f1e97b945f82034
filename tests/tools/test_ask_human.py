"""The built-in `ask_human`: a person's own words, through the world that gates ask too."""

import asyncio

import pytest

from loopworth.runs.budget import Limits
from loopworth.runs.decision import Decision
from loopworth.runs.effects import Effects
from loopworth.runs.executor import execute
from loopworth.runs.journal import MemoryJournal
from loopworth.runs.outcome import Outcome, Waiting
from loopworth.runs.world import Live, Nothing
from loopworth.tools.builtin import builtin_tool
from loopworth.tools.toolbox import Toolbox
from loopworth.workflows import verbs
from loopworth.workflows.verbs import Alone
from tests.tools.kit import deciding, invoke, place

TOOL = builtin_tool("ask", "ask_human", effect="read")
QUESTION = {"question": " Which colour? "}


def test_the_result_is_what_the_person_says():
    """They see the question itself, and their words are the value."""
    ask, asked = deciding(Decision("answer", "ann", note="Blue, please."))
    seen = invoke(TOOL, QUESTION, fx=place(ask=ask))
    assert (seen.status, seen.content, seen.full) == ("ok", "Blue, please.", "Blue, please.")
    ((id, question),) = asked
    assert (id, question.text, question.choices) == ("1/call[0]/answer", "Which colour?", ("answer", "reject"))


@pytest.mark.parametrize(
    ("decision", "content"),
    [
        (Decision("reject", note="not now"), "nobody answered the question: not now"),
        (Decision("reject"), "nobody answered the question"),
    ],
)
def test_a_person_need_not_answer(decision, content):
    """No words are made up for them; a reviewer that only approves has said nothing."""
    seen = invoke(TOOL, QUESTION, fx=place(ask=deciding(decision)[0]))
    assert (seen.status, seen.content) == ("rejected", content)


def test_without_a_person_the_run_waits():
    """It ends as waiting, and names the place where the words are awaited."""
    with pytest.raises(Waiting) as caught:
        invoke(TOOL, QUESTION)
    assert caught.value.gates == ("1/call[0]/answer",)


def test_a_resumed_run_asks_nobody_again():
    """The words are in the journal: a replay has them without a world."""
    journal = MemoryJournal()
    executor = Alone(verbs.call("ask", lambda _: QUESTION))

    def run(world) -> Outcome:
        return asyncio.run(execute(executor, {}, Effects(world, journal, tools=Toolbox([TOOL]))))

    ask, asked = deciding(Decision("answer", note="Blue"))
    assert run(Live({})).exit == "waiting"
    assert run(Live({}, ask)).answer == "Blue"
    assert run(Nothing()).answer == "Blue"
    assert len(asked) == 1


def test_the_time_a_person_takes_is_not_the_tools():
    """Neither its timeout nor the run's time limit cuts them off."""

    async def ask(_question, _id):
        await asyncio.sleep(0.05)
        return Decision("answer", note="at last")

    fx = place(ask=ask, limits=Limits(time=0.02))
    assert invoke(TOOL, QUESTION, fx=fx, timeout=0.01).content == "at last"


def test_an_empty_question_reaches_nobody():
    """It is the model's to mend."""
    ask, asked = deciding()
    seen = invoke(TOOL, {"question": "  "}, fx=place(ask=ask))
    assert (seen.status, asked) == ("invalid_arguments", [])
