"""What a step ended for, in runs that were kept before an outcome held it: it stands in their notes alone."""

from __future__ import annotations

import re
from typing import get_args

from loopworth.runs.exit import Exit

SAID: dict[str, Exit] = {
    "was truncated": "truncated",
    "was filtered": "filtered",
    "was refused": "refused",
    "came back empty": "empty",
    "gave no readable answer": "unparsable",
    **{f"ended with {exit}": exit for exit in get_args(Exit)},
}
STEP = r"step (?:'\w+'|\d+ \(\w+, line \d+\))"
ENDED = re.compile(rf"(?:{STEP}: |item \d+: )*{STEP} (?P<how>{'|'.join(SAID)})(?=: |$)")


def cause_told(note: str) -> Exit | None:
    """What a step, or one within it, ended for, by the note of the run that it failed; None where it failed for a
    reason of its own."""
    told = ENDED.match(note)
    return None if told is None else SAID[told["how"]]
