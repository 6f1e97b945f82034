"""The handed cases of kind message-shape, played through the loop over HTTP."""

import pathlib

import pytest
from ruamel.yaml import YAML

from loopworth.runs.events import ModelCalled
from loopworth.tools.python import python_tool
from tests.agents.kit import make
from tests.cases.wire import Played, answer, play
from tests.endpoint import said

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("message-shape.yaml"))["cases"]


def played(given):
    """The case's answer first, then a plain one."""
    done: list[str] = []

    def get_time() -> str:
        """Say what time it is."""
        done.append("asked")
        return "noon"

    tools = {"get_time": python_tool("get_time", get_time, effect="read", inline=True)}
    found = play(given, make(tools=tools), answer(given), said("It is noon."), done=done)
    return found._replace(done=done)


def kept_and_run(found: Played) -> None:
    text = found.given["assistant_message"]["content"]
    assert text in found.said
    assert [m["content"] for m in found.sent[1]["messages"] if m["role"] == "assistant"] == [text]
    assert found.done == ["asked"]
    assert found.outcome.answer == "It is noon."


def never_none(found: Played) -> None:
    assert found.outcome.answer is None
    assert "None" not in [*map(str, filter(None, found.said)), found.outcome.note]


def empty_and_no_success(found: Played) -> None:
    assert found.outcome.exit == "empty"
    assert len(found.sent) == 1


def the_providers_words(found: Played) -> None:
    assert found.outcome.exit == "provider_error"
    assert "credit used up" in found.outcome.note
    assert "402" in found.outcome.note
    assert (len(found.sent), found.slept) == (1, [])


def retried(found: Played) -> None:
    assert found.outcome.answer == "It is noon."
    assert found.outcome.exit == "success"
    assert len(found.sent) == 2
    [call] = [event for event in found.outcome.events if isinstance(event, ModelCalled)]
    assert "429" in call.attempts[0].error
    assert (len(call.attempts), len(call.waits)) == (2, 1)
    assert len(found.slept) == 1


EXPECTED = {
    "The text is kept in the transcript and in the history; the call runs; the text is not taken as the final answer.": (
        kept_and_run
    ),
    "The result text is empty and never the word None.": never_none,
    "The exit reason says empty answer; it is not counted as success.": empty_and_no_success,
    "The error shown holds the provider's message and code 402; not retried.": the_providers_words,
    "Treated as a rate limit and retried; not taken as an empty answer.": retried,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_message_shape(case):
    """Whatever shape an answer has, it is read for what it is."""
    found = played(case["given"])
    for line in case["expect"]:
        EXPECTED[line](found)
