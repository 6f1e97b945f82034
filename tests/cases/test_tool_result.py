"""The handed cases of kind tool-result, through the whole loop against a server that refuses empty results."""

import asyncio
import datetime
import json
import pathlib
from typing import Any, NamedTuple

import pytest
from ruamel.yaml import YAML

from loopworth.models import ModelSpec, open_model
from loopworth.runs.budget import Budget, Limits
from loopworth.runs.effects import Effects
from loopworth.runs.executor import execute
from loopworth.runs.journal import MemoryJournal
from loopworth.runs.outcome import Outcome
from loopworth.runs.world import Live
from loopworth.tools.python import python_tool
from loopworth.tools.toolbox import Toolbox
from tests.agents.kit import make, results
from tests.endpoint import Answer, FakeEndpoint, called, said

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("tool-result.yaml"))["cases"]
LARGE = "0123456789" * 500_000
RETURNED: dict[str, Any] = {
    "returns an empty string; next an MCP tool returns one empty text block": "",
    "returns a set of 3 numbers and a date": {"numbers": {30, 4, 100}, "day": datetime.date(2026, 11, 30)},
    "returns 5 MB of text": LARGE,
    "returns a successful text that starts with Error: none found": "Error: none found",
    "returns a mapping with the value not-a-number": {"value": float("nan"), "unit": "m"},
}
"""What the tool of each case returns. There are no MCP tools yet: what one would return of the first is `BLOCK`."""
BLOCK = {"content": [{"type": "text", "text": ""}]}


class Played(NamedTuple):
    outcome: Outcome
    journal: MemoryJournal
    again: Outcome
    """The same once more."""

    @property
    def told(self) -> str:
        return results(self.outcome)[0]


def strict(received: Any) -> Any:
    """Some servers answer 400 to a result without content."""
    empty = [m for m in received.body["messages"] if m["role"] == "tool" and not m.get("content", "").strip()]
    return Answer(400, {"error": {"message": "a tool message needs content"}}) if empty else said("finished")


def run(returned: Any, turns: int = 1) -> tuple[Outcome, MemoryJournal]:
    """A loop that calls the tool once in each of `turns`."""
    tool = python_tool("probe", lambda: returned, effect="read", inline=True, repeatable=True)
    loop, journal = make(tools={"probe": tool}), MemoryJournal()

    async def main(url: str) -> Outcome:
        model = open_model(ModelSpec("vllm/fake", base_url=url))
        try:
            fx = Effects(Live({"m": model}), journal, Budget(Limits(turns=20)), Toolbox(loop.tools))
            return await execute(loop, {"q": "hi"}, fx)
        finally:
            await model.close()

    with FakeEndpoint(*[called(("probe", {}))] * turns, last=strict) as fake:
        return asyncio.run(main(fake.base_url)), journal


def marked(played: Played) -> None:
    assert played.told == "(the result is an empty text)"
    assert (played.outcome.exit, played.outcome.answer) == ("success", "finished")
    block, _ = run(BLOCK)
    assert results(block) == ['{"content":[{"type":"text","text":""}]}']
    assert (block.exit, block.answer) == ("success", "finished")


def converted(played: Played) -> None:
    assert played.told == '{"numbers":[100,30,4],"day":"2026-11-30"}'
    assert results(played.again) == [played.told]
    assert (played.outcome.exit, played.outcome.answer) == ("success", "finished")


def cut_and_kept(played: Played) -> None:
    assert played.told == LARGE[:20_000] + "… (cut: the first 20000 of 5000000 characters)"
    assert played.outcome.calls[0].full == LARGE
    bodies = b"".join(record.body for record in played.journal.records.values())
    assert bodies.count(LARGE.encode()) == 1
    assert not [said for said in played.outcome.transcript if LARGE in str(said.message)]
    assert (played.outcome.exit, played.outcome.answer) == ("success", "finished")


def success_counted(played: Played) -> None:
    assert played.told == "Error: none found"
    many, _ = run("Error: none found", turns=5)
    assert (many.exit, {seen.status for seen in many.calls}, len(many.calls)) == ("success", {"ok"}, 5)


def strict_json(played: Played) -> None:
    assert json.loads(played.told, parse_constant=pytest.fail) == {"value": "NaN", "unit": "m"}
    for each in played.outcome.transcript:
        json.dumps(each.message, allow_nan=False)
    for record in played.journal.records.values():
        json.loads(record.body, parse_constant=pytest.fail)


EXPECTED = {
    "Both give a non-empty marker; no 400 follows.": marked,
    "Only values are converted; the task does not fail; two equal runs give the same text.": converted,
    "The copy for the model is cut with a note of the full length; the full text is stored once; the run "
    "goes on.": cut_and_kept,
    "Counted as success; only the tool's own failure mark counts as failure.": success_counted,
    "Text for the model and transcript are strict JSON; the odd value is marked.": strict_json,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_tool_result(case):
    """What a tool may return, and every line of what must come of it."""
    returned = RETURNED[case["given"]["tool"]]
    outcome, journal = run(returned)
    played = Played(outcome, journal, run(returned)[0])
    for line in case["expect"]:
        EXPECTED[line](played)
