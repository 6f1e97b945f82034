"""`loopworth runs`, `--replay` and `--resume`: what is kept, shown, exported, gone on with and made again."""

from __future__ import annotations

import json
import os
import pathlib
import resource
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

import pytest

from loopworth.cli.kept import moment, summed
from loopworth.cli.status import UserFault
from loopworth.runs.shelf import Shelf
from loopworth.runs.usage import Usage
from tests.cli.kit import HELLO, REFUNDS, ROOT, command, figures, written
from tests.endpoint import FakeEndpoint, said
from tests.runs.storing import chat, kept, stored

COMPARISON = """
comparison: which
tasks: tasks.jsonl
score: equals
arms:
  plain: {workflow: plain.yaml}
  hello: {workflow: hello.yaml}
"""
PLAIN = """
workflow: plain
shape: pipeline
input: {question: str}
steps: [{id: said, set: "{{ question }}"}]
answer: "{{ said }}"
"""


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    written(tmp_path, hello=HELLO, refunds=REFUNDS, plain=PLAIN, comparison=COMPARISON)
    rows = [{"question": f"{k}", "expected": "1"} for k in range(3)]
    (tmp_path / "tasks.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return tmp_path


def made(folder: pathlib.Path, *words: str) -> str:
    """The id of a run that is kept."""
    done = command("run", folder / "hello.yaml", "-i", "question=hi", "--json", *words)
    assert done.exit_code == 0, done.output
    return str(json.loads(done.stdout)["id"])


def compared(folder: pathlib.Path, *words: str) -> dict:
    done = command("compare", folder / "comparison.yaml", "--json", *words)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_runs_are_listed_and_filtered(folder: pathlib.Path) -> None:
    """A line a run, the newest first; trials where a comparison, an arm or a task is asked for."""
    id = made(folder)
    compared(folder)
    lines = command("runs").stdout.splitlines()
    assert [line.split()[3:5] for line in lines[1:-1]] == [["which", "comparison"], ["hello", "run"]]
    assert [row["id"] for row in json.loads(command("runs", "--workflow", "hello", "--json").stdout)] == [id]
    trials = json.loads(command("runs", "--comparison", "which", "--arm", "plain", "--json").stdout)
    assert sorted((trial["task"], trial["right"]) for trial in trials) == [("1", False), ("2", True), ("3", False)]
    [which] = [row["id"] for row in json.loads(command("runs", "--workflow", "which", "--json").stdout)]
    every = command("runs", "--comparison", "which").stdout
    assert len(every.splitlines()) == 8
    for name in (which, which[:6]):
        assert command("runs", "--comparison", name).stdout == every
    assert "no such runs" in command("runs", "--comparison", id).stdout
    assert "no such runs" in command("runs", "--exit", "turn_limit").stdout
    assert command("runs", "list", "--workflow", "hello").stdout == command("runs", "--workflow", "hello").stdout
    done = command("runs", "--workflow", "hello", "list")
    assert (done.exit_code, "options of `runs list` stand after it" in done.stderr) == (2, True)


def test_a_list_says_what_its_runs_took_together() -> None:
    """For a week's bill: neither what is unknown is 0, nor what is not over all; and a list that was cut says so."""
    runs = [kept(str(k), state="done", usage=Usage(100, 10, usd=usd)) for k, usd in enumerate((0.25, 0.5, 0.0))]
    assert summed(runs, 50) == "3 in all: 330 tokens, $0.75"
    assert summed([*runs, kept("4", state="done", usage=Usage(None, None, usd=None))], 4) == (
        "the newest 4: at least 330 tokens, at least $0.75"
    )
    assert summed(runs[2:] * 2, 50) == "2 in all: 220 tokens, not billed"
    assert (
        summed([kept("5", state="done", usage=Usage(1, 1, usd=None))] * 2, 50)
        == "2 in all: 4 tokens, at a cost that is unknown"
    )
    under_way = kept("6", usage=Usage(1, 1, usd=0.0))
    assert summed([under_way], 50) == "1 in all: at least 2 tokens, at a cost that is unknown"
    assert summed([*runs, under_way], 50) == "4 in all: at least 332 tokens, at least $0.75"


def test_without_a_store_nothing_is_listed(folder: pathlib.Path) -> None:
    """A first `loopworth runs` says where it looked; a run that was not to be kept is not."""
    done = command("run", folder / "hello.yaml", "-i", "question=hi", "--no-store", "--json")
    assert json.loads(done.stdout)["id"] is None
    done = command("runs")
    assert (done.exit_code, "nothing is kept yet: there is no run store at" in done.stdout) == (0, True)
    assert command("runs", "show", "x").exit_code == 3


def test_a_run_of_a_file_is_shown_as_one_of_the_store(folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a colleague sends can be read: alone, by the start of its id, and of a comparison each trial."""
    monkeypatch.chdir(folder)
    id = made(folder)
    compared(folder)
    [comparison] = [row["id"] for row in json.loads(command("runs", "--workflow", "which", "--json").stdout)]
    for name in (id, comparison):
        assert command("runs", "export", name, "-o", f"{name}.jsonl").exit_code == 0
        assert command("runs", "show", f"{name}.jsonl").stdout == command("runs", "show", name).stdout
    trial = f"{comparison}.2"
    shown = command("runs", "show", f"{comparison}.jsonl", trial)
    assert shown.stdout == command("runs", "show", trial).stdout
    assert command("runs", "export", id, comparison, "-o", "both.jsonl").exit_code == 0
    assert command("runs", "show", "both.jsonl", id[:6]).stdout == command("runs", "show", id).stdout
    for words, says in (
        (["both.jsonl"], f"both.jsonl: name one run of it after it ({id}, {comparison})"),
        (["both.jsonl", "zz"], "both.jsonl: name one run of it after it ("),
        ([id, "zz"], "zz: one run is shown"),
        (["none.jsonl"], "none.jsonl: there is no such file"),
    ):
        done = command("runs", "show", *words)
        assert (done.exit_code, says in done.stderr) == (2, True), done.output


def test_a_run_is_shown_step_by_step(folder: pathlib.Path) -> None:
    """Every message, what each call cost and how much it sent; nothing in it is obeyed by the terminal."""
    done = command("run", folder / "refunds.yaml", "-i", "case=the vase broke", "--json")
    shown = command("runs", "show", json.loads(done.stdout)["id"][:6]).stdout
    assert "user  the vase broke" in shown
    assert "1/ask  scripted" in shown
    assert "sent 1 message, 14 characters" in shown
    assert 'refund({"who": "Ann\\x1b[1A", "amount": 250})' in shown or 'refund({"who": "Ann\\u001b[1A"' in shown
    assert "1/call[0]/gate  decided: reject by nobody" in shown
    assert "\x1b" not in shown


def test_a_run_that_did_not_end_is_shown_by_its_effects(own_store: pathlib.Path) -> None:
    """What was paid before it was killed is there."""
    store = stored(own_store.parent, "one")
    chat(store.begin(kept("b2")), "two", "three", replies=("deux", "trois"))
    store.close()
    shown = command("runs", "show", "b2").stdout
    assert [text for text in ("two", "deux", "three", "trois", "did not end", "unfinished") if text not in shown] == []


def test_what_a_run_that_did_not_end_has_taken_is_not_listed_as_nothing(own_store: pathlib.Path) -> None:
    """Its figures are counted when it ends; until then they are unknown, and no 0."""
    store = stored(own_store.parent, "one")
    chat(store.begin(kept("b2")), "two", "three", replies=("deux", "trois"))
    store.close()
    [line] = [line for line in command("runs").stdout.splitlines() if line.startswith("b2")]
    assert line.split()[-4:] == ["-"] * 4


def test_a_comparison_is_shown_by_its_trials(folder: pathlib.Path) -> None:
    """One line each, with the score."""
    compared(folder)
    [one] = json.loads(command("runs", "--json").stdout)
    done = command("runs", "show", one["id"])
    assert done.stdout.count("wrong") == 5
    assert done.stdout.count(" right ") >= 1
    assert len(json.loads(command("runs", "show", one["id"], "--json").stdout)["trials"]) == 6


def test_an_exported_run_replays_anywhere(folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """A file of JSON lines is enough: another store, or none."""
    id = made(folder)
    assert command("runs", "export", id, "-o", tmp_path / "one.jsonl").exit_code == 0
    [line] = (tmp_path / "one.jsonl").read_text("utf-8").splitlines()
    assert json.loads(line)["run"]["id"] == id
    words = ("--replay", tmp_path / "one.jsonl", "--store", tmp_path / "other.db")
    done = command("run", folder / "hello.yaml", "--json", *words)
    assert (done.exit_code, json.loads(done.stdout)["replayed"]) == (0, True)
    assert not (tmp_path / "other.db").exists()


def test_everything_is_exported_where_nothing_is_named(folder: pathlib.Path) -> None:
    """All runs, and with a comparison its trials; without a file to standard output."""
    made(folder)
    compared(folder)
    kinds = [json.loads(line)["run"]["kind"] for line in command("runs", "export").stdout.splitlines()]
    assert sorted(kinds) == ["comparison", "run", *["trial"] * 6]


def test_a_comparison_replays_from_its_store_and_from_a_file(folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """The same figures and verdict, nothing spent, labelled as replayed."""
    first = compared(folder)
    [one] = json.loads(command("runs", "--json").stdout)
    command("runs", "export", one["id"], "-o", tmp_path / "which.jsonl")
    for source in (one["id"], tmp_path / "which.jsonl"):
        again = compared(folder, "--replay", str(source))
        assert (again["replayed"], again["usd"]) == (one["id"], 0.0)
        assert figures(again["verdict"]) == figures(first["verdict"])
        assert [arm["tokens"] for arm in again["arms"]] == [arm["tokens"] for arm in first["arms"]]
    told = command("compare", folder / "comparison.yaml", "--replay", one["id"]).stdout
    assert f"replayed from {one['id']}: nothing is spent; cost (not billed) and latency are as recorded" in " ".join(
        told.split()
    )
    assert len(json.loads(command("runs", "--json").stdout)) == 1


def test_a_comparison_that_departs_from_its_recording_fails_and_says_where(folder: pathlib.Path) -> None:
    """Exit 1, the arm, the task, the message with both texts."""
    compared(folder)
    [one] = json.loads(command("runs", "--json").stdout)
    (folder / "hello.yaml").write_text(HELLO.replace('ask: "{{', 'ask: "Well, {{'), "utf-8")
    done = command("compare", folder / "comparison.yaml", "--replay", one["id"])
    assert done.exit_code == 1
    assert "the arm 'hello' on the task" in done.stderr
    assert "said/ask: message 1 (user) content is not the recorded one" in done.stderr


def test_a_recording_that_lacks_runs_says_so(folder: pathlib.Path) -> None:
    """No verdict on a part of the plan."""
    compared(folder, "--limit", "2")
    [one] = json.loads(command("runs", "--json").stdout)
    again = compared(folder, "--replay", one["id"])
    assert (again["verdict"], again["stopped"]) == (None, "the recording holds 4 of 6 runs")


def test_a_changed_comparison_is_not_resumed(folder: pathlib.Path) -> None:
    """Status 2 and the file that changed: tasks, workflows, the code of tools, the choice of tasks."""
    compared(folder)
    done = command("compare", folder / "comparison.yaml", "--resume", "--limit", "2")
    assert (done.exit_code, "the choice of tasks (3 then, 2 now) changed since it began" in done.stderr) == (2, True)
    (folder / "plain.yaml").write_text(PLAIN.replace("said", "told"), "utf-8")
    done = command("compare", folder / "comparison.yaml", "--resume")
    assert (done.exit_code, "plain.yaml changed since it began" in done.stderr) == (2, True)


def test_a_finished_comparison_resumes_to_its_result(folder: pathlib.Path) -> None:
    """Nothing is run again, transcripts are there, and without an earlier one it begins anew with a word."""
    done = command("compare", folder / "comparison.yaml", "--resume", "--json")
    assert "this one begins anew" in done.stderr
    again = compared(folder, "--resume")
    first = json.loads(done.stdout)
    assert [trial["transcript"] for trial in again["trials"]] != [None] * 6
    key = lambda trial: (trial["arm"], trial["task"])
    assert sorted(again["trials"], key=key) == sorted(first["trials"], key=key)
    assert any("6 of 6 runs were made before" in warning for warning in again["warnings"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "hello.yaml", "--replay", "nope"], "there is no run 'nope'"),
        (["run", "hello.yaml", "--replay", "nope.jsonl"], "there is no such file"),
        (["run", "plain.yaml", "--replay", "ID"], "it holds no run of 'plain', but of hello"),
        (["compare", "comparison.yaml", "--replay", "ID"], "it holds no one comparison 'which'"),
        (["compare", "comparison.yaml", "abc"], "write --resume abc"),
        (["compare", "comparison.yaml", "--resume", "--no-store"], "leave out --no-store"),
        (["compare", "comparison.yaml", "--resume", "ID"], "is no comparison"),
        (["runs", "--since", "yesterday"], "write 30m, 2h, 3d, or a date"),
        (["runs", "--exit", "sucess"], "did you mean 'success'?"),
        (["runs", "show", "nope"], "`loopworth runs` lists them"),
    ],
)
def test_a_slip_is_a_message(folder: pathlib.Path, words: list[str], said: str) -> None:
    """Status 2, and what to type instead."""
    id = made(folder)
    done = command(*(str(folder / word) if word.endswith(".yaml") else word.replace("ID", id) for word in words))
    assert done.exit_code == 2, done.output
    assert said in done.stderr


def test_an_arm_or_a_task_that_no_trial_has_is_a_slip(folder: pathlib.Path) -> None:
    """The nearest name is suggested; where both are known and no trial fits, there is just none."""
    compared(folder)
    for words, says in (
        (["--arm", "plian"], "--arm plian: no trial of this arm is kept did you mean 'plain'?"),
        (["--arm", "agent"], "--arm agent: no trial of this arm is kept arms: hello, plain"),
        (["--task", "99", "--json"], "--task 99: no trial of this task is kept tasks: 1, 2, 3"),
    ):
        done = command("runs", *words)
        assert done.exit_code == 2, done.output
        assert says in " ".join(done.stderr.split())
    done = command("runs", "--arm", "plain", "--task", "1", "--exit", "cancelled")
    assert (done.exit_code, done.stdout.startswith("no such runs are kept")) == (0, True)


def test_since_takes_spans_and_dates() -> None:
    """A date without a zone is in local time; the store speaks UTC."""
    now = datetime(2026, 11, 30, 12, tzinfo=UTC)
    assert moment("2h", now) == "2026-11-30T10:00:00.000+00:00"
    assert moment("3 d", now) == "2026-11-27T12:00:00.000+00:00"
    assert moment("2026-11-30T12:00:00+02:00", now) == "2026-11-30T10:00:00.000+00:00"
    with pytest.raises(UserFault):
        moment("2 moons", now)


def test_a_place_that_cannot_be_written_is_status_3(folder: pathlib.Path) -> None:
    """Nothing was asked of a model; the path, and the two ways out."""
    done = command("run", folder / "hello.yaml", "-i", "question=hi", "--store", folder / "hello.yaml" / "runs.db")
    assert (done.exit_code, "--no-store" in done.stderr, "Traceback" in done.output) == (3, True, False)


def limited() -> None:
    """Files of this process can hold 150 kB: a disk that gets full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))


