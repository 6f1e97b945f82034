"""The body of an answer as its bytes arrive: lines, events, what is no event, and how it is cut into packets."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.models.dialects.openai_stream import Chunks
from loopworth.models.streaming import LONGEST, Incoming, Lines, TooLong


def chunk(text: str | None = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": finish}], **more}


def sse(*events: Any, end: str = "\n\n") -> bytes:
    texts = (event if isinstance(event, str) else json.dumps(event, ensure_ascii=False) for event in events)
    return "".join(f"data: {text}{end}" for text in texts).encode()


def lines(*events: Any) -> bytes:
    return "".join(json.dumps(event) + "\n" for event in events).encode()


WHOLE = sse(chunk("Grüß"), chunk(" 🙂"), chunk(finish="stop"), "[DONE]")


def taken(*packets: bytes) -> tuple[Incoming, str]:
    incoming = Incoming(Chunks())
    heard = [incoming.feed(packet) for packet in packets]
    return incoming, "".join([*heard, incoming.close()])


def content(body: Any) -> Any:
    return body["choices"][0]["message"]["content"]


def fault(body: Any) -> str:
    return str(body["error"]["message"])


@pytest.mark.parametrize("end", ["\n\n", "\r\n\r\n", "\r\r"])
def test_a_stream_is_text_as_it_comes_and_a_body_at_its_end(end: str) -> None:
    """Whatever ends the lines, the pieces are heard and the body is that of an answer without streaming."""
    incoming, heard = taken(WHOLE.replace(b"\n\n", end.encode()))
    body = incoming.body()
    assert heard == content(body) == "Grüß 🙂"
    assert (body["object"], body["choices"][0]["finish_reason"]) == ("chat.completion", "stop")
    assert incoming.whole


LISTED = "data: " + json.dumps(chunk("a"), indent=1).replace("\n", "\ndata: ") + "\n\n"
"""An event of several lines."""


def stream(end: str) -> bytes:
    return b"\xef\xbb\xbf: hello\n\n" + (LISTED.encode() + WHOLE).replace(b"\n", end.encode())


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_packet_may_end_anywhere(end: str) -> None:
    """In the middle of a character, of a line end, of the mark of byte order: what comes of it is the same."""
    content = stream(end)
    one, heard = taken(content)
    assert (heard, one.whole) == ("aGrüß 🙂", True)
    for cut in range(len(content)):
        many, also = taken(content[:cut], content[cut:])
        assert (many.body(), also, many.whole) == (one.body(), heard, True), cut


@given(st.binary(max_size=60), st.lists(st.integers(0, 500), max_size=8), st.sampled_from(["\n", "\r\n", "\r"]))
def test_packets_do_not_matter(tail: bytes, cuts: list[int], end: str) -> None:
    """However many there are, and whatever comes after the end."""
    content = stream(end) + tail
    places = [0, *sorted(min(cut, len(content)) for cut in cuts), len(content)]
    packets = [content[a:b] for a, b in itertools.pairwise(places)]
    one, heard = taken(content)
    many, also = taken(*packets)
    assert (one.body(), heard, one.whole) == (many.body(), also, many.whole)


SIGNS = st.sampled_from(
    [b"data: ", b"data:", b"event: error", b"error: ", b"\n", b"\n\n", b"\r", b":", b"[DONE]", b"{}"]
)
PIECES = st.sampled_from(
    [sse(chunk("a")), lines(chunk("b")), lines({"error": "no"}), b'data: {"a', b"[[", b"<html>", b"nope"]
)


@given(st.lists(SIGNS | PIECES | st.binary(max_size=9), max_size=12))
def test_no_bytes_raise(packets: list[bytes]) -> None:
    """Whatever arrives ends in a body: a dict, another JSON value, or text; and in the same one if it comes at once."""
    incoming, heard = taken(*packets)
    whole, at_once = taken(b"".join(packets))
    assert incoming.body() == whole.body() or incoming.body() != incoming.body()  # nan is unlike itself
    assert heard == at_once
    assert isinstance(incoming.so_far(), dict)


def test_comments_and_empty_events_are_nothing() -> None:
    """Keep-alives and the fields that nobody needs add neither text nor faults."""
    stream = b": PROCESSING\n\nretry: 3\nid: 7\nevent: message\n" + sse(chunk("a")) + b"data:\n\n:\n\nx-extra: 1\n\n"
    incoming, heard = taken(stream + sse(chunk(finish="stop")))
    assert (content(incoming.body()), heard) == ("a", "a")


def test_data_of_several_lines_is_one_event() -> None:
    """As the standard has it; and where a server leaves the blank lines between events out, each line is one."""
    text = json.dumps(chunk("a", "stop"), indent=1).replace("\n", "\ndata: ")
    assert content(taken(f"data: {text}\n\n".encode())[0].body()) == "a"
    assert content(taken(sse(chunk("a"), chunk("b", "stop"), "[DONE]", end="\n"))[0].body()) == "ab"


def test_a_pair_of_surrogates_may_come_in_two_events() -> None:
    """A server that counts in UTF-16 cuts a sign in half: the halves meet again; a half alone is U+FFFD."""
    halves = (
        b'data: {"choices":[{"delta":{"content":"\\ud83d"}}]}\n\n',
        b'data: {"choices":[{"delta":{"content":"\\ude42"}}]}\n\n',
    )
    assert content(taken(*halves, sse(chunk("", "stop")))[0].body()) == "🙂"
    assert content(taken(halves[0], sse(chunk("", "stop")))[0].body()) == "�"


@pytest.mark.parametrize("body", [{"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}, {"a": 1}])
@pytest.mark.parametrize("form", ["{}", "{}\n", "\n\n {}", "\n{}\n\n"])
def test_one_json_body_in_answer_to_a_wish_for_a_stream_is_the_body(body: dict[str, Any], form: str) -> None:
    """Also where blank lines keep the connection alive before it, and where it is written over many lines."""
    for text in (json.dumps(body), json.dumps(body, indent=2)):
        assert taken(form.replace("{}", text).encode())[0].body() == body


def test_its_text_is_heard() -> None:
    """A server that does not stream is heard at its end."""
    incoming, heard = taken(lines({"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}))
    assert (heard, incoming.whole) == ("hi", True)


@pytest.mark.parametrize("text", ["", "   ", "<html>\n<p>no</p>", "Not Found", "[1]", "null", "[" * 5000])
def test_what_is_no_stream_is_told_as_it_came(text: str) -> None:
    """A page, a list, nothing: the reader of errors sees what it was."""
    body = taken(text.encode())[0].body()
    assert body in (text, [1], None)


def test_a_stream_without_its_end_is_an_error() -> None:
    """Half a reply is never taken for a whole one: neither a finish reason nor [DONE] came."""
    for stream in (sse(chunk("ha")), WHOLE[:-60], sse(chunk("ha")) + b'data: {"choi', lines(chunk("a"), chunk("b"))):
        incoming, _ = taken(stream)
        assert (fault(incoming.body()), incoming.whole) == ("the stream ended before the reply did", False)
    assert content(incoming.so_far()) == "ab"


@pytest.mark.parametrize("last", [sse("[DONE]"), b"data: [DONE]", b"data:[DONE]\n", sse(chunk(finish="length")), b""])
def test_either_sign_of_the_end_will_do(last: bytes) -> None:
    """[DONE] is missing at some servers, the finish reason at others, the last line end at more."""
    incoming, _ = taken(sse(chunk("a")) + (last or sse(chunk(finish="stop")).rstrip()))
    assert content(incoming.body()) == "a"


@pytest.mark.parametrize(
    "error",
    [
        sse({"error": {"message": "boom", "code": 503}}),
        lines({"error": {"message": "boom", "code": 503}}),
        b'event: error\ndata: {"message": "boom", "code": 503}\n\n',
        b'error: {"message": "boom", "code": 503}\n\n',
        sse([{"error": {"message": "boom", "code": 503}}]),
    ],
)
def test_an_error_amid_a_stream_is_the_body(error: bytes) -> None:
    """However a server words it; one after the end of the reply is too late to count."""
    body = taken(sse(chunk("ha")) + error)[0].body()
    assert body["error"] == {"message": "boom", "code": 503}
    assert "error" not in taken(WHOLE + error)[0].body()


def test_an_error_in_words_is_told() -> None:
    """`event: error` with a text, a page of a proxy behind the stream, an event that is not JSON."""
    assert fault(taken(b"event: error\ndata: upstream died\n\n")[0].body()) == "upstream died"
    page = taken(sse(chunk("ha")) + b"<html>502\n")[0].body()
    assert fault(page) == "the stream broke off: <html>502"
    torn = taken(sse(chunk("ha"), '{"choi', chunk(finish="stop"), "[DONE]"))[0].body()
    assert fault(torn) == 'an event of the stream is not JSON: {"choi'


def test_an_answer_without_end_is_left() -> None:
    """The memory is the machine's, not the server's."""
    incoming = Incoming(Chunks())
    for _ in range(LONGEST // 2**20):
        incoming.feed(b" " * 2**20)
    with pytest.raises(TooLong):
        incoming.feed(b" ")


def test_a_long_line_is_put_together_once() -> None:
    """A megabyte in packets of a hundred bytes is no work of the square of that."""
    cut = Lines()
    assert not [line for _ in range(10_000) for line in cut.feed(b"x" * 100)]
    assert [len(line) for line in cut.feed(b"\n")] == [1_000_000]
