"""The conversation of one loop or one ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loopworth.runs.message import Message

if TYPE_CHECKING:
    from loopworth.runs.effects import Effects


class Transcript:
    """What the model sees (`seen`), append-only but for `rollback`.

    Whatever is added is also recorded at the place, once, and never taken back: a run's record has every message, the
    dropped ones too. A model's reply is recorded as it came by `Effects.model`; `turn` adds what goes back of it.
    """

    __slots__ = ("_fx", "seen")

    def __init__(self, fx: Effects) -> None:
        self._fx, self.seen = fx, list[Message]()

    def add(self, *messages: Message) -> None:
        """Say something to the model."""
        for message in messages:
            self.seen.append(message)
            self._fx.record(message)

    def turn(self, reply: Message, *results: Message) -> None:
        """Close a turn: the reply as it goes back to the endpoint, and one result for each of its calls."""
        self.seen.append(reply)
        self.add(*results)

    def snapshot(self) -> int:
        """A mark to roll back to."""
        return len(self.seen)

    def rollback(self, mark: int) -> None:
        """Make the model forget what came after `mark`; the record keeps it."""
        del self.seen[mark:]
