"""`loopworth run --durable` and `loopworth inbox`: a run waits in the store, and a decision in another process goes on
with it."""

from __future__ import annotations

import json
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import threading
from contextlib import closing
from typing import Any

import pytest
import typer
from typer.testing import Result

from loopworth.cli.inbox import gone_on
from loopworth.cli.status import DONE, FAILED, FAULTY, WAITING
from loopworth.runs import approvals
from loopworth.runs.database import VERSION
from loopworth.runs.shelf import Shelf
from loopworth.runs.store import Store
from tests.cli.kit import REFUNDS, ROOT, command, written

CHANGES = {
    '{ask: "Refund {{ args.amount }}?"}': "{choices: [approve, edit, reject], remember: run}",
    "effect: irreversible": "effect: irreversible, allow: {who: [Ann, Bob]}",
    '"Ann\\e[1A"': "Ann",
}
EDITABLE = REFUNDS
for old, new in CHANGES.items():
    EDITABLE = EDITABLE.replace(old, new)
HUMAN = """
workflow: human
shape: constrained_loop
input: {q: str}
model: {name: scripted, replies: [{calls: [{tool: ask, arguments: {question: "Which?"}}]}, done]}
tools: {ask: {builtin: ask_human, effect: read}}
use: [ask]
prompt: "{{ q }}"
finish: text
budget: {turns: 5}
"""


@pytest.fixture
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    monkeypatch.chdir(tmp_path)
    return written(tmp_path, refunds=REFUNDS, editable=EDITABLE, human=HUMAN)


def begun(folder: pathlib.Path, name: str = "editable", word: str = "case") -> str:
    """The name of the question at which a run waits."""
    done = command("run", folder / f"{name}.yaml", "--durable", "-i", f"{word}=the vase", "--json")
    assert done.exit_code == WAITING, done.output
    [asked] = json.loads(done.stdout)["waiting"]
    return str(asked["name"])


def paid(folder: pathlib.Path) -> list[str]:
    file = folder / "paid.txt"
    return file.read_text().splitlines() if file.exists() else []


def one_of(result: Result) -> Any:
    return json.loads(result.stdout)


def test_a_run_waits_and_says_how_to_decide(folder: pathlib.Path) -> None:
    """Status 4, no question on the terminal, nothing called; data is shown, never obeyed."""
    done = command("run", folder / "refunds.yaml", "--durable", "-i", "case=the vase")
    assert (done.exit_code, paid(folder)) == (WAITING, [])
    assert "loopworth inbox show" in done.stdout
    assert "\x1b" not in done.output
    listed = command("inbox", "list")
    assert "refund" in listed.stdout
    assert one_of(command("inbox", "list", "--json"))[0]["text"] in listed.stdout
    assert "\x1b" not in listed.stdout


def test_the_word_alone_lists_as_its_command_does(folder: pathlib.Path) -> None:
    """With the same options; before a command they would be read by neither, and are refused."""
    begun(folder)
    for options in ([], ["--json"], ["--store", str(folder / "runs.db")]):
        assert command("inbox", *options).stdout == command("inbox", "list", *options).stdout
    for words in (["inbox", "--json", "list"], ["models", "--json", "install"]):
        done = command(*words)
        assert (done.exit_code, f"options of `{words[0]} {words[2]}` stand after it" in done.stderr) == (2, True)


def test_an_approval_in_another_process_goes_on_with_the_run(folder: pathlib.Path) -> None:
    """The call is made once, with the approved arguments; the next one who decides is told who was quicker."""
    name = begun(folder)
    done = command("inbox", "approve", name, "--by", "Ann", "--note", "fine")
    assert (done.exit_code, paid(folder)) == (DONE, ["Ann 250"])
    assert "answer   done" in done.stdout
    again = command("inbox", "reject", name, "--note", "no", "--by", "Bob")
    assert again.exit_code == FAILED
    assert f"{name} is already decided: approved by Ann at 20" in again.stderr
    shown = one_of(command("inbox", "show", name, "--json"))
    assert [(one["by"], one["won"]) for one in shown["tries"]] == [("Ann", True), ("Bob", False)]
    assert (shown["decision"]["note"], paid(folder)) == ("fine", ["Ann 250"])


