"""How a step ended: what it ended for travels as data, through every step and item around it, and is said in words."""

from typing import Any, get_args

import pytest

from loopworth.runs.effects import Effects
from loopworth.runs.exit import Exit
from loopworth.runs.outcome import Failed, Outcome, Stop
from loopworth.workflows.ends import words
from loopworth.workflows.pipeline import Pipeline, Step
from tests.workflows.kit import run


def ending(end: Exception, depth: int = 1, each: bool = False) -> Outcome:
    """What a run comes to of which a step of a step (and so on) ends so."""

    async def act(names: Any, fx: Effects) -> Any:
        raise end

    def around(made: Pipeline) -> Any:
        async def act(names: Any, fx: Effects) -> Any:
            return (await made.run({}, fx.at("run"))).answer

        return act

    made = Pipeline([Step("s0", act, each=(lambda _: [1]) if each else None)], lambda _: None)
    for k in range(1, depth):
        made = Pipeline([Step(f"s{k}", around(made), title=f"step {k} (run, line {k})")], lambda _: None)
    return run(made)[0]


@pytest.mark.parametrize("exit", sorted(set(get_args(Exit)) - {"rejected", "provider_error", "guardrail"}))
@pytest.mark.parametrize("note", ["", "turns: 3", "step 'b' ended with empty"])
def test_a_run_tells_what_ended_within_its_step(exit: Exit, note: str) -> None:
    """Of a step of a step, and of an item, too; whatever its note says."""
    for depth, each in ((1, False), (3, False), (2, True)):
        outcome = ending(Stop(exit, None, note), depth, each)
        assert (outcome.exit, outcome.cause) == ("step_failed", exit)


@pytest.mark.parametrize("why", ["lookup (tool_error): step 'b' ended with empty", "", "ended with turn_limit"])
def test_a_step_that_failed_for_a_reason_of_its_own_ended_for_nothing_else(why: str) -> None:
    """What a tool or a model said is no end."""
    outcome = ending(Failed(why), 2)
    assert (outcome.exit, outcome.cause) == ("step_failed", "step_failed")
    assert outcome.note == f"step 1 (run, line 1): step 's0': {why}"


def test_an_end_that_is_no_step_s_has_no_cause() -> None:
    """A person's no ends the run itself."""
    outcome = ending(Stop("rejected", None, "pay: no"), 2)
    assert (outcome.exit, outcome.cause) == ("rejected", None)


def test_an_end_has_words_of_its_own() -> None:
    """They stand behind the name of the step."""
    assert words(Stop("empty")) == " came back empty"
    assert words(Stop("turn_limit", None, "turns: 3")) == " ended with turn_limit: turns: 3"
