"""`loopworth compare` that stops early: what it saves, and going on with more tasks."""

from __future__ import annotations

import asyncio
import contextlib
import json
import pathlib

import pytest

import loopworth
from loopworth.comparisons.export import to_json
from loopworth.runs.store import Store
from tests.cli.kit import command, figures
from tests.cli.test_comparisons import COMPARISON, doubles

EARLY = COMPARISON + "stop_early: true\n"


@pytest.fixture(autouse=True)
def here(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run store is in the folder that one stands in."""
    monkeypatch.chdir(tmp_path)


def early(folder: pathlib.Path, limit: int = 4) -> pathlib.Path:
    text = EARLY.replace("tasks: tasks.jsonl", f"tasks: {{file: tasks.jsonl, limit: {limit}}}")
    return doubles(folder, 30, text)


def found(*words: object) -> dict[str, object]:
    done = command("compare", *words, "--json")
    assert done.exit_code == 0, done.output
    return dict(json.loads(done.stdout))


def test_what_was_not_needed_is_printed(tmp_path: pathlib.Path) -> None:
    """A pipeline that is always right settles it; the runs of the other arm that were saved are told."""
    done = command("compare", doubles(tmp_path, 60, EARLY), "--no-store")
    assert "guess: 60 of 60 runs were not needed" in done.stdout
    assert "suffices" in done.stdout


def test_an_extension_goes_on_with_more_tasks_of_the_file(tmp_path: pathlib.Path) -> None:
    """What was run stays; the new tasks come after it, and an undecided verdict may be settled by them."""
    file = early(tmp_path)
    before = found(file)
    after = found(file, "--extend", 20)
    assert before["verdict"]["token"] == "undecided"  # type: ignore[index]
    assert after["verdict"]["token"] in ("suffices", "better")  # type: ignore[index]
    began = [trial["task"] for trial in before["trials"]]  # type: ignore[attr-defined]
    assert [trial["task"] for trial in after["trials"]][:8] == began  # type: ignore[attr-defined]


def test_an_extension_may_bring_tasks_that_were_added_to_the_file(tmp_path: pathlib.Path) -> None:
    """Rows may be appended; those that were run must be as they were."""
    file, tasks = doubles(tmp_path, 4, EARLY), tmp_path / "tasks.jsonl"
    found(file)
    more = "".join(json.dumps({"id": f"n{n}", "n": n, "expected": 2 * n}) + "\n" for n in range(5, 12))
    tasks.write_text(tasks.read_text("utf-8") + "\n" + more, "utf-8")
    assert found(file, "--extend", 7)["arms"][0]["planned"] == 11  # type: ignore[index]
    tasks.write_text(tasks.read_text("utf-8").replace('"expected": 2}', '"expected": 3}'), "utf-8")
    done = command("compare", file, "--extend", 1)
    assert (done.exit_code, "tasks.jsonl" in done.stderr) == (2, True)


def test_a_test_at_a_fixed_number_of_tasks_is_not_extended(tmp_path: pathlib.Path) -> None:
    """It would be wrong too often; the message says what can be extended."""
    file = doubles(tmp_path, 4)
    command("compare", file)
    done = command("compare", file, "--extend", 5)
    assert done.exit_code == 2
    assert "stop_early: true" in done.stderr


@pytest.mark.parametrize(("first", "said"), [([], "run it first"), (["--limit", 30], "no task that it has not had")])
def test_what_cannot_be_extended_says_so(tmp_path: pathlib.Path, first: list[object], said: str) -> None:
    """Nothing kept, or no task left."""
    file = doubles(tmp_path, 4, EARLY)
    if first:
        command("compare", file)
    done = command("compare", file, "--extend", 5)
    assert done.exit_code == 2
    assert said in done.stderr


def test_an_extended_comparison_can_be_replayed(tmp_path: pathlib.Path) -> None:
    """Its stages are kept with it, so that it comes out as it did, and nothing that was not run is missed."""
    file = early(tmp_path)
    found(file)
    after = found(file, "--extend", 20)
    again = found(file, "--replay", "last")
    assert figures(again["verdict"]) == figures(after["verdict"])
    assert again["stopped"] == ""


def test_some_tasks_of_an_extended_comparison_can_be_replayed(tmp_path: pathlib.Path) -> None:
    """Those that are named, one that was added too; the others are left out."""
    file = early(tmp_path)
    found(file)
    ran = [trial["task"] for trial in found(file, "--extend", 20)["trials"]]  # type: ignore[attr-defined]
    for words, tasks in ((("--task", ran[-1]), {ran[-1]}), (("--limit", 2), set(ran[:8]) & {"n1", "n2"})):
        again = found(file, "--replay", "last", *words)
        assert {trial["task"] for trial in again["trials"]} == tasks  # type: ignore[attr-defined]


def test_an_extended_comparison_goes_on_with_all_its_tasks(tmp_path: pathlib.Path) -> None:
    """A choice of tasks is refused, and not passed over in silence."""
    file = early(tmp_path)
    found(file)
    found(file, "--extend", 20)
    for word in (("--limit", 2), ("--task", "n1")):
        done = command("compare", file, "--resume", *word)
        assert (done.exit_code, "goes on with all its tasks" in done.stderr) == (2, True)


def test_a_program_takes_up_an_extended_comparison(tmp_path: pathlib.Path) -> None:
    """With the tasks it was extended by, and only if it is this comparison: `last` is the last of its file."""
    file = early(tmp_path)
    found(file)
    after = found(file, "--extend", 20)
    command("run", tmp_path / "double.yaml", "-i", "n=1")
    with contextlib.closing(Store()) as store:
        for how in ({"replay": "last"}, {"resume": "last"}):
            again = json.loads(to_json(asyncio.run(loopworth.compare(file, store=store, **how))))
            assert len(again["trials"]) == len(after["trials"])  # type: ignore[arg-type]
            assert figures(again["verdict"])["words"] == after["verdict"]["words"]  # type: ignore[index]
