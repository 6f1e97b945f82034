"""A tool: what a model may call, and every rule about it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

from loopworth.tools.allow import Allow
from loopworth.tools.gate import Gate
from loopworth.tools.guard import Guard

Effect = Literal["read", "write", "irreversible"]
MOST_CHARACTERS = 20_000
"""Characters of a result that a model reads where the catalogue does not say."""
TIMEOUT = 60.0
"""Seconds that a call may take where the catalogue does not say."""


class Accepted(NamedTuple):
    """Arguments that passed: `arguments` are the canonical ones, plain data with every default filled in; `kwargs` is
    what the function gets."""

    arguments: dict[str, Any]
    kwargs: dict[str, Any]


@dataclass(frozen=True)
class Tool:
    """A function with a schema and its rules.

    `accept` checks a canonical JSON object against the schema and raises `ArgumentFault`. `keep` are dotted paths of
    keys. `timeout` is in seconds; an `inline` function runs on the event loop and cannot be cut. `keyed`: the function
    takes `key`, the idempotency key of the call. `asks`: the function returns a question to a person, whose own words
    are the result. `nested`: the function runs a workflow, `await function(kwargs, fx)`, and returns its `Outcome`.
    `max_failures` and `repeatable` are rules for loops; `guards` are those of the workflow that may call the tool.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    function: Callable[..., Any]
    accept: Callable[[dict[str, Any]], Accepted]
    effect: Effect = "read"
    allow: Allow = Allow()
    keep: tuple[str, ...] = ()
    max_chars: int = MOST_CHARACTERS
    timeout: float = TIMEOUT
    max_failures: int | None = 3
    repeatable: bool = False
    idempotent: bool = False
    inline: bool = False
    keyed: bool = False
    asks: bool = False
    nested: bool = False
    gates: tuple[Gate, ...] = ()
    guards: tuple[Guard, ...] = ()

    def check(self, arguments: dict[str, Any]) -> Accepted:
        """Schema, then allow-list, on what the function would really get. Raises `ArgumentFault`."""
        accepted = self.accept(arguments)
        if self.allow.rules:
            self.allow.check(accepted.arguments)
        return accepted

    def validate(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """What the function would get. Raises `ArgumentFault`."""
        return self.check(arguments).kwargs

    @property
    def writes(self) -> bool:
        return self.effect != "read"

    @cached_property
    def awaits(self) -> bool:
        """Whether the function is a coroutine function."""
        return inspect.iscoroutinefunction(self.function)

    @cached_property
    def wire(self) -> dict[str, Any]:
        """The tool as a model is told of it."""
        said = {"description": self.description} if self.description else {}
        return {"type": "function", "function": {"name": self.name, **said, "parameters": self.parameters}}
