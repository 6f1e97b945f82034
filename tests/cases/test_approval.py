"""The handed cases of kind approval: what a person approves is what runs, once."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from ruamel.yaml import YAML

from loopworth.models import ScriptedModel
from loopworth.runs import approvals
from loopworth.runs.outcome import Diverged
from tests.cases.saved import Saved, calls, free, gated, results
from tests.cli.kit import ROOT

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("approval.yaml"))["cases"]
MAIL = '''
def send_mail(to: str, text: str) -> str:
    """Send a mail."""
    with open("sent.txt", "a") as file:
        file.write(f"{to} {text}\\n")
    return "sent"
'''
MAILS = """
workflow: mails
shape: gated_loop
input: {case: str}
model: {name: scripted, replies: [{calls: [{tool: send_mail, arguments: {to: ann, text: hello}}]}, done]}
tools: {send_mail: {python: "mail:send_mail", effect: irreversible}}
gate: {send_mail: required}
prompt: "{{ case }}"
finish: text
budget: {turns: 4}
"""


def sent_once(given: dict[str, Any], folder: pathlib.Path) -> None:
    """Two processes, the second in another folder and another environment."""
    (folder / "mail.py").write_text(MAIL)
    (folder / "mails.yaml").write_text(MAILS)
    store = ["--store", str(folder / "runs.db")]

    def process(*words: str, **environ: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "loopworth", *words, *store],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), **environ},
            capture_output=True,
            text=True,
            check=False,
        )

    first = process("run", "mails.yaml", "--durable", "-i", "case=one", "--json")
    assert (first.returncode, (folder / "sent.txt").exists()) == (4, False), first.stderr
    [asked] = json.loads(first.stdout)["waiting"]
    assert asked["arguments"] == {"to": "ann", "text": "hello"}
    second = process("inbox", "approve", asked["name"], USER="somebody-else")
    assert second.returncode == 0, second.stderr
    again = process("inbox", "approve", asked["name"])
    assert (again.returncode, (folder / "sent.txt").read_text()) == (1, "ann hello\n")


class Fickle:
    """Asks for a record of its own choice each time it is asked anew."""

    by_id = False

    def __init__(self, record: int) -> None:
        self.record, self.asked = record, list[int]()

    async def reply(self, request: Any, seconds: float | None) -> Any:
        self.asked.append(len(request.messages))
        if any(message["role"] == "tool" for message in request.messages):
            return "done"
        function = {"name": "fetch", "arguments": json.dumps({"record": self.record})}
        return {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "type": "function", "function": function}],
        }


def not_asked_again(given: dict[str, Any], folder: pathlib.Path) -> None:
    done: list[int] = []

    def fetch(record: int) -> str:
        """Fetch a record."""
        done.append(record)
        return f"record {record}"

    saved = Saved(folder, {"fetch": gated(fetch)})
    saved.resume(Fickle(1))
    saved.decide("approve")
    again = Fickle(2)
    outcome = saved.resume(again)
    assert (outcome.exit, done, results(outcome)) == ("success", [1], ["record 1"])
    assert len(again.asked) == 1  # the turn after the call, and not the one that asked for it


def asks_again(given: dict[str, Any], folder: pathlib.Path) -> None:
    done: list[str] = []

    def run(cmd: str) -> str:
        """Run a command."""
        done.append(cmd)
        return f"ran {cmd}"

    standing, other = given["standing_approval"]["args"], given["next_call"]
    tools = {"run": {**gated(run, repeatable=True), "approval": {"remember": "run"}}}
    script = [calls(("run", standing)), calls(("run", standing)), calls(("run", other)), "done"]
    saved = Saved(folder, tools)
    saved.resume(ScriptedModel(script))
    saved.decide("approve")
    outcome = saved.resume(ScriptedModel(script))
    assert (outcome.exit, done) == ("waiting", [standing["cmd"]] * 2)
    [waits] = saved.waits()
    assert waits.question.arguments == other


def denied(given: dict[str, Any], folder: pathlib.Path) -> None:
    done: list[str] = []

    def send_mail(to: str) -> str:
        """Send a mail."""
        done.append(to)
        return "sent"

    again = calls(("send_mail", {"to": "ann"}))
    saved = Saved(folder, {"send_mail": gated(send_mail)})
    saved.resume(ScriptedModel([again] * 9))
    saved.decide("reject", note="not today")
    outcome = saved.resume(ScriptedModel([again] * 9))
    assert (outcome.exit, done) == ("repetition", [])
    assert results(outcome)[0] == "a person rejected this call: not today"
    assert outcome.model_calls > 1


def noticed(given: dict[str, Any], folder: pathlib.Path) -> None:
    """In the question that a person sees, and in the model's reply that the call comes from."""
    done: list[str] = []

    def send_mail(to: str) -> str:
        """Send a mail."""
        done.append(to)
        return "sent"

    script = [calls(("send_mail", {"to": "ann"})), "done"]
    for k, table in enumerate(("approval", "effect")):
        (folder / str(k)).mkdir()
        saved = Saved(folder / str(k), {"send_mail": gated(send_mail)})
        saved.resume(ScriptedModel(script))
        column = "question" if table == "approval" else "body"
        saved.change(f"update {table} set {column} = cast(replace(cast({column} as text), 'ann', 'eve') as blob)")
        if table == "approval":
            assert saved.waits()[0].altered
            with pytest.raises(approvals.Refused, match="its request was altered"):
                saved.decide("approve")
            saved.resume(ScriptedModel(script))
            assert saved.waits()[0].question.arguments == {"to": "ann"}
        else:
            saved.decide("approve")
            with pytest.raises(Diverged, match=r"the arguments to of send_mail is not the recorded one(.|\n)*eve"):
                saved.resume(ScriptedModel(script))
    assert done == []


