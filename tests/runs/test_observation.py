"""What a tool call came to, as a journal keeps it."""

import msgspec
import pytest

from loopworth.runs.journal import body
from loopworth.runs.observation import Observation, observation_of


@pytest.mark.parametrize(
    "seen",
    [
        Observation("c", "pay", "ok", "paid", "paid", {"amount": 5}, 0.5),
        Observation("c", "pay", "not_run", "time_limit", "time: 2", owner="sub/run/", limit="time_limit"),
        Observation("c", "pay", "not_run", "one call a turn"),
    ],
)
def test_an_observation_reads_as_it_was_kept(seen: Observation) -> None:
    """Whatever it was that came of the call."""
    assert observation_of(body(seen)) == seen


def test_a_refusal_of_an_older_version_names_its_limit() -> None:
    """It stood in the text alone; a run goes on from such a record as from any other."""
    seen = Observation("c", "pay", "not_run", "tool_call_limit", "tool_calls: 1", owner="")
    assert observation_of(body(seen)) == msgspec.structs.replace(seen, limit="tool_call_limit")
