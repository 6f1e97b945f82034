"""The handed cases of kind inbox without a page: decisions at once, one of many, and on a run that is over."""

from __future__ import annotations

import pathlib
import threading
from collections.abc import Callable
from typing import Any

import pytest
from ruamel.yaml import YAML

from loopworth.models import ScriptedModel
from loopworth.runs import approvals
from loopworth.runs.approvals import Already, Decided
from tests.cases.saved import Saved, calls, gated, results

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("inbox.yaml"))["cases"]
CASES = [case for case in CASES if "request" not in case["given"]]  # that is the page's alone


def made(folder: pathlib.Path, done: list[int], n: int = 1) -> tuple[Saved, list[Any]]:
    """A run that waits for a person in so many calls of one turn, and its script."""

    def fetch(record: int) -> str:
        """Fetch a record."""
        done.append(record)
        return f"record {record}"

    script = [calls(*(("fetch", {"record": k}) for k in range(1, n + 1))), "done"]
    saved = Saved(folder, {"fetch": gated(fetch, "read")})
    assert saved.resume(ScriptedModel(script)).exit == "waiting"
    return saved, script


def first_wins(given: dict[str, Any], folder: pathlib.Path) -> None:
    done: list[int] = []
    saved, script = made(folder, done)
    came: list[Any] = []
    tabs = [("approve", "Ann", "yes"), ("reject", "Bob", "no")]
    at = threading.Barrier(2)

    def tab(choice: str, by: str, note: str) -> None:
        at.wait(30)
        came.append(saved.decide(choice, saved.asked()[0], by, note=note))

    threads = [threading.Thread(target=tab, args=one, daemon=True) for one in tabs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert {type(one) for one in came} == {Decided, Already}
    [one] = saved.asked()
    assert one.decision is not None
    assert (one.decision.choice, one.decision.by, one.decision.note) in tabs
    assert sorted(ballot.by for ballot in one.ballots) == ["Ann", "Bob"]
    [winner] = [ballot for ballot in one.ballots if ballot.won]
    assert winner.decision == one.decision
    outcome = saved.resume(ScriptedModel(script))
    assert (outcome.exit, done) == ("success", [1] if one.decision.choice == "approve" else [])


def only_the_fourth(given: dict[str, Any], folder: pathlib.Path) -> None:
    done: list[int] = []
    saved, script = made(folder, done, 5)
    assert [one.n for one in saved.waits()] == [1, 2, 3, 4, 5]
    saved.decide("approve", saved.waits()[3])
    assert [one.n for one in saved.waits()] == [1, 2, 3, 5]
    outcome = saved.resume(ScriptedModel(script))
    assert (outcome.exit, done, [one.n for one in saved.waits()]) == ("waiting", [4], [1, 2, 3, 5])
    for one in saved.waits():
        saved.decide("approve", one)
    outcome = saved.resume(ScriptedModel(script))
    assert (outcome.exit, sorted(done)) == ("success", [1, 2, 3, 4, 5])
    assert results(outcome) == [f"record {k}" for k in range(1, 6)]


def refused(given: dict[str, Any], folder: pathlib.Path) -> None:
    done: list[int] = []
    saved, script = made(folder, done)
    saved.with_store(lambda store: store.cancel(saved.id))
    with pytest.raises(approvals.Refused, match=r"cannot be decided: its run has ended \(cancelled\)"):
        saved.decide("approve", saved.asked()[0])
    with pytest.raises(LookupError, match=r"has ended \(cancelled\)"):
        saved.resume(ScriptedModel(script))
    assert done == []


EXPECTED: dict[str, Callable[[dict[str, Any], pathlib.Path], None]] = {
    "The first wins as a whole; the record shows both tries and who won.": first_wins,
    "Only the fourth is decided; the others stay open.": only_the_fourth,
    "Refused with a clear message; the tool does not run.": refused,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_inbox(case: dict[str, Any], tmp_path: pathlib.Path) -> None:
    """One decision a question, and every try on the record."""
    for line in case["expect"]:
        EXPECTED[line](case["given"], tmp_path)
