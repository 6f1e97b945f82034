"""The handed cases of kind resume, and those of other kinds that are about a saved run."""

from __future__ import annotations

import asyncio
import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from ruamel.yaml import YAML

from loopworth.models import ScriptedModel
from loopworth.runs.database import InUse
from loopworth.runs.outcome import Outcome
from loopworth.workflows import durable
from loopworth.workflows.source import Changed
from tests.cases.saved import LOOP, Saved, calls, free, gated, results
from tests.cli.kit import ROOT
from tests.durability.test_kill import KILLED, Server

FOLDER = pathlib.Path(__file__).parent
CASES = [
    case
    for kind in ("resume", "call-ids", "budget", "parallel-calls")
    for case in YAML(typ="safe").load(FOLDER / f"{kind}.yaml")["cases"]
    if kind == "resume" or case["area"] == "resume" or case["id"] == "PC-06"
]


def same_key(given: dict[str, Any], folder: pathlib.Path) -> None:
    """A real SIGKILL in the middle of the write."""
    with Server(folder / "w", str(folder / "runs.db")) as server:
        assert (server.life("cut", "1", "in note"), server.life("cut", "2")) == (KILLED, 0)
    assert [server.lines("cut", life).count("note refunded") for life in "12"] == [1, 1]
    assert server.lines("cut", "1", "keys") == server.lines("cut", "2", "keys") == ["cut/noted/call"]


def names_what_is_missing(given: dict[str, Any], folder: pathlib.Path) -> None:
    done: list[str] = []

    def send_mail(to: str) -> str:
        """Send a mail."""
        done.append(to)
        return "sent"

    script = [calls(("send_mail", {"to": "ann"})), "done"]
    saved = Saved(folder, {"send_mail": gated(send_mail)})
    saved.resume(ScriptedModel(script))
    saved.decide("approve")

    def with_subject(to: str, subject: str) -> str:
        """Send a mail."""
        done.append(f"{to} {subject}")
        return "sent"

    saved.tools = {"send_mail": gated(with_subject)}
    with pytest.raises(Changed, match="the tool send_mail now also needs subject"):
        saved.resume(ScriptedModel(script))
    assert done == []


def one_goes_on(given: dict[str, Any], folder: pathlib.Path) -> None:
    """The other is told so where it opens the store in this process, and where it is a command of its own."""
    saved = Saved(folder, {})
    words = ["run", "--durable", "--resume", saved.id, "--store", str(saved.place)]
    command = [sys.executable, "-m", "loopworth", *words]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}

    class Inside(ScriptedModel):
        async def reply(self, *args: Any) -> Any:
            with pytest.raises(InUse, match="is in use: another process goes on with it"):
                await asyncio.to_thread(saved.resume, ScriptedModel(["other"]))
            other = await asyncio.to_thread(
                subprocess.run, command, cwd=folder, env=environ, capture_output=True, text=True, timeout=60
            )
            assert (other.returncode, other.stdout) == (3, ""), other.stderr
            assert "is in use: another process goes on with it" in other.stderr
            return await super().reply(*args)

    assert saved.resume(Inside(["mine"])).answer == "mine"


def retries_left(given: dict[str, Any], folder: pathlib.Path) -> None:
    """The last one left is a success, or the end: there is none beyond it."""
    total = int(re.findall(r"of (\d+)", given["event"])[0])
    up, down = (tried(folder / name, total, until) for name, until in (("up", total), ("down", 99)))
    assert (up.exit, up.answer) == ("success", "up")
    assert (down.exit, down.note) == ("step_failed", "step 'tried': flaky (tool_error): flaky failed: OSError: down")


def tried(folder: pathlib.Path, total: int, until: int) -> Outcome:
    """A step whose tool works from one try on, killed while it waits for the third; how it ends when it is resumed."""
    folder.mkdir()
    done: list[str] = []

    def flaky() -> str:
        """Fails until then."""
        done.append("try")
        if len(done) < until:
            raise OSError("down")
        return "up"

    text = (
        "workflow: saved\nshape: pipeline\ninput: {question: str}\nsteps:\n"
        f"  - {{id: tried, call: flaky, retry: {{attempts: {total}, wait: 1s}}}}\nanswer: '{{{{ tried }}}}'\n"
    )
    saved = Saved(folder, {"flaky": free(flaky)}, text)
    slept: list[float] = []

    class Killed(BaseException):
        """The process is gone: nothing after this is written."""

    def life(fatal: int) -> Any:
        async def sleep(seconds: float) -> None:
            slept.append(seconds)
            if len(slept) == fatal:
                raise Killed

        return saved.with_store(
            lambda store: asyncio.run(durable.go_on(store, saved.id, saved.compiled, {}, sleep=sleep))
        )

    with pytest.raises(Killed):
        life(2)
    assert len(done) == 2
    outcome: Outcome = life(0)
    assert (len(done), len(slept)) == (total, total)
    return outcome


