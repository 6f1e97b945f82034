"""A store of a fleet, and two workers that serve it, once a session."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

import pytest

from tests.durability.places import server
from tests.fleet.hosts import Host


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a Postgres with the tables of a store and of a fleet's queue."""
    engine = pytest.importorskip("loopworth.comparisons.fleet.engine", reason="no fleet without the extra `fleet`")
    from loopworth.runs.home import home

    with server() as address:
        home(address).migrate()
        engine.migrate(home(address))
        yield address


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A folder with comparisons, from which they are sent, and where workers find them."""
    return tmp_path_factory.mktemp("project")


@pytest.fixture(scope="session")
def hosts(postgres: str, project: pathlib.Path) -> Iterator[list[Host]]:
    """Two workers; a test that kills one puts another in its place."""
    found = [Host(postgres, project) for _ in range(2)]
    for host in found:
        host.ready()
    yield found
    for host in found:
        host.leave()
    assert all("runs made" in host.said() for host in found)