def test_a_disk_that_gets_full_loses_nothing(folder: pathlib.Path) -> None:
    """The comparison stops, shows all it paid for, and ends with status 3; once there is room it goes on."""
    with FakeEndpoint(last=said("x" * 9_000)) as fake:
        model = f'model: {{name: fake, base_url: "{fake.base_url}", concurrency: 1}}'
        lines = [model if line.startswith("model:") else line for line in HELLO.splitlines()]
        (folder / "hello.yaml").write_text("\n".join(lines), "utf-8")
        rows = [json.dumps({"question": f"{k}", "expected": "1"}) for k in range(12)]
        (folder / "tasks.jsonl").write_text("\n".join(rows), "utf-8")
        process = subprocess.run(
            [sys.executable, "-m", "loopworth", "compare", str(folder / "comparison.yaml"), "--store", "full.db"],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            preexec_fn=limited,
            capture_output=True,
            text=True,
            check=False,
        )
        paid = len(fake.requests)
        assert process.returncode == 3, process.stderr
        assert 0 < paid < 12
        assert "the disk" in process.stderr
        assert "no more runs can be kept" in " ".join(process.stdout.split())
        assert "Traceback" not in process.stderr
        before = len(Shelf(folder / "full.db").trials(Shelf(folder / "full.db").runs()[0].id))
        done = command("compare", folder / "comparison.yaml", "--store", folder / "full.db", "--resume", "--json")
        assert done.exit_code == 0, done.output
        assert before > 0
        assert len(fake.requests) <= 12 + 2


