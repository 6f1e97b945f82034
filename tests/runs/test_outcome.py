"""An outcome's figures are folds over its events."""

from hypothesis import given
from hypothesis import strategies as st

from loopworth.runs.events import ModelCalled, RouteTaken, ToolCalled
from loopworth.runs.outcome import Outcome, covered
from loopworth.runs.usage import Usage


def test_model_calls_and_tool_calls_are_counted_apart_and_unrun_calls_not_at_all():
    """A call that was refused, repeated or unknown cost nothing and is no tool call; the path still shows it."""
    events = [
        ModelCalled("1/ask", usage=Usage(10, 2, usd=0.25)),
        ToolCalled("1/call[0]", "lookup", "ok"),
        ToolCalled("1/call[1]", "lookup", "repeated"),
        ToolCalled("1/call[2]", "nothing", "unknown_tool"),
        ModelCalled("2/ask", usage=Usage(20, 3, usd=0.5)),
    ]
    outcome = Outcome("x", events=events)
    assert (outcome.model_calls, outcome.tool_calls) == (2, 1)
    assert outcome.path == ("lookup", "lookup", "nothing")
    assert outcome.usage == Usage(30, 5, usd=0.75)


def test_latency_leaves_out_the_spans_in_which_the_run_only_waited():
    """Queueing and a rate limit's pause are the endpoint's, not the workflow's."""
    call = ModelCalled("a", began=0.0, seconds=12.0, waits=((0.0, 9.0), (10.0, 11.0)))
    assert Outcome("x", events=[call], seconds=12.5).latency == 2.5


def test_a_wait_beside_work_is_no_idle_time():
    """While one branch queues and another works, the run is not idle."""
    queueing = ModelCalled("a", began=0.0, seconds=10.0, waits=((0.0, 9.0),))
    working = ToolCalled("b", "slow", began=2.0, seconds=4.0)
    assert Outcome("x", events=[queueing, working], seconds=10.0).latency == 5.0


def test_the_route_is_the_first_one_taken():
    """A router inside a route does not overwrite the label that is scored."""
    assert Outcome("x", events=[RouteTaken("", "billing"), RouteTaken("billing/", "refund")]).route == "billing"


spans = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)).map(lambda p: (min(p), max(p))), max_size=8)


@given(spans)
def test_covered_is_the_length_of_the_union(found):
    """Overlaps count once, gaps not at all."""
    assert covered(found) == len({second for start, end in found for second in range(start, end)})
