"""JSON to and from the wire, fast, and never with half a surrogate pair in it."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from loopworth.runs.message import readable


def encode(value: dict[str, Any]) -> bytes:
    """JSON bytes; what JSON has no word for becomes text."""
    try:
        return msgspec.json.encode(value, enc_hook=str)
    except UnicodeEncodeError:
        return json.dumps(mended(value), ensure_ascii=False, default=str).encode()


def decode(content: bytes) -> Any:
    """The value of JSON bytes. Lone surrogates and invalid UTF-8 become U+FFFD. Raises ValueError for other bytes."""
    try:
        return msgspec.json.decode(content)
    except ValueError:  # json reads what msgspec is too strict for
        return mended(json.loads(content.decode("utf-8-sig", "replace")))


def mended(value: Any) -> Any:
    """The same value with U+FFFD for every lone surrogate in a text."""
    if isinstance(value, str):
        return readable(value)
    if isinstance(value, dict):
        return {mended(key): mended(item) for key, item in value.items()}
    return [mended(item) for item in value] if isinstance(value, list | tuple) else value