def test_edited_arguments_are_held_against_the_tool_before_they_count(folder: pathlib.Path) -> None:
    """Not JSON, another schema, outside the allow-list: status 2, and the question still waits."""
    name = begun(folder)
    for words, says in (
        ("{", "JSON"),
        ("", "write all of them, as one JSON object"),
        ("null", "write all of them, as one JSON object"),
        ('{"who": "Bob"}', "amount"),
        ('{"who": "Eve", "amount": 3}', '"Eve" is not allowed'),
    ):
        done = command("inbox", "edit", name, words)
        assert (done.exit_code, says in done.stderr) == (FAULTY, True), done.output
    assert len(one_of(command("inbox", "list", "--json"))) == 1
    assert command("inbox", "edit", name, '{"who": "Bob", "amount": "3"}', "--note", "less").exit_code == FAULTY
    assert command("inbox", "edit", name, '{"who": "Bob", "amount": 3}', "--note", "less").exit_code == DONE
    assert paid(folder) == ["Bob 3"]


def test_a_question_is_shown_with_the_commands_that_decide_it(folder: pathlib.Path) -> None:
    """One for each choice that is offered, each as it can be typed; what is not offered says who can offer it."""
    name = begun(folder)
    shown = [row.removeprefix("next").strip() for row in command("inbox", "show", name).stdout.splitlines()]
    typed = [row for row in shown if row.startswith("loopworth inbox")]
    assert "also     the decision stands for equal calls of this run" in shown
    assert one_of(command("inbox", "show", name, "--json"))["remember"] is True
    assert [shlex.split(row)[2:] for row in typed] == [
        ["approve", name],
        ["edit", name, '{"amount": 250, "who": "Ann"}'],
        ["reject", name, "--note", "WHY"],
    ]
    done = command("inbox", "edit", begun(folder, "refunds"), '{"who": "Ann", "amount": 5}')
    assert done.exit_code == FAULTY
    assert (
        "offers approve or reject, not edit (a gate offers edit by `choices: [approve, edit, reject]`)" in done.stderr
    )


def test_a_rejection_wants_a_reason(folder: pathlib.Path) -> None:
    """The model reads it; the call is not made."""
    name = begun(folder)
    assert command("inbox", "reject", name).exit_code == FAULTY
    assert "say why" in command("inbox", "reject", name, "--note", " ").stderr
    done = command("inbox", "reject", name, "--note", "not today")
    assert (done.exit_code, paid(folder)) == (DONE, [])
    assert "a person rejected this call: not today" in command("runs", "show", "last").stdout


def test_a_decision_may_leave_the_run_to_others(folder: pathlib.Path) -> None:
    """`--no-run` decides and no more; `run --resume` or a sweep goes on with it."""
    for how in (("run", "--durable", "--resume", "last"), ("inbox", "sweep")):
        name = begun(folder)
        done = command("inbox", "approve", name, "--no-run")
        assert (done.exit_code, paid(folder)) == (DONE, [])
        assert command(*how).exit_code == DONE
        assert paid(folder) == ["Ann 250"]
        (folder / "paid.txt").unlink()
    assert command("inbox", "sweep").exit_code == DONE
    assert paid(folder) == []


def test_a_sweep_leaves_no_run_out_for_another(folder: pathlib.Path) -> None:
    """One whose file has changed is said, and those beside it go on all the same."""
    broken, sound = begun(folder, "refunds"), begun(folder)
    for name in (broken, sound):
        assert command("inbox", "approve", name, "--no-run").exit_code == DONE
    (folder / "refunds.yaml").write_text("shape: [")
    done = command("inbox", "sweep")
    assert (done.exit_code, paid(folder)) == (DONE, ["Ann 250"])
    assert "refunds.yaml" in done.stderr


def test_a_person_answers_in_their_own_words(folder: pathlib.Path) -> None:
    """What `ask_human` asks waits as well."""
    name = begun(folder, "human", "q")
    assert command("inbox", "approve", name).exit_code == FAULTY
    assert "write the answer" in command("inbox", "answer", name, "").stderr
    assert command("inbox", "answer", name, "the blue one").exit_code == DONE
    assert "the blue one" in command("runs", "show", "last").stdout


def test_a_cancelled_run_is_not_decided(folder: pathlib.Path) -> None:
    """It is refused with the reason, and the tool does not run."""
    name = begun(folder)
    assert command("runs", "cancel", "last").exit_code == DONE
    done = command("inbox", "approve", name)
    assert (done.exit_code, "its run has ended (cancelled)" in done.stderr, paid(folder)) == (FAULTY, True, [])
    assert "nothing waits" in command("inbox", "list").stdout
    assert command("runs", "cancel", "last").exit_code == FAULTY
    assert command("run", "--durable", "--resume", "last").exit_code == FAULTY


