"""What stands in a row is JSON, or it is not read: no other format of a database is ever taken for a value."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from loopworth.runs.database import StoreFault

well_formed = msgspec.json.Decoder(msgspec.Raw).decode


def text(content: Any, what: str) -> bytes:
    """The JSON in a row; an empty one says nothing. Raises StoreFault that names `what` holds something else."""
    data = bytes(content)
    if not data:
        return data
    try:
        well_formed(data)
    except msgspec.DecodeError:
        try:
            json.loads(data)  # halves of surrogate pairs, which msgspec does not read
        except ValueError:
            raise StoreFault(f"{what} is no JSON: it is in a foreign format, and was not read") from None
    return data


def value(content: Any, what: str) -> Any:
    """The plain value in a row; None where nothing stands there."""
    return json.loads(text(content, what)) if content is not None else None
