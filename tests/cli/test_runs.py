"""`loopworth run`: what a person sees of one run, and the exit status."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import socket
import time

import pytest

from loopworth.cli.outcome import cost
from loopworth.runs.events import ModelCalled
from loopworth.runs.outcome import Outcome
from loopworth.runs.usage import Usage
from tests.cli.kit import HELLO, REFUNDS, WAITS, Terminal, command, written

TALK = """\
print("loading")


def say(n: int) -> int:
    'Say a number.'
    print("said")
    return n
"""
LOUD = """\
workflow: loud
shape: pipeline
input: {}
tools: {say: {python: "loud:say", effect: read}}
steps: [{id: said, call: say, with: {n: 3}}]
answer: "{{ said }}"
"""


def test_a_run_shows_answer_exit_calls_tokens_cost_and_latency(tmp_path: pathlib.Path) -> None:
    """The figures a person needs, and the answer without its markup or escapes obeyed."""
    done = command("run", written(tmp_path, hello=HELLO) / "hello.yaml", "-i", "question=hi")
    shown = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert done.exit_code == 0
    assert shown["answer"] == "Hi [bold]Ann[/]\\x1b[2J"
    assert (shown["exit"], shown["calls"]) == ("success", "1 model, 0 tool")
    assert (shown["tokens"], shown["cost"]) == ("1,200 in, 34 out", "not billed")
    assert shown["latency"].endswith(" s")


def test_a_run_as_json_holds_everything(tmp_path: pathlib.Path) -> None:
    """Standard output is one JSON object, with usage, events and transcript, fields at their default too."""
    done = command("run", written(tmp_path, hello=HELLO) / "hello.yaml", "--json", "-i", '{"question": "hi"}')
    found = json.loads(done.stdout)
    assert (found["answer"], found["exit"]) == ("Hi [bold]Ann[/]\x1b[2J", "success")
    assert found["usage"] | {"input": 1200, "output": 34, "cached": 0, "usd": 0.0} == found["usage"]
    assert [event["type"] for event in found["events"]] == ["ModelCalled", "StepDone"]
    assert [said["message"]["role"] for said in found["transcript"]] == ["user", "assistant"]
    assert done.stdout.isascii()


def test_only_the_names_of_facts_are_dimmed(tmp_path: pathlib.Path) -> None:
    """An answer is what a person came for: it is as bright as any text."""
    written(tmp_path, hello=HELLO)
    terminal = Terminal("-m", "loopworth", "run", "hello.yaml", "-i", "question=hi", cwd=tmp_path)
    assert terminal.close() == 0
    assert "\x1b[2manswer   \x1b[0mHi [bold]Ann" in terminal.seen


@pytest.mark.parametrize("words", [("--json",), ("--json", "--transcript")])
def test_what_a_tool_prints_is_no_result(tmp_path: pathlib.Path, words: tuple[str, ...]) -> None:
    """A `print` in a tool, or in its module, goes to standard error: the JSON stays JSON."""
    written(tmp_path, loud=LOUD)
    (tmp_path / "loud.py").write_text(TALK)
    done = command("run", tmp_path / "loud.yaml", *words)
    assert json.loads(done.stdout)["answer"] == 3
    assert ("loading" in done.stderr, "said" in done.stderr) == (True, True)


def test_a_transcript_shows_every_message_and_call(tmp_path: pathlib.Path) -> None:
    """Who said what, where in the run, tool calls with their arguments."""
    done = command("run", written(tmp_path, refunds=REFUNDS) / "refunds.yaml", "-i", "case=x", "--transcript")
    assert 'refund({"who": "Ann' in done.stdout
    assert "tool  " in done.stdout
    assert "\x1b" not in done.output


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["-i", "question"], 2, "write name=value"),
        (["-i", "question=hi", "--model", "opnai/gpt"], 2, "did you mean 'openai'?"),
        ([], 1, "question is missing"),
        ([], 1, "the input is {question: str, times: int = 1}: write --input name=value, as JSON where it is no text"),
        (["-i", "question=hi", "-i", "times=many"], 1, "times"),
        (["-i", "question=hi", "-i", "tims=2"], 1, "tims"),
    ],
)
def test_a_users_slip_is_a_message_and_a_status(
    tmp_path: pathlib.Path, words: list[str], status: int, said: str
) -> None:
    """What is typed wrong: 2; an input the workflow refuses is a failed run: 1. Nothing was asked of a model."""
    done = command("run", written(tmp_path, hello=HELLO) / "hello.yaml", *words)
    assert done.exit_code == status
    assert said in done.output
    assert "Traceback" not in done.output


def test_a_faulty_file_lists_its_faults(tmp_path: pathlib.Path) -> None:
    """Nothing runs: all faults on standard error, none on standard output, status 2."""
    done = command("run", written(tmp_path, bad=HELLO.replace("steps", "step")) / "bad.yaml", "-i", "question=hi")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "bad.yaml:5:1  unknown key 'step'" in done.stderr


def test_an_endpoint_that_is_down_is_status_3(tmp_path: pathlib.Path) -> None:
    """The outside world's failure: exit reason, address and reason, no traceback, cost unknown rather than 0."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    model = f'model: {{name: fake, base_url: "http://127.0.0.1:{port}/v1", retries: 0}}'
    text = "\n".join(model if line.startswith("model:") else line for line in HELLO.splitlines())
    done = command("run", written(tmp_path, hello=text) / "hello.yaml", "-i", "question=hi")
    assert done.exit_code == 3
    assert "provider_error" in done.stdout
    assert f"127.0.0.1:{port}" in done.stdout
    assert "Traceback" not in done.output


