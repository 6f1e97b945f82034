"""A score of the user's own: a Python function, called in a process of its own.

So a function that never comes back, also from inside a regular expression, costs one row its score and nothing else:
the process is ended and the next row gets a new one.
"""

from __future__ import annotations

import json
import subprocess
import sys
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any

STARTING = 60.0
"""Seconds that the process and the user's module may take to start."""


class ScorerFailed(Exception):
    """The user's function gave no score: what it did instead, on one line."""


@dataclass
class Process:
    """The process, and the lines it has said; None is its end."""

    process: subprocess.Popen[str]
    said: SimpleQueue[str | None]

    @classmethod
    def started(cls, first: dict[str, Any]) -> Process:
        # In a session of its own, so that Ctrl-C ends the comparison and not the score of a run.
        command = [sys.executable, "-P", str(Path(__file__).with_name("scoring.py"))]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen(command, text=True, encoding="utf-8", start_new_session=True, **pipes)  # type: ignore[call-overload]
        self = cls(process, SimpleQueue())
        Thread(target=self.listen, daemon=True).start()
        self.tell(first)
        return self

    def listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.put(line)
        self.said.put(None)

    def tell(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        with suppress(OSError):  # it has ended, which `answer` says
            self.process.stdin.write(json.dumps(message, default=str) + "\n")
            self.process.stdin.flush()

    def answer(self, seconds: float) -> dict[str, Any] | None:
        """What it says next; None where it has ended. Raises `queue.Empty` after so many seconds."""
        line = self.said.get(timeout=seconds)
        return None if line is None else json.loads(line)

    def end(self) -> int:
        """End it, whatever it is doing; its exit status."""
        self.process.kill()
        status = self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(OSError):  # what was still to be written is of no use any more
                pipe.close()  # type: ignore[union-attr]
        return status


@dataclass(eq=False)
class OwnScore:
    """The function `module:name`, its file beside the YAML in `base`, which gets `seconds` for each row.

    It is called as `name(answer, expected)` and returns True or False, or one of them and a note. One row at a time.
    """

    name: str
    base: Path | None
    seconds: float
    function: Callable[..., Any]
    process: Process | None = None
    lock: Lock = field(default_factory=Lock)
    over: bool = False

    def judged(self, answer: Any, expected: Any) -> tuple[bool, str]:
        """Whether the answer is right, and the function's note. Raises ScorerFailed."""
        with self.lock:
            said = self.asked({"answer": answer, "expected": expected, "seconds": self.seconds})
        if "error" in said:
            raise ScorerFailed(said["error"])
        return said["right"], said["note"]

    def asked(self, row: dict[str, Any]) -> dict[str, Any]:
        process = self.ready()
        process.tell(row)
        try:
            said = process.answer(self.seconds)
        except Empty:
            self.end()
            raise ScorerFailed(f"{self.name} took longer than {self.seconds:g} s") from None
        if said is None:
            raise ScorerFailed(f"{self.name} ended its process (status {self.end()})")
        return said

    def ready(self) -> Process:
        """The process, with the function loaded."""
        if self.over:
            raise ScorerFailed("the comparison is over")
        if self.process is None:
            base = None if self.base is None else str(self.base.resolve())
            self.process = Process.started({"name": self.name, "base": base, "path": sys.path})
            weakref.finalize(self, self.process.end)
            try:
                said = self.process.answer(STARTING)
            except Empty:
                said = {"error": f"{self.name} took longer than {STARTING:g} s to load"}
            if said is None or "error" in said:
                self.end()
                raise ScorerFailed(f"{self.name} cannot be loaded" if said is None else said["error"])
        return self.process

    def end(self) -> int:
        process, self.process = self.process, None
        return 0 if process is None else process.end()

    def open(self) -> None:
        """Score rows again after `close`."""
        self.over = False

    def close(self) -> None:
        """End the process; the score under way fails, and so do those that wait."""
        self.over = True
        if (process := self.process) is not None:
            process.process.kill()
        with self.lock:
            self.end()
