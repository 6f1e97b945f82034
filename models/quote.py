"""What a model call may come to, before it is made: what a limit in tokens or dollars holds for it."""

from __future__ import annotations

import re

from loopworth.models.prices import most_usd
from loopworth.models.spec import ModelSpec
from loopworth.models.wire import encode
from loopworth.runs.message import TOKEN_BYTES, Request
from loopworth.runs.usage import Quote

DATA = re.compile(rb";base64,[A-Za-z0-9+/=]+")
IMAGE = 1500
"""Tokens taken for an image."""
SAMPLE = 1000
"""Output tokens over which the price of one is taken: a tariff may have steps."""


def quote(spec: ModelSpec, request: Request, now: float | None = None) -> Quote:
    """The prompt in estimated tokens, what it may cost at most, and each token of output; 0 where there is no price."""
    sent = encode({"messages": request.messages, "tools": request.tools, "schema": request.schema})
    input, want = tokens(sent), request.max_tokens or SAMPLE
    alone, whole = most_usd(spec, input, 0, now), most_usd(spec, input, want, now)
    if alone is None or whole is None:
        return Quote(input)
    return Quote(input, alone, (whole - alone) / want)


def tokens(sent: bytes) -> int:
    """The tokens in JSON, as estimated; an image is not as long as its data."""
    images = 0
    if b";base64," in sent:
        sent, images = DATA.subn(b"", sent)
    return len(sent) // TOKEN_BYTES + images * IMAGE
