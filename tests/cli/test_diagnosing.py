"""`loopworth diagnose`: a kept run, a comparison by arm, and a file of recordings."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import pytest

from loopworth.cli.diagnosing import MOST_REQUESTS, kept
from loopworth.cli.store import gathered
from loopworth.runs.kept import Query
from loopworth.runs.recording import Recording
from loopworth.runs.shelf import Shelf
from tests.cli.kit import command
from tests.comparisons.planted import LOOK, OTHERS, TOOLS, call, loop

COMPARISON = """
comparison: figures
tasks: tasks.jsonl
score: icontains
arms:
  fixed: {workflow: fixed.yaml}
  agent: {workflow: agent.yaml}
"""
FIXED = """
workflow: fixed
shape: pipeline
input: {question: str}
steps: [{id: said, set: "389"}]
answer: "{{ said }}"
"""


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "office.py").write_text(TOOLS, "utf-8")
    write(tmp_path, "circling", loop(LOOK, LOOK, LOOK))
    write(tmp_path, "sound", loop(LOOK, "It is 389."))
    write(tmp_path, "agent", loop(*OTHERS, budget={"turns": 3}))
    (tmp_path / "fixed.yaml").write_text(FIXED, "utf-8")
    (tmp_path / "comparison.yaml").write_text(COMPARISON, "utf-8")
    rows = [{"question": f"{k}", "expected": "389"} for k in range(4)]
    (tmp_path / "tasks.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return tmp_path


def write(folder: pathlib.Path, name: str, workflow: dict[str, Any]) -> None:
    (folder / f"{name}.yaml").write_bytes(msgspec.json.encode({"workflow": name, **workflow}))


def made(folder: pathlib.Path, name: str) -> str:
    return str(json.loads(command("run", folder / f"{name}.yaml", "-i", "question=what", "--json").stdout)["id"])


def diagnosed(*words: Any) -> dict[str, Any]:
    done = command("diagnose", *words, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_a_run_is_diagnosed_by_its_id_or_as_the_last(folder: pathlib.Path) -> None:
    """The part, the evidence with the place in the run, and one line to try."""
    id = made(folder, "circling")
    done = command("diagnose", "last")
    assert done.exit_code == 0
    shown = " ".join(done.stdout.split())
    assert "circling: 1 run (1 repetition) state lookup is called again" in shown
    assert f'{id} 3/call[0] lookup({{"code":"ZRG-14"}}) 3 times in a row try tools.lookup.description:' in shown
    [arm] = diagnosed(id[:7])["arms"]
    assert [finding["part"] for finding in arm["findings"]] == ["state"]
    assert arm["findings"][0]["change"].startswith("tools.lookup.description: ")


def test_without_a_name_the_newest_is_diagnosed(folder: pathlib.Path) -> None:
    """A run or a comparison, as the report takes one; which it is, is said."""
    none = command("diagnose")
    assert (none.exit_code, "there is no run store" in none.stderr) == (3, True)
    id = made(folder, "circling")
    done = command("diagnose")
    assert (done.exit_code, done.stdout) == (0, command("diagnose", id).stdout)
    assert f"the newest: run {id} (circling)" in done.stderr


def test_a_change_that_its_workflow_does_not_take_is_told_as_advice(folder: pathlib.Path) -> None:
    """The file has the tool no more: what was found stands, without a line that `check` would refuse."""
    id = made(folder, "circling")
    write(folder, "circling", loop("It is 389.", tools="search"))
    done = command("diagnose", id)
    assert (done.exit_code, "lookup is called again" in done.stdout, "    try " in done.stdout) == (0, True, False)
    assert "would be a fault here: the tool 'lookup' has no implementation" in done.stdout
    [finding] = diagnosed(id)["arms"][0]["findings"]
    assert (finding["change"], finding["path"], finding["value"]) == ("", "", None)
    written = folder / "one.jsonl"
    assert command("runs", "export", id, "-o", written).exit_code == 0
    assert "    try tools.lookup.description" in command("diagnose", written).stdout


def test_a_sound_run_has_no_finding(folder: pathlib.Path) -> None:
    made(folder, "sound")
    assert "no rule found anything" in command("diagnose", "last").stdout


def test_a_comparison_is_diagnosed_by_arm(folder: pathlib.Path) -> None:
    """Each arm for itself, with how its runs ended and what they scored."""
    command("compare", folder / "comparison.yaml")
    arms = {arm["arm"]: arm for arm in diagnosed("last")["arms"]}
    assert (arms["fixed"]["right"], arms["fixed"]["findings"]) == (4, [])
    assert arms["agent"]["exits"] == {"turn_limit": 4}
    assert [(finding["rule"], finding["runs"]) for finding in arms["agent"]["findings"]] == [("cap", 4)]
    assert "and 1 more run" in command("diagnose", "last", "--arm", "agent").stdout
    assert [arm["arm"] for arm in diagnosed("last", "--arm", "fixed")["arms"]] == ["fixed"]
    slip = command("diagnose", "last", "--arm", "agents")
    assert (slip.exit_code, "did you mean 'agent'?" in slip.stderr) == (2, True)


class Counted(Shelf):
    """A shelf that keeps what it is asked."""

    def select(self, question: str, values: Iterable[Any] = ()) -> list[Any]:
        asked.append(question)
        return super().select(question, values)


asked: list[str] = []


@pytest.mark.parametrize("of", [gathered, lambda shelf, run: list(kept(shelf, run.id))])
def test_the_runs_of_a_comparison_are_read_at_once(of: Callable[..., list[Recording]], folder: pathlib.Path) -> None:
    """To diagnose or to replay many runs takes no longer for the store than to read them together; to diagnose takes
    the requests of a few alone."""
    command("compare", folder / "comparison.yaml", "--store", folder / "runs.db")
    shelf = Counted(folder / "runs.db")
    [run] = shelf.runs(Query(kinds=("comparison",)))
    asked.clear()
    found = [one for one in of(shelf, run) if one.kept.kind == "trial"]
    questions = [sum(table in question for question in asked) for table in ("from transcript", "from effect")]
    assert questions == [1, 1 if of is gathered else 2 * MOST_REQUESTS]
    assert [one.outcome for one in found] == [shelf.outcome(one.kept.id) for one in found]
    assert all(one.records in ({}, shelf.records(one.kept.id)) for one in found)
    assert all(one.records for one in found if of is gathered and one.kept.arm == "agent")


ROUTER = """
workflow: desk
shape: router
input: {question: str}
choose: "{{ question }}"
from:
  plain: {if: "question not in '89'", set: "389"}
  hard: {if: "question in '89'", run: hard.yaml}
