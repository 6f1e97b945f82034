"""Finding out that a server has dropped part of the prompt in silence."""

from __future__ import annotations

from loopworth.runs.message import TOKEN_BYTES
from loopworth.runs.usage import Usage

ENOUGH, SHARE = 1000, 0.5
"""Below so many estimated tokens nothing is said; below this share of them, that the server may have dropped some."""


def dropped_part(sent: bytes, usage: Usage) -> tuple[str, ...]:
    """A warning where the server counted far fewer input tokens than the request seems to hold."""
    if usage.input is None or usage.estimated or usage.input >= len(sent) // TOKEN_BYTES * SHARE:
        return ()
    if b"base64" in sent:
        return ()  # an image has far fewer tokens than signs
    estimate = len(sent.decode("utf-8", "replace")) // TOKEN_BYTES  # a script of many bytes a sign has no more tokens
    if estimate < ENOUGH or usage.input >= estimate * SHARE:
        return ()
    said = f"the server counted {usage.input:,} input tokens, and the request holds about {estimate:,}"
    return (f"{said}: it may have dropped part of the prompt (see the size of its context)",)
