"""The handed cases of kind compaction: a long history, and a server that takes only whole conversations."""

import pathlib
import re
from dataclasses import replace

import pytest
from ruamel.yaml import YAML

from loopworth.agents.compaction import Compaction
from loopworth.runs.events import Compacted
from loopworth.runs.message import system, user
from loopworth.tools.python import python_tool
from tests.agents.conversation import faults
from tests.agents.kit import make
from tests.cases.wire import Played, play
from tests.endpoint import Answer, called, said

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("compaction.yaml"))["cases"]


def played(given, keep=None):
    """The case's history grows turn by turn, and from the first result on there is more of it than fits.

    What is kept are results here and not messages: so many as the case says, or `keep`.
    """

    def read(page: int) -> str:
        """Read a page."""
        return f"page {page} " * 50

    history, keep = given["history"], keep or given.get("keep_last", 20)
    tools = {"read": python_tool("read", read, effect="read", inline=True)}
    if isinstance(history, list):
        assert history[:4] == ["system", "user", "assistant with call a", "result a"]
        script = [*(called(("read", {"page": page})) for page in range(1, 6)), said("done")]
    else:
        turns, keep = map(int, re.fullmatch(r"(\d+) turns with tools; window of (\d+) messages", history).groups())
        script = [*(called(("read", {"page": page})) for page in range(1, turns)), said("done")]
    loop = make(tools=tools, compact=Compaction(above=100, keep_last=keep))
    opened = replace(loop, opening=lambda _: [system("Be brief."), user("hi")])
    return play(given, opened, *map(strict, script), turns=60)


def strict(answer):
    """The answer, from a server that refuses a conversation that is not whole."""

    def check(received):
        found = faults(received.body["messages"])
        return Answer(400, {"error": {"message": "; ".join(found)}}) if found else answer

    return check


def compacted(found: Played) -> list[Compacted]:
    return [event for event in found.outcome.events if isinstance(event, Compacted)]


def pairs_stay(found: Played) -> None:
    for keep in (found.given["keep_last"], 1, 2, 4):
        again = played(found.given, keep)
        assert (again.outcome.exit, again.outcome.answer) == ("success", "done"), again.outcome.note
        assert [id for event in compacted(again) for id in event.elided] == [f"{n}/call[0]" for n in range(1, 6 - keep)]
        last = again.sent[-1]["messages"]
        assert last[0] == {"role": "system", "content": "Be brief."}
        assert ["left out" in m["content"] for m in last if m["role"] == "tool"] == [n <= 5 - keep for n in range(1, 6)]
        assert all(attempt.status == 200 for e in again.outcome.events for attempt in getattr(e, "attempts", ()))


def starts_whole(found: Played) -> None:
    assert found.outcome.exit == "success", found.outcome.note
    assert len(compacted(found)) > 5
    for body in found.sent:
        assert body["messages"][1] == {"role": "user", "content": "hi"}
        assert faults(body["messages"]) == []


EXPECTED = {
    "No result stands without its call; the system message is kept; a strict fake server answers 200.": pairs_stay,
    "The first kept message after the system message is a user message or a complete call group.": starts_whole,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_compaction(case):
    """Whatever is left out, what is sent is a conversation."""
    found = played(case["given"])
    for line in case["expect"]:
        EXPECTED[line](found)
