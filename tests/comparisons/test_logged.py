"""An arm whose runs were made before."""

from __future__ import annotations

import pathlib

from loopworth.comparisons.arms import Control
from loopworth.comparisons.logged import log, of_control
from loopworth.runs.kept import Kept
from loopworth.runs.outcome import Outcome
from loopworth.runs.recording import Recording, line
from tests.comparisons.contenders import tasks


def trial(n: int, arm: str, answer: str) -> Recording:
    kept = Kept(f"x.{n}", "trial", "w", "c.yaml", "2026-11-30", parent="x", arm=arm, task="1", repeat=0, attempt=0)
    return Recording(kept, {}, Outcome(answer))


def test_the_runs_of_controls_are_no_runs_of_an_arm(tmp_path: pathlib.Path) -> None:
    """A log that names no arm of this name is taken whole, but for its controls, which were given what others found."""
    path = tmp_path / "runs.jsonl"
    control = Control("bare", "no_tools", "a").key
    path.write_bytes(line(trial(1, "a", "mine")) + line(trial(2, control, "pasted")))
    assert log(path, tasks(1), "october", 1)["1", 0].answer == "mine"
    assert log(path, tasks(1), "a", 1)["1", 0].answer == "mine"


def test_a_control_has_a_name_that_no_arm_and_no_other_control_has() -> None:
    """Whatever a file names its controls: names of arms have no space."""
    keys = [
        Control(*of).key
        for of in (
            ("retry", "retry", "a"),
            ("retry", "pasted", "a"),
            ("retry", "retry", "b"),
            ("pasted", "pasted", "a"),
        )
    ]
    assert len(set(keys)) == 4
    assert all(map(of_control, keys))
    assert not any(map(of_control, ("a", "retry", None)))
