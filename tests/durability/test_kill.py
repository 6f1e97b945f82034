"""A durable run that is killed at any boundary: what was recorded is not done again, and what may have happened is not
risked twice."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import uuid
from collections import Counter
from types import TracebackType
from typing import Any

from loopworth.runs.journal import Record
from loopworth.runs.outcome import Outcome
from loopworth.runs.shelf import Shelf
from tests.durability.world import LINES, ONCE

ROOT = pathlib.Path(__file__).resolve().parents[2]
KILLED = -9
COMMITS = (
    "run",
    "approval (careful)",
    "effect model",
    "effect tool",
    "effect limit",
    "effect intent (careful)",
    "effect tool (careful)",
    "effect (careful)",
    "transcript",
)
"""What is committed at some time: how often is a matter of speed, for effects at once share a commit."""
BOUNDARIES = {
    *(f"{when} the commit of {what}" for when in ("before", "after") for what in COMMITS),
    *(f"{when} {tool}" for when in ("before", "in") for tool in ("look", "pay", "note", "refund")),
    *(f"{when} {id}" for when in ("before", "in", "after") for id in LINES if id.endswith("/ask")),
    "after the decision",
}


class Server:
    """A process that has all loaded for runs at this place, and lives each life in a fork of itself."""

    def __init__(self, folder: pathlib.Path, place: str) -> None:
        self.folder, self.place = folder, place
        environ = {**os.environ, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-W", "error", "-m", "tests.durability.world", str(folder), place]
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=environ, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def life(self, id: str, name: str = "1", fatal: int | str | None = None) -> int:
        """How one life of a run ended: 0, or what killed it."""
        what = {"folder": str(self.folder), "place": self.place, "id": id, "name": name, "fatal": fatal}
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()
        return int(json.loads(self.process.stdout.readline()))

    def lines(self, id: str, name: str, kind: str = "log") -> list[str]:
        path = self.folder / f"{id}.{name}.{kind}"
        return path.read_text().splitlines() if path.exists() else []

    def __enter__(self) -> Server:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.process.communicate()


def same(one: Outcome, other: Outcome) -> bool:
    """Whether two runs came to the same: answer, exit, every message, every token."""
    said = [[(said.at, said.message) for said in outcome.transcript] for outcome in (one, other)]
    ids = [json.dumps(messages).replace("call_", "") for messages in said]
    return (one.exit, one.answer, one.usage, ids[0]) == (other.exit, other.answer, other.usage, ids[1])


def faults(before: list[str], after: list[str], kept: dict[str, Record], end: Outcome, whole: Outcome) -> list[str]:
    """What is wrong with how a run went on, by what was counted in both lives and what the first one had recorded."""
    done = [LINES[id] for id, record in kept.items() if record.kind in ("model", "tool")]
    found = [f"{line} is recorded, and was done again" for line in done if line in after]
    twice = {line: n for line, n in Counter(before + after).items() if n > 1}
    found += [f"{line} was done {n} times" for line, n in twice.items() if n > 2]
    found += [f"{line} was done again, and had ended" for line in twice if line not in after]
    found += [f"{LINES[id]} was done twice" for id in ONCE if LINES[id] in twice]
    unknown = [id for id in ONCE if id in kept and kept[id].kind == "intent"]
    if unknown:
        gates = tuple(f"{id}/uncertain" for id in unknown)
        found += [] if (end.exit, end.gates) == ("waiting", gates) else [f"it ended {end.exit} {end.gates} {end.note}"]
        found += [f"{LINES[id]} was done in doubt" for id in unknown if LINES[id] in after]
    elif not same(end, whole):
        found.append(f"it came to {end.exit} {end.note}: {end.answer}")
    return found


def outcome(place: str, id: str) -> Outcome:
    found = Shelf(place).outcome(id)
    assert found is not None
    return found


def test_a_run_that_is_killed_anywhere_goes_on_as_if_it_was_not(place: str, tmp_path: pathlib.Path) -> None:
    """By SIGKILL at every boundary: before, in and after each model call, tool call, intent, question, decision, result
    and end.

    No recorded effect runs again; what was in flight runs at most once more, a write only with its key; a write without
    one whose outcome is unknown never, and then the run waits at `…/uncertain`; any other run is the undisturbed one.
    """
    mark, wrong = uuid.uuid4().hex[:8], dict[str, Any]()
    with Server(tmp_path / "w", place) as server:
        assert server.life(f"{mark}x") == 0
        whole, passed = outcome(place, f"{mark}x"), server.lines(f"{mark}x", "1", "passed")
        assert whole.exit == "success", whole.traceback
        assert set(passed) >= BOUNDARIES
        for n, boundary in enumerate(passed, 1):
            if found := gone_on(server, f"{mark}{n}", n, whole):
                wrong[f"{n} {boundary}"] = found
    assert wrong == {}


def gone_on(server: Server, id: str, n: int, whole: Outcome) -> list[str]:
    """What is wrong with a run that was killed at its n-th boundary and then went on."""
    status = server.life(id, "1", n)
    kept = Shelf(server.place).records(id)
    again = server.life(id, "2")
    unreached = status == 0 and len(server.lines(id, "1", "passed")) < n
    if again != 0 or (status != KILLED and not unreached):
        return [f"the lives ended {status} and {again}"]
    found = faults(server.lines(id, "1"), server.lines(id, "2"), kept, outcome(server.place, id), whole)
    keys = {*server.lines(id, "1", "keys"), *server.lines(id, "2", "keys")}
    return found + [f"{key} is not the key of its write" for key in keys - {f"{id}/noted/call"}]
