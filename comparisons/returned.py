"""What a program returned that was taken as its answer, and is likely none: said, and never guessed at."""

from __future__ import annotations

import json
import re
from typing import Any

FOREIGN = ("messages", "output", "final_output", "final_answer", "response", "result", "choices", "content", "text")
"""Keys under which other frameworks return an answer, or a conversation that ends in it."""
BEGINS = re.compile(r"^\{", re.MULTILINE)


def doubtful(value: Any, kind: str) -> str:
    """What was taken as the answer, and what to write instead; "" of what may well be one."""
    instead = f'{"write" if kind == "command" else "return"} {{"answer": …}}'
    if value is None:
        said = "it wrote nothing to standard output" if kind == "command" else "it returned nothing"
        return f"{said}, which is no answer: {instead}"
    if isinstance(value, dict) and "answer" not in value and (keys := [key for key in FOREIGN if key in value]):
        named = ", ".join(f"`{key}`" for key in keys)
        return f"what it returned has no `answer`, so the whole object, with {named}, was taken as one: {instead}"
    if kind == "command" and isinstance(value, str) and within(value):
        return (
            "it wrote more to standard output than its object with `answer`, so all of it was taken as one: write "
            "the rest to standard error"
        )
    return ""


def within(text: str) -> bool:
    """Whether an object with an `answer` begins on a line of a text that is not JSON as a whole."""
    begins = BEGINS.search(text)
    try:
        found, _ = json.JSONDecoder().raw_decode(text, begins.start()) if begins else (None, 0)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and "answer" in found
