"""One measurement in one process: prints a line of JSON with the CPU seconds per model call.

    python worker.py PEER:SUBJECT URL --k 5 --tasks 40
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import importlib
import json
import pathlib
import sys
import time
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "peers")]


def task(k: int, i: int) -> str:
    return f"[[seq:{k}:t{i}]] Look up the items one after another, then answer."


def ask(url: str, method: str, path: str) -> dict[str, int]:
    """The endpoint's own counters."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc)
    connection.request(method, path)
    told: dict[str, int] = json.loads(connection.getresponse().read())
    connection.close()
    return told


async def measure(run: Callable[[str], Awaitable[str]], url: str, k: int, tasks: int) -> dict[str, float]:
    """Run the tasks one after another, after a warm-up; every answer and the number of calls are checked."""
    for i in range(3):
        await run(task(min(k, 5), i))
    ask(url, "POST", "/reset")
    began = time.process_time()
    answers = [await run(task(k, i)) for i in range(tasks)]
    spent = time.process_time() - began
    calls = ask(url, "GET", "/stats")["requests"]
    wrong = [i for i, answer in enumerate(answers) if f"DONE-t{i}" not in str(answer)]
    if wrong or calls != tasks * (k + 1):
        raise SystemExit(f"{calls} calls instead of {tasks * (k + 1)}; wrong: {[answers[i] for i in wrong[:3]]}")
    return {"cpu_seconds_per_call": spent / calls, "calls": calls}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("subject")
    parser.add_argument("url")
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--tasks", type=int, default=40)
    args = parser.parse_args()
    module, _, name = args.subject.partition(":")
    run = importlib.import_module(module).SUBJECTS[name].make(args.url, args.k)
    print(json.dumps(asyncio.run(measure(run, args.url, args.k, args.tasks))))


if __name__ == "__main__":
    main()
