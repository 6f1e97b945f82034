"""What one store lacks and another near it has: the default is that of the current folder, and messages say so."""

from __future__ import annotations

import json
import os
import pathlib

import pytest

from tests.cli.kit import command
from tests.cli.test_comparisons import COMPARISON, DOUBLE

HELD = """\
workflow: held
shape: pipeline
input: {n: int}
tools: {pay: {python: "till:pay", effect: write, approval: required}}
steps: [{call: pay}]
answer: done
"""
TILL = '''
def pay() -> str:
    """Pay."""
    return "paid"
'''


@pytest.fixture
def project(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """A folder whose subfolder `support` holds the files, and a store with a run, a question and a comparison."""
    monkeypatch.delenv("LOOPWORTH_STORE")
    support = tmp_path / "support"
    support.mkdir()
    text = COMPARISON.partition("arms:")[0].replace("tasks: tasks.jsonl", "tasks: {file: tasks.jsonl, limit: 3}")
    arms = "arms:\n  double: {workflow: double.yaml}\nstop_early: true\n"
    texts = {"double.yaml": DOUBLE, "held.yaml": HELD, "till.py": TILL, "comparison.yaml": text + arms}
    for name, content in texts.items():
        (support / name).write_text(content, "utf-8")
    tasks = ({"id": str(n), "n": n, "expected": 2 * n} for n in range(9))
    (support / "tasks.jsonl").write_text("\n".join(map(json.dumps, tasks)), "utf-8")
    monkeypatch.chdir(support)
    assert command("compare", "comparison.yaml").exit_code == 0
    assert command("run", "held.yaml", "--durable", "-i", "n=1").exit_code == 4
    monkeypatch.chdir(tmp_path)
    return tmp_path


STORE = os.path.join("support", ".loopworth", "runs.db")
HINT = f"    {STORE} has it: add --store {STORE}\n"


OF_THE_FILE = [
    ["compare", "support/comparison.yaml", "--extend", "2"],
    ["compare", "support/comparison.yaml", "--resume"],
    ["rescore", "support/comparison.yaml"],
    ["report", "last"],
]
OF_THE_STORE = [["inbox", "show", "last"], ["diagnose", "last"], ["runs", "show", "last"]]


@pytest.mark.parametrize(
    ("there", "words"),
    [*((True, words) for words in OF_THE_FILE), *((False, words) for words in OF_THE_FILE + OF_THE_STORE)],
    ids=str,
)
def test_another_store_that_has_it_is_named(project: pathlib.Path, there: bool, words: list[str]) -> None:
    """Whether the current folder has a store of its own or none; nothing is begun anew, and the advice works."""
    if there:
        (project / "own.yaml").write_text(DOUBLE, "utf-8")
        assert command("run", "own.yaml", "-i", "n=1").exit_code == 0
    done = command(*words)
    assert done.exit_code in (2, 3)
    assert done.stderr.endswith(HINT), done.stderr
    assert command(*words, "--store", STORE).exit_code in (0, 1, 4)


def test_a_run_is_looked_for_by_its_id(project: pathlib.Path) -> None:
    """Where it is: not in just any store that is near."""
    (project / "own.yaml").write_text(DOUBLE, "utf-8")
    assert command("run", "own.yaml", "-i", "n=1").exit_code == 0
    found = json.loads(command("runs", "--json", "--store", STORE).stdout)
    done = command("runs", "show", found[0]["id"])
    assert (done.exit_code, done.stderr.endswith(HINT)) == (2, True)
    assert HINT not in command("runs", "show", "zzzz").stderr


def test_lists_that_are_empty_name_it_too(project: pathlib.Path) -> None:
    """An inbox and a list of runs: the questions of another folder are not forgotten."""
    assert command("inbox", "list").stdout.endswith(HINT)
    assert command("runs").stdout.endswith(HINT)
    assert not (project / ".loopworth").exists()


@pytest.mark.parametrize("where", ["support/deep", "."])
def test_a_store_above_is_found_and_one_that_was_named_is_meant(
    project: pathlib.Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a folder below too. With --store or LOOPWORTH_STORE nothing else is looked at."""
    (project / where).mkdir(exist_ok=True)
    monkeypatch.chdir(project / where)
    assert "has it: add --store" in command("inbox", "list").stdout
    assert "has it" not in command("inbox", "list", "--store", str(project / "mine.db")).stdout
    monkeypatch.setenv("LOOPWORTH_STORE", str(project / "mine.db"))
    assert "has it" not in command("inbox", "list").stdout
