"""One trial."""

from __future__ import annotations

import json

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from loopworth.comparisons.schedule import Planned
from loopworth.comparisons.scores import Score
from loopworth.comparisons.trial import clean, encoded, scored, tried
from loopworth.runs.events import ModelCalled
from loopworth.runs.exit import APART
from loopworth.runs.outcome import Outcome
from loopworth.runs.usage import Usage

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters()),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(), max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(plain)
def test_whatever_a_run_leaves_can_be_written_and_read_back(value: object) -> None:
    """Also half a surrogate pair, and an integer of any length."""
    assert json.loads(bytes(encoded({"at": encoded(value), "value": value}))) == {"at": value, "value": value}


@given(st.text(st.characters()))
def test_a_note_can_always_be_printed(text: str) -> None:
    """A clean text encodes."""
    assert len(clean(text).encode().decode()) == len(text)


def test_ends_that_say_nothing_are_counted_apart() -> None:
    """They have no score, whatever stands beside them; all other ends have one."""
    for exit in APART:
        assert scored(Outcome("4", exit), lambda _: Score(True)) is None
    assert scored(Outcome(None, "turn_limit"), lambda _: Score(True)) == Score(False, "no answer: turn_limit")
    assert scored(Outcome("4", "turn_limit"), lambda _: Score(True)) == Score(True)


def test_a_trial_counts_what_its_outcome_holds() -> None:
    """Its figures are folds over the events, and its latency leaves the waits out."""
    events = [ModelCalled("ask", "m", Usage(3, 4, usd=0.5), "stop", 0.0, 2.0, waits=((0.0, 1.5),))]
    trial = tried(Planned("a", "1", 0), Outcome("4", events=events, seconds=2.5), Score(True), began=9.0)
    assert (trial.model_calls, trial.usage, trial.seconds, trial.latency) == (1, Usage(3, 4, usd=0.5), 2.5, 1.0)
    assert (trial.began, trial.right) == (9.0, True)
    assert msgspec.json.decode(trial.events)[0]["at"] == "ask"
