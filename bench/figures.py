"""Three figures of what loopworth costs, without thresholds: python bench/figures.py [--rounds 5]

G1   CPU per model call, loopworth's loop / a bare loop on the openai client (5 lookups, recording on)
G5   CPU per model call of loopworth at 200 steps / at 10 steps
G6b  CPU of a process that imports loopworth / that imports openai

Both sides run in this environment, in one run, in alternation, each measurement in a fresh process; a figure is the
median of the rounds' ratios. Compare ratios, never microseconds.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import pathlib
import statistics
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version

HERE = pathlib.Path(__file__).resolve().parent
IMPORT = "import time, {}; print(time.process_time())"


@contextlib.contextmanager
def endpoint() -> Iterator[str]:
    """The scripted endpoint in a process of its own; gives its base URL."""
    command = [sys.executable, str(HERE / "endpoint.py")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        process.communicate()


def per_call(subject: str, url: str, k: int, tasks: int) -> float:
    """CPU seconds per model call of one subject in a fresh process."""
    command = [sys.executable, str(HERE / "worker.py"), subject, url, "--k", str(k), "--tasks", str(tasks)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{subject}: {done.stderr or done.stdout}")
    return float(json.loads(done.stdout)["cpu_seconds_per_call"])


def imported(module: str) -> float:
    """CPU seconds of a process that imports one module, the interpreter's own start included."""
    done = subprocess.run([sys.executable, "-c", IMPORT.format(module)], capture_output=True, text=True, check=True)
    return float(done.stdout)


def ratios(pairs: list[tuple[float, float]]) -> str:
    """Median and range of the rounds' ratios."""
    found = [mine / theirs for mine, theirs in pairs]
    return f"{statistics.median(found):.2f}  ({min(found):.2f}-{max(found):.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = range(parser.parse_args().rounds)
    agent, bare = "loopworth_peer:agent", "bare:loop"
    with endpoint() as url:
        calls = [(per_call(agent, url, 5, 40), per_call(bare, url, 5, 40)) for _ in rounds]
        growth = [(per_call(agent, url, 200, 2), per_call(agent, url, 10, 24)) for _ in rounds]
    imports = [(imported("loopworth"), imported("openai")) for _ in rounds]
    print(f"loopworth {version('loopworth')}, openai {version('openai')}, {len(rounds)} rounds: median (range)")
    print(f"G1   CPU per model call, loopworth / bare openai loop    {ratios(calls)}")
    print(f"G5   CPU per model call, 200 steps / 10 steps            {ratios(growth)}")
    print(f"G6b  CPU of import loopworth / import openai             {ratios(imports)}")


if __name__ == "__main__":
    main()
