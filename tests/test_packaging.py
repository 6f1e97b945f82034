"""What is on disk is what is installed, and importing it is cheap."""

from __future__ import annotations

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
SETUPTOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
ROOMS = {name: ROOT / folder for name, folder in SETUPTOOLS["package-dir"].items()}
HEAVY = (
    *("openai", "instructor", "scipy", "numpy", "networkx", "jinja2", "ruamel", "genai_prices", "pydantic", "rich"),
    "fastapi",
)


def packages_on_disk() -> set[str]:
    """The dotted names of all folders with Python files below the rooms; a symlink to a room is that room."""
    found = set()
    for name, folder in ROOMS.items():
        for file in folder.rglob("*.py"):
            if not any(part.is_symlink() for part in (file, *file.parents) if part.is_relative_to(ROOT)):
                below = file.parent.relative_to(folder).parts
                found.add(".".join((name, *below)))
    return found


def files_on_disk() -> set[str]:
    """Every file of the rooms, as the path that it has in a wheel."""
    found = set()
    for name, folder in ROOMS.items():
        for file in folder.rglob("*"):
            parts = file.relative_to(folder).parts
            linked = any((folder / pathlib.Path(*parts[:n])).is_symlink() for n in range(1, len(parts) + 1))
            if file.is_file() and not linked and "__pycache__" not in parts:
                found.add("/".join((*name.split("."), *parts)))
    return found


def test_every_package_on_disk_is_in_the_packages_list() -> None:
    """A room, or a folder in one, that is not listed in pyproject.toml would be missing for whoever installs us."""
    assert packages_on_disk() == set(SETUPTOOLS["packages"])


def test_every_room_has_its_symlink() -> None:
    """Type checkers, IDEs and an uninstalled checkout find each root folder as loopworth.<room>."""
    for name, folder in ROOMS.items():
        link = ROOT.joinpath(*name.split("."))
        assert link.resolve() == folder.resolve()
        assert not link.is_symlink() or not pathlib.Path(link.readlink()).is_absolute()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The names in a wheel built through the sdist, from a copy of what packaging reads."""
    copy = tmp_path_factory.mktemp("checkout") / "loopworth"
    copy.mkdir()
    junk = shutil.ignore_patterns("__pycache__", "*.egg-info", ".*cache", ".loopworth")
    for entry in {ROOT / folder for folder in SETUPTOOLS["package-dir"].values() if "/" not in folder}:
        shutil.copytree(entry, copy / entry.name, symlinks=True, ignore=junk)
    for name in ("pyproject.toml", "README.md", "LICENSE", "MANIFEST.in"):
        shutil.copy(ROOT / name, copy / name)
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(copy / "dist"), str(copy)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (made,) = (copy / "dist").glob("*.whl")
    return set(zipfile.ZipFile(made).namelist())


def test_the_wheel_holds_every_file(wheel: set[str]) -> None:
    """Built through the sdist, the wheel has each file of each room once, and nothing besides but its own metadata."""
    installed = {name for name in wheel if ".dist-info/" not in name}
    assert installed == files_on_disk()


def test_the_wheel_holds_the_licence(wheel: set[str]) -> None:
    """The text of the licence travels with the package."""
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in wheel)


def test_importing_loopworth_loads_nothing_heavy() -> None:
    """`import loopworth` costs a fraction of `import openai`: whatever is heavy waits for its first use."""
    code = "import json, sys, loopworth; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    loaded = {name.partition(".")[0] for name in json.loads(done.stdout)}
    assert loaded.isdisjoint(HEAVY)


def test_ci_runs_the_commands_of_the_readme() -> None:
    """What CI proves is what a newcomer types: the test command of .ci/run stands literally in the README."""
    command = re.search(r"^pip install -e .* && python -m pytest", (ROOT / ".ci/run").read_text("utf-8"), re.MULTILINE)
    assert command is not None
    assert command[0] in (ROOT / "README.md").read_text("utf-8").splitlines()
