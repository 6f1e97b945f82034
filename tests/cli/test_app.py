"""The command line as a whole."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

import loopworth
from tests.cli.kit import ROOT, command


def test_the_version_and_the_help_are_there() -> None:
    """Every command of this version stands in the help."""
    assert command("--version").stdout == f"loopworth {loopworth.__version__}\n"
    shown = command("--help").stdout
    assert all(f"  {name} " in shown for name in ("check", "draw", "schema", "run", "compare", "runs", "models"))
    assert "Exit status: 0 done" in shown


@pytest.mark.parametrize("words", [[], ["runs"], ["models"]])
def test_no_line_of_help_is_cut(words: list[str]) -> None:
    """What a command does is said whole, in the lists of commands too; types of Python are nobody's words."""
    shown = command(*words, "--help").stdout
    assert "..." not in shown.partition("Commands:")[2]
    assert "list[" not in shown


def test_a_ctrl_c_while_it_loads_is_no_traceback() -> None:
    """An interruption is status 130, however early it comes."""
    code = """if True:
        import sys

        class Early:
            def find_spec(self, name, path=None, target=None):
                if name == "loopworth.cli.app":
                    raise KeyboardInterrupt

        sys.meta_path.insert(0, Early())
        from loopworth.cli import main
        main()
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stderr) == (130, "interrupted\n")


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


TYPED = """\
workflow: typed
shape: pipeline
input: {question: str}
model: {name: scripted, replies: ['{"answer": 3}']}
steps:
  - {id: said, ask: "{{ question }}", output: int}
answer: "{{ said }}"
"""
ASKED = """\
import asyncio, sys, loopworth
made = loopworth.compile("typed.yaml")
print("instructor" in sys.modules)

async def main():
    async with loopworth.opened(made):
        print("instructor" in sys.modules)

asyncio.run(main())
"""


def test_what_reads_typed_answers_is_loaded_before_a_run_and_for_a_run_alone(tmp_path: pathlib.Path) -> None:
    """It takes a second, which is no part of a run's latency, and which whoever checks or reports does not wait for."""
    (tmp_path / "typed.yaml").write_text(TYPED, "utf-8")
    line = [sys.executable, "-c", ASKED]
    done = subprocess.run(line, capture_output=True, text=True, check=True, cwd=tmp_path, env={"PYTHONPATH": str(ROOT)})
    assert done.stdout.split() == ["False", "True"]
