"""The command line as a whole."""

from __future__ import annotations

import subprocess
import sys

import pytest

import loopworth
from tests.cli.kit import ROOT, command


def test_the_version_and_the_help_are_there() -> None:
    """Every command of this version stands in the help."""
    assert command("--version").stdout == f"loopworth {loopworth.__version__}\n"
    shown = command("--help").stdout
    assert all(f"  {name} " in shown for name in ("check", "schema", "run", "compare", "models"))


@pytest.mark.parametrize("words", [["runn"], ["run"], ["run", "x.yaml", "--jsn"], ["compare", "x", "--require", "y"]])
def test_a_mistyped_command_is_status_2(words: list[str]) -> None:
    """Usage errors are faults of what was written."""
    done = command(*words)
    assert done.exit_code == 2
    assert "Traceback" not in done.output


def test_it_runs_as_a_module() -> None:
    """`python -m loopworth` is the same command, with sys.path kept safe."""
    line = [sys.executable, "-P", "-m", "loopworth", "--version"]
    path = {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(line, capture_output=True, text=True, check=True, cwd=ROOT.parent, env=path)
    assert done.stdout == f"loopworth {loopworth.__version__}\n"


def test_help_and_check_load_no_model_client() -> None:
    """A command starts without what it does not use."""
    code = "import sys; from loopworth.cli.app import app; print({'openai', 'scipy', 'instructor'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "set()\n"
