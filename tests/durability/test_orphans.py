"""Runs whose process was killed: known by their lock, gone on with unasked, and not for ever."""

from __future__ import annotations

import asyncio
import os
import pathlib
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import loopworth
from loopworth import front
from loopworth.cli.status import DONE
from loopworth.models import ScriptedModel
from loopworth.runs.database import InUse
from loopworth.runs.due import due
from loopworth.runs.home import home
from loopworth.runs.occupancy import name, occupied, vacant
from loopworth.runs.orphans import ENTERED, MOST, Orphan, orphans
from loopworth.runs.store import Store
from loopworth.workflows import durable
from loopworth.workflows.source import Changed
from tests.cli.kit import ROOT, command

SLOW = """
workflow: slow
shape: pipeline
input: {}
tools: {pay: {python: "till:pay", effect: irreversible}, wait: {python: "till:wait", effect: read, timeout: 60s}}
steps:
  - {id: paid, call: pay, with: {amount: 5}}
  - {id: late, call: wait, with: {after: "{{ paid }}"}}
answer: "{{ paid }} {{ late }}"
"""
TILL = '''
import pathlib
import time

HERE = pathlib.Path(__file__).parent


def pay(amount: int) -> str:
    """Pay."""
    with (HERE / "paid.txt").open("a") as file:
        file.write(f"{amount}\\n")
    return "paid"


def wait(after: str) -> str:
    """Wait until the test says otherwise."""
    print("started")
    while not (HERE / "go.txt").exists():
        time.sleep(0.01)
    return "late"
'''
TALK = """
workflow: talk
shape: pipeline
input: {}
model: ollama/m
steps: [{id: one, ask: one}, {id: two, ask: "two {{ one }}"}]
answer: "{{ two }}"
"""


class Gone(BaseException):
    """What ends an activation as a kill does: nothing of its end is written."""


class Fatal(ScriptedModel):
    """Gives its replies, and then takes its process with it."""

    def stop(self, what: str) -> Any:
        raise Gone


class Talk:
    """A run of two questions."""

    def __init__(self, folder: pathlib.Path, store: Store) -> None:
        self.store, self.file = store, folder / "talk.yaml"
        self.file.write_text(TALK)
        self.id = durable.begin(store, loopworth.compile(self.file), {})

    def die(self, *replies: Any, given: tuple[str, ...] | None = ()) -> None:
        compiled = loopworth.compile(self.file)
        models = {key: Fatal(list(replies)) for key in compiled.models}
        with pytest.raises(Gone):
            asyncio.run(durable.go_on(self.store, self.id, compiled, models, given=given))

    def orphan(self, later: timedelta = timedelta()) -> Orphan | None:
        found = orphans(self.store.shelf(), datetime.now(UTC) + later)
        return next((one for one in found if one.run == self.id), None)


@pytest.fixture
def talk(tmp_path: pathlib.Path, store: Store) -> Talk:
    return Talk(tmp_path, store)


