"""The policy of the orders example: what a competent chooser would ask next. It has no list of tasks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

NEXT = {
    # what the shop says of an order: the system to begin with
    "unpaid": "payment",
    "on hold": "fraud",
    "waiting": "stock",
    "sent": "shipping",
    "cancelled": "payment",
    # what another system says: the system that must know why
    "held": "fraud",
    "reversed": "shipping",
    "refunded": "fraud",
    "paid": "stock",
    "clear": "stock",
    "not checked": "payment",
    "not picked": "payment",
    "picked": "shipping",
    "not sent": "stock",
}


def policy(question: str, seen: Sequence[Any]) -> dict[str, Any]:
    """The next call, by the last thing that was found."""
    if not seen:
        order, state = re.findall(r"Order (\d+) is ([a-z ]+)\.", question)[-1]
        return {"tool": NEXT[state], "arguments": {"order": int(order)}}
    found = seen[-1].result
    if "order" in found:  # the cause lies with another order: what does the shop say of that one?
        return {"tool": "shop", "arguments": {"order": found["order"]}}
    if found["state"] not in NEXT:  # nothing is left to ask: this is the cause
        return {"answer": found["state"]}
    return {"tool": NEXT[found["state"]], "arguments": seen[-1].arguments}