def test_a_changed_workflow_is_refused_with_what_changed(folder: pathlib.Path) -> None:
    """For a decision that needs the tool, and for the next activation."""
    name = begun(folder)
    file = folder / "editable.yaml"
    before = file.read_text()
    file.write_text(before.replace("turns: 5", "turns: 6"))
    for words in (("inbox", "edit", name, '{"who": "Bob", "amount": 3}'), ("inbox", "approve", name)):
        done = command(*words)
        assert (done.exit_code, "editable.yaml changed since it began" in done.stderr) == (FAULTY, True), done.output
    run = name.partition(".")[0]
    assert f"what was decided stands: go on with the run later by loopworth run --durable --resume {run}" in done.stderr
    listed = command("inbox", "list")
    assert "nothing waits in" in listed.stdout
    assert f"the run {run} is decided, and was not gone on with yet" in listed.stderr
    assert f"next loopworth run --durable --resume {run}" in " ".join(command("inbox", "show", name).stdout.split())
    file.write_text(before)
    assert command("run", "--durable", "--resume", "last").exit_code == DONE
    assert paid(folder) == ["Ann 250"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["inbox", "show", "nope"], "there is no run 'nope'"),
        (["inbox", "approve", "last.7"], "name one"),
        (["run", "refunds.yaml", "--durable", "--no-store"], "leave out --no-store"),
        (["run", "refunds.yaml", "--resume", "last"], "leave them out"),
        (["run", "--resume", "nope"], "there is no run 'nope'"),
        (["run"], "name a workflow file"),
    ],
)
def test_a_slip_is_a_message(folder: pathlib.Path, words: list[str], says: str) -> None:
    begun(folder)
    done = command(*words)
    assert (done.exit_code, says in done.stderr) == (FAULTY, True), done.output


def test_a_run_that_is_killed_goes_on_by_the_command_it_named(folder: pathlib.Path) -> None:
    """A real process, a real SIGKILL in the middle of a tool; what was done before is not done again."""
    (folder / "slow.yaml").write_text(
        "workflow: slow\nshape: pipeline\ninput: {}\n"
        "tools: {pay: {python: 'shop:refund', effect: irreversible}, wait: {python: 'shop:slow', effect: read}}\n"
        "steps:\n  - {id: paid, call: pay, with: {amount: 1, who: Ann}}\n"
        '  - {id: late, call: wait, with: {seconds: "{{ 30 if paid else 0 }}"}}\n'
        "answer: '{{ paid }}'\n"
    )
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-m", "loopworth", "run", "slow.yaml", "--durable"]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(words, cwd=folder, env=environ, **pipes)
    assert process.stderr is not None
    hint = process.stderr.readline().split()[-4:]
    while not (folder / "started.txt").exists():
        assert process.poll() is None
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert hint[:3] == ["run", "--durable", "--resume"]
    shop = (folder / "shop.py").read_text()
    (folder / "shop.py").write_text(shop.replace("time.sleep(seconds)", "pass"))
    again = subprocess.run(
        [*words[:3], *hint, "--json"], cwd=folder, env=environ, capture_output=True, text=True, check=False
    )
    assert (again.returncode, json.loads(again.stdout)["answer"]) == (DONE, "paid"), again.stderr
    assert paid(folder) == ["Ann 1"]


def test_a_store_is_migrated_by_a_command(folder: pathlib.Path) -> None:
    """It says what it did; a second time nothing is to be done."""
    place = str(folder / "own.db")
    assert f"the tables are made (version {VERSION})" in command("store", "migrate", "--store", place).stdout
    assert "up to date already" in command("store", "migrate", "--store", place).stdout


def test_nothing_of_a_server_is_loaded_for_a_file(folder: pathlib.Path) -> None:
    """The core needs neither the driver of Postgres nor an engine for fleets."""
    code = "import sys, loopworth.cli.app, loopworth.runs.store; print({'psycopg', 'dbos'} & set(sys.modules))"
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_an_address_without_its_driver_names_the_extra(folder: pathlib.Path) -> None:
    """What is not installed is nobody's bug: the message says what to install."""
    code = "import sys; sys.modules['psycopg'] = None; from loopworth.cli import main; main()"
    words = ["store", "migrate", "--store", "postgresql://nobody@nowhere/none"]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    call = [sys.executable, "-c", code, *words]
    done = subprocess.run(call, env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, "pip install 'loopworth[postgres]'" in done.stderr) == (3, True)
    assert "itself failed" not in done.stderr


