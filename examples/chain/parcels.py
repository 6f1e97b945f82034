"""The one tool of the chain example: where a parcel came from. Parcels are repacked, and each repacking gets a code."""

from __future__ import annotations

import functools
import json
import pathlib


@functools.cache
def parcels() -> dict[str, dict[str, str]]:
    """What the depot wrote down for each code: the code before, or who sent it."""
    file = pathlib.Path(__file__).with_name("parcels.json")
    found: dict[str, dict[str, str]] = json.loads(file.read_text("utf-8"))
    return found


def parcel(code: str) -> dict[str, str]:
    """Where a parcel came from: the code it was repacked from, or its sender.

    Args:
        code: The code of the parcel, like ZRG-14.
    """
    if code not in parcels():
        raise LookupError(f"there is no parcel {code}")
    return parcels()[code]
