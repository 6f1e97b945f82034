"""Faults: put into the calls of tools by seed, the same for all arms, recorded, and told of in the report."""

from __future__ import annotations

import asyncio
import json
import pathlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.comparisons import comparison, execution
from loopworth.comparisons.faults import Faults, Injected, drawn
from loopworth.comparisons.language import load
from loopworth.comparisons.report import report
from loopworth.comparisons.result import Result
from loopworth.runs.world import Strike
from tests.cli.kit import command

CODE = '''
CALLS = []


def lookup(code: str) -> int:
    """Look up."""
    CALLS.append(code)
    return len(code)


def pay(amount: str) -> str:
    """Pay."""
    raise AssertionError("this must not be called")
'''
TOOLS = """
tools:
  lookup: {python: "code:lookup", effect: read, inline: true}
  pay: {python: "code:pay", effect: write, idempotent: true}
  inner: {run: inner.yaml, effect: read}
"""
INNER = """
workflow: inner
shape: pipeline
input: {q: str}
tools: tools.yaml
steps: [{id: a, call: lookup, with: {code: "{{ q }}"}}]
answer: "{{ a }}"
"""
ONCE = """
workflow: once
shape: pipeline
input: {q: str}
tools: tools.yaml
steps: [{id: a, call: TOOL, with: {ARGUMENT: "{{ q }}"}}]
answer: "{{ a }}"
"""
AGAIN = ONCE.replace("once", "again").replace("}}]", "}, retry: {attempts: 2}}]")
AGENT = """
workflow: agent
shape: constrained_loop
input: {q: str}
tools: tools.yaml
use: [lookup]
output: int
model: {name: scripted, replies: [{calls: [{tool: lookup, arguments: {code: abc}}]},
  {calls: [{tool: lookup, arguments: {code: abc}}]}, {calls: [{tool: submit, arguments: {answer: 3}}]}]}
prompt: "{{ q }}"
on_repeat: {tell: never, stop: never}
budget: {turns: 4}
"""
FAULT = '{error: "timed out", rate: 0.4}'


def written(
    folder: pathlib.Path, faults: str, *, tool: str = "lookup", argument: str = "code", n: int = 30
) -> pathlib.Path:
    """Three arms: one that calls a tool, one that does it again where that fails, one that asks for it twice."""
    arms = "\n".join(f"  {name}: {{workflow: {name}.yaml}}" for name in ("once", "again", "agent"))
    head = f"comparison: c\ntasks: tasks.jsonl\nscore: equals\nseed: 3\nwrites: allowed\narms:\n{arms}\n"
    texts = {"once": ONCE, "again": AGAIN}
    files = {f"{name}.yaml": text.replace("TOOL", tool).replace("ARGUMENT", argument) for name, text in texts.items()}
    files |= {"code.py": CODE, "tools.yaml": TOOLS, "inner.yaml": INNER, "agent.yaml": AGENT}
    files["tasks.jsonl"] = "".join(json.dumps({"id": f"t{k}", "q": "abc", "expected": 3}) + "\n" for k in range(n))
    files["c.yaml"] = f"{head}faults: {faults}\n"
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    return folder / "c.yaml"


def compared(file: pathlib.Path) -> Result:
    return asyncio.run(execution.compare(comparison.load(file)))


def struck(result: Result, arm: str) -> list[str]:
    return [trial.task for trial in result.final if trial.arm == arm and trial.trace.faults]


def test_every_arm_meets_the_same_faults(tmp_path: pathlib.Path) -> None:
    """The first call of the tool is struck on the same tasks, in a pipeline as in a loop."""
    result = compared(written(tmp_path, f"{{lookup: {FAULT}}}"))
    first = struck(result, "once")
    assert 5 < len(first) < 20
    for arm in ("again", "agent"):
        assert set(first) <= set(struck(result, arm))
    assert sorted(struck(compared(tmp_path / "c.yaml"), "once")) == sorted(first)


def test_the_report_tells_how_many_runs_recovered(tmp_path: pathlib.Path) -> None:
    """Beside the runs without the fault: one arm never recovers, one often does, one does not mind."""
    result = compared(written(tmp_path, f"{{lookup: {FAULT}}}"))
    found = {one.arm: one for one in report(result).recoveries}
    once = len(struck(result, "once"))
    assert (found["once"].struck.right, found["once"].struck.runs) == (0, once)
    assert (found["once"].others.right, found["once"].others.runs) == (30 - once, 30 - once)
    assert 0 < found["again"].struck.right < found["again"].struck.runs
    assert found["agent"].struck.right == found["agent"].struck.runs
    assert found["once"].struck.interval is not None
    assert found["once"].fault == 'error "timed out" at a rate of 0.4'
    assert "faults were put into tools" in report(result).warnings[0]


def test_a_fault_takes_the_place_of_the_call(tmp_path: pathlib.Path) -> None:
    """The model is told an error like any other; what writes does not write."""
    [trial] = [
        t for t in compared(written(tmp_path, '{lookup: {error: "timed out", at: 1}}', n=1)).final if t.arm == "agent"
    ]
    calls = json.loads(bytes(trial.calls))
    assert [(call["status"], call["content"], call.get("fault", "")) for call in calls[:2]] == [
        ("tool_error", "lookup failed: timed out", "error"),
        ("ok", "3", ""),
    ]
    result = compared(written(tmp_path, '{pay: {value: "paid"}}', tool="pay", argument="amount", n=1))
    assert [bytes(trial.answer) for trial in result.final if trial.arm == "once"] == [b'"paid"']


