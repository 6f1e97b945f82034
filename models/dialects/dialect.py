"""What a dialect is: the wire format of a chat endpoint, as data and pure functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from loopworth.models.errors import Trouble
from loopworth.models.spec import ModelSpec
from loopworth.runs.message import Reply, Request


class Dialect(Protocol):
    """How requests and answers are written at one kind of endpoint.

    The history of a run keeps OpenAI's shape (`runs.message.Message`) with whatever a provider adds; a dialect turns it
    into its own on the way out, and what comes back into that shape.
    """

    name: str

    def url(self, base_url: str) -> str:
        """Where requests go, from the address that a file or a provider names."""

    def headers(self, base_url: str, key: str) -> dict[str, str | None]:
        """Headers beside the client's own, such as those that hold `key`; None takes one of the client's out."""

    def body(self, spec: ModelSpec, request: Request, most: int | None) -> dict[str, Any]:
        """The request on the wire; what nobody set is left out. `most` is the most output tokens."""

    def streamed(self, body: dict[str, Any]) -> dict[str, Any]:
        """The same request for an answer in events, with its usage."""

    def gather(self) -> Gathering:
        """What puts the events of one answer together."""

    def read(self, body: dict[str, Any], limit: int | None, turn: int) -> Reply:
        """The reply in the body of an answer in which `trouble` found none.

        `limit` is the most output tokens that were asked for; `turn` makes the ids of calls without one unlike those
        of other turns.
        """

    def trouble(self, status: int, body: Any, headers: Mapping[str, str], now: float) -> Trouble | None:
        """The trouble an answer holds, also one of status 200. `body` is decoded JSON, or the text of one that is
        not; `now` is the wall clock."""


class Gathering(Protocol):
    """The events of one streamed answer, put together into the body that would have come without streaming."""

    spoke: bool
    """Whether anything of the reply has come."""

    @property
    def done(self) -> bool:
        """Whether the end of the reply has come; what may still follow is what it used."""

    def add(self, event: dict[str, Any]) -> str:
        """Take one event, whatever JSON it holds; returns the new text in it."""

    def body(self) -> dict[str, Any]:
        """What has come so far, in the shape that the dialect's `read` and `trouble` take."""
