"""How tests run: property tests on the same examples every time, and without a deadline, since a busy machine breaks no
rule; and no test writes into the checkout's own run store."""

from __future__ import annotations

import pathlib

import pytest
from hypothesis import settings

settings.register_profile("loopworth", deadline=None, derandomize=True)
settings.load_profile("loopworth")


@pytest.fixture(autouse=True)
def own_store(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """The run store of this test's commands."""
    store = tmp_path_factory.mktemp("store") / "runs.db"
    monkeypatch.setenv("LOOPWORTH_STORE", str(store))
    return store
