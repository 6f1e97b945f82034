"""The command line in this process, or in one of its own on a terminal."""

from __future__ import annotations

import os
import pathlib
import pty
import select
import subprocess
import sys
from typing import Any

from typer.testing import CliRunner, Result

from loopworth.cli.app import app

ROOT = pathlib.Path(__file__).resolve().parents[2]

HELLO = """\
workflow: hello
shape: pipeline
input: {question: str, times: "int = 1"}
model: {name: scripted, replies: [{text: "Hi [bold]Ann[/]\\e[2J", usage: {prompt_tokens: 1200, completion_tokens: 34}}]}
steps:
  - id: said
    ask: "{{ question }}"
answer: "{{ said }}"
"""
TOOL = """\
import pathlib
import time


def refund(amount: int, who: str) -> str:
    \"\"\"Pay money back.\"\"\"
    with open("paid.txt", "a") as file:
        file.write(f"{who} {amount}\\n")
    return "paid"


def slow(seconds: float) -> str:
    \"\"\"Take a while.\"\"\"
    pathlib.Path(__file__).with_name("started.txt").write_text("yes")
    time.sleep(seconds)
    return "late"
"""
REFUNDS = """\
workflow: refunds
shape: gated_loop
input: {case: str}
model:
  name: scripted
  replies:
    - {calls: [{tool: refund, arguments: {who: "Ann\\e[1A", amount: 250}}]}
    - done
tools: {refund: {python: "shop:refund", effect: irreversible}}
gate: {refund: {ask: "Refund {{ args.amount }}?"}}
prompt: "{{ case }}"
finish: text
budget: {turns: 5}
"""
WAITS = """\
workflow: waits
shape: pipeline
input: {}
model: {name: scripted, replies: [{text: first, usage: {prompt_tokens: 10, completion_tokens: 5}}]}
tools: {slow: {python: "shop:slow", effect: read, timeout: 60s}}
steps:
  - id: said
    ask: hello
  - id: late
    call: slow
    with: {seconds: "{{ 30 if said else 0 }}"}
answer: "{{ late }}"
"""


def command(*words: str | pathlib.Path) -> Result:
    """`loopworth …`, in this process."""
    return CliRunner().invoke(app, [str(word) for word in words])


def written(folder: pathlib.Path, **files: str) -> pathlib.Path:
    """YAML files by name, with the tools they use beside them."""
    (folder / "shop.py").write_text(TOOL, "utf-8")
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text, "utf-8")
    return folder


def figures(verdict: Any) -> dict[str, Any]:
    """A verdict but for where its numbers are from: made again, they are recorded, and otherwise the same."""
    assert all(one["provenance"] for one in verdict["arms"])
    return {**verdict, "arms": [{**one, "provenance": None} for one in verdict["arms"]]}


class Terminal:
    """A child process on a terminal of its own: what it shows, and what is typed."""

    def __init__(self, *arguments: str | pathlib.Path, cwd: pathlib.Path = ROOT) -> None:
        self.far, near = pty.openpty()
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100", "TERM": "xterm"}
        streams = {"stdin": near, "stdout": near, "stderr": near}
        self.process = subprocess.Popen(
            [sys.executable, *map(str, arguments)], **streams, cwd=cwd, env=environment, start_new_session=True
        )
        os.close(near)
        self.seen = ""

    def until(self, text: str) -> str:
        """Read until `text` is shown; returns all that was shown so far."""
        while text not in self.seen:
            piece = self.more()
            assert piece, f"the process ended after: {self.seen}"
            self.seen += piece
        return self.seen

    def more(self) -> str:
        """What is shown next; "" at the end."""
        assert select.select([self.far], [], [], 60)[0], f"nothing was shown for a minute after: {self.seen}"
        try:
            return os.read(self.far, 4096).decode("utf-8", "replace")
        except OSError:  # Linux: the other side is closed
            return ""

    def type(self, text: str) -> None:
        os.write(self.far, text.encode())

    def close(self) -> int:
        """The exit status, with all that was shown to the end."""
        while piece := self.more():
            self.seen += piece
        os.close(self.far)
        return self.process.wait(60)
