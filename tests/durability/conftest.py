"""Places of stores, one a session."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

import pytest

from loopworth.runs.home import home
from loopworth.runs.store import Store
from tests.durability.places import PLACES, server


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a Postgres with the tables of a store."""
    with server() as address:
        home(address).migrate()
        yield address


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> str:
    """Where a store is, on both."""
    return str(tmp_path / "runs.db") if request.param == "sqlite" else str(request.getfixturevalue("postgres"))


@pytest.fixture
def store(place: str) -> Iterator[Store]:
    """A store there, for one test."""
    made = Store(place)
    yield made
    made.close()
