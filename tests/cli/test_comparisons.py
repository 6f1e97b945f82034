"""`loopworth compare`: the table, the JSON, what is required of the verdict, and Ctrl-C."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import time

import pytest

from tests.cli.kit import Terminal, command, written

DOUBLE = """\
workflow: double
shape: pipeline
input: {n: int}
output: int
steps:
  - id: twice
    set: "{{ n * 2 }}"
answer: "{{ twice }}"
"""
GUESS = """\
workflow: guess
shape: pipeline
input: {n: int}
model: {name: scripted, replies: {said: {text: "4", usage: {prompt_tokens: 10, completion_tokens: 1}}}}
steps:
  - id: said
    ask: "Twice {{ n }}?"
answer: "{{ said }}"
"""
SLEEPY = """\
workflow: sleepy
shape: pipeline
input: {n: int}
tools: {slow: {python: "shop:slow", effect: read}}
steps:
  - id: late
    call: slow
    with: {seconds: 0.2}
answer: "{{ late }}"
"""
COMPARISON = """\
comparison: doubles
tasks: tasks.jsonl
score: {number: {tolerance: 0}}
arms:
  double: {workflow: double.yaml}
  guess: {workflow: guess.yaml}
decide: {min_gain: 0.10, error: 0.05}
"""


def doubles(folder: pathlib.Path, count: int = 12, comparison: str = COMPARISON) -> pathlib.Path:
    """A comparison of arithmetic with a model that always says 4, on n = 1, 2, …"""
    written(folder, double=DOUBLE, guess=GUESS, sleepy=SLEEPY, comparison=comparison)
    tasks = [{"id": f"n{n}", "n": n, "expected": 2 * n} for n in range(1, count + 1)]
    (folder / "tasks.jsonl").write_text("\n".join(map(json.dumps, tasks)), "utf-8")
    return folder / "comparison.yaml"


def test_a_comparison_prints_both_arms_and_the_verdict(tmp_path: pathlib.Path) -> None:
    """Accuracy side by side, the paired difference, and a token of the verdict; status 0."""
    done = command("compare", doubles(tmp_path))
    assert done.exit_code == 0, done.output
    assert "12/12" in done.stdout
    assert "1/12" in done.stdout
    assert "better" in done.stdout


def test_a_comparison_as_json_holds_every_trial(tmp_path: pathlib.Path) -> None:
    """Standard output is one JSON object with the trials and the verdict; nothing else is printed there."""
    done = command("compare", doubles(tmp_path), "--json")
    found = json.loads(done.stdout)
    assert len(found["trials"]) == 24
    assert (found["verdict"]["holder"], found["verdict"]["token"]) == ("double", "better")


@pytest.mark.parametrize(
    ("required", "holder_first", "status"),
    [("keeps", True, 0), ("earns", True, 1), ("earns", False, 0), ("keeps", False, 1)],
)
def test_what_is_required_of_the_verdict_is_the_status(
    tmp_path: pathlib.Path, required: str, holder_first: bool, status: int
) -> None:
    """`--require keeps` passes where the holder keeps its place, `earns` where the challenger takes it; else 1."""
    lines = COMPARISON.splitlines(keepends=True)
    turned = "".join([*lines[:4], lines[5], lines[4], *lines[6:]])
    done = command("compare", doubles(tmp_path, 30, COMPARISON if holder_first else turned), "--require", required)
    assert done.exit_code == status, done.output


def test_a_verdict_that_is_undecided_meets_no_requirement(tmp_path: pathlib.Path) -> None:
    """Two tasks decide nothing: both requirements fail."""
    file = doubles(tmp_path, 2)
    assert [command("compare", file, "--require", token).exit_code for token in ("earns", "keeps")] == [1, 1]


def test_one_task_or_the_first_few_can_be_run_alone(tmp_path: pathlib.Path) -> None:
    """`--task` and `--limit` cut the tasks; an id that is not there names the nearest and is the user's slip."""
    file = doubles(tmp_path)
    one, few = command("compare", file, "--json", "--task", "n2"), command("compare", file, "--json", "--limit", "3")
    assert {trial["task"] for trial in json.loads(one.stdout)["trials"]} == {"n2"}
    assert {trial["task"] for trial in json.loads(few.stdout)["trials"]} == {"n1", "n2", "n3"}
    wrong = command("compare", file, "--task", "n20")
    assert wrong.exit_code == 2
    assert "n2" in wrong.stderr.replace("n20", "")


def test_a_faulty_comparison_runs_nothing(tmp_path: pathlib.Path) -> None:
    """Faults of every file at once, on standard error; status 2."""
    file = doubles(tmp_path, comparison=COMPARISON.replace("score:", "scor:"))
    (tmp_path / "guess.yaml").write_text(GUESS.replace("{{ n }}", "{{ m }}"), "utf-8")
    done = command("compare", file)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "comparison.yaml:3:1" in done.stderr
    assert "guess.yaml:7:20" in done.stderr


def test_ctrl_c_in_a_comparison_of_200_prints_what_is_done(tmp_path: pathlib.Path) -> None:
    """Status 130 at once, the table of the runs that ended, no verdict, no traceback."""
    file = doubles(tmp_path, 200, COMPARISON.replace("guess: {workflow: guess", "sleepy: {workflow: sleepy"))
    terminal = Terminal("-m", "loopworth", "compare", file, cwd=tmp_path)
    terminal.until("running")
    terminal.until("0:00:01")
    began = time.monotonic()
    os.kill(terminal.process.pid, signal.SIGINT)
    assert terminal.close() == 130, terminal.seen
    assert time.monotonic() - began < 10
    assert "interrupted after" in terminal.seen
    assert "no verdict" in terminal.seen
    assert "Traceback" not in terminal.seen
