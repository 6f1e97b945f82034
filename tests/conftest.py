"""How tests run: property tests on the same examples every time, whatever ran before, and without a deadline, since a
busy machine breaks no rule; no test writes into the checkout's own run store, and none knows another's keys. With
`--hypothesis-profile search` property tests look for other examples.

A shell that starts a command in the background has it ignore Ctrl-C, and so would every process that a test interrupts.
"""

from __future__ import annotations

import pathlib
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers

from loopworth.runs.secrets import KNOWN

settings.register_profile("loopworth", deadline=None, derandomize=True, max_examples=50)
settings.register_profile("search", deadline=None, print_blob=True)
settings.load_profile("loopworth")
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    """hypothesis draws constants out of all modules that are loaded by then, so examples would differ with the order of
    the tests."""
    if config.getoption("hypothesis_profile") is None:
        none = providers.Constants()
        providers._get_local_constants = lambda: none


@pytest.fixture(autouse=True)
def own_store(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """The run store of this test's commands."""
    store = tmp_path_factory.mktemp("store") / "runs.db"
    monkeypatch.setenv("LOOPWORTH_STORE", str(store))
    return store


@pytest.fixture(autouse=True)
def no_secrets() -> Iterator[None]:
    """The made-up keys of a test are none to the next one."""
    yield
    KNOWN.forget()