def test_two_comparisons_at_once_share_the_store(folder: pathlib.Path) -> None:
    """Two processes write to one file; both end whole, and neither is in the other's way."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "LOOPWORTH_STORE": str(folder / "shared.db")}
    words = [sys.executable, "-m", "loopworth", "compare", str(folder / "comparison.yaml")]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    both = [subprocess.Popen(words, cwd=folder, env=environment, **pipes) for _ in range(2)]
    said = [process.communicate(timeout=120)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    shelf = Shelf(folder / "shared.db")
    found = shelf.runs()
    assert [(one.kind, one.state, len(shelf.trials(one.id))) for one in found] == [("comparison", "done", 6)] * 2


def test_a_replay_says_which_files_have_changed(folder: pathlib.Path) -> None:
    """Of a run and of a comparison, its tools' code too: nothing of it is called, so that nothing else would tell."""
    tool = "{shout: {python: 'shop:slow', effect: read}}"
    step = "{id: said, call: shout, with: {seconds: 0}}"
    text = PLAIN.replace("steps:", f"tools: {tool}\nsteps:").replace('{id: said, set: "{{ question }}"}', step)
    (folder / "plain.yaml").write_text(text, "utf-8")
    assert command("run", folder / "plain.yaml", "-i", "question=hi").exit_code == 0
    compared(folder)
    runs = [one["id"] for one in json.loads(command("runs", "--json").stdout)]
    commands = [("compare", folder / "comparison.yaml"), ("run", folder / "plain.yaml")]
    for change in (False, True):
        if change:
            code = (folder / "shop.py").read_text("utf-8").replace('"late"', '"later"')
            (folder / "shop.py").write_text(code, "utf-8")
        for id, words in zip(runs, commands, strict=True):
            done = command(*words, "--replay", id)
            assert done.exit_code == 0, done.output
            assert (f"shop.py changed since {id}" in done.stderr) is change


