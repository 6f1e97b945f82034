"""Controls: what an agent owes to its loop. They describe, and run only where a file, or a verdict, calls for them."""

from __future__ import annotations

import asyncio
import json
import pathlib
from typing import Any

import pytest

from loopworth.comparisons.arms import Control
from loopworth.comparisons.comparison import load
from loopworth.comparisons.controls import majority, pasted, pools, votes
from loopworth.comparisons.execution import compare
from loopworth.comparisons.export import to_json
from loopworth.comparisons.result import Result
from loopworth.comparisons.trial import tried
from loopworth.models import ModelSpec
from loopworth.runs.message import Reply, ToolCall
from loopworth.runs.observation import Observation
from loopworth.runs.outcome import Outcome
from loopworth.runs.usage import Usage
from tests.cli.kit import command, written
from tests.comparisons.contenders import Endpoint, reply

PIPELINE = """\
workflow: guess
shape: pipeline
input: {n: int}
output: int
model: vllm/small
steps:
  - id: said
    ask: "Secret of {{ n }}?"
    output: int
answer: "{{ said }}"
"""
AGENT = """\
workflow: look
shape: constrained_loop
input: {n: int}
output: int
model: vllm/large
tools: {secret: {python: "secrets_of:secret", effect: read}}
use: [secret]
finish: text
prompt: "What is the secret of {{ n }}?"
budget: {turns: 4}
"""
TOOL = "def secret(n: int) -> int:\n    '''The secret of n.'''\n    return 1000 + n\n"
COMPARISON = """\
comparison: secrets
tasks: tasks.jsonl
score: {number: {tolerance: 0}}
arms:
  pipeline: {workflow: pipeline.yaml}
  agent: {workflow: agent.yaml}
"""


def files(folder: pathlib.Path, more: str = "", n: int = 30) -> pathlib.Path:
    written(folder, pipeline=PIPELINE, agent=AGENT, comparison=COMPARISON + more)
    (folder / "secrets_of.py").write_text(TOOL, "utf-8")
    rows = [json.dumps({"id": f"n{k}", "n": k, "expected": 1000 + k}) for k in range(n)]
    (folder / "tasks.jsonl").write_text("\n".join(rows), "utf-8")
    return folder / "comparison.yaml"


