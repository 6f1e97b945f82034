"""The ladder: three loops over one task and one catalogue."""

from __future__ import annotations

import difflib
import json
import pathlib
from itertools import pairwise

import pytest

from tests.cli.kit import Terminal, command
from tests.endpoint import FakeEndpoint, Received
from tests.examples.kit import EXAMPLES, called, copied, said, told

RUNGS = ("constrained", "open", "gated")
MESSAGE = "message=Order 1042 came broken. I want my money back."


def desk(received: Received) -> dict[str, object]:
    """Looks the order up, gives the money back, answers by the last result."""
    messages = received.body["messages"]
    start = max(n for n, message in enumerate(messages) if "1042 came broken" in message["content"])
    results = messages[start + 1 :]
    if not told(results, "order"):
        return called("order", number=1042)
    if not told(results, "refund"):
        return called("refund", number=1042, amount=40)
    return said(json.dumps({"answer": told(results, "refund")[-1]}))


@pytest.mark.parametrize(("lower", "upper"), [*pairwise(RUNGS)])
def test_a_rung_is_two_lines(lower: str, upper: str) -> None:
    """Neighbours differ by two changed lines: the shape, and what it may use or has to ask for."""
    files = [(EXAMPLES / "ladder" / f"{rung}.yaml").read_text("utf-8").splitlines() for rung in (lower, upper)]
    diff = [*difflib.unified_diff(*files, n=0)][2:]
    assert [sum(line.startswith(sign) for line in diff) for sign in "-+"] == [2, 2]


@pytest.mark.parametrize(
    ("rung", "answer", "statuses"),
    [
        ("constrained", "there is no tool 'refund'", ["ok", "unknown_tool"]),
        ("open", "40 euros for order 1042 are on their way", ["ok", "ok"]),
        ("gated", "a person rejected this call", ["ok", "rejected"]),
    ],
)
def test_each_rung_ends_in_its_own_way(rung: str, answer: str, statuses: list[str], tmp_path: pathlib.Path) -> None:
    """The same model: the first loop cannot pay, the second pays, the third asks, and nobody is there."""
    with FakeEndpoint(last=desk) as fake:
        done = command("run", copied(tmp_path, "ladder", fake.base_url) / f"{rung}.yaml", "-i", MESSAGE, "--json")
    assert done.exit_code == 0, done.stderr
    outcome = json.loads(done.stdout)
    assert answer in outcome["answer"]
    assert [event["status"] for event in outcome["events"] if event["type"] == "ToolCalled"] == statuses


def test_a_person_approves_on_the_terminal(tmp_path: pathlib.Path) -> None:
    """The gate shows the question of the file, and `approve` lets the call through."""
    with FakeEndpoint(last=desk) as fake:
        file = copied(tmp_path, "ladder", fake.base_url) / "gated.yaml"
        screen = Terminal("-m", "loopworth", "run", file, "-i", MESSAGE)
        screen.until("Refund 40 euros for order 1042?")
        screen.until("[reject]")
        screen.type("approve\n")
        assert screen.close() == 0
    assert "40 euros for order 1042 are on their way" in screen.seen
