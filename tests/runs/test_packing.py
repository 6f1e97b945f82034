"""Requests without their repetitions."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from loopworth.runs.journal import encode
from loopworth.runs.message import Request, assistant, user
from loopworth.runs.packing import Pool

MESSAGES = st.lists(
    st.sampled_from([user("a"), user("b"), assistant("c [0,1]"), user([{"type": "text"}]), user("\ud800")]), max_size=6
)
TOOLS = st.sampled_from([(), ({"type": "function"},), ({"type": "function", "n": 2},)])
REQUESTS = st.lists(st.builds(lambda m, t: encode(Request(m, "m", t)), MESSAGES, TOOLS), max_size=8)


@given(REQUESTS)
def test_what_is_packed_is_unpacked_in_the_same_order(requests: list[bytes]) -> None:
    """Whatever a run sends, every request comes back as it was."""
    pool, other = Pool(), Pool()
    packed = [pool.pack(request) for request in requests]
    assert [json.loads(other.unpack(text)) for text in packed] == [json.loads(request) for request in requests]


def test_a_pool_goes_on_where_an_unpacked_one_ends() -> None:
    """A resumed run packs against what its first activation sent."""
    said = [user("x" * 100)]
    first = Pool().pack(encode(Request(said, "m")))
    again = Pool()
    again.unpack(first)
    assert len(again.pack(encode(Request([*said, user("y")], "m")))) < 100


def test_a_loop_of_many_turns_keeps_each_message_once() -> None:
    """Twice the turns take twice the room, where the requests themselves take four times."""
    pool, log, sizes = Pool(), [], []
    for turn in range(200):
        log.append(user(f"{turn} " + "x" * 200))
        sizes.append(len(pool.pack(encode(Request(log, "m")))))
    assert sum(sizes[:200]) < 2.2 * sum(sizes[:100])


def test_a_rolled_back_turn_is_not_sent_twice() -> None:
    """A request that begins otherwise than the last one is packed by its own messages."""
    pool, other = Pool(), Pool()
    requests = [encode(Request(m, "m")) for m in ([user("a"), user("b")], [user("a"), user("c")], [user("b")])]
    packed = [pool.pack(request) for request in requests]
    assert b'"b"' not in packed[1] + packed[2]
    assert [json.loads(other.unpack(text)) for text in packed] == [json.loads(request) for request in requests]


def test_another_request_than_a_models_stays_as_it_is() -> None:
    """A tool's arguments are no conversation."""
    assert Pool().pack(b'["pay",{"messages":[]}]') == b'["pay",{"messages":[]}]'
