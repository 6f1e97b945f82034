"""The handed cases of kind call-ids: missing ids and ids that come again, played through the loop over HTTP."""

import json
import pathlib
from collections.abc import Callable
from typing import Any

import pytest
from ruamel.yaml import YAML

from loopworth.tools.python import python_tool
from tests.agents.kit import make
from tests.cases.wire import Played, answer, play
from tests.endpoint import said

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("call-ids.yaml"))["cases"]
CASES = [case for case in CASES if case["area"] != "resume"]  # that stands in test_resume.py


def played(given: dict[str, Any]) -> Played:
    """The case's turns in order, then a plain answer."""
    done: list[str] = []

    def read_file(path: str) -> str:
        """Read a file."""
        done.append(path)
        return f"this is {path}"

    def run(cmd: str) -> str:
        """Run a command."""
        done.append(cmd)
        return f"ran {cmd}"

    tools = {tool.__name__: python_tool(tool.__name__, tool, effect="read", inline=True) for tool in (read_file, run)}
    turns = [turn for name, turn in given.items() if name.startswith("turn_")] or [given]
    return play(given, make(tools=tools), *map(answer, turns), said("done"), done=done)._replace(done=done)


def two_ids(found: Played) -> None:
    assert found.outcome.answer == "done"
    assert found.done == ["a", "b"]
    [reply] = [message for message in found.sent[1]["messages"] if message["role"] == "assistant"]
    paths = {call["id"]: json.loads(call["function"]["arguments"])["path"] for call in reply["tool_calls"]}
    results = {m["tool_call_id"]: m["content"] for m in found.sent[1]["messages"] if m["role"] == "tool"}
    assert len(paths) == 2
    assert results == {id: f"this is {path}" for id, path in paths.items()}


def both_run(found: Played) -> None:
    assert found.outcome.answer == "done"
    assert found.done == ["ls", "pwd"]
    assert [call.status for call in found.outcome.calls] == ["ok", "ok"]
    results = [(m["tool_call_id"], m["content"]) for m in found.sent[2]["messages"] if m["role"] == "tool"]
    assert results == [("run:0", "ran ls"), ("run:0", "ran pwd")]


EXPECTED: dict[str, Callable[[Played], None]] = {
    "Two different ids are made; no result overwrites the other.": two_ids,
    "The second call is run; it is not taken for a repeat of the first.": both_run,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_call_ids(case: dict[str, Any]) -> None:
    """Every call has its own result, whatever its id."""
    found = played(case["given"])
    for line in case["expect"]:
        EXPECTED[line](found)