"""


def test_a_change_of_a_description_keeps_what_stands_there_in_a_rare_route_too(folder: pathlib.Path) -> None:
    """What the tools of a loop say of themselves is read from runs that came to this loop."""
    write(folder, "hard", loop(*[call("lookup", project="A")] * 2, "?", tools="lookup"))
    (folder / "agent.yaml").write_text(ROUTER, "utf-8")
    (folder / "comparison.yaml").write_text(
        f"{COMPARISON}seed: 3  # the route's runs are not among the first\n", "utf-8"
    )
    rows = [{"question": f"{k}", "expected": "389"} for k in range(10)]
    (folder / "tasks.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    command("compare", folder / "comparison.yaml")
    [finding] = diagnosed("last", "--arm", "agent")["arms"][0]["findings"]
    assert "A figure of a project." in finding["change"]


def test_a_file_of_recordings_says_the_same(folder: pathlib.Path) -> None:
    """What was exported elsewhere needs no store."""
    command("compare", folder / "comparison.yaml")
    kept = diagnosed("last")
    command("runs", "export", "last", "-o", folder / "kept.jsonl")
    filed = diagnosed(folder / "kept.jsonl", "--store", folder / "none.db")
    assert sorted(filed["arms"], key=lambda arm: arm["arm"]) == sorted(kept["arms"], key=lambda arm: arm["arm"])
    text = (folder / "kept.jsonl").read_bytes()
    (folder / "twice.jsonl").write_bytes(text + text)
    assert diagnosed(folder / "twice.jsonl") == filed
    assert command("diagnose", folder / "gone.jsonl").exit_code == 2


def test_of_a_comparison_of_logs_the_log_is_to_be_diagnosed(folder: pathlib.Path) -> None:
    """What was made elsewhere is not kept again, and that is said."""
    made(folder, "sound")
    command("runs", "export", "last", "-o", folder / "log.jsonl")
    arms = "arms:\n  a: {log: log.jsonl}\n  b: {log: log.jsonl}\n"
    (folder / "tasks.jsonl").write_text('{"question": "what", "expected": "389"}', "utf-8")
    (folder / "comparison.yaml").write_text(COMPARISON.partition("arms:")[0] + arms, "utf-8")
    assert command("compare", folder / "comparison.yaml").exit_code == 0
    done = command("diagnose", "last")
    assert (done.exit_code, "diagnose the file that it names" in done.stderr) == (2, True)


def test_what_says_nothing_about_a_workflow_is_left_out(folder: pathlib.Path) -> None:
    """A provider that is down is no defect of the workflow, and that is said."""
    write(folder, "down", loop({"error": {"status": 500, "message": "down"}}))
    made(folder, "down")
    done = command("diagnose", "last")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "1 of 1 runs did not end" in done.stderr
    assert diagnosed("last") == {"arms": [], "left_out": 1}


def test_what_a_model_wrote_is_shown_and_not_obeyed(folder: pathlib.Path) -> None:
    """Evidence is data: no control character reaches the terminal."""
    write(folder, "odd", loop("\x1b[2J400 [bold]"))
    made(folder, "odd")
    shown = command("diagnose", "last").stdout
    assert "\\x1b[2J400 [bold]" in shown
    assert "\x1b" not in shown