def test_the_last_to_replay_is_the_newest_of_this_file(folder: pathlib.Path) -> None:
    """Whatever was run since."""
    id, comparison = made(folder), compared(folder)["id"]
    assert command("run", folder / "plain.yaml", "-i", "question=hi").exit_code == 0
    for words, of in ((("run", folder / "hello.yaml"), id), (("compare", folder / "comparison.yaml"), comparison)):
        done = command(*words, "--replay", "last", "--json")
        assert (done.exit_code, json.loads(done.stdout)["id"]) == (0, of), done.output


def older(source: dict) -> dict:
    """What a durable run was made of, as a version before wrote it: without code."""
    return {key: value for key, value in source.items() if key != "code"}


@pytest.mark.parametrize("since", [lambda source: source, older], ids=["now", "older"])
def test_a_replay_of_a_durable_run_counts_the_files_that_the_run_counted(folder: pathlib.Path, since: Any) -> None:
    """Code that nobody touched has not changed; where the record counts none, nothing is said of code."""
    step = "{id: said, call: shout, with: {seconds: 0}}"
    text = PLAIN.replace("steps:", "tools: {shout: {python: 'shop:slow', effect: read}}\nsteps:")
    (folder / "plain.yaml").write_text(text.replace('{id: said, set: "{{ question }}"}', step), "utf-8")
    assert command("run", folder / "plain.yaml", "-i", "question=hi", "--durable").exit_code == 0
    with closing(sqlite3.connect(os.environ["LOOPWORTH_STORE"])) as store, store:
        [(id, source)] = store.execute("select id, source from run").fetchall()
        store.execute("update run set source = ?", (json.dumps(since(json.loads(source))).encode(),))
    said = []
    for line in ("", "\nLATER = 1\n"):
        with (folder / "shop.py").open("a", encoding="utf-8") as code:
            code.write(line)
        done = command("run", folder / "plain.yaml", "--replay", id)
        assert done.exit_code == 0, done.output
        said.append("changed since" in done.stderr)
    assert said == [False, since is not older]
