"""The body of an answer as its bytes arrive: one value, or the events of a stream.

What it is, is seen from what came, never from what was asked for or what a header says: some servers stream unasked,
others answer a wish for a stream with one JSON body or a web page. Events are server-sent events or JSON lines.

https://html.spec.whatwg.org/multipage/server-sent-events.html, https://jsonlines.org
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from loopworth.models.dialects import Gathering
from loopworth.models.wire import decode, mended
from loopworth.runs.message import json_of

LONGEST = 64 * 1024 * 1024
"""Bytes of one answer that are read: no model says as much, and a body that never ends must not fill the memory."""
BOM = b"\xef\xbb\xbf"
FIELDS = (b"data", b"event", b"id", b"retry", b"error")
"""The fields of server-sent events; `error` is llama.cpp's own, with the error as its data."""
UNKNOWN_FIELD = re.compile(rb"[A-Za-z_-]*:")
"""A comment, or a field that nobody needs."""
END = b"[DONE]"
SHOWN = 200
"""Characters of what cannot be read that are told."""


class TooLong(Exception):
    """The answer goes on past `LONGEST`."""


class Lines:
    """Bytes cut into lines, whatever ends them (LF, CR LF, CR) and however they come in packets."""

    __slots__ = ("after_cr", "rest")

    def __init__(self) -> None:
        self.rest: list[bytes] = []
        self.after_cr = False

    def feed(self, packet: bytes) -> list[bytes]:
        """The lines that this packet ends."""
        if not packet:
            return []
        if self.after_cr and packet.startswith(b"\n"):
            packet = packet[1:]
        self.after_cr = packet.endswith(b"\r")
        *ended, rest = packet.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        if ended:
            ended[0] = b"".join((*self.rest, ended[0]))
            self.rest = []
        self.rest.append(rest)
        return ended

    def last(self) -> bytes:
        """The line that nothing ended."""
        rest, self.rest = b"".join(self.rest), []
        return rest


