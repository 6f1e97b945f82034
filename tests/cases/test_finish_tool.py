"""The handed cases of kind finish-tool, played over HTTP: finishing is a call, here of `submit`."""

import json
import pathlib

import pytest
from ruamel.yaml import YAML

from tests.agents.kit import make, results
from tests.cases.wire import Played, answer, play
from tests.endpoint import called

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("finish-tool.yaml"))["cases"]
DESIGN = pathlib.Path(__file__).parents[2] / "docs" / "design.md"


def named(turn):
    """A case's turn with our name of the tool that finishes."""
    return json.loads(json.dumps(turn).replace('"finish"', '"submit"'))


def played(given):
    loop = make("str", "submit")
    if "turn_3" in given:
        before = [called(("lookup", {"code": code})) for code in "AB"]
        return play(given, loop, *before, answer(named(given["turn_3"])), turns=given["limits"]["max_steps"])
    return play(given, loop, answer(named(given)))


def none_lost(found: Played) -> None:
    [asked] = [said.message for said in found.outcome.transcript if "tool_calls" in said.message]
    answers = [json.loads(call["function"]["arguments"])["answer"] for call in asked["tool_calls"]]
    assert (answers, results(found.outcome)) == (["A", "B"], ["accepted", "accepted"])
    assert (found.outcome.exit, found.outcome.answer) == ("success", "A")
    rule = "Of several in one turn the first whose answer has the right type counts"
    assert rule in " ".join(DESIGN.read_text("utf-8").split())


def success_on_the_last_turn(found: Played) -> None:
    assert (found.outcome.exit, found.outcome.answer, len(found.sent)) == ("success", "42", 3)


EXPECTED = {
    "No answer is lost in silence: both are in the transcript and the rule for which one counts is documented, or it is"
    " an error.": none_lost,
    "Success with the answer 42; not step limit.": success_on_the_last_turn,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_finish_tool(case):
    """A finished run is a success, whatever else ends with it."""
    found = played(case["given"])
    for line in case["expect"]:
        EXPECTED[line](found)