@pytest.mark.parametrize(("fault", "answer"), [("{value: 7}", 7), ("{value: {a: 1}}", {"a": 1}), ("{delay: 1ms}", 3)])
def test_a_fault_can_be_a_value_or_a_delay(tmp_path: pathlib.Path, fault: str, answer: Any) -> None:
    """A wrong value is an answer; a delay alone only takes time."""
    [trial] = [t for t in compared(written(tmp_path, f"{{lookup: {fault}}}", n=1)).final if t.arm == "once"]
    assert json.loads(bytes(trial.answer)) == answer
    assert trial.trace.faults == ("lookup",)


def test_a_delay_past_the_timeout_times_out(tmp_path: pathlib.Path) -> None:
    """As a slow tool would."""
    file = written(tmp_path, "{lookup: {delay: 60s}}", n=1)
    (tmp_path / "tools.yaml").write_text(TOOLS.replace("inline: true", "timeout: 10ms"), "utf-8")
    [trial] = [trial for trial in compared(file).final if trial.arm == "once"]
    assert (trial.exit, "timed_out" in trial.note) == ("step_failed", True)


def test_a_workflow_that_is_a_tool_is_struck_as_a_whole(tmp_path: pathlib.Path) -> None:
    """Nothing in it runs then; and its own tools can be struck by themselves."""
    result = compared(written(tmp_path, '{inner: {error: "down", at: 1}}', tool="inner", argument="q", n=1))
    by_arm = {trial.arm: trial for trial in result.final}
    assert ("down" in by_arm["once"].note, by_arm["once"].tool_calls) == (True, 1)
    assert (by_arm["again"].right, by_arm["again"].trace.faults) == (True, ("inner",))
    result = compared(written(tmp_path, '{lookup: {error: "down", at: 1}}', tool="inner", argument="q", n=1))
    assert [t.trace.faults for t in result.final if t.arm == "once"] == [("lookup",)]


@pytest.mark.parametrize("tool", ["lookup", "inner"])
def test_a_comparison_with_faults_replays_as_it_was(tmp_path: pathlib.Path, tool: str) -> None:
    """What struck is in the recording, so that no seed is needed; a comparison that goes on meets the same."""
    argument = "code" if tool == "lookup" else "q"
    file = written(tmp_path, f"{{{tool}: {FAULT}}}", tool=tool, argument=argument)
    first = json.loads(command("compare", file, "--json").stdout)
    again = json.loads(command("compare", file, "--replay", "last", "--json").stdout)
    figures = [[(one["arm"], one["struck"], one["others"]) for one in told["recoveries"]] for told in (first, again)]
    assert figures[0] == figures[1]
    assert figures[0][0][0] == "once"
    assert again["verdict"]["token"] == first["verdict"]["token"]
    shown = command("compare", file, "--replay", "last").stdout
    assert "recovered" in shown
    assert "without it" in shown


@pytest.mark.parametrize(
    ("faults", "said"),
    [
        ("{lokup: {error: down}}", "no arm has a tool 'lokup'"),
        ("{lookup: {rate: 0.2}}", "a fault that does nothing"),
        ("{lookup: {error: down, value: 1}}", "a call ends in an `error` or a `value`, not in both"),
        ("{lookup: {error: down, rate: 0.2, at: 1}}", "`at` is one call, and `rate` a share of all"),
        ("{lookup: {error: down, rate: 0}}", "`rate` must be more than 0"),
        ("{inner: {delay: 1s}}", "'inner' runs a workflow, which a mere `delay` cannot be put into"),
    ],
)
def test_faults_that_cannot_be_put_in_are_faults_of_the_file(tmp_path: pathlib.Path, faults: str, said: str) -> None:
    """Each at its place, before anything runs."""
    tool, argument = ("inner", "q") if "inner" in faults else ("lookup", "code")
    found = load(written(tmp_path, faults, tool=tool, argument=argument)).faults
    assert [said in fault.what for fault in found] == [True], found
    assert "did you mean 'lookup'?" in found[0].instead or "lokup" not in faults


@given(st.integers(), st.text(), st.integers(0, 9), st.integers(1, 50))
def test_what_is_drawn_depends_on_the_call_alone(seed: int, task: str, repeat: int, n: int) -> None:
    """Seed, task, repeat, tool and number."""
    one = drawn(seed, task, repeat, "t", n)
    assert 0 <= one < 1
    assert one == drawn(seed, task, repeat, "t", n)


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_the_rate_is_the_share_of_the_calls(rate: float) -> None:
    """Over many runs."""
    strike = Strike("error", "x")
    hits = [Faults({"t": Injected(strike, rate)}, 1, f"t{k}", 0).strike("t") is not None for k in range(4000)]
    assert sum(hits) / len(hits) == pytest.approx(rate, abs=0.03)
