"""The way of one request: what breaks, what never ends, what is cut, and what of it is kept."""

from __future__ import annotations

import asyncio
import gzip
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loopworth.models import ModelSpec, Price, endpoint, open_model
from loopworth.models.endpoint import Exchange
from loopworth.runs.message import Reply, Request
from loopworth.runs.outcome import Stop
from tests.endpoint import Answer, FakeEndpoint, said

ASKED = Request([{"role": "user", "content": "hello"}], max_tokens=50)


def event(text: str, **more: Any) -> bytes:
    import json

    return f"data: {json.dumps({'choices': [{'index': 0, 'delta': {'content': text}}], **more})}\n\n".encode()


END = b'data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'


@pytest.fixture
def never() -> Iterator[threading.Event]:
    """A wait of the server's that only the end of the test ends."""
    waiting = threading.Event()
    yield waiting
    waiting.set()


async def no_sleep(seconds: float) -> None:
    """A pause that takes no time."""


async def asked(url: str, seconds: float | None = None, hear: Any = None, **fields: Any) -> Reply:
    model = open_model(ModelSpec("vllm/fake", base_url=url, **fields), sleep=no_sleep)
    try:
        return await model.reply(ASKED, seconds, hear)  # type: ignore[call-arg]
    finally:
        await model.close()


def ask(*script: Any, seconds: float | None = None, hear: Any = None, **fields: Any) -> Reply:
    with FakeEndpoint(*script) as fake:
        return asyncio.run(asked(fake.base_url, seconds, hear, **fields))


def stopped(*script: Any, **fields: Any) -> Stop:
    with pytest.raises(Stop) as stop:
        ask(*script, **fields)
    assert stop.value.exit == "provider_error"
    return stop.value


def quiet(text: str, attempt: int) -> None:
    """Hears, and does nothing."""


BODY = gzip.compress(b'{"choices": [{"message": {"content": "whole"}, "finish_reason": "stop"}]}')
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


BROKEN = [
    Answer(gone=True),
    Answer(raw=b"", reset=True),
    Answer(raw=b"HTTP/1.1 200 OK\r\nContent-Ty", reset=True),
    Answer(raw=b"HTTP/1.1 200 OK\r\nContent-Ty"),
    Answer(raw=b"garbage\r\n\r\n"),
    Answer(raw=b"\x16\x03\x01\x00\x05hello"),
    Answer(raw=HEAD + b"Content-Length: 100\r\n\r\n" + b'{"choices": [{"mess'),
    Answer(
        raw=HEAD + b"Connection: close\r\nContent-Length: 5\r\n\r\n" + b'{"choices": [{"message": {"content": "x"}}]}'
    ),
    Answer(raw=HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b'13\r\n{"choices": [{"mess\r\n'),
    Answer(raw=HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"zz\r\nhello\r\n"),
    Answer(raw=HEAD + b"Connection: close\r\nContent-Encoding: gzip\r\nContent-Length: 7\r\n\r\nnot zip"),
    Answer(200, BODY[:40], {"Content-Encoding": "gzip"}),
    Answer(500, b"not zip", {"Content-Encoding": "gzip"}),
    Answer(200, b"\xff\xfe\x00"),
    Answer(200, ""),
    Answer(204, ""),
    Answer(200, "<html><body>Welcome</body></html>"),
    Answer(200, "null"),
    Answer(200, "[" * 100_000),
]


@pytest.mark.parametrize("first", BROKEN)
@pytest.mark.parametrize("hear", [None, quiet])
def test_what_is_no_answer_is_asked_for_again(first: Answer, hear: Any) -> None:
    """Wherever a connection breaks, and whatever comes instead of a reply; both attempts are there."""
    reply = ask(first, said("whole"), hear=hear)
    assert (reply.text, len(reply.attempts)) == ("whole", 2)
    assert reply.attempts[0].error


@pytest.mark.parametrize("first", BROKEN)
def test_so_it_is_over_the_other_http_library(first: Answer) -> None:
    """Without aiohttp, or with a client of the user's own."""
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient

    async def run(url: str) -> Reply:
        async with AsyncOpenAI(base_url=url, api_key="k", http_client=DefaultAsyncHttpxClient(trust_env=False)) as own:
            model = open_model(ModelSpec("openai/fake"), client=own, sleep=no_sleep)
            return await model.reply(ASKED, None, quiet)  # type: ignore[call-arg]

    with FakeEndpoint(first, said("whole")) as fake:
        reply = asyncio.run(run(fake.base_url))
    assert (reply.text, len(reply.attempts)) == ("whole", 2)


def test_more_is_promised_than_comes() -> None:
    """A body that is whole JSON is an answer, whatever length was announced."""
    body = b'{"choices": [{"message": {"content": "whole"}, "finish_reason": "stop"}]}'
    reply = ask(Answer(raw=HEAD + b"Content-Length: 500\r\n\r\n" + body))
    assert (reply.text, len(reply.attempts)) == ("whole", 1)


