"""`loopworth …` in a process of its own that need not load it again: each is a fork of one that has.

with Forks(COLUMNS="120") as forks:
    done = forks.run(["check", "agent.yaml"], folder)
    done.returncode, done.stdout, done.stderr
"""

from __future__ import annotations

import json
import os
import pathlib
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

LOADED = ("loopworth.cli.app", "loopworth.comparisons.pages.html", "instructor", "scipy.special")
"""What most commands load, and none changes."""


class Forks:
    """The process that has all loaded; `environ` is added to the environment of each command."""

    def __init__(self, **environ: str) -> None:
        self.environ = environ
        self.process = subprocess.Popen(
            [sys.executable, __file__],
            env={**os.environ, **environ},
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def run(self, words: Sequence[str], folder: pathlib.Path) -> subprocess.CompletedProcess[str]:
        """What a command came to, in this folder and the environment of now."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with tempfile.TemporaryDirectory() as kept:
            streams = [pathlib.Path(kept, name) for name in ("out", "err")]
            what = {
                "words": list(words),
                "folder": str(folder),
                "environ": {**os.environ, **self.environ},
                "streams": [str(path) for path in streams],
            }
            self.process.stdin.write(json.dumps(what) + "\n")
            self.process.stdin.flush()
            status = int(self.process.stdout.readline())
            return subprocess.CompletedProcess(list(words), status, *[path.read_text("utf-8") for path in streams])

    def __enter__(self) -> Forks:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate()


def become(what: dict[str, Any]) -> int:
    """The command, in the fork: its status."""
    os.chdir(what["folder"])
    os.environ.clear()
    os.environ.update(what["environ"])
    for number, path in enumerate([os.devnull, *what["streams"]]):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT), number)
    sys.argv = ["loopworth", *what["words"]]
    try:
        runpy.run_module("loopworth", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def main() -> None:
    """Commands, one a line of JSON on standard input; the status of each is answered on standard output."""
    for name in LOADED:
        __import__(name)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            status = become(json.loads(line))
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
