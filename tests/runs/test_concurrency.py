"""Effects that are under way at once: none is abandoned, and the end that counts ends them."""

import asyncio

import pytest

from loopworth.runs.concurrency import together
from loopworth.runs.outcome import Failed, Stop, Waiting


def test_together_waits_for_all_and_raises_the_end_that_counts():
    """A sibling in flight is never abandoned, a bug beats a stop, and parked gates are reported all at once."""
    ended = []

    async def ends(name, error=None):
        await asyncio.sleep(0)
        ended.append(name)
        if error:
            raise error
        return name

    async def main(*errors):
        return await together(*(ends(n, error) for n, error in enumerate(errors)))

    assert asyncio.run(main(None, None)) == [0, 1]
    with pytest.raises(Stop):
        asyncio.run(main(Waiting("g1"), Stop("refused"), None))
    with pytest.raises(KeyError):
        asyncio.run(main(Stop("refused"), KeyError("bug"), None))
    with pytest.raises(Waiting) as waiting:
        asyncio.run(main(Waiting("g1"), None, Waiting("g2")))
    assert waiting.value.gates == ("g1", "g2")
    assert len(ended) == 11


def test_of_several_limits_the_outermost_one_ends_what_ran_together():
    """What it ends is what the inner one is part of; an end that is no limit comes behind both."""

    async def ends(error):
        raise error

    errors = [Stop("refused"), Stop("turn_limit", "sub/run/"), Stop("tool_call_limit", ""), Failed("x")]
    for order in (errors, errors[::-1]):
        with pytest.raises(Stop) as stop:
            asyncio.run(together(*map(ends, order)))
        assert stop.value.exit == "tool_call_limit"
    with pytest.raises(Stop, match="turn_limit"):
        asyncio.run(together(*map(ends, errors[:2])))
