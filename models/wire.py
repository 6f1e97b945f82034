"""JSON to and from the wire, fast, and never with half a surrogate pair in it."""

from __future__ import annotations

import json
from math import isfinite
from typing import Any

import msgspec

from loopworth.runs.message import readable
from loopworth.runs.nesting import nested

DEEPEST = 200
"""Levels that a value may be nested."""
TOO_DEEP = f"nested more than {DEEPEST} levels deep"


def encode(value: dict[str, Any]) -> bytes:
    """JSON bytes; what JSON has no word for becomes text."""
    try:
        return msgspec.json.encode(value, enc_hook=str)
    except UnicodeEncodeError:
        return json.dumps(mended(value), ensure_ascii=False, default=str).encode()


def decode(content: bytes) -> Any:
    """The value of JSON bytes. Lone surrogates and invalid UTF-8 become U+FFFD, and what is no finite number null.
    Raises ValueError for other bytes, and for what is nested so deeply that it could not be sent back."""
    try:
        try:
            value = msgspec.json.decode(content)
        except ValueError:  # json reads what msgspec is too strict for
            value = mended(json.loads(content.decode("utf-8-sig", "replace")))
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    if content.count(b"[") + content.count(b"{") > DEEPEST and nested(value, DEEPEST):
        raise ValueError(TOO_DEEP)
    return value


def mended(value: Any) -> Any:
    """The same value with U+FFFD for every lone surrogate in a text, and None for what is no finite number."""
    if isinstance(value, str):
        return readable(value)
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, dict):
        return {mended(key): mended(item) for key, item in value.items()}
    return [mended(item) for item in value] if isinstance(value, list | tuple) else value
