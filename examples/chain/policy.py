"""The policy of the chain example: follow the codes until there is a sender. It has no list of tasks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any


def policy(question: str, seen: Sequence[Any]) -> dict[str, Any]:
    """The next call, by the last thing that was found."""
    found = seen[-1].result if seen else {"repacked_from": re.findall(r"[A-Z]{3}-[0-9]{2}", question)[-1]}
    if "sender" in found:
        return {"answer": found["sender"]}
    return {"tool": "parcel", "arguments": {"code": found["repacked_from"]}}
