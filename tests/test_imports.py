"""The rooms import one way, and the contract that says so sees through the symlinks."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROOMS = ("agents", "comparisons", "models", "router", "runs", "tools", "web", "workflows")


def contract(checkout: pathlib.Path) -> subprocess.CompletedProcess[str]:
    """import-linter on a checkout, in a process whose `loopworth` is that checkout's."""
    code = "from importlinter.cli import lint_imports_command as main; main(['--no-cache'])"
    return subprocess.run([sys.executable, "-c", code], cwd=checkout, capture_output=True, text=True, check=False)


def test_the_rooms_import_one_way() -> None:
    """runs <- models, tools <- agents, router <- workflows <- comparisons <- cli; no room is out of sight."""
    done = contract(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    files = sum(len(list((ROOT / room).rglob("*.py"))) for room in (*ROOMS, "loopworth/cli"))
    assert int(done.stdout.split("Analyzed ")[1].split(" files")[0]) >= files


@pytest.mark.parametrize(
    ("room", "line"),
    [
        ("runs", "from loopworth.tools import __doc__"),
        ("tools", "def late():\n    import loopworth.workflows"),
        ("models", "import loopworth.agents"),
        ("workflows", "from loopworth.comparisons import __doc__"),
        ("comparisons", "import loopworth.web"),
        ("web", "from loopworth.cli import __doc__"),
        ("runs", "import openai"),
        ("agents", "import ruamel.yaml"),
    ],
)
def test_a_planted_violation_breaks_the_contract(tmp_path: pathlib.Path, room: str, line: str) -> None:
    """An import that goes the other way, or a library in the wrong room, is found, inside functions too."""
    for folder in (*ROOMS, "loopworth"):
        shutil.copytree(ROOT / folder, tmp_path / folder, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / room / "planted.py").write_text(line + "\n", "utf-8")
    done = contract(tmp_path)
    assert done.returncode == 1
    assert f"loopworth.{room}.planted" in done.stdout
