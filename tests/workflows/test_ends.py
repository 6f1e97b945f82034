"""How a step's end is said: in words that can be read again."""

from typing import get_args

import pytest

from loopworth.runs.outcome import Exit, Failed, Stop
from loopworth.workflows.ends import meant, words


@pytest.mark.parametrize("exit", get_args(Exit))
@pytest.mark.parametrize("note", ["", "turns: 3", "step 'b' ended with empty"])
def test_what_a_step_ended_for_is_read_from_what_is_said_of_it(exit: Exit, note: str) -> None:
    """Of a step of a step, of an item and of a step without a name too."""
    said = words(Stop(exit, None, note))
    for step in ("step 'found'", "step 2 (ask, line 12)", "step 'a': item 3: step 'found'"):
        assert meant(f"{step}{said}") == exit


@pytest.mark.parametrize("why", ["lookup (tool_error): step 'b' ended with empty", "", "ended with turn_limit"])
def test_a_step_that_failed_for_a_reason_of_its_own_ended_for_nothing_else(why: str) -> None:
    """What a tool or a model said is no end."""
    assert meant(f"step 'found'{words(Failed(why))}") is None
    assert meant(f"step 'found' ended with {why}") is None
