"""`loopworth worker` and `compare --fleet` on the command line."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

from loopworth.cli.fleet import crew
from loopworth.comparisons.comparison import load
from loopworth.comparisons.keeper import Keeper
from tests.fleet.hosts import written

WITHOUT = "import sys; sys.modules['dbos'] = None; from loopworth.cli import main; main()"


def loopworth(*words: str, code: str = "from loopworth.cli import main; main()") -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)


def test_a_fleet_without_its_extra_says_what_to_install(tmp_path: pathlib.Path) -> None:
    """For workers and submitters; a faulty command, not a failure."""
    done = loopworth("worker", "--store", str(tmp_path / "runs.db"), code=WITHOUT)
    assert (done.returncode, "pip install 'loopworth[fleet]'" in done.stderr) == (2, True), done.stderr
    file = written(tmp_path, "small", 2)
    done = loopworth("compare", str(file), "--fleet", "--store", str(tmp_path / "runs.db"), code=WITHOUT)
    assert (done.returncode, "pip install 'loopworth[fleet]'" in done.stderr) == (2, True), done.stderr


def test_a_fleet_keeps_its_runs(tmp_path: pathlib.Path) -> None:
    """With `--no-store` there is nothing to share."""
    done = loopworth("compare", str(written(tmp_path, "small", 2)), "--fleet", "--no-store")
    assert (done.returncode, "leave out --no-store" in done.stderr) == (2, True), done.stderr


def test_without_fleet_there_is_no_crew(tmp_path: pathlib.Path) -> None:
    """And none for a comparison that is not kept."""
    comparison = load(written(tmp_path, "small", 2))
    for wanted in (False, True):
        with crew(comparison, Keeper(), wanted, False) as nobody:
            assert nobody is None


@pytest.mark.parametrize("heavy", ["dbos", "sqlalchemy", "psycopg"])
def test_the_command_line_loads_no_queue(heavy: str) -> None:
    """Nor the public names: it is loaded by a fleet alone."""
    code = f"import sys, loopworth, loopworth.cli.app, loopworth.cli.fleet; sys.exit({heavy!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
