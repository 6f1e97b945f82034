"""The handed cases of kind repetition, played through the loop over HTTP."""

import pathlib
import re
from collections.abc import Iterator

import pytest
from ruamel.yaml import YAML

from loopworth.agents.repetition import Repetition
from loopworth.runs.events import ToolCalled
from loopworth.tools.python import python_tool
from tests.agents.kit import make
from tests.cases.wire import Played, play
from tests.endpoint import called, said

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("repetition.yaml"))["cases"]
MANY = 20


def played(given, **how):
    """The case's turns, then a plain answer. Two settings remind of tools where none is called: `tool_choice:
    required_first`, which is taken here unless `how` says otherwise, and `finish: submit`."""
    done: list[str] = []

    def read_file(path: str) -> str:
        """Read a file."""
        done.append(path)
        return f"what {path} holds"

    def list_items(page: int) -> list[str]:
        """List the items of a page."""
        done.append(str(page))
        return [f"item {page}"]

    tools = {f.__name__: python_tool(f.__name__, f, effect="read", inline=True) for f in (read_file, list_items)}
    rule = Repetition(2, given.get("limits", {}).get("repeat", 3))
    if "reminder" in given.get("setting", "") and not how:
        how = {"tool_choice": "required_first"}
    loop = make(tools=tools, on_repeat=rule, **how)
    return play(given, loop, *turns(given), last=said("It is all here."), turns=40)._replace(done=done)


def turns(given) -> Iterator[object]:
    """The turns that the case describes in words."""
    if "every_turn" in given:
        tool, argument, value = re.fullmatch(r"(\w+) with (\w+) (\S+)", given["every_turn"]).groups()
        yield from [called((tool, {argument: value}))] * MANY
    elif "assistant_message" in given:
        assert "the same call three times in one turn" in given["assistant_message"]
        yield called(*[("read_file", {"path": "a.txt"})] * 3)
    elif isinstance(given["turns"], list):
        assert given["turns"] == ["tool call and result", "a full text answer"]
        yield called(("read_file", {"path": "a.txt"}))
    elif tool := re.match(r"(\w+) with page 1, 2, 3, ... (\d+)", given["turns"]):
        yield from (called((tool[1], {"page": page})) for page in range(1, int(tool[2]) + 1))
    else:
        cycle = dict.fromkeys(given["turns"].replace(", ...", "").split(", "))
        yield from [called(("read_file", {"path": path})) for path in cycle] * MANY


def statuses(found: Played) -> list[str]:
    return [event.status for event in found.outcome.events if isinstance(event, ToolCalled)]


def stops_at_the_third(found: Played) -> None:
    assert (found.outcome.exit, len(found.sent)) == ("repetition", 3)
    assert statuses(found) == ["ok", "repeated", "repeated"]
    assert (found.outcome.note, found.done) == ('read_file({"path":"a.txt"}) was called 3 times', ["a.txt"])


def a_cycle_of_three(found: Played) -> None:
    cycle = ", ".join(f'read_file({{"path":"{name}"}})' for name in "ABC")
    assert (found.outcome.exit, found.outcome.note) == ("repetition", f"{cycle} was called 3 times")
    assert len(found.sent) == 9
    assert statuses(found)[:6] == [*["ok"] * 5, "repeated"]


def all_run(found: Played) -> None:
    assert (found.outcome.exit, found.outcome.answer) == ("success", "It is all here.")
    assert found.done == [str(page) for page in range(1, 21)]
    assert set(statuses(found)) == {"ok"}


def inside_the_turn(found: Played) -> None:
    assert (found.outcome.exit, len(found.sent), found.done) == ("repetition", 1, ["a.txt"])
    assert "was called 3 times" in found.outcome.note
    assert statuses(found) == ["ok", "repeated", "repeated"]


def the_answer_ends_it(found: Played) -> None:
    """A tool was called, so there is nothing to remind of. Where the answer itself is to be a call, the model is reminded
    of that once, and what it said is the answer all the same."""
    assert (found.outcome.exit, found.outcome.answer, len(found.sent)) == ("success", "It is all here.", 2)
    early = play(found.given, make(tool_choice="required_first"), said("I know."), *turns(found.given), last=said("x"))
    assert "Call one of the tools" in early.sent[1]["messages"][-1]["content"]  # the setting does remind
    submit = played(found.given, finish="submit")
    assert (submit.outcome.exit, submit.outcome.answer, len(submit.sent)) == ("success", "It is all here.", 3)
    assert sum("submit" in str(m["content"]) for m in submit.sent[-1]["messages"] if m["role"] == "user") == 1


EXPECTED = {
    "Stops at the third equal call, not the fourth; exit reason repetition names tool, arguments and count 3.": (
        stops_at_the_third
    ),
    "Found as a cycle of three.": a_cycle_of_three,
    "Not flagged; all 20 run.": all_run,
    "Counted inside the turn too.": inside_the_turn,
    "The answer ends the run; the reminder does not keep it alive.": the_answer_ends_it,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_repetition(case):
    """Going round in circles ends a run, and only that."""
    found = played(case["given"])
    for line in case["expect"]:
        EXPECTED[line](found)
