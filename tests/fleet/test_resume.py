"""Runs that an endpoint failed, made again by a fleet when its comparison goes on."""

from __future__ import annotations

import json
import pathlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from loopworth.runs.home import home
from tests.cli.kit import command
from tests.endpoint import Answer, FakeEndpoint, Received, said
from tests.fleet.hosts import Host, asking
from tests.fleet.sameness import timeless
from tests.fleet.turnstile import questions

pytest.importorskip("dbos", reason="no fleet without the extra `fleet`")
N = 60
EARLY = "stop_early: true\n"


class Fleet:
    """A store, and the folder from which comparisons are sent to the workers that serve it."""

    def __init__(self, folder: pathlib.Path, store: str) -> None:
        self.folder, self.store = folder, store


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """A worker that shares a file with the submitter."""
    found = tmp_path_factory.mktemp("resumed")
    home(found / "runs.db").migrate()
    worker = Host(str(found / "runs.db"), found).ready()
    yield Fleet(found, str(found / "runs.db"))
    worker.leave()
    assert "runs made" in worker.said()


@pytest.fixture
def server(postgres: str, project: pathlib.Path, hosts: list[Host]) -> Fleet:
    """Two workers of a Postgres."""
    return Fleet(project, postgres)


@pytest.fixture(params=["file", "server"])
def fleet(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Fleet:
    found: Fleet = request.getfixturevalue(request.param)
    monkeypatch.chdir(found.folder)
    monkeypatch.setenv("LOOPWORTH_STORE", found.store)
    return found


class Flaky(FakeEndpoint):
    """Answers "4"; some questions it fails, until it is whole again."""

    def __init__(self, down: set[str]) -> None:
        super().__init__(last=self.turn)
        self.down = down

    def turn(self, received: Received) -> Any:
        return Answer(418) if received.body["messages"][-1]["content"] in self.down else said("4")


def told(*words: str | pathlib.Path) -> dict[str, Any]:
    done = command(*words, "--json")
    assert done.exit_code == 0, done.output[-2000:]
    return dict(json.loads(done.stdout))


def failed(found: dict[str, Any]) -> list[str]:
    """The tasks whose last run an endpoint failed."""
    last = {one["task"]: one for one in sorted(found["trials"], key=lambda one: one["attempt"]) if one["arm"] == "asks"}
    return sorted(task for task, one in last.items() if one["exit"] == "provider_error")


@pytest.mark.parametrize("more", ["group_by: question\n", EARLY])
def test_what_an_endpoint_failed_is_made_again_by_workers(fleet: Fleet, more: str) -> None:
    """Once each time that the comparison goes on, and nothing else is; where it is answered at last the comparison
    comes to what it comes to where nothing fails."""
    name, asked = f"again-{len(more)}", Counter[str]()

    def new() -> list[str]:
        """The tasks that were asked about since."""
        every = Counter(question.replace(f"{name} ", "t") for question in questions(endpoint))
        found = every - asked
        asked.update(found)
        return sorted(found.elements())

    with Flaky({f"{name} {i}" for i in range(5)}) as endpoint:
        file = asking(fleet.folder, name, N, endpoint, more=more)
        first = told("compare", file, "--fleet")
        assert (first["verdict"]["token"], bool(failed(first))) == ("undecided", True)
        assert {*failed(first)} <= {task for task, n in Counter(new()).items() if n == 2}
        again = told("compare", file, "--fleet", "--resume")
        assert (new(), again["verdict"]["token"]) == (failed(again), "undecided")
        endpoint.down = set()
        whole = told("compare", file, "--fleet", "--resume")
        assert (new(), failed(whole)) == (failed(again), [])
        assert (told("compare", file, "--fleet", "--resume")["verdict"], new()) == (whole["verdict"], [])
        here = told("compare", file, "--no-store")
    assert {one["verdict"]["token"] for one in (whole, told("report", "last"))} == {here["verdict"]["token"]}
    if more != EARLY:  # which reads what came late, and so stops, elsewhere
        assert len(failed(first)) == 5
        assert timeless(whole["verdict"]) == timeless(here["verdict"])
