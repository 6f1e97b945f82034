"""What is left of a run's events: steps, when the answer was seen, and how calls were batched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from loopworth.comparisons.trace import Trace, leaves, traced
from loopworth.runs.events import ModelCalled, Spoke, ToolCalled
from loopworth.runs.observation import Observation
from loopworth.runs.outcome import Outcome
from loopworth.runs.usage import Usage

LOOP = Spoke("", "json", "m", 1)


def asked(at: str, input: int | None = 100) -> ModelCalled:
    return ModelCalled(at, "m", Usage(input, 10, usd=0.01))


def run(*events: Any, values: Sequence[Any] = (), answer: Any = "x") -> Outcome:
    calls = [Observation("c", "t", "ok", str(value), value) for value in values]
    return Outcome(answer, events=list(events), calls=calls)


def test_each_step_has_what_it_took() -> None:
    """A step is the first part of an effect's place; attempts and items of it are added up."""
    outcome = run(
        asked("parsed/ask"), asked("parsed/ask~2"), ToolCalled("figures/0/call"), ToolCalled("figures/1/call")
    )
    found = {one.step: (one.model_calls, one.tool_calls, one.usage.tokens) for one in traced(outcome).steps}
    assert found == {"parsed": (2, 0, 220), "figures": (0, 2, 0)}


def test_model_calls_after_the_answer_was_observed_are_counted() -> None:
    """From the first observation that holds it, in whole or as one of its values; None where none does."""
    events = [asked("1"), ToolCalled("1/call[0]"), asked("2"), ToolCalled("2/call[0]"), asked("3"), asked("4")]
    is_ten = lambda value: value == 10
    assert traced(run(*events, values=[{"value": 3}, {"value": [10]}]), is_ten).after == 2
    assert traced(run(*events, values=[10, 10]), is_ten).after == 3
    assert traced(run(*events, values=[1, 2]), is_ten).after is None
    assert traced(run(*events, values=[10, 10])).after is None


def test_a_refused_call_shows_no_answer() -> None:
    """Only what a tool really answered counts as seen."""
    refused = Observation("c", "t", "not_allowed", "10", 10)
    outcome = Outcome("x", events=[asked("1"), ToolCalled("1/call[0]"), asked("2")], calls=[refused])
    assert traced(outcome, lambda value: value == 10).after is None


def test_batched_calls_are_held_against_one_call_a_turn() -> None:
    """Four calls in one turn, 100 tokens of input and then 500: apart, 100 + 200 + 300 + 400 + 500."""
    four = [ToolCalled(f"1/call[{n}]") for n in range(4)]
    found = traced(run(LOOP, asked("1", 100), *four, asked("2", 500))).batch
    assert (found.asking, found.input, found.apart) == (1, 600, 1500)


def test_a_fixed_path_asks_no_model_for_its_calls() -> None:
    """A pipeline that reads with a model and then calls tools has no turns."""
    assert not traced(run(asked("parsed/ask"), ToolCalled("figures/0/call"), ToolCalled("figures/1/call"))).batch.asking


def test_an_unknown_count_gives_no_estimate() -> None:
    """Input that an endpoint did not tell, or a single turn, shows no growth."""
    one = ToolCalled("1/call[0]")
    assert traced(run(LOOP, asked("1", None), one, asked("2", 500))).batch.apart is None
    assert traced(run(LOOP, asked("1", 100), one)).batch.apart is None


def test_a_deep_value_ends() -> None:
    """What a tool returns may be nested without end as far as we are concerned."""
    deep: Any = 1
    for _ in range(5000):
        deep = [deep]
    assert list(leaves(deep)) == []
    assert traced(run(answer=None)) == Trace(answered=False)
