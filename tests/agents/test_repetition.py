"""Going round in circles is found, and only that."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.agents.repetition import Repetition, Watch
from loopworth.runs.message import ToolCall


def call(tool, arguments='{"n": 1}'):
    return ToolCall("c", tool, arguments)


def verdicts(calls, rule=None, repeatable=()):
    watch = Watch(rule or Repetition(), dict.fromkeys(repeatable, True))
    return [(stop := watch.see(c)) and stop[0] for c in calls], watch.stopped


def test_the_second_equal_call_is_told_and_the_third_ends_the_run():
    """on_repeat {tell: 2, stop: 3}; whatever comes after the end is not run."""
    said, stopped = verdicts([call("a"), call("a"), call("a"), call("b")])
    assert said == [None, "repeated", "repeated", "not_run"]
    assert stopped == 'a({"n":1}) was called 3 times'


@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_a_cycle_of_up_to_four_calls_counts_as_one_call_does(length):
    """A,B,C,A,B,C is told at its second round and stopped at its third."""
    cycle = [call(tool) for tool in "abcd"[:length]]
    said, stopped = verdicts(cycle * 3)
    assert said.index("repeated") == 2 * length - 1
    assert stopped.endswith("was called 3 times")
    assert said[-1] == "repeated"


def test_a_cycle_of_five_is_not_looked_for():
    """Cycles of one to four, as the language says."""
    said, _ = verdicts([call(tool) for tool in "abcde"] * 3)
    assert not any(said)


def test_equal_means_equal_arguments_however_written():
    """Spacing, key order and an encoding in a string do not make another call; another value does."""
    same = ['{"a": 1, "b": 2}', '{"b":2,"a":1}', {"a": 1, "b": 2}]
    assert verdicts([call("t", same[0]), call("t", same[1]), call("t", same[2])])[0] == [None, "repeated", "repeated"]
    assert not any(verdicts([call("t", {"page": n}) for n in range(20)])[0])


def test_a_repeatable_tool_may_be_called_again_also_inside_a_cycle():
    """Polling is no circle: `repeatable: true` is exempt, and so is a round that contains it."""
    assert not any(verdicts([call("poll")] * 6, repeatable=["poll"])[0])
    assert not any(verdicts([call("read"), call("poll")] * 4, repeatable=["poll"])[0])


def test_never_is_never():
    """`stop: never` still tells, `tell: never` still stops."""
    said, stopped = verdicts([call("a")] * 5, Repetition(tell=2, stop=None))
    assert (said, stopped) == ([None, *["repeated"] * 4], "")
    assert verdicts([call("a")] * 3, Repetition(tell=None, stop=3))[0] == [None, None, "repeated"]


@given(st.lists(st.sampled_from("ab"), max_size=25))
def test_a_call_that_differs_from_the_last_four_always_runs(tools):
    """Whatever went before, something new is never taken for a circle."""
    watch = Watch(Repetition(stop=None), {})
    for tool in tools:
        watch.see(call(tool))
    assert watch.see(call("new")) is None
