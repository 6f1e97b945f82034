"""How long the HTML report of a big comparison takes, and how big it is: 10,000 tasks, 3 arms.

    python bench/reporting.py [--tasks 10000] [--output FILE]

The comparison is made up; its figures and verdict are those that loopworth finds. One clock runs from the JSON of the
comparison, with every transcript, to the bytes of the page, Altair's loading and charts included; the other is that of
the whole process of `loopworth report --html`, from the run store, which all runs were entered into before.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from loopworth.comparisons.basis import source
from loopworth.comparisons.comparison import Comparison, load
from loopworth.comparisons.export import read, to_json
from loopworth.comparisons.kept_trial import figures_of, score_of
from loopworth.comparisons.result import Result, settled
from loopworth.comparisons.schedule import Planned, plan
from loopworth.comparisons.scores import Score
from loopworth.comparisons.trace import traced
from loopworth.comparisons.trial import Trial, tried
from loopworth.comparisons.uncollected import uncollected
from loopworth.runs.events import ModelCalled
from loopworth.runs.kept import Kept
from loopworth.runs.outcome import Outcome, Said
from loopworth.runs.store import Store
from loopworth.runs.usage import Usage

ID = "0123456789"
ARMS = {"pipeline": 0.62, "router": 0.70, "agent": 0.78}
WORKFLOW = """\
workflow: {name}
shape: pipeline
input: {{question: str}}
steps:
  - {{id: said, set: "{{{{ question }}}}"}}
answer: "{{{{ said }}}}"
"""


def comparison(folder: Path, tasks: int) -> Comparison:
    for name in ARMS:
        (folder / f"{name}.yaml").write_text(WORKFLOW.format(name=name), "utf-8")
    rows = ({"id": f"t{k:05}", "question": f"q{k}", "expected": f"a{k}", "hops": k % 4 + 1} for k in range(tasks))
    (folder / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    arms = "".join(f"  {name}: {{workflow: {name}.yaml}}\n" for name in ARMS)
    file = folder / "comparison.yaml"
    head = "comparison: big\ntasks: tasks.jsonl\nscore: equals\ngroup_by: hops\nseed: 7\narms:\n"
    file.write_text(head + arms, "utf-8")
    return load(file)


def result(of: Comparison) -> Result:
    """Every arm on every task, and the verdict on that."""
    order = plan(of, tuple(ARMS), 1)
    trials = tuple(trial for trial, _ in runs(of))
    found = Result(of, order, trials, "2026-11-30T00:00:00+00:00", 3600.0, id=ID)
    return settled(found)


def runs(of: Comparison) -> Iterator[tuple[Trial, Outcome]]:
    """Every planned run, the same each time."""
    chance = random.Random(of.seed)
    return (run(chance, planned) for planned in plan(of, tuple(ARMS), 1))


def keep(of: Comparison, place: Path) -> None:
    """Enter the same runs into a store, as a comparison that ended."""
    store = Store(place)
    file, began = str(Path(of.file).resolve()), "2026-11-30T00:00:00+00:00"
    store.begin(Kept(ID, "comparison", of.name, file, began, input=source(of)))
    for n, (trial, outcome) in enumerate(runs(of), 1):
        ran = {"arm": trial.arm, "task": trial.task, "repeat": 0, "attempt": 0, "input": {"question": trial.task}}
        one = Kept(f"{ID}.{n}", "trial", trial.arm, file, began, parent=ID, **ran)
        store.enter(one, {}, outcome, score_of(trial), figures=figures_of(trial, outcome))
    store.end(ID, 1, "done", "", Usage(), 3600.0)
    store.close()


def run(chance: random.Random, planned: Planned) -> tuple[Trial, Outcome]:
    """A run of a few turns, right as often as its arm."""
    expected, turns = f"a{int(planned.task[1:])}", chance.randint(1, 4)
    right = chance.random() < ARMS[planned.arm]
    answer, seconds = expected if right else "I do not know.", chance.lognormvariate(0, 0.6)
    usage = Usage(200 * turns, 40, usd=0.0004 * turns)
    events = [
        ModelCalled(f"{turn}/ask", "vllm/made-up", usage, began=turn * seconds, seconds=seconds)
        for turn in range(1, turns + 1)
    ]
    texts = [("system", "Answer the question with one word."), ("user", f"What is {planned.task}?")]
    texts += [("assistant" if k % 2 else "tool", f"turn {k}: {chance.random()} " * 12) for k in range(2 * turns)]
    said = [Said("", {"role": role, "content": text}) for role, text in (*texts, ("assistant", answer))]
    outcome = Outcome(answer, "success", events=events, transcript=said, seconds=turns * seconds)
    return tried(planned, outcome, Score(right), trace=traced(outcome)), outcome


def page(found: dict[str, Any]) -> str:
    """The page, with all that is loaded for it."""
    from loopworth.comparisons.pages.charts import charts, inline
    from loopworth.comparisons.pages.html import html

    return html(found, drawings={name: inline(chart, name) for name, chart in charts(found).items()})


def main() -> None:
    words = argparse.ArgumentParser(description="How long the HTML report takes, and how big it is.")
    words.add_argument("--tasks", type=int, default=10_000)
    words.add_argument("--output", type=Path)
    given = words.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name)
        of = comparison(folder, given.tasks)
        document = to_json(result(of))
        keep(of, folder / "runs.db")
        print(f"{given.tasks:,} tasks x {len(ARMS)} arms, {len(document) / 1e6:.1f} MB of JSON")
        timed("the page, from the JSON", lambda: page(read(document)).encode())
        made = timed("the command, from the store", lambda: commanded(folder))
    if given.output:
        given.output.write_bytes(made)


def commanded(folder: Path) -> bytes:
    """The page that the command writes, in a process of its own."""
    file = folder / "report.html"
    words = ("report", ID, "--store", folder / "runs.db", "--html", file)
    subprocess.run([sys.executable, "-m", "loopworth", *words], check=True, capture_output=True)
    return file.read_bytes()


def timed(name: str, make: Callable[[], bytes]) -> bytes:
    """The page, with how big it is and what it took said."""
    began = perf_counter()
    with uncollected():  # as the command does
        made = make()
    seconds = perf_counter() - began
    print(f"{name}: {len(made) / 1e6:.2f} MB (at most 8), {seconds:.2f} s (at most 5)", flush=True)
    return made


if __name__ == "__main__":
    main()
