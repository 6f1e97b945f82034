"""Workers in processes of their own, and what they work on."""

from __future__ import annotations

import asyncio
import json
import os
import pathlib
import signal
import subprocess
import sys
from contextlib import closing
from typing import Any

from loopworth.comparisons.comparison import Comparison, load
from loopworth.comparisons.execution import compare
from loopworth.comparisons.fleet.chunk import Chunk, Ordered
from loopworth.comparisons.keeper import StoreKeeper
from loopworth.comparisons.progress import Progress
from loopworth.comparisons.result import Result
from loopworth.comparisons.schedule import plan
from loopworth.runs.store import Store, new_id
from tests.endpoint import FakeEndpoint

FILES = {
    "asks.yaml": """
workflow: asks
shape: pipeline
input: {question: str}
model: {name: scripted, replies: {said: {text: "4", usage: {prompt_tokens: 10, completion_tokens: 1}}}}
steps:
  - {id: said, ask: "{{ question }}"}
answer: "{{ said }}"
""",
    "loop.yaml": """
workflow: loop
shape: constrained_loop
input: {question: str}
model:
  name: scripted
  replies:
    - {calls: [{tool: look, arguments: {code: a}}], usage: {prompt_tokens: 10, completion_tokens: 1}}
    - {text: "5", usage: {prompt_tokens: 20, completion_tokens: 2}}
tools: {look: {python: "looking:look", effect: read, inline: true}}
prompt: "{{ question }}"
use: [look]
finish: text
budget: {turns: 4}
""",
    "looking.py": '''
def look(code: str) -> str:
    """Look a code up."""
    return f"found {code}"
''',
}
SCRIPTED = "{asks: {workflow: asks.yaml}, loop: {workflow: loop.yaml}}"
KEYED = "concurrency: 16, api_key: {env: LOOPWORTH_HOST}"
"""A model of which 16 calls may be under way, with a key that tells which host asked."""


def written(folder: pathlib.Path, name: str, n: int, arms: str = SCRIPTED, more: str = "") -> pathlib.Path:
    """A comparison on so many tasks, of which the first arm is right on two in three."""
    for file, text in FILES.items():
        if not (folder / file).exists():
            (folder / file).write_text(text, "utf-8")
    tasks = ({"id": f"t{i}", "question": f"{name} {i}", "expected": "4" if i % 3 else "5"} for i in range(n))
    (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, tasks)), "utf-8")
    file = folder / f"{name}.yaml"
    head = f"comparison: {name}\ntasks: {name}.jsonl\nscore: equals\nseed: 3\narms: {arms}\n"
    file.write_text(head + more, "utf-8")
    return file


def asking(
    folder: pathlib.Path, name: str, n: int, fake: FakeEndpoint, model: str = "concurrency: 16", more: str = ""
) -> pathlib.Path:
    """A comparison whose first arm asks a model at an endpoint, once a task; beside it may stand the scripted loop."""
    block = f'model: {{name: vllm/fake, base_url: "{fake.base_url}", {model}}}'
    lines = (block if line.startswith("model:") else line for line in FILES["asks.yaml"].splitlines())
    (folder / f"{name}-asks.yaml").write_text("\n".join(lines), "utf-8")
    loop = ", loop: {workflow: loop.yaml}" if more else ""
    return written(folder, name, n, f"{{asks: {{workflow: {name}-asks.yaml}}{loop}}}", more)


def chunk_of(store: Store, file: pathlib.Path) -> Chunk:
    """All runs of a comparison, which is entered into the store."""
    comparison = load(file)
    keeper = StoreKeeper.anew(store, comparison)
    order = plan(comparison, [arm.name for arm in comparison.arms], 1)
    runs = tuple(Ordered(one.arm, one.task, one.repeat, 0, n) for n, one in enumerate(order))
    return Chunk(keeper.id, 1, keeper.began, file.name, dict(comparison.files), 4, runs)


class Host:
    """A worker as it runs on some host."""

    def __init__(self, store: str, project: pathlib.Path) -> None:
        self.key = f"host-{new_id()}"
        words = [sys.executable, "-m", "loopworth", "worker", "--store", store, "--project", str(project)]
        self.process = subprocess.Popen(
            [*words, "--patience", "3"],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "LOOPWORTH_HOST": self.key},
        )
        self.id = ""

    def ready(self) -> Host:
        assert self.process.stderr is not None
        line = self.process.stderr.readline()
        assert line.startswith("worker "), line
        self.id = line.split()[1]
        return self

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()

    def leave(self) -> None:
        """Told to as a service manager tells it."""
        self.process.send_signal(signal.SIGTERM)

    def said(self) -> str:
        """What it said until it ended."""
        return self.process.communicate(timeout=30)[1]


class Sent:
    """A comparison that is sent to the workers of a store from this process."""

    def __init__(self, store: str, file: pathlib.Path, project: pathlib.Path) -> None:
        self.place, self.project = store, project
        self.comparison: Comparison = load(file)
        self.id = ""
        self.told: list[str] = []

    async def result(self, resume: bool = False, watch: Any = None) -> Result:
        from loopworth.comparisons.fleet.engine import Queue
        from loopworth.comparisons.fleet.submitter import Submitter

        store = Store(self.place)
        if resume:
            keeper = StoreKeeper.going_on(store, self.comparison, self.id, True)
        else:
            keeper = StoreKeeper.anew(store, self.comparison)
        self.id = keeper.id
        with closing(store), closing(Queue(store.home)) as queue:
            crew = Submitter(self.comparison, keeper, queue, True, self.told.append, self.project)
            return await compare(self.comparison, keeper=keeper, crew=crew, watch=watch)


def fleet(store: str, file: pathlib.Path, project: pathlib.Path) -> Result:
    return asyncio.run(Sent(store, file, project).result())


def runs_done(progress: Progress) -> int:
    return sum(progress.done.values())
