"""`loopworth models`."""

from __future__ import annotations

import json
import pathlib

import pytest

from loopworth.models.weights import WEIGHTS
from tests.cli.kit import command


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


def test_installed_weights_are_not_fetched_again(cache: pathlib.Path) -> None:
    """Where the file is, nothing is downloaded: the command says where it lies."""
    file = cache / "weights" / "smollm2-135m.gguf"
    file.parent.mkdir()
    file.write_bytes(b"x")
    done = command("models", "install")
    assert (done.exit_code, done.stdout) == (0, f"smollm2-135m is already installed: {file}\n")


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
