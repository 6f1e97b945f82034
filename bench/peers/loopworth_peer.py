"""loopworth: the same lookups as a constrained loop, as a pipeline, and as a comparison of both. Recording is on."""

from __future__ import annotations

import asyncio
import json
import pathlib
import re
import tempfile
from collections.abc import Awaitable, Callable, Sequence

from subject import Subject

LOOKUPS = pathlib.Path(__file__).resolve().parent / "lookups"
ADDRESS = "http://127.0.0.1:8000/v1"
STEP = """\
  - id: item_{n}
    ask: "[[seq:0:item]] Which item is number {n}? {before}"
  - id: value_{n}
    call: lookup
    with: {{key: "{{{{ 'item-{n}' if item_{n} else '' }}}}"}}
"""


def written(url: str, k: int, folder: pathlib.Path) -> None:
    """The workflow files for this endpoint; the pipeline has a model step and a lookup for each of k items."""
    steps = "".join(STEP.format(n=n, before=f"{{{{ value_{n - 1} }}}}" if n > 1 else "") for n in range(1, k + 1))
    for file in LOOKUPS.iterdir():
        if file.is_file():
            text = file.read_text("utf-8").replace(ADDRESS, url).replace("steps:\n", f"steps:\n{steps}")
            (folder / file.name).write_text(text.replace("value_k", f"value_{k}"), "utf-8")


def workflow(name: str) -> Callable[[str, int], Callable[[str], Awaitable[str]]]:
    """A factory of runs of one workflow: compiled once, its models open as long as the process."""

    def make(url: str, k: int) -> Callable[[str], Awaitable[str]]:
        import loopworth
        from loopworth.runs.journal import MemoryJournal

        folder = tempfile.TemporaryDirectory()
        written(url, k, pathlib.Path(folder.name))
        compiled = loopworth.compile(pathlib.Path(folder.name) / name)
        opening = loopworth.opened(compiled)
        models = None

        async def run(prompt: str) -> str:
            nonlocal models
            if models is None:
                models = await opening.__aenter__()
            outcome = await loopworth.run(compiled, {"prompt": prompt}, models=models, journal=MemoryJournal())
            folder.cleanup()  # kept until the first run: the tool's file is read when the workflow is compiled
            return str(outcome.answer or outcome)

        return run

    return make


def comparison(url: str, k: int) -> Callable[[Sequence[str], int], list[str]]:
    """Both workflows as arms of one comparison; the answers are the agent's."""

    def run(prompts: Sequence[str], concurrency: int) -> list[str]:
        import loopworth

        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            written(url, k, folder)
            for file in ("agent.yaml", "pipeline.yaml"):
                text = (folder / file).read_text("utf-8").replace(f'"{url}"', f'"{url}", concurrency: {concurrency}')
                (folder / file).write_text(text, "utf-8")
            tasks = [{"id": f"n{n}", "prompt": p, "expected": done(p)} for n, p in enumerate(prompts)]
            (folder / "tasks.jsonl").write_text("\n".join(map(json.dumps, tasks)), "utf-8")
            result = asyncio.run(loopworth.compare(folder / "comparison.yaml"))
        answers = {trial.task: json.loads(bytes(trial.answer)) for trial in result.trials if trial.arm == "agent"}
        return [answers[task["id"]] for task in tasks]

    return run


def done(prompt: str) -> str:
    """The answer that the endpoint's script ends with."""
    match = re.search(r":(\w+)\]\]", prompt)
    return f"DONE-{match[1]}" if match else ""


SUBJECTS = {
    "agent": Subject(workflow("agent.yaml"), "async", "loopworth"),
    "pipeline": Subject(workflow("pipeline.yaml"), "async", "loopworth"),
    "compare": Subject(comparison, "harness", "loopworth"),
}
