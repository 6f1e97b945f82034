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

LOADED = (
    *("loopworth.cli.app", "loopworth.cli.keeping", "loopworth.comparisons.execution", "loopworth.comparisons.table"),
    *("loopworth.comparisons.pages.html", "instructor", "openai", "openai.types.chat", "scipy.special"),
)
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
        with tempfile.TemporaryDirectory() as kept:
            out, err = (pathlib.Path(kept, name) for name in ("out", "err"))
            self.begin(words, folder, out, err)
            return subprocess.CompletedProcess(list(words), self.end(), out.read_text("utf-8"), err.read_text("utf-8"))

    def begin(self, words: Sequence[str], folder: pathlib.Path, out: pathlib.Path, err: pathlib.Path) -> int:
        """The id of a process that runs a command, and writes what it prints to two files, or to one."""
        assert self.process.stdin is not None
        environ = {**os.environ, **self.environ}
        what = {"words": list(words), "folder": str(folder), "environ": environ, "streams": [str(out), str(err)]}
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def end(self) -> int:
        """The exit status of the last process."""
        return self.answer()

    def answer(self) -> int:
        assert self.process.stdout is not None
        return int(self.process.stdout.readline())

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
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND), number)
    sys.argv = ["loopworth", *what["words"]]
    try:
        runpy.run_module("loopworth", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def main() -> None:
    """Commands, one a line of JSON on standard input; the id of each process, and its status when it has ended, are
    answered on standard output."""
    for name in LOADED:
        __import__(name)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            status = become(json.loads(line))
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
