"""Going round in circles is found, and only that."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.agents.repetition import Repetition, Watch
from loopworth.runs.decision import Decision
from loopworth.runs.message import ToolCall
from loopworth.tools.gate import Gate
from tests.agents.kit import TOOLS, calls, make, run


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


async def rejects(question, id):
    return Decision("reject", "me", note="no")


@pytest.mark.parametrize(
    ("bad", "status"),
    [
        (("look", {}), "unknown_tool"),
        (("lookup", {"cod": 1}), "invalid_arguments"),
        (("lookup", "{"), "invalid_arguments"),
        (("pay", {"amount": 1}), "rejected"),
    ],
)
def test_calls_that_are_never_made_count_like_any_other(bad, status):
    """An unknown tool, arguments that are not accepted, a person's no: asking again is a circle all the same."""
    tools = {**TOOLS, "pay": replace(TOOLS["pay"], gates=(Gate(),))}
    outcome, model = run(make(tools=tools), *[calls(bad)] * 5, ask=rejects)
    assert (outcome.exit, len(model.requests)) == ("repetition", 3)
    assert [seen.status for seen in outcome.calls] == [status, "repeated", "repeated"]
    assert outcome.note.startswith(f"{bad[0]}(")
    assert outcome.note.endswith("was called 3 times")


def test_a_note_shows_no_more_of_long_arguments_than_can_be_read():
    """They may be a whole file."""
    said, stopped = verdicts([call("write", {"text": "x" * 9000})] * 3)
    assert said[-1] == "repeated"
    assert len(stopped) < 400


def test_a_round_that_was_forgotten_is_none():
    """What is out of the model's sight is no circle: the count begins anew behind it."""
    watch = Watch(Repetition(), {})
    for _ in range(2):
        watch.see(call("a"))
    watch.forget(2)
    assert [watch.see(call("a")) and "repeated" for _ in range(3)] == [None, "repeated", "repeated"]
