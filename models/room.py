"""How much output an endpoint says it has room for, where it refuses a request for asking for more.

vLLM and its like refuse where prompt and limit together exceed the context; others where a limit is more than the model
ever writes. https://github.com/vllm-project/vllm/issues/42474
"""

from __future__ import annotations

import re

from loopworth.models.errors import Trouble

LEAST = 128
"""Output tokens that are worth a request: with less room than that, the prompt is what is too long."""
NUMBER = r"`?(\d+)`?"
OF_CONTEXT = tuple(
    re.compile(words, re.I | re.S)
    for words in (
        rf"context length is {NUMBER} tokens.*?\({NUMBER} in the messages",
        rf"context length is {NUMBER} tokens.*?(?:has|contains)\D{{0,20}}{NUMBER} input tokens",
        rf"must be <= {NUMBER}\. Given: {NUMBER} `inputs` tokens",
    )
)
"""The size of a context, and the tokens of the prompt in it."""
PROMPT_FIRST = re.compile(rf"exceed context limit: {NUMBER} \+ \d+ > {NUMBER}", re.I)
OF_OUTPUT = tuple(
    re.compile(words, re.I)
    for words in (
        rf"supports at most {NUMBER} completion tokens",
        rf"max_\w*tokens\W.{{0,40}}> {NUMBER}, which is the maximum",
        rf"max_\w*tokens\W.{{0,60}}less than or equal to {NUMBER}",
        rf"range of max_\w*tokens is \[\d+, ?{NUMBER}\]",
    )
)
"""The most that a model writes."""


def room(found: Trouble, asked: int | None) -> int | None:
    """The output tokens that a request refused so may ask for; None where that is not what is wrong, or too few."""
    if found.kind not in ("context_overflow", "refused"):
        return None
    left = said(found.message)
    return left if left is not None and left >= LEAST and (asked is None or left < asked) else None


def said(message: str) -> int | None:
    """The room that a message tells of."""
    for pattern in OF_CONTEXT:
        if match := pattern.search(message):
            return int(match[1]) - int(match[2])
    if match := PROMPT_FIRST.search(message):
        return int(match[2]) - int(match[1])
    return next((int(match[1]) for pattern in OF_OUTPUT if (match := pattern.search(message))), None)
