"""All that a comparison can be made of, on a worker that shares a file with the submitter."""

from __future__ import annotations

import asyncio
import json
import pathlib
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from loopworth.comparisons.comparison import load
from loopworth.comparisons.execution import compare
from loopworth.comparisons.progress import Progress
from loopworth.comparisons.result import Result
from loopworth.runs.home import home
from tests.cli.kit import command
from tests.comparisons import test_control_runs as controls
from tests.comparisons.test_judge import Referee
from tests.endpoint import FakeEndpoint, Received, said
from tests.fleet.hosts import Host, Sent, fleet, runs_done
from tests.fleet.sameness import timeless, told
from tests.fleet.turnstile import questions

pytest.importorskip("dbos", reason="no fleet without the extra `fleet`")
N = 4
"""Tasks, each with two runs of each of four or five arms."""
ROWS = 8
"""Rows that people labelled."""
PIPELINE = """
workflow: {name}
shape: pipeline
input: {{q: str, a: str}}
model: {{name: vllm/m, base_url: "{url}", seed: 1}}
steps:
  - {{id: said, {step}}}
answer: "{{{{ said }}}}"
"""
PROGRAM = """
def shouts(q, a):
    return {"answer": a.upper(), "usage": {"prompt_tokens": 7, "completion_tokens": 1, "usd": 0.01}}
"""
COMMAND = """
import json, sys
print(json.dumps({"answer": json.loads(sys.stdin.readline())["a"]}))
"""
KINDS = """
comparison: kinds
tasks: tasks.jsonl
repeats: 2
score: {score}
arms:
  asks: {{workflow: asks.yaml}}
  says: {{workflow: says.yaml}}
  program: {{python: "app:shouts"}}
  script: {{command: ["{python}", script.py]}}
  {log}
"""
JUDGED = '{{judge: {{model: {{name: vllm/referee, base_url: "{url}"}}, labels: labelled.jsonl}}}}'
LOGGED = """
comparison: october
tasks: tasks.jsonl
repeats: 2
score: equals
arms: {october: {workflow: says.yaml}, asks: {workflow: asks.yaml}}
"""


class Ends:
    """A referee, and a model that answers every question with the last word of it."""

    def __init__(self) -> None:
        self.referee = Referee()

    def __call__(self, received: Received) -> Any:
        if received.body["model"] == "referee":
            return self.referee(received)
        return said(received.body["messages"][-1]["content"].split()[-1])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[pathlib.Path]:
    """The folder of a project, where a worker serves the store."""
    found = tmp_path_factory.mktemp("kinds")
    home(found / "runs.db").migrate()
    worker = Host(str(found / "runs.db"), found).ready()
    yield found
    worker.leave()
    assert "runs made" in worker.said()


