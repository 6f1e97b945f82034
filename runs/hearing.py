"""The text of a reply, told while it comes: for who listens, never recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from loopworth.runs.secrets import KNOWN, hide
from loopworth.runs.usage import Value


class Delta(Value, frozen=True):
    """New text of the reply that is under way at the effect `at`; that of a later `attempt` begins anew."""

    at: str
    text: str
    attempt: int = 1


Listener: TypeAlias = Callable[[Delta], None]


class Hearing:
    """Hears one reply and tells it on in whole words, since half a key could not be hidden. `end` tells the last."""

    def __init__(self, tell: Listener, at: str) -> None:
        self.tell, self.at = tell, at
        self.attempt, self.rest = 1, ""

    def __call__(self, text: str, attempt: int) -> None:
        if attempt != self.attempt:
            self.attempt, self.rest = attempt, ""
        told, self.rest = parted(self.rest + text)
        self.say(told)

    def end(self) -> None:
        told, self.rest = self.rest, ""
        self.say(told)

    def say(self, text: str) -> None:
        if text:
            self.tell(Delta(self.at, hide(text), self.attempt))


def parted(text: str) -> tuple[str, str]:
    """The text up to its last space, which no key goes past, and the rest of it; where a key holds spaces, up to the
    last end of a line."""
    known = KNOWN.secrets
    spaced = known is not None and any(len(value.split()) > 1 for value in known.values)
    end = max(text.rfind("\n"), -1 if spaced else max(map(text.rfind, " \t")))
    return text[: end + 1], text[end + 1 :]
