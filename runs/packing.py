"""Requests without their repetitions: each turn of a loop sends all messages again, and only the new ones are kept.

A packed request has the fields of the request, but a message that the run has already sent is the number it has in the
run's pool: `[[0, 14], {"role": "tool", …}]` is messages 0 to 13 and a new one, which is number 14 from now on.
"""

from __future__ import annotations

from typing import Any

import msgspec

Parts = dict[str, msgspec.Raw]
parts_of = msgspec.json.Decoder(Parts).decode
messages_of = msgspec.json.Decoder(list[msgspec.Raw]).decode
encode = msgspec.json.Encoder().encode
SHARED = ("tools", "schema")
"""Fields that most requests of a run have in common."""


class Pool:
    """What a run has sent so far. Pack, and unpack, its requests in the order in which they were made."""

    def __init__(self) -> None:
        self.numbers: dict[bytes, int] = {}
        self.texts: list[bytes] = []
        self.last: tuple[bytes, list[list[int]]] = (b"[]", [])

    def add(self, text: bytes) -> None:
        self.numbers.setdefault(text, len(self.texts))
        self.texts.append(text)

    def pack(self, request: bytes) -> bytes:
        """A request as it is kept; anything but a model's request stays as it is, and so does one with half a surrogate
        pair in it."""
        if (parts := parted(request)) is None:
            return request
        for name in SHARED:
            if name in parts:
                parts[name] = self.shared(bytes(parts[name]))
        if "messages" in parts:
            parts["messages"] = msgspec.Raw(self.packed(bytes(parts["messages"])))
        return encode(parts)

    def shared(self, text: bytes) -> msgspec.Raw:
        if (number := self.numbers.get(text)) is not None:
            return msgspec.Raw(b"%d" % number)
        self.add(text)
        return msgspec.Raw(text)

    def packed(self, messages: bytes) -> bytes:
        """Runs of known messages as [first, end), new ones as they are.

        A turn mostly repeats the request before it; that part is then not looked at again.
        """
        before, runs = self.last
        runs = [list(run) for run in runs] if messages.startswith(before[:-1]) else []
        rest = b"[" + messages[len(before) - 1 :].lstrip(b",") if runs else messages
        found: list[list[int] | msgspec.Raw] = [list(run) for run in runs]
        for message in messages_of(rest):
            text = bytes(message)
            number = self.numbers.get(text)
            if number is None:
                found.append(message)
                self.add(text)
                number = self.numbers[text]
            else:
                extend(found, number)
            extend(runs, number)
        self.last = (messages, runs)
        return encode(found)

    def unpack(self, kept: bytes) -> bytes:
        """The request that was packed."""
        if (parts := parted(kept)) is None:
            return kept
        for name in SHARED:
            if name in parts:
                parts[name] = self.known(bytes(parts[name]))
        if "messages" in parts:
            parts["messages"] = msgspec.Raw(b"[" + b",".join(self.unpacked(bytes(parts["messages"]))) + b"]")
        return encode(parts)

    def known(self, text: bytes) -> msgspec.Raw:
        if text.isdigit():
            return msgspec.Raw(self.texts[int(text)])
        self.add(text)
        return msgspec.Raw(text)

    def unpacked(self, kept: bytes) -> list[bytes]:
        found: list[bytes] = []
        for text in map(bytes, messages_of(kept)):
            if text.startswith(b"["):
                first, end = msgspec.json.decode(text, type=tuple[int, int])
                if not 0 <= first < end <= len(self.texts):
                    raise ValueError(f"messages {first} to {end} of a request were never sent")
                found += self.texts[first:end]
            else:
                self.add(text)
                found.append(text)
        return found


def parted(request: bytes) -> Parts | None:
    """The fields of a model's request."""
    try:
        return parts_of(request) if request.startswith(b"{") else None
    except msgspec.DecodeError:
        return None


def extend(runs: list[Any], number: int) -> None:
    """Add a message to runs of [first, end)."""
    if runs and isinstance(runs[-1], list) and runs[-1][1] == number:
        runs[-1][1] += 1
    else:
        runs.append([number, number + 1])
