"""The conversation of one loop or one ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loopworth.runs.message import Message, user
from loopworth.runs.secrets import hide

if TYPE_CHECKING:
    from loopworth.runs.effects import Effects


class Transcript:
    """What the model sees (`seen`). It grows turn by turn; only `compact` changes what stands in it.

    Whatever is added is also recorded at the place, once, and never taken back: a run's record has every message, the
    dropped ones too. A model's reply is recorded as it came by `Effects.model`; `turn` adds what goes back of it.
    `said` is the answer that stands if nothing more comes, where there is one.
    """

    __slots__ = ("_fx", "said", "seen")

    def __init__(self, fx: Effects) -> None:
        self._fx, self.seen = fx, list[Message]()
        self.said: Any = None

    def add(self, *messages: Message) -> None:
        """Say something to the model."""
        for message in map(hide, messages):
            self.seen.append(message)
            self._fx.record(message)

    def turn(self, reply: Message, *results: Message, instead: str = "") -> None:
        """Close a turn: the reply as it goes back to the endpoint, and one result for each of its calls.

        A turn that is taken back is recorded all the same; the model sees `instead` in its place.
        """
        if instead:
            for result in results:
                self._fx.record(result)
            self.add(user(instead))
            return
        self.seen.append(reply)
        self.add(*results)