def large(text: str, messages: list[Any], usage: Usage) -> Reply:
    """Looks the secret up, and says what it last read; without a tool it reads what is pasted."""
    told = [m["content"] for m in messages if m["role"] == "tool"] or [
        line.rpartition(": ")[2]
        for m in messages
        for line in str(m["content"]).splitlines()
        if line.startswith("secret {")
    ]
    if "without any tool" in str(messages[-1]["content"]):
        return reply(f'{{"answer": {told[-1] if told else 7}}}', usage)
    if told:
        return reply(str(told[-1]), usage)
    n = text.removeprefix("What is the secret of ").rstrip("?")
    call = {"id": "c1", "type": "function", "function": {"name": "secret", "arguments": f'{{"n": {n}}}'}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return Reply(message, (ToolCall("c1", "secret", f'{{"n": {n}}}'),), finish="tool_calls", usage=usage)


class Large(Endpoint):
    async def reply(self, request: Any, seconds: float | None) -> Reply:
        self.asked.append(request)
        return large(str(request.messages[0]["content"]), request.messages, Usage(100, 10, usd=0.002))


def run(path: pathlib.Path) -> tuple[Result, Endpoint, Endpoint]:
    models = {
        "vllm/small": Endpoint(lambda q, n: reply("3", Usage(20, 2, usd=0.001))),
        "vllm/large": Large(lambda q, n: q),
    }

    def open(spec: ModelSpec) -> Any:
        return models[spec.name]

    return asyncio.run(compare(load(path), open=open)), models["vllm/small"], models["vllm/large"]


def figures(result: Result) -> dict[str, tuple[int, int]]:
    found = json.loads(to_json(result))["controls"]
    return {one["kind"]: (one["figures"]["accuracy"]["right"], one["figures"]["accuracy"]["runs"]) for one in found}


def test_an_agent_that_earns_is_held_against_retrying_and_pasting(tmp_path: pathlib.Path) -> None:
    """Without a word in the file: first `retry`, then `pasted`, on the tasks that it ran."""
    result, *_ = run(files(tmp_path))
    assert result.verdict is not None
    assert result.verdict.token == "earns"
    assert [one.control.kind for one in result.controls] == ["retry", "pasted"]
    assert figures(result) == {"retry": (0, 30), "pasted": (30, 30)}
    assert "retrying" not in result.verdict.words


def test_where_the_pipeline_stays_nothing_is_controlled(tmp_path: pathlib.Path) -> None:
    """No control is run, and no money spent on one."""
    result, _, large = run(files(tmp_path, "decide: {min_gain: 0.999}\n", 4))
    assert result.controls == ()
    assert len(large.asked) == 8


def test_named_controls_run_whatever_the_verdict(tmp_path: pathlib.Path) -> None:
    """They are no arms: outside the verdict and its error. What is shuffled is found, and wrong."""
    named = "".join(f"  {kind}: {{control: {kind}, of: agent}}\n" for kind in ("no_tools", "shuffled", "pasted"))
    result, *_ = run(files(tmp_path, named, 8))
    assert result.verdict is not None
    assert [one.arm for one in result.verdict.arms] == ["agent"]
    assert result.verdict.arms[0].error == 0.05
    found = figures(result)
    assert (found["no_tools"], found["shuffled"], found["pasted"]) == ((0, 8), (0, 8), (8, 8))
    assert result.usd > sum(trial.usage.usd or 0 for trial in result.trials)


def test_an_agent_that_ties_with_retrying_says_so() -> None:
    """The votes that its cost pays for are as often right: the verdict carries that."""
    from loopworth.comparisons.control_phase import carried
    from loopworth.comparisons.controls import Controlled
    from tests.comparisons.contenders import Says, arm, compared, comparison

    arms = [arm("a", Says(lambda q: q if int(q) % 5 == 0 else "no")), arm("b", Says(str))]
    result = compared(comparison(arms, 40))
    control = Control("retry", "retry", "b")
    good = tuple(trial for trial in result.final if trial.arm == "b")
    bad = tuple(trial for trial in result.final if trial.arm == "a")
    tied, beaten = (carried(result, [Controlled(control, trials, 3)]) for trials in (good, bad))
    assert tied is not None
    assert "not shown better than retrying the baseline" in tied.words
    assert "not shown better than retrying the baseline" in tied.arms[0].words
    assert beaten == result.verdict


def test_votes_are_what_the_agents_cost_pays_for() -> None:
    """By dollars, else by tokens, else three; at most nine, and one where the baseline is as dear."""

    def runs(usd: float | None, tokens: int | None) -> list[Any]:
        from loopworth.comparisons.schedule import Planned
        from loopworth.runs.events import ModelCalled

        outcome = Outcome("x", events=[ModelCalled("1", "m", Usage(tokens, 0, usd=usd))])
        return [tried(Planned("a", "1", 0), outcome, None)]

    assert votes(runs(0.001, 1), runs(0.0041, 1)) == 4
    assert votes(runs(0.0, 100), runs(0.0, 250)) == 2
    assert votes(runs(0.001, 1), runs(1.0, 1)) == 9
    assert votes(runs(1.0, 1), runs(0.5, 1)) == 1
    assert votes(runs(None, None), runs(0.5, 1)) == 3


def test_a_majority_is_the_first_of_those_that_tie() -> None:
    """It is told by its place. Runs without an answer do not vote; without any it is the first."""
    assert majority([1, 2, 2, None]) == 1
    assert majority(["x", {"a": 1}, {"a": 1}]) == 1
    assert majority(["b", "a"]) == 0
    assert majority([None, None, ""]) == 2
    assert majority([None]) == 0


def test_what_is_pasted_and_shuffled_is_what_was_found() -> None:
    """Observations by tool; a task's own results are not among those it gets."""
    seen = Observation("c", "secret", "ok", "1001", 1001, {"n": 1})
    assert 'secret {"n": 1}: 1001' in pasted([seen])
    assert pools({"a": [seen], "b": []}, "b") == {"secret": [1001]}
    assert pools({"a": [seen], "b": []}, "a") == {}


@pytest.mark.parametrize(
    ("arm", "said"),
    [
        ("{control: pasted, of: pipeline}", "is no loop"),
        ("{control: pasted, of: agnet}", "there is no arm 'agnet'"),
        ("{control: pasted}", "needs `of`"),
    ],
)
def test_what_cannot_be_controlled_is_a_fault(tmp_path: pathlib.Path, arm: str, said: str) -> None:
    """At its place, before anything runs."""
    done = command("check", files(tmp_path, f"  held: {arm}\n"))
    assert done.exit_code == 2
    assert said in done.stdout + done.stderr
