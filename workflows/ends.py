"""How a step's end is said, and read again."""

from __future__ import annotations

import re
from typing import cast, get_args

from loopworth.runs.outcome import Exit, Failed, Stop

SAID: dict[Exit, str] = {
    "truncated": "was truncated",
    "filtered": "was filtered",
    "refused": "was refused",
    "empty": "came back empty",
    "unparsable": "gave no readable answer",
}


def words(end: Stop | Failed) -> str:
    """What happened to a step, to stand behind its name."""
    return f": {end}" if isinstance(end, Failed) else f" {said(end)}"


def said(end: Stop | Failed) -> str:
    """What happened, in words of its own."""
    if isinstance(end, Failed):
        return str(end)
    what = SAID.get(end.exit, f"ended with {end.exit}")
    return f"{what}: {end.note}" if end.note else what


def meant(note: str) -> Exit | None:
    """What a step, or one within it, ended for, by the note of the run that it failed; None where it failed for a
    reason of its own."""
    told = ENDED.match(note)
    if told is None:
        return None
    exits = {words: exit for exit, words in SAID.items()}
    exit = exits.get(told["how"], told["how"].removeprefix("ended with "))
    return cast("Exit", exit) if exit in get_args(Exit) else None


STEP = r"step (?:'\w+'|\d+ \(\w+, line \d+\))"
ENDED = re.compile(rf"(?:{STEP}: |item \d+: )*{STEP} (?P<how>ended with \w+|{'|'.join(SAID.values())})(?=: |$)")