def one_value(given: dict[str, Any], folder: pathlib.Path) -> None:
    done: list[str] = []

    def write_file(path: str) -> str:
        """Write a file."""
        done.append(path)
        return "written"

    saved = Saved(folder, {"write_file": gated(write_file)})
    outcome = saved.resume(ScriptedModel([{"message": given["assistant_message"]}, "done"]))
    assert (outcome.exit, saved.asked(), done) == ("success", [], [])
    assert [seen.status for seen in outcome.calls] == ["invalid_arguments"]
    assert "path" in results(outcome)[0]


EXPECTED: dict[str, Callable[[dict[str, Any], pathlib.Path], None]] = {
    "The mail tool runs exactly once with the approved arguments.": sent_once,
    "The model is not asked again; record 1 is run.": not_asked_again,
    "Asks again.": asks_again,
    "Not run; the model gets denied and the note; the run goes on; the same call again and again ends by repetition.": denied,
    "The change is noticed and the run stops with a message about the altered request, or it shows the new arguments for a new approval.": noticed,
    "Refused, or page and tool use the same one value; never approve one and run the other.": one_value,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_approval(case: dict[str, Any], tmp_path: pathlib.Path) -> None:
    """What is approved is what runs, and no more."""
    for line in case["expect"]:
        EXPECTED[line](case["given"], tmp_path)


def test_a_free_call_of_the_same_turn_does_not_wait(tmp_path: pathlib.Path) -> None:
    """Only the gated call of two is asked about; the other has its result before anybody decides."""
    done: list[str] = []
    look = free(lambda: done.append("look"), description="Look.")
    tools = {"look": look, "pay": gated(lambda: done.append("pay"), description="Pay.")}
    saved = Saved(tmp_path, tools)
    saved.resume(ScriptedModel([calls(("pay", {}), ("look", {})), "done"]))
    assert (done, [one.tool for one in saved.waits()]) == (["look"], ["pay"])