def test_a_run_whose_process_is_gone_is_listed_so(folder: pathlib.Path) -> None:
    """In the list, on its own, as JSON, each with what to do; a decision goes on with it as with any other."""
    name = begun(folder)
    run = name.partition(".")[0]
    with closing(Store()) as store:
        store.resume(run)  # an activation that never ends
    for words in (["runs"], ["runs", "show", run]):
        done = command(*words)
        assert ("killed" in done.stdout, f"--resume {run}" in done.output) == (True, True), done.output
    [listed] = json.loads(command("runs", "--json", "--exit", "killed").stdout)
    shown = json.loads(command("runs", "show", run, "--json").stdout)
    assert (listed["killed"], listed["exit"], shown["killed"]) == (True, None, True)
    assert command("inbox", "approve", name).exit_code == DONE
    assert paid(folder) == ["Ann 250"]
    assert json.loads(command("runs", "--json").stdout)[0]["killed"] is False
    assert json.loads(command("runs", "--json", "--exit", "killed").stdout) == []


def test_a_decision_on_a_run_that_is_under_way_is_left_to_it(folder: pathlib.Path) -> None:
    name = begun(folder)
    run = name.partition(".")[0]
    with closing(Store()) as store, store.home.occupied(run):
        store.resume(run)
        done = command("inbox", "approve", name, "--json")
    assert (done.exit_code, json.loads(done.stdout)["state"], paid(folder)) == (DONE, "decided", [])
    assert f"if its process is gone: loopworth run --durable --resume {run}" in done.stderr


def test_every_command_of_the_inbox_speaks_json(folder: pathlib.Path) -> None:
    """One document each, also where only something is decided, or somebody was quicker."""
    assert one_of(command("inbox", "list", "--json")) == []
    assert one_of(command("inbox", "sweep", "--json")) == {"expired": [], "runs": [], "left": []}
    name = begun(folder)
    assert one_of(command("inbox", "approve", name, "--no-run", "--json"))["decision"]["choice"] == "approve"
    late = command("inbox", "reject", name, "--note", "no", "--json")
    assert (late.exit_code, one_of(late)["decision"]["choice"]) == (FAILED, "approve")
    assert [one["exit"] for one in one_of(command("inbox", "sweep", "--json"))["runs"]] == ["success"]
    assert one_of(command("inbox", "approve", begun(folder), "--json"))["exit"] == "success"


@pytest.mark.parametrize(
    "words", [["--every", "5"], ["--every", "1ms"], ["--every", "0s"], ["--every", "5s", "--json"]]
)
def test_a_patrol_wants_a_span(folder: pathlib.Path, words: list[str]) -> None:
    done = command("inbox", "sweep", *words)
    assert (done.exit_code, "--every" in done.stderr) == (FAULTY, True), done.output


def test_a_patrol_goes_on_with_what_is_decided_until_it_is_told_to_end(folder: pathlib.Path) -> None:
    """A process of its own, beside no server: it says what it does."""
    name = begun(folder)
    run = name.partition(".")[0]
    assert command("inbox", "approve", name, "--no-run").exit_code == DONE
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-m", "loopworth", "inbox", "sweep", "--every", "1s"]
    with subprocess.Popen(words, cwd=folder, env=environ, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        late = threading.Timer(60, process.kill)  # one that says less is not waited for
        late.start()
        said = [process.stderr.readline() for _ in range(3)]
        late.cancel()
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == DONE
    assert {f"going on with the run {run}\n", f"the run {run}: success\n"} < set(said)
    assert paid(folder) == ["Ann 250"]


def test_a_decision_whose_run_another_process_has_is_no_fault(folder: pathlib.Path) -> None:
    """Whoever sweeps may be quicker than who decided: the status is the run's, where it has ended by then."""
    name = begun(folder)
    with closing(Store()) as store, store.home.occupied(name.partition(".")[0]):
        done = command("inbox", "approve", name)
    assert (done.exit_code, paid(folder)) == (DONE, [])
    assert "another process goes on with the run: it is under way" in done.stderr
    assert command("inbox", "sweep").exit_code == DONE
    with pytest.raises(typer.Exit) as end:
        gone_on(approvals.found(Shelf(), name), None, as_json=False)
    assert (end.value.exit_code, paid(folder)) == (DONE, ["Ann 250"])


def test_the_last_of_the_inbox_is_the_run_that_asked_last(folder: pathlib.Path) -> None:
    """Whatever was run since; and who decides twice does not decide about an older one."""
    begun(folder)
    asked = begun(folder)
    (folder / "plain.yaml").write_text(
        'workflow: plain\nshape: pipeline\nsteps: [{id: a, set: "1"}]\nanswer: "{{ a }}"\n'
    )
    assert command("run", folder / "plain.yaml").exit_code == DONE
    done = command("inbox", "approve", "last", "--no-run")
    assert (done.exit_code, f"{asked}: approve" in done.stderr) == (DONE, True), done.output
    again = command("inbox", "approve", "last", "--no-run")
    assert (again.exit_code, f"{asked} is already decided" in again.stderr) == (FAILED, True)
    assert len(approvals.waiting(Shelf())) == 1
