"""What opens a conversation: the instructions and the prompt of a file as messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from loopworth.runs.message import Message, system, user
from loopworth.workflows import spec
from loopworth.workflows.template_data import text
from loopworth.workflows.templates import template
from loopworth.workflows.verbs import Names, Prompt


def messages(instructions: spec.Prompt | None, said: Any) -> tuple[Prompt, frozenset[str]]:
    """What makes a conversation's first messages: the instructions as the system's, then the prompt."""
    parts = [
        spoken(role, spec.prompt(part)) for role, part in ((system, instructions), (user, said)) if part is not None
    ]

    def opening(names: Names) -> list[Message]:
        return [message for made, _ in parts for message in made(names)]

    return opening, frozenset[str]().union(*(read for _, read in parts))


def spoken(role: Callable[[Any], Message], prompt: str | list[dict[str, Any]]) -> tuple[Prompt, frozenset[str]]:
    """A prompt as messages: those written in the file, or one of `role`. What data says is only ever text in them."""
    made = template(prompt)
    if isinstance(prompt, list):
        return made, made.reads
    return lambda names: [role(text(made(names)).strip())], made.reads