def test_a_compressed_answer_is_read() -> None:
    """As a body, and as a stream in packets."""
    assert ask(Answer(200, BODY, {"Content-Encoding": "gzip"})).text == "whole"
    content = gzip.compress(event("wh") + event("ole") + END)
    packets = [content[k : k + 9] for k in range(0, len(content), 9)]
    assert ask(Answer(packets=packets, headers={"Content-Encoding": "gzip"}), hear=quiet).text == "whole"


@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    st.lists(
        st.sampled_from([HEAD, b"HTTP/1.1 200 OK\r\n", b"\r\n", b"5\r\nhello\r\n", event("a")]) | st.binary(max_size=20)
    )
)
def test_no_bytes_of_a_server_are_a_bug_of_ours(parts: list[bytes]) -> None:
    """Whatever it writes ends in a reply, or in the endpoint's own failure."""
    with suppress(Stop):
        assert isinstance(ask(Answer(raw=b"".join(parts)), said("whole"), hear=quiet), Reply)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed(status: int) -> None:
    """The prompt and the key go to the address in the file and to no other; the note says which one it would be."""
    stop = stopped(Answer(status, "", {"Location": "http://127.0.0.1:1/v1"}), said("whole"))
    assert f"status {status}: it redirects to http://127.0.0.1:1/v1" in stop.note
    assert len(stop.attempts) == 1  # type: ignore[attr-defined]


def test_a_name_that_is_not_known_is_down() -> None:
    """Its few attempts cost nothing, and the reason is in words."""
    with pytest.raises(Stop, match=r"no answer: .+, after 3 attempts; is the server running\?") as stop:
        asyncio.run(asked("http://nowhere.invalid/v1"))
    assert not any(attempt.lost for attempt in stop.value.attempts)  # type: ignore[attr-defined]


def test_a_server_without_tls_is_down() -> None:
    """An address with https at a server that speaks plain HTTP."""
    with FakeEndpoint() as fake, pytest.raises(Stop, match="no answer: ") as stop:
        asyncio.run(asked(fake.base_url.replace("http:", "https:")))
    assert not any(attempt.lost for attempt in stop.value.attempts)  # type: ignore[attr-defined]


def test_a_server_that_never_accepts_is_left() -> None:
    """Its queue is full: the attempt's time ends it."""
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        waiting = [socket.create_connection(full.getsockname()) for _ in range(1)]
        url = f"http://127.0.0.1:{full.getsockname()[1]}/v1"
        with pytest.raises(Stop, match=r"no answer \(timeout\): none came within 0.2 s"):
            asyncio.run(asked(url, timeout=0.2, retries=0))
        for one in waiting:
            one.close()


def test_a_body_without_end_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not asked for again, since it would not end then either."""
    spaces = Answer(packets=(b" " * 65536 for _ in iter(int, 1)))
    monkeypatch.setattr("loopworth.models.streaming.LONGEST", 1_000_000)
    stop = stopped(spaces)
    assert "the answer goes on past" in stop.note
    assert len(stop.attempts) == 1  # type: ignore[attr-defined]


def test_an_answer_that_drips_is_left_after_the_attempts_time(never: threading.Event) -> None:
    """`timeout` is for the whole attempt where nothing streams, however often a byte comes."""
    drip = Answer(packets=(b" " if never.wait(0.02) is False else b"" for _ in range(10_000)))
    assert "none came within 0.2 s" in stopped(drip, timeout=0.2, retries=0).note


def test_a_stream_may_take_longer_than_an_attempt_as_long_as_it_goes_on() -> None:
    """`timeout` is then for the time between two events; keep-alives are none."""
    pause = threading.Event()
    slow = Answer(packets=[part for text in "whole" for part in (lambda: pause.wait(0.1), event(text))] + [END])
    assert ask(slow, hear=quiet, timeout=0.3, retries=0).text == "whole"
    alive = (b": keep-alive\n\n" if pause.wait(0.02) is False else b"" for _ in range(10_000))
    assert "none came within 0.3 s" in stopped(Answer(packets=alive), hear=quiet, timeout=0.3, retries=0).note


def test_a_stream_that_is_never_closed_ends_with_its_reply(
    never: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it used may come a little later; then nobody waits any more."""
    monkeypatch.setattr(endpoint, "LINGER", 0.1)
    last = b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\n'
    usage = b'data: {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}}\n\n'
    reply = ask(Answer(packets=[event("whole"), last, usage, never.wait]), hear=quiet, timeout=6)
    assert (reply.text, reply.usage.input, reply.usage.output, reply.seconds < 5) == ("whole", 3, 4, True)


def test_at_the_deadline_a_stream_keeps_its_text(never: threading.Event) -> None:
    """Half a reply is a message of the record; what was not said of its use is what was asked for."""
    reply = ask(
        Answer(packets=[event("Hello "), event("wor"), never.wait]), seconds=1.0, hear=quiet, price=Price(1.0, 2.0)
    )
    assert (reply.finish, reply.text, reply.message) == (
        "time_limit",
        "Hello wor",
        {"role": "assistant", "content": "Hello wor"},
    )
    assert (reply.usage.input, reply.usage.output, reply.usage.estimated) == (0, 50, True)
    assert reply.usage.usd == pytest.approx(100e-6)


