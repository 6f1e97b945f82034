"""Runs of before an outcome held the cause of a step that failed: it is read in their notes."""

from typing import get_args

import pytest

from loopworth.comparisons.symptoms.conduct import Conduct
from loopworth.comparisons.symptoms.older_ends import cause_told
from loopworth.runs.events import FellBack
from loopworth.runs.exit import Exit
from loopworth.runs.outcome import Failed, Stop
from loopworth.workflows.ends import words


@pytest.mark.parametrize("exit", get_args(Exit))
@pytest.mark.parametrize("note", ["", "turns: 3", "step 'b' ended with empty"])
def test_what_a_step_ended_for_is_read_from_what_is_said_of_it(exit: Exit, note: str) -> None:
    """Of a step of a step, of an item and of a step without a name too."""
    said = words(Stop(exit, None, note))
    for step in ("step 'found'", "step 2 (ask, line 12)", "step 'a': item 3: step 'found'"):
        assert cause_told(f"{step}{said}") == exit


@pytest.mark.parametrize("why", ["lookup (tool_error): step 'b' ended with empty", "", "ended with turn_limit"])
def test_a_step_that_failed_for_a_reason_of_its_own_ended_for_nothing_else(why: str) -> None:
    """What a tool or a model said is no end."""
    assert cause_told(f"step 'found'{words(Failed(why))}") is None
    assert cause_told(f"step 'found' ended with {why}") is None


def test_a_diagnosis_reads_both_forms() -> None:
    """A run, and a part of one that something else took the place of; what is kept as data is not read in words."""
    note, stop = "step 'a' ended with turn_limit: 3", "step_failed"
    assert Conduct("r", "a", stop, note).end == Conduct("r", "a", stop, "", cause="turn_limit").end == "turn_limit"
    assert Conduct("r", "a", stop, note, cause="step_failed").end == "step_failed"
    for event in (FellBack("otherwise", stop, note), FellBack("otherwise", stop, "", "turn_limit")):
        assert "turn_limit" in Conduct("r", "a", "success", right=False, events=(event,)).ends