def test_a_killed_run_is_gone_on_with_by_a_sweep(place: str, tmp_path: pathlib.Path) -> None:
    """A real process, and a real SIGKILL: while it lives it is let be, and what it did is not done again."""
    (tmp_path / "till.py").write_text(TILL)
    (tmp_path / "slow.yaml").write_text(SLOW)
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-m", "loopworth", "run", "slow.yaml", "--durable", "--store", place]
    with subprocess.Popen(words, cwd=tmp_path, env=environ, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            run = process.stderr.readline().split()[-1]
            assert process.stderr.readline() == "started\n"
            assert run not in command("inbox", "sweep", "--store", place).output
            assert f"{run}: its process" not in command("runs", "--store", place).output
        finally:
            process.kill()
    (tmp_path / "go.txt").touch()
    for _ in range(100):  # a server takes a moment to see that a connection has ended
        listed = command("runs", "show", run, "--store", place)
        if "killed" in listed.output:
            break
    assert f"loopworth run --durable --resume {run}" in listed.output
    done = command("inbox", "sweep", "--store", place)
    assert (done.exit_code, f"the run {run}: success" in done.stderr) == (DONE, True), done.output
    assert (tmp_path / "paid.txt").read_text() == "5\n"
    assert run not in command("inbox", "sweep", "--store", place).output


def test_a_run_that_somebody_holds_is_no_orphan(talk: Talk, place: str) -> None:
    """Whatever its row says, and wherever it is looked from."""
    talk.die()
    with home(place).occupied(talk.id):
        assert talk.orphan() is None
    assert talk.orphan() is not None


def test_a_run_that_kills_its_process_again_and_again_is_left_alone(talk: Talk) -> None:
    """What counts is that nothing new came of it; who asks for it is not kept from trying."""
    talk.die("first")
    assert talk.orphan() == Orphan(talk.id, "talk", 2, 0, ())
    for _ in range(MOST):
        assert talk.orphan().due  # type: ignore[union-attr]
        talk.die()
    left = talk.orphan()
    assert left is not None
    assert (left.due, left.fruitless) == (False, MOST)
    assert left.why.endswith(
        f"its process ended, and its last {MOST} tries left nothing new; to try again: "
        f"loopworth run --durable --resume {talk.id}"
    )
    found = due(talk.store)
    assert (talk.id in found.runs, left in found.left) == (False, True)
    models = {key: ScriptedModel(["first", "second"]) for key in loopworth.compile(talk.file).models}
    outcome = asyncio.run(durable.go_on(talk.store, talk.id, loopworth.compile(talk.file), models))
    assert (outcome.answer, talk.orphan()) == ("second", None)


def test_what_is_new_gives_a_run_its_tries_again(talk: Talk) -> None:
    for replies in ((), (), ("first",), ("first",)):
        talk.die(*replies)
    assert talk.orphan() == Orphan(talk.id, "talk", 5, 1, ())


@pytest.mark.parametrize(
    ("given", "said"), [(("ollama/m",), "ollama/m came from a program"), (None, "a program has yet to begin with it")]
)
def test_what_a_program_gave_is_left_to_programs(talk: Talk, given: tuple[str, ...] | None, said: str) -> None:
    """Another process would ask the file's own models, and call its tools."""
    talk.die(given=given)
    found = due(talk.store)
    [left] = [one for one in found.left if one.run == talk.id]
    assert (talk.id in found.runs, said in left.why) == (False, True)


def test_what_was_only_entered_has_time_to_begin(talk: Talk) -> None:
    """Who entered it may still prepare its models."""
    assert talk.orphan() is None
    assert talk.orphan(later=2 * ENTERED) is not None


def test_of_two_who_found_it_one_goes_on(talk: Talk) -> None:
    """The epoch at which it was found is no longer that of the run: the second ends without a try of its own."""
    talk.die()
    [epoch] = [one.epoch for one in orphans(talk.store.shelf()) if one.run == talk.id]
    talk.die()
    models: Any = {"ollama/m": ScriptedModel(["one", "two"])}
    with pytest.raises(InUse):
        asyncio.run(front.resume(talk.store, talk.id, models=models, epoch=epoch))
    assert talk.store.shelf().run(talk.id).epoch == epoch + 1


def test_a_row_that_cannot_be_read_keeps_no_other_from_being_found(talk: Talk, tmp_path: pathlib.Path) -> None:
    talk.die()
    other = Talk(tmp_path, talk.store)
    other.die()
    change = "update run set source = ? where id = ?"
    talk.store.wait(talk.store.submit(lambda db: db.execute(change, (b"\x80\x04N.", other.id))))
    assert (talk.orphan() is not None, other.orphan()) == (True, None)


@pytest.mark.parametrize(
    ("left", "known"), [("{host}\nelsewhere", True), ("elsewhere\n{boot}", True), ("elsewhere\nelsewhere", False)]
)
def test_a_lock_of_another_host_is_not_taken_for_one_that_ended(tmp_path: pathlib.Path, left: str, known: bool) -> None:
    """On a network disk it may be held where it cannot be seen; a container of this host shares its kernel."""
    with occupied(tmp_path, "a1"):
        host, boot = (tmp_path / "a1").read_text().split("\n")
        assert not vacant(tmp_path, "a1")
    (tmp_path / "a1").write_text(left.format(host=host, boot=boot))
    assert vacant(tmp_path, "a1") is known
    (tmp_path / "a1").write_text("")
    assert not vacant(tmp_path, "a1")


@pytest.mark.parametrize("run", ["../runs.db", "a/b", "..", ".", "", "a\0b", "x" * 500, "Ä ö\n"])
def test_no_id_of_a_run_leads_out_of_the_folder_of_locks(tmp_path: pathlib.Path, run: str) -> None:
    """The lock of a run is removed when it ends: it is never another file."""
    (tmp_path / "runs.db").write_text("kept")
    with occupied(tmp_path / "locks", run):
        assert [path.name for path in (tmp_path / "locks").iterdir()] == [name(run)]
        with pytest.raises(InUse), occupied(tmp_path / "locks", run):
            raise AssertionError
    assert (tmp_path / "runs.db").read_text() == "kept"


def test_a_run_of_a_program_does_not_go_on_without_what_it_was_given(talk: Talk) -> None:
    """With the file's own model it would be another run: whoever decides or sweeps elsewhere is told so."""
    talk.die(given=("ollama/m",))
    with pytest.raises(Changed, match="ollama/m came from a program"):
        asyncio.run(front.resume(talk.store, talk.id))
    assert talk.store.shelf().run(talk.id).epoch == 2
    models: Any = {"ollama/m": ScriptedModel(["one", "two"])}
    assert asyncio.run(front.resume(talk.store, talk.id, models=models)).answer == "two"


def test_a_sweep_begins_with_what_failed_least(talk: Talk, tmp_path: pathlib.Path) -> None:
    """A run that takes the sweep's process with it does not keep the others from theirs."""
    for _ in range(2):
        talk.die()
    other = Talk(tmp_path, talk.store)
    other.die("one")
    found = [one.run for one in orphans(talk.store.shelf()) if one.run in (talk.id, other.id)]
    assert found == [other.id, talk.id]