def test_at_the_deadline_a_stream_keeps_the_usage_it_told(never: threading.Event) -> None:
    """Some servers count in every event: that is what was used, and no estimate."""
    used = {"usage": {"prompt_tokens": 9, "completion_tokens": 2}}
    reply = ask(Answer(packets=[event("Hello ", **used), never.wait]), seconds=1.0, hear=quiet)
    assert (reply.usage.input, reply.usage.output, reply.usage.estimated) == (9, 2, False)


def test_a_file_may_ask_for_a_stream_itself(never: threading.Event) -> None:
    """Then nobody need listen for a deadline to leave the text so far."""
    reply = ask(Answer(packets=[event("Hello "), never.wait]), seconds=1.0, extra={"stream": True})
    assert (reply.finish, reply.text) == ("time_limit", "Hello ")
    assert ask(Answer(packets=[event("whole"), END]), extra={"stream": True}).text == "whole"


def test_at_the_deadline_half_a_call_is_no_call(never: threading.Event) -> None:
    """It never reaches a tool, and the record has only what was said."""
    call = b'data: {"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "pay"}}]}}]}\n\n'
    reply = ask(Answer(packets=[event("I pay"), call, never.wait]), seconds=1.0, hear=quiet)
    assert (reply.calls, reply.message) == ((), {"role": "assistant", "content": "I pay"})


def test_a_lost_attempt_counts_what_it_may_have_used(never: threading.Event) -> None:
    """The model may have answered where nobody heard it: the same input, and all the output that was allowed."""
    reply = ask(Answer(packets=[never.wait]), said("whole"), timeout=0.2, price=Price(1.0, 2.0))
    assert [attempt.lost for attempt in reply.attempts] == [True, False]
    assert (reply.usage.input, reply.usage.output, reply.usage.estimated) == (20, 55, True)
    assert reply.usage.usd == pytest.approx((20 + 2 * 55) / 1e6)


def test_half_a_body_is_lost_however_its_end_is_told() -> None:
    """Where the connection's end is the body's own, only the JSON shows that the model was cut off at work."""
    half = HEAD + b"Content-Type: application/json\r\nConnection: close\r\n\r\n" + b'{"choices": [{"mess'
    reply = ask(Answer(raw=half), said("whole"))
    assert [(attempt.status, attempt.lost) for attempt in reply.attempts] == [(200, True), (200, False)]
    assert reply.usage.estimated
    failed = half.replace(b"200 OK", b"500 No")
    assert [attempt.lost for attempt in ask(Answer(raw=failed), said("whole")).attempts] == [False, False]


def test_a_break_amid_the_headers_is_told_in_words() -> None:
    """The library's error holds an object of its own there."""
    reply = ask(Answer(raw=b"HTTP/1.1 200 OK\r\nContent-Ty"), said("whole"))
    assert not reply.attempts[0].error.startswith("<")
    assert reply.attempts[0].error


def test_what_was_never_sent_or_refused_counts_nothing() -> None:
    """A busy server did not ask its model."""
    reply = ask(Answer(429, "no"), Answer(503, "no"), said("whole"))
    assert (reply.usage.input, reply.usage.output, reply.usage.estimated) == (10, 5, False)


def test_an_attempt_has_the_status_of_its_answer() -> None:
    """Also where the error stands in the body under another, or under none."""
    error = {"error": {"message": "no", "code": 503}}
    reply = ask(error, {"error": {"message": "no"}}, said("whole"), hear=quiet)
    assert [attempt.status for attempt in reply.attempts] == [200, 200, 200]


def test_who_hears_is_told_whole_characters() -> None:
    """Some servers send the halves of a pair in two events: the character is told once it is there."""
    heard: list[str] = []
    exchange = Exchange(time.monotonic, lambda text, _: heard.append(text))
    for piece in ("a\ud83d", "", "\ude80b", "\ud83d"):
        exchange.tell(piece)
    exchange.tell("", last=True)
    assert heard == ["a", "\N{ROCKET}b", "\ufffd"]


def test_what_was_heard_is_the_text_of_the_reply() -> None:
    """Whatever halves of pairs come, and in what packets."""
    heard: list[str] = []
    pieces = (rb"a\ud83d", rb"\ude80b", rb"\ud83d")
    events = [b'data: {"choices": [{"delta": {"content": "%s"}}]}\n\n' % piece for piece in pieces]
    reply = ask(Answer(packets=[*events, END]), hear=lambda text, _: heard.append(text))
    assert "".join(heard) == reply.text == "a\N{ROCKET}b\ufffd"


def test_who_hears_is_told_which_attempt_it_is() -> None:
    """The text of a second attempt begins anew."""
    heard: list[tuple[str, int]] = []
    ask(
        Answer(packets=[event("ha")], cut=0),
        Answer(packets=[event("whole"), END]),
        hear=lambda *said: heard.append(said),
    )
    assert heard == [("ha", 1), ("whole", 2)]