@pytest.fixture(autouse=True)
def here(folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where one stands, and what is kept there."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("LOOPWORTH_STORE", str(folder / "runs.db"))


def kinds(folder: pathlib.Path, url: str, judged: bool) -> pathlib.Path:
    """A comparison of every kind of arm; with a judge that is held against labels, or with runs of a log."""
    steps = {"asks": 'ask: "What is {{ q }}? It is {{ a }}"', "says": 'set: "{{ a }}"'}
    for name, step in steps.items():
        (folder / f"{name}.yaml").write_text(PIPELINE.format(name=name, url=url, step=step), "utf-8")
    (folder / "app.py").write_text(PROGRAM, "utf-8")
    (folder / "script.py").write_text(COMMAND, "utf-8")
    tasks = [{"id": k, "q": f"word {k}", "a": f"w{k}", "expected": f"w{k}" if k % 3 else "else"} for k in range(N)]
    (folder / "tasks.jsonl").write_text("\n".join(map(json.dumps, tasks)), "utf-8")
    rows = [{"q": "", "answer": "Yes" if k % 2 else "No", "expected": "yes", "right": bool(k % 2)} for k in range(ROWS)]
    (folder / "labelled.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    (folder / "october.yaml").write_text(LOGGED, "utf-8")
    log, score = ("", JUDGED.format(url=url)) if judged else ("october: {log: october.jsonl}", "equals")
    (folder / "kinds.yaml").write_text(KINDS.format(url=url, python=sys.executable, log=log, score=score), "utf-8")
    return folder / "kinds.yaml"


def alike(here: Result, there: Result) -> dict[str, Any]:
    """What differs, but for times."""
    one, other = (timeless(told(result)) for result in (here, there))
    return dict(differing(one, other))


def differing(one: Any, other: Any, at: str = "") -> Iterator[tuple[str, Any]]:
    """The places at which two documents differ, with what stands there."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for name in one:
            yield from differing(one[name], other[name], f"{at}.{name}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for n, both in enumerate(zip(one, other, strict=True)):
            yield from differing(*both, f"{at}[{n}]")
    elif one != other:
        yield at, (one, other)


@pytest.mark.parametrize("judged", [False, True])
def test_every_kind_of_arm_and_score_is_made_by_a_fleet_as_by_one_process(folder: pathlib.Path, judged: bool) -> None:
    """Models, fixed steps, programs, commands, runs of a log, repeats, and a judge with its labelled rows."""
    with FakeEndpoint(last=Ends()) as fake:
        file = kinds(folder, fake.base_url, judged)
        if not judged:
            assert command("compare", folder / "october.yaml").exit_code == 0
            (folder / "october.jsonl").write_text(command("runs", "export", "last").stdout, "utf-8")
        here = asyncio.run(compare(load(file)))
        there = fleet(str(folder / "runs.db"), file, folder)
    assert here.verdict is not None
    assert len(there.trials) == len(here.trials)
    assert alike(here, there) == {}


def found(*words: object) -> dict[str, Any]:
    done = command("compare", *map(str, words), "--json")
    assert done.exit_code == 0, done.output
    return dict(timeless(json.loads(done.stdout)))


def test_controls_are_made_beside_a_fleet(folder: pathlib.Path) -> None:
    """By the submitter, of what workers left it; as one process makes them."""
    with FakeEndpoint(last=controls.Models()) as fake:
        file = controls.written(folder, fake, n=12)
        here, there = found(file, "--no-store"), found(file, "--fleet")
    assert [one["kind"] for one in there["controls"]] == ["retry", "pasted"]
    assert (there["controls"], there["verdict"], there["arms"]) == (here["controls"], here["verdict"], here["arms"])


def test_a_judged_comparison_goes_on_after_an_interruption(folder: pathlib.Path) -> None:
    """On a fleet: nothing that was made is made again, and of labelled rows the judge is not asked again."""
    ends = Ends()
    with FakeEndpoint(last=ends) as fake:
        file = kinds(folder, fake.base_url, True)
        here, sent = found(file, "--no-store"), Sent(str(folder / "runs.db"), file, folder)

        async def interrupted() -> Result:
            def watch(progress: Progress) -> None:
                if runs_done(progress) >= N:
                    task.cancel()

            task = asyncio.ensure_future(sent.result(watch=watch))
            return await task

        ends.referee.most = ends.referee.count + 2 * ROWS + 4 * N  # then it holds what comes
        first = asyncio.run(interrupted())
        ends.referee.most = None
        ends.referee.release.set()
        fake.requests.clear()
        again = found(file, "--fleet", "--resume")
    kept = {one.planned for one in first.trials}
    assert first.interrupted
    assert N <= len(kept) < len(again["trials"])
    assert (again["verdict"], again["arms"], again["judge"]) == (here["verdict"], here["arms"], here["judge"])
    assert len(again["trials"]) == 2 * 4 * N
    judged = [json.loads(one)["answer"] for one in questions(fake) if one.startswith("{")]
    assert judged
    assert not {"Yes", "No"} & set(judged)