def test_what_a_library_logs_is_not_shown(tmp_path: pathlib.Path) -> None:
    """A typed answer that stays wrong is one exit reason; the library that asked twice does not speak to the user."""
    text = HELLO.replace("answer:", "    output: int\nanswer:").replace("replies: [", "replies: [no number, ")
    written(tmp_path, hello=text)
    terminal = Terminal("-m", "loopworth", "run", "hello.yaml", "-i", "question=hi", cwd=tmp_path)
    assert terminal.close() == 1
    assert terminal.seen.startswith("\x1b[2manswer")
    assert "retries exceeded" not in terminal.seen


def test_a_gate_without_a_terminal_rejects_and_the_tool_does_not_run(tmp_path: pathlib.Path) -> None:
    """Nobody to ask is no approval."""
    done = command("run", written(tmp_path, refunds=REFUNDS) / "refunds.yaml", "-i", "case=x", "--json")
    found = json.loads(done.stdout)
    assert (done.exit_code, found["answer"]) == (0, "done")
    assert [event["choice"] for event in found["events"] if event["type"] == "GateDecided"] == ["reject"]
    assert "Refund 250?" in done.stderr
    assert not (tmp_path / "paid.txt").exists()


@pytest.mark.parametrize(("typed", "paid"), [("approve\n", True), ("\n", False)])
def test_a_gate_is_asked_on_the_terminal(tmp_path: pathlib.Path, typed: str, paid: bool) -> None:
    """The person sees tool and exact arguments; the tool runs only when they approve."""
    written(tmp_path, refunds=REFUNDS)
    terminal = Terminal("-m", "loopworth", "run", "refunds.yaml", "-i", "case=x", cwd=tmp_path)
    shown = terminal.until("[reject]")
    assert "Refund 250?" in shown
    assert '"amount": 250' in shown
    assert '"who": "Ann\\u001b[1A"' in shown
    terminal.type(typed)
    assert terminal.close() == 0
    assert (tmp_path / "paid.txt").exists() == paid
    assert "done" in terminal.seen


def test_an_edit_that_the_tool_does_not_take_is_asked_again(tmp_path: pathlib.Path) -> None:
    """What is wrong is said to the person, and not to the model once the question is gone."""
    written(tmp_path, refunds=REFUNDS.replace("ask:", "choices: [approve, edit, reject], ask:"))
    terminal = Terminal("-m", "loopworth", "run", "refunds.yaml", "-i", "case=x", cwd=tmp_path)
    terminal.until("[reject]")
    terminal.type('edit {"amount": 50}\n')
    assert "does not take these arguments: who is missing" in terminal.until("please type")
    terminal.type('edit {"who": "Ann", "amount": 50}\n')
    assert terminal.close() == 0
    assert (tmp_path / "paid.txt").read_text("utf-8").strip()


def test_ctrl_c_shows_what_was_paid_and_leaves_at_once(tmp_path: pathlib.Path) -> None:
    """A tool that hangs in its thread holds nobody: status 130 at once, with the tokens spent so far."""
    written(tmp_path, waits=WAITS)
    terminal = Terminal("-m", "loopworth", "run", "waits.yaml", cwd=tmp_path)
    deadline = time.monotonic() + 60
    while not (tmp_path / "started.txt").exists():
        assert time.monotonic() < deadline
        assert terminal.process.poll() is None
    began = time.monotonic()
    os.kill(terminal.process.pid, signal.SIGINT)
    assert terminal.close() == 130, terminal.seen
    assert time.monotonic() - began < 20
    assert "cancelled" in terminal.seen
    assert "10 in, 5 out" in terminal.seen
    assert "Traceback" not in terminal.seen


def test_a_sum_with_an_unknown_part_is_a_lower_limit() -> None:
    """What is known of a cost is shown, and that it is not all."""
    known, unknown = ModelCalled("1/ask", "m", Usage(1, 1, usd=0.002)), ModelCalled("2/ask", "m", Usage(1, 1, usd=None))
    assert cost(Outcome(events=[known, unknown])) == "at least $0.002: the cost of 1 of 2 model calls is unknown"
    assert cost(Outcome(events=[unknown])) == "unknown"
    assert cost(Outcome(events=[known, known])) == "$0.004"