class Broken(Exception):
    """Its text is made of two values, and it cannot be made from one."""

    def __init__(self, part: str, whole: int) -> None:
        super().__init__(part, whole)
        self.part, self.whole = part, whole

    def __str__(self) -> str:
        return f"{self.part} of {self.whole}"


def same_error(given: dict[str, Any], folder: pathlib.Path) -> None:
    done: list[str] = []

    def fetch() -> str:
        """Fails."""
        done.append("fetch")
        raise Broken("a third", 3)

    text = (
        "workflow: saved\nshape: pipeline\ninput: {question: str}\nsteps:\n"
        "  - {id: got, call: fetch, on_error: skip}\n  - {id: paid, call: pay}\n"
        "answer: '{{ got | error }}'\n"
    )
    saved = Saved(folder, {"fetch": free(fetch), "pay": gated(lambda: "paid", description="Pay.")}, text)
    first = saved.resume()
    saved.decide("approve")
    second = saved.resume()
    assert (second.exit, done) == ("success", ["fetch"])
    assert "Broken: a third of 3" in second.answer
    assert first.calls[0].content == second.calls[0].content == "fetch failed: Broken: a third of 3"


def newest_call(given: dict[str, Any], folder: pathlib.Path) -> None:
    done: list[int] = []

    def fetch(record: int) -> str:
        """Fetch a record."""
        done.append(record)
        return f"record {record}"

    id = re.findall(r"call_\d", given["saved_run"])[0]
    turns = [{"calls": [{"id": id, "tool": "fetch", "arguments": {"record": k}}]} for k in range(1, 5)]
    saved = Saved(folder, {"fetch": {**free(fetch), "approval": {"if": "args.record == 4"}}})
    assert saved.resume(ScriptedModel([*turns, "done"])).exit == "waiting"
    assert done == [1, 2, 3]
    saved.decide("approve")
    model = ScriptedModel([*turns, "done"])
    outcome = saved.resume(model)
    assert (outcome.exit, done, len(model.requests)) == ("success", [1, 2, 3, 4], 1)
    assert results(outcome) == [f"record {k}" for k in range(1, 5)]
    asking = [message for message in model.requests[0].messages if message.get("tool_calls")][-1]
    result = [message for message in model.requests[0].messages if message["role"] == "tool"][-1]
    assert (result["content"], result["tool_call_id"]) == ("record 4", asking["tool_calls"][0]["id"])


def three_left(given: dict[str, Any], folder: pathlib.Path) -> None:
    most, used = given["limits"]["max_steps"], int(re.findall(r"\d+", given["saved_run"])[0])
    done: list[int] = []

    def fetch(record: int) -> str:
        """Fetch a record."""
        done.append(record)
        return f"record {record}"

    turns = [calls(("fetch", {"record": k})) for k in range(1, 99)]
    tools = {"fetch": {**free(fetch), "approval": {"if": f"args.record == {used}"}}}
    saved = Saved(folder, tools, f"{LOOP}budget: {{turns: {most}}}\n")
    first, second = ScriptedModel(turns), ScriptedModel(turns)
    assert saved.resume(first).exit == "waiting"
    saved.decide("approve")
    outcome = saved.resume(second)
    assert (outcome.exit, outcome.model_calls) == ("turn_limit", most)
    assert (len(first.requests), len(second.requests)) == (used, most - used) == (7, 3)


def each_once(given: dict[str, Any], folder: pathlib.Path) -> None:
    done: list[str] = []

    def read_file() -> str:
        """Read a file."""
        done.append("read_file")
        return "read"

    def send_mail() -> str:
        """Send a mail."""
        done.append("send_mail")
        return "sent"

    kinds = {"read_file": free(read_file), "send_mail": gated(send_mail)}
    names = [line.partition(",")[0] for line in given["calls"]]
    script = [calls(*((name, {}) for name in names)), "done"]
    saved = Saved(folder, {name: kinds[name] for name in names})
    assert saved.resume(ScriptedModel(script)).gates == ("1/call[1]/gate",)
    assert done == ["read_file"]
    saved.decide("approve")
    outcome = saved.resume(ScriptedModel(script))
    assert (outcome.exit, done, results(outcome)) == ("success", ["read_file", "send_mail"], ["read", "sent"])


EXPECTED: dict[str, Callable[[dict[str, Any], pathlib.Path], None]] = {
    "Run again with the same key as before.": same_key,
    "Stops with an error naming send_mail and subject, or asks again; not run with missing data.": names_what_is_missing,
    "One goes on; the other ends with a message that the run is in use.": one_goes_on,
    "Resume goes on with the retries left; no odd error about missing output.": retries_left,
    "Same exception name and text as at first.": same_error,
    "The new call runs once and its result is paired with the newest call.": newest_call,
    "3 steps are left, not 10.": three_left,
    "After approval and resume each of the two has run exactly once.": each_once,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_resume(case: dict[str, Any], tmp_path: pathlib.Path) -> None:
    """A saved run goes on as the one it was."""
    for line in case["expect"]:
        EXPECTED[line](case["given"], tmp_path)
