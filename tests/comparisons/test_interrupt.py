"""Ctrl-C in a comparison of 200 tasks, through the real command."""

from __future__ import annotations

import json
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.endpoint import Answer, FakeEndpoint, Received, said

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPARISON = """
comparison: long
tasks: tasks.jsonl
score: equals
arms:
  plain: {workflow: plain.yaml}
  asks: {workflow: asks.yaml}
"""
PLAIN = """
workflow: plain
shape: pipeline
input: {question: str}
steps:
  - id: said
    set: "{{ question }}"
answer: "{{ said }}"
"""
ASKS = """
workflow: asks
shape: pipeline
input: {question: str}
model: {name: vllm/fake, base_url: BASE, concurrency: 4}
steps:
  - id: said
    ask: "{{ question }}"
answer: "{{ said }}"
"""
CALLS = """
workflow: asks
shape: pipeline
input: {question: str}
tools:
  stick: {python: "stuck:stick", effect: read, timeout: 60s, with: {port: PORT}}
steps:
  - id: said
    call: stick
    with: {question: "{{ question }}"}
answer: "{{ said }}"
"""
STUCK = '''
import socket, threading

def stick(question: str, port: int) -> str:
    """Says that it was called, and never comes back."""
    socket.create_connection(("127.0.0.1", port)).close()
    threading.Event().wait(60)
    return question
'''


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    lines = [json.dumps({"question": str(k), "expected": str(k)}) for k in range(200)]
    (tmp_path / "tasks.jsonl").write_text("\n".join(lines))
    (tmp_path / "comparison.yaml").write_text(COMPARISON)
    (tmp_path / "plain.yaml").write_text(PLAIN)
    return tmp_path


@pytest.fixture
def endpoint() -> Iterator[tuple[FakeEndpoint, threading.Event]]:
    """Answers 20 requests, then lets all wait; the event says that all four slots do, so that 20 runs have ended."""
    waiting, release = threading.Event(), threading.Event()

    def answer(received: Received) -> Any:
        if len(fake.requests) <= 20:
            return said(received.body["messages"][-1]["content"])
        if len(fake.requests) == 24:
            waiting.set()
        release.wait(60)
        return Answer(gone=True)

    with FakeEndpoint(last=answer) as fake:
        yield fake, waiting
        release.set()


def started(folder: pathlib.Path, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "loopworth", "compare", str(folder / "comparison.yaml"), *options]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def interrupted(process: subprocess.Popen[str]) -> tuple[str, str, float]:
    """What it printed, and the seconds it took to leave."""
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    return out, err, time.monotonic() - began


def test_an_interrupted_comparison_prints_what_is_done(
    folder: pathlib.Path, endpoint: tuple[FakeEndpoint, threading.Event]
) -> None:
    """Exit 130 at once, and not when the model answers; the table of what is done, no verdict, no traceback."""
    fake, waiting = endpoint
    (folder / "asks.yaml").write_text(ASKS.replace("BASE", fake.base_url))
    process = started(folder)
    assert waiting.wait(60)
    out, err, took = interrupted(process)
    assert process.returncode == 130, err
    assert took < 10
    assert "20/20 100 %" in out
    assert "cancelled 4" in out
    assert "interrupted after" in out
    assert "verdict: none — there is no verdict on a part of the plan: it was interrupted." in out
    assert "Traceback" not in out + err


def test_an_interrupted_comparison_prints_its_json(
    folder: pathlib.Path, endpoint: tuple[FakeEndpoint, threading.Event]
) -> None:
    """The document is whole, and holds the trials that were made."""
    fake, waiting = endpoint
    (folder / "asks.yaml").write_text(ASKS.replace("BASE", fake.base_url))
    process = started(folder, "--json")
    assert waiting.wait(60)
    out, err, took = interrupted(process)
    document = json.loads(out)
    assert (process.returncode, document["interrupted"], document["verdict"]) == (130, True, None), err
    assert took < 10
    assert sum(trial["arm"] == "asks" and trial["exit"] == "success" for trial in document["trials"]) == 20


def test_a_tool_that_never_comes_back_does_not_hold_the_process(folder: pathlib.Path) -> None:
    """Its thread is left behind."""
    (folder / "stuck.py").write_text(STUCK)
    with socket.create_server(("127.0.0.1", 0)) as called:
        called.settimeout(60)
        (folder / "asks.yaml").write_text(CALLS.replace("PORT", str(called.getsockname()[1])))
        process = started(folder)
        called.accept()[0].close()
        out, err, took = interrupted(process)
    assert process.returncode == 130, err
    assert took < 10
    assert "interrupted after" in out
    assert "Traceback" not in out + err
