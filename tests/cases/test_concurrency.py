"""The handed cases of kind concurrency: two models on one server, in one comparison, over HTTP."""

import asyncio
import pathlib
import threading
from typing import Any

import pytest
from ruamel.yaml import YAML

from loopworth.comparisons.execution import compare
from loopworth.comparisons.result import Result
from loopworth.models import ModelSpec
from tests.comparisons.contenders import Asks, arm, comparison
from tests.endpoint import Answer, FakeEndpoint, Received, said

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("concurrency.yaml"))["cases"]
TASKS, SHARED, FAIR = 8, 4, 2


class Server:
    """Holds what the slow model is asked until the fast one has answered everything, and the slow one has all slots."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.open = {"slow": 0, "fast": 0}
        self.most = {"slow": 0, "fast": 0, "both": 0}
        self.answered: list[str] = []

    def __call__(self, received: Received) -> Answer:
        name = received.body["model"]
        with self.changed:
            self.open[name] += 1
            self.most[name] = max(self.most[name], self.open[name])
            self.most["both"] = max(self.most["both"], sum(self.open.values()))
            self.changed.notify_all()
            if name == "slow":
                self.changed.wait_for(self.let_go, 20)
            self.open[name] -= 1
            self.answered.append(name)
            self.changed.notify_all()
        return Answer(200, said(received.body["messages"][0]["content"]))

    def let_go(self) -> bool:
        return self.answered.count("fast") == TASKS and self.most["slow"] == SHARED


def play(given: dict[str, Any]) -> tuple[Server, Result]:
    assert given["models"] == "a slow and a fast one in one comparison, shared limit"
    server = Server()
    with FakeEndpoint(last=server) as fake:
        specs = [ModelSpec(f"vllm/{name}", base_url=fake.base_url, concurrency=SHARED) for name in ("slow", "fast")]
        arms = [arm(spec.model, Asks(spec.key), spec) for spec in specs]
        return server, asyncio.run(compare(comparison(arms, TASKS)))


def not_held_up(server: Server, result: Result) -> None:
    assert all(trial.right for trial in result.final)
    assert server.answered[:TASKS] == ["fast"] * TASKS
    assert (server.most["slow"], server.most["both"]) == (SHARED, SHARED)  # all of it, once the fast one is through
    assert server.most["fast"] <= FAIR


EXPECTED = {
    "The fast one is not held up until the slow one is done; per-model limits hold.": not_held_up,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_concurrency(case: dict[str, Any]) -> None:
    """Models that share a server share it fairly."""
    found = play(case["given"])
    for line in case["expect"]:
        EXPECTED[line](*found)
