"""An endpoint that lets some questions through and holds the others, and sees who goes away."""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Callable
from typing import Any

from tests.endpoint import Answer, FakeEndpoint, Received, said

PATIENCE = 60.0
"""Seconds after which what a test waits for will not happen any more."""


Asked = tuple[str, str]
"""A question, and the key of whoever asked it."""


class Turnstile(FakeEndpoint):
    """Answers "4" to the questions that `through` lets pass; holds the others until it is to release them.

    `answered`, `held` and `dropped` are the questions: one is dropped when its connection is closed while it is held.
    """

    def __init__(self, through: Callable[[str], bool]) -> None:
        super().__init__(last=self.turn)
        self.through = through
        self.changed = threading.Condition()
        self.wake, self.waker = socket.socketpair()
        self.answered, self.held, self.dropped = (
            list[tuple[str, str]](),
            list[tuple[str, str]](),
            list[tuple[str, str]](),
        )

    def turn(self, received: Received) -> Any:
        one = (received.body["messages"][-1]["content"], received.headers["authorization"].removeprefix("Bearer "))
        with self.changed:
            free = self.through(one[0])
            (self.answered if free else self.held).append(one)
            self.changed.notify_all()
        if not free and self.wake not in select.select([received.connection, self.wake], [], [])[0]:
            with self.changed:
                self.dropped.append(one)
                self.changed.notify_all()
            return Answer(gone=True)
        return said("4")

    def release(self) -> None:
        """Answer what is held, and all that comes."""
        with self.changed:
            self.through = lambda question: True
        self.waker.send(b".")

    def until(self, happened: Callable[[], bool]) -> bool:
        """Wait until something has happened here; whether it has."""
        with self.changed:
            return self.changed.wait_for(happened, PATIENCE)

    def __exit__(self, *_: object) -> None:
        self.release()
        super().__exit__()
        for end in (self.wake, self.waker):
            end.close()


def first(n: int) -> Callable[[str], bool]:
    """Lets so many questions through."""
    left = iter(range(n))
    return lambda question: next(left, None) is not None


def questions(fake: FakeEndpoint) -> list[str]:
    """All that an endpoint was asked, in the order in which it came."""
    return [received.body["messages"][-1]["content"] for received in fake.requests]