class Incoming:
    """One answer on its way in: `feed` it packets, then take its `body`. Raises nothing but `TooLong`.

    `began` says whether a streamed reply did, or a body broke off, so that the model was at work; `whole` whether the
    end of the reply came, so that nothing is missing if the connection breaks now.
    """

    def __init__(self, gathering: Gathering) -> None:
        self.gathering = gathering
        self.raw: list[bytes] = []
        self.lines = Lines()
        self.size = self.events = 0
        self.kind = ""
        """`value`, `lines` or `events`; unknown before the first line."""
        self.name, self.data = "", list[bytes]()
        self.ended = self.torn = self.lost = self.half = False
        self.fault = ""
        self.only: dict[str, Any] | None = None

    @property
    def began(self) -> bool:
        return self.half or (self.gathering.spoke and (self.streams or not self.gathering.done))

    @property
    def streams(self) -> bool:
        return self.kind == "events" or self.events > 1

    @property
    def whole(self) -> bool:
        return self.gathering.spoke and (self.ended or self.gathering.done) and not self.lost

    def feed(self, packet: bytes) -> str:
        """Take the next bytes; returns the new text in them."""
        self.size += len(packet)
        if self.size > LONGEST:
            raise TooLong
        if self.kind != "events":
            self.raw.append(packet)
        if self.kind == "value":
            return ""
        return "".join([text for line in self.lines.feed(packet) for text in self.line(line)])

    def body(self) -> Any:
        """What came, now that no more will: the gathered body, the decoded JSON, or the text of what is neither.

        Where a stream ended before its reply did, the body is an error that says so.
        """
        self.close()
        if self.streams:
            return self.gathered()
        if self.only is not None and not self.fault:
            return mended(self.only) if self.torn else self.only
        content = b"".join(self.raw)
        try:
            return decode(content)
        except ValueError:
            self.half = content.lstrip().startswith(b"{")  # it told no length, and its end is that of the connection
            return content.decode("utf-8", "replace")

    def so_far(self) -> dict[str, Any]:
        """The body of what was gathered, whether or not it is whole."""
        body = self.gathering.body()
        return mended(body) if self.torn else body

    def gathered(self) -> Any:
        body = self.so_far()
        if self.whole or body.get("error"):
            return body
        return {"error": {"message": self.fault or "the stream ended before the reply did"}}

    def close(self) -> str:
        """Take what no line end and no blank line ended; returns the new text in it."""
        if self.kind == "value":
            return ""
        told = list(self.line(self.lines.last()))
        if read(b"\n".join(self.data)) is None:  # cut in the middle of an event
            self.data = [line for line in self.data if line.strip() == END or read(line) is not None]
        return "".join([*told, *self.dispatch()])

    # -- lines -----------------------------------------------------------------------------------------------------

    def line(self, line: bytes) -> Iterator[str]:
        """The new text in one line. The first that is not blank shows what the answer is."""
        if not self.kind and (line := line.removeprefix(BOM)).strip():
            self.kind = kind_of(line)
            if self.kind == "events":
                self.raw.clear()  # what is gathered need not be kept
        if self.kind == "events":
            yield from self.field(line)
        elif self.kind == "lines" and line.strip():
            yield from self.lone(line)

    def field(self, line: bytes) -> Iterator[str]:
        """One line of server-sent events."""
        if not line:
            yield from self.dispatch()
            return
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self.data.append(value)
        elif name == b"event":
            self.name = value.decode("utf-8", "replace")
        elif name == b"error":
            self.name, self.data = "error", [*self.data, value]
        elif not UNKNOWN_FIELD.match(line):
            yield from self.lone(line)

    def lone(self, line: bytes) -> Iterator[str]:
        """A line of its own: JSON, or what some server on the way put in its place."""
        event = read(line)
        if isinstance(event, dict):
            self.only = event
            yield self.take(event)
        elif self.kind == "lines" and not self.events:
            self.kind = "value"
        elif not self.whole:
            self.fault, self.lost = f"the stream broke off: {shown(line)}", self.kind == "lines"

    def dispatch(self) -> Iterator[str]:
        """The event that a blank line ends."""
        data, name = self.data, self.name
        self.data, self.name = [], ""
        if data and data[-1].strip() == END:
            self.ended = True
            data.pop()
        if content := b"\n".join(data).strip():
            for event in events_of(content, data):
                yield from self.event(event, name, content)

    def event(self, event: Any, name: str, content: bytes) -> Iterator[str]:
        if not isinstance(event, dict) and name == "error":
            event = {"message": shown(content)}
        if isinstance(event, dict):
            yield self.take({"error": event} if name == "error" and "error" not in event else event)
        elif not self.whole:
            self.fault, self.lost = f"an event of the stream is not JSON: {shown(content)}", True

    def take(self, event: dict[str, Any]) -> str:
        self.events += 1
        self.torn = self.torn or type(event) is Lenient
        return self.gathering.add(event)


class Lenient(dict[str, Any]):
    """An event that only a lenient reader could read, such as one with half a surrogate pair."""


def read(content: bytes) -> Any:
    """The JSON value in these bytes; None where there is none. Halves of a surrogate pair stay, since the other half
    may stand in the next event."""
    try:
        return msgspec.json.decode(content)
    except (ValueError, RecursionError):
        pass
    try:
        value = json_of(content.decode("utf-8", "replace"))
    except ValueError:
        return None
    return Lenient(value) if isinstance(value, dict) else value


def events_of(content: bytes, lines: list[bytes]) -> list[Any]:
    """The events in the data of one, which is one JSON value; some servers leave the blank lines between events out."""
    event = read(content)
    if event is None:
        return [read(line) for line in lines if line.strip()]
    return event if isinstance(event, list) else [event]


def kind_of(line: bytes) -> str:
    """What an answer is whose first line this is."""
    if line.partition(b":")[0] in FIELDS or line.startswith(b":"):
        return "events"
    return "lines" if line.startswith(b"{") else "value"


def shown(content: bytes) -> str:
    return " ".join(content.decode("utf-8", "replace").split())[:SHOWN]
