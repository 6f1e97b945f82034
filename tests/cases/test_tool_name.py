"""The handed cases of kind tool-name, played through the whole loop with a scripted model, and through the command line."""

import json
import pathlib
from typing import Any, NamedTuple

import pytest
from ruamel.yaml import YAML

from loopworth.runs.budget import Limits
from loopworth.runs.outcome import Outcome
from loopworth.tools.python import python_tool
from tests.agents.kit import make, results, run
from tests.cli.kit import command
from tests.comparisons.reported import Page

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("tool-name.yaml"))["cases"]


AGENT = """\
workflow: agent
shape: constrained_loop
model: {name: scripted, replies: REPLIES}
tools: {today: {builtin: today, effect: read, with: {timezone: UTC}}}
use: [today]
prompt: Look around.
finish: text
budget: {turns: 3}
"""
SAYS = """\
workflow: says
shape: pipeline
input: {}
model: {name: scripted, replies: [fine]}
steps: [{id: said, ask: Hello}]
answer: "{{ said }}"
"""
ARMS = "{one: {workflow: agent.yaml}, two: {workflow: says.yaml}}"


class Played(NamedTuple):
    given: dict[str, Any]
    done: list[str]
    outcome: Outcome
    second: list[dict[str, Any]]
    """The messages of the second request."""

    @property
    def told(self) -> str:
        return results(self.outcome)[0]


def play(given: dict[str, Any]) -> Played:
    """The case's message in the first turn, or in every turn."""
    done: list[str] = []

    def run_command(command: str) -> str:
        """Run a command."""
        done.append(command)
        return "ran"

    def read_file(path: str) -> str:
        """Read a file."""
        done.append(path)
        return "text"

    made = {f.__name__: python_tool(f.__name__, f, effect="read", inline=True) for f in (run_command, read_file)}
    names = given.get("tools", "run_command, read_file").split(", ")
    turn = given.get("every_turn", given)
    reply = {"message": turn["assistant_message"], "finish_reason": turn["finish_reason"]}
    replies = [reply] * 20 if "every_turn" in given else [reply, "finished"]
    limits = Limits(turns=given.get("limits", {}).get("max_steps", 5))
    outcome, model = run(make(tools={name: made[name] for name in names}), *replies, limits=limits)
    return Played(given, done, outcome, model.requests[1].messages)


def both_listed(played: Played) -> None:
    assert played.done == []
    assert "there is no tool 'shell_exec'" in played.told
    assert "run_command" in played.told
    assert "read_file" in played.told


def goes_on(played: Played) -> None:
    assert (played.outcome.exit, played.outcome.answer) == ("success", "finished")
    answered = [m["tool_call_id"] for m in played.second if m["role"] == "tool"]
    assert answered == [call["id"] for call in played.given["assistant_message"]["tool_calls"]]


def hinted(played: Played) -> None:
    """Answered with the hint; the call is not made under another name than the model wrote."""
    assert played.done == []
    assert "there is no tool 'Read_File'; did you mean read_file?" in played.told
    goes_on(played)


def escaped(played: Played, folder: pathlib.Path) -> None:
    """The result shows them escaped, and no name that an endpoint refuses goes back to it."""
    assert played.outcome.events[1].status == "unknown_tool"
    assert r"'read file\n\x1b[2J;x'" in played.told
    texts = [m["content"] for m in played.second if isinstance(m.get("content"), str)]
    names = [call["function"]["name"] for m in played.second for call in m.get("tool_calls", ())]
    shown = [event.tool for event in played.outcome.events if hasattr(event, "tool")]
    assert not [text for text in (*texts, *names, *shown) if not text.isprintable()]
    goes_on(played)
    for place, text in told(played.given, folder).items():
        assert r"read file\n\x1b[2J;x" in text, place
        assert "read file\n" not in text, place
        assert not [line for line in text.split("\n") if not line.isprintable()], place


def told(given: dict[str, Any], folder: pathlib.Path) -> dict[str, str]:
    """What a person gets to read: the run as it goes and as it was kept, and a report that shows its steps."""
    call = {"message": given["assistant_message"], "finish_reason": given["finish_reason"]}
    (folder / "agent.yaml").write_text(AGENT.replace("REPLIES", json.dumps([call, "finished"])), "utf-8")
    (folder / "says.yaml").write_text(SAYS, "utf-8")
    (folder / "tasks.jsonl").write_text('{"id": "t", "expected": "fine"}\n', "utf-8")
    (folder / "c.yaml").write_text(f"{{comparison: c, tasks: tasks.jsonl, score: equals, arms: {ARMS}}}", "utf-8")
    live, kept = command("run", folder / "agent.yaml", "--transcript"), command("runs", "show", "last")
    page = folder / "r.html"
    compared = command("compare", folder / "c.yaml", "--html", page)
    assert [done.exit_code for done in (live, kept, compared)] == [0, 0, 0], compared.output
    return {"live": live.output, "kept": kept.output, "report": Page(page.read_text("utf-8")).text}


def ended_early(played: Played) -> None:
    assert played.outcome.exit == "repetition"
    assert "no_such" in played.outcome.note
    assert played.outcome.model_calls < 10
    assert not played.outcome.traceback


EXPECTED = {
    "The result says the tool does not exist and lists run_command and read_file.": both_listed,
    "The run goes on; every call id gets exactly one result message.": goes_on,
    "Either matched because only one name fits, with a note, or answered with the hint read_file.": hinted,
    "Answered as an unknown tool; control characters are shown escaped in log, transcript and report.": escaped,
    "Ends early with the exit reason repetition and the repeated call named; not by a raised error.": ended_early,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_tool_name(case, tmp_path):
    """What a model may write as a tool's name, and every line of what must come of it."""
    played = play(case["given"])
    for line in case["expect"]:
        check = EXPECTED[line]
        check(played, tmp_path) if check is escaped else check(played)
