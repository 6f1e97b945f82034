"""A comparison that is killed goes on where it was."""

from __future__ import annotations

import json
import os
import pathlib
import random
import signal
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from loopworth.runs.store_file import reading
from tests.endpoint import Answer, FakeEndpoint, Received, called, said
from tests.forks import Forks

ROOT = pathlib.Path(__file__).resolve().parents[2]
TASKS, SLOTS, KILLS = 100, 4, 30
COMPARISON = """
comparison: killed
tasks: tasks.jsonl
score: equals
arms:
  asks: {workflow: asks.yaml}
  loop: {workflow: loop.yaml}
seed: 3
"""
ASKS = """
workflow: asks
shape: pipeline
input: {question: str}
model: {name: vllm/fake, base_url: "BASE", concurrency: 4}
steps:
  - id: said
    ask: "{{ question }}"
answer: "{{ said }}"
"""
LOOP = """
workflow: loop
shape: constrained_loop
input: {question: str}
model: {name: vllm/fake, base_url: "BASE", concurrency: 4}
tools: {look: {python: "looking:look", effect: read, inline: true}}
prompt: "{{ question }}"
use: [look]
finish: text
budget: {turns: 4}
"""
LOOKING = '''
def look(code: str) -> str:
    """Look a code up."""
    return f"found {code}"
'''


def answered(received: Received) -> Any:
    """Looks up first where it may, then answers; every seventh answer is wrong."""
    messages = received.body["messages"]
    question = next(m["content"] for m in messages if m["role"] == "user")
    if received.body.get("tools") and messages[-1]["role"] != "tool":
        return called(("look", {"code": question}))
    return Answer(200, said("?" if int(question) % 7 == 0 else question), delay=0.002)


class Lives:
    """Begins the command again and again."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.forks = Forks(PYTHONPATH=str(ROOT), LOOPWORTH_STORE=str(folder / "runs.db"))

    def begin(self, *words: str) -> int:
        """The id of a process that runs the command."""
        out = self.folder / "out.txt"
        return self.forks.begin(words, self.folder, out, out)

    def end(self) -> int:
        """The exit status of the last process."""
        return self.forks.end()

    @property
    def out(self) -> str:
        return (self.folder / "out.txt").read_text("utf-8")

    def close(self) -> None:
        self.forks.process.communicate()


@pytest.fixture
def endpoint() -> Iterator[FakeEndpoint]:
    with FakeEndpoint(last=answered) as fake:
        yield fake


@pytest.fixture
def lives(tmp_path: pathlib.Path, endpoint: FakeEndpoint) -> Iterator[Lives]:
    files = {"comparison.yaml": COMPARISON, "asks.yaml": ASKS, "loop.yaml": LOOP, "looking.py": LOOKING}
    for name, text in files.items():
        (tmp_path / name).write_text(text.replace("BASE", endpoint.base_url), "utf-8")
    lines = [json.dumps({"question": str(k), "expected": str(k)}) for k in range(TASKS)]
    (tmp_path / "tasks.jsonl").write_text("\n".join(lines), "utf-8")
    made = Lives(tmp_path)
    yield made
    made.close()


TRIALS = """
select trial.arm, task, repeat, attempt, correct from trial join run on run.id = trial.run where state = 'done'
"""
CALLS = "select count(*) from effect where kind = 'model'"


def asked(store: pathlib.Path, question: str) -> list[Any]:
    """What a store holds, as another process sees it."""
    with closing(reading(store)) as db:
        return sorted(db.execute(question).fetchall())


def killed(lives: Lives, endpoint: FakeEndpoint, target: int, late: float) -> None:
    """Go on with the comparison, and kill it a little after the endpoint's so-many-th request."""
    pid = lives.begin("compare", "comparison.yaml", "--resume")
    deadline = time.monotonic() + 60
    while len(endpoint.requests) < target:
        assert time.monotonic() < deadline, lives.out
        time.sleep(0.001)
    time.sleep(late)
    os.kill(pid, signal.SIGKILL)
    assert lives.end() == -signal.SIGKILL, lives.out


def test_thirty_kills_change_nothing_and_cost_no_more_than_what_was_in_flight(
    lives: Lives, endpoint: FakeEndpoint
) -> None:
    """SIGKILL at seeded times: the keys and scores of an undisturbed run, and of what the endpoint answered nothing is
    asked again but the calls that were in flight at a kill."""
    lives.begin("compare", "comparison.yaml", "--store", "whole.db")
    assert lives.end() == 0, lives.out
    whole, store = asked(lives.folder / "whole.db", TRIALS), lives.folder / "runs.db"
    undisturbed = len(endpoint.requests)
    assert (len(whole), undisturbed) == (2 * TASKS, 3 * TASKS)
    endpoint.requests.clear()
    chance, lost = random.Random(20), [0]
    for _ in range(KILLS):
        more = chance.randint(1, undisturbed // KILLS + 2)
        killed(lives, endpoint, min(len(endpoint.requests) + more, undisturbed), chance.uniform(0, 0.01))
        lost.append(len(endpoint.requests) - asked(store, CALLS)[0][0])
    lives.begin("compare", "comparison.yaml", "--resume")
    assert lives.end() == 0, lives.out
    assert asked(store, TRIALS) == whole
    assert all(0 <= calls <= SLOTS * kills for kills, calls in enumerate(lost)), lost  # some are heard of after a kill
    assert (asked(store, CALLS), len(endpoint.requests)) == ([(undisturbed,)], undisturbed + lost[-1])
    assert asked(store, "pragma integrity_check") == [("ok",)]
