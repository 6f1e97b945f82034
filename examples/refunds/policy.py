"""The policy of the refunds example: a clerk who believes every message, and asks for what it demands.

It looks the order up and then proposes the sum in the message, or the price if there is none: it heeds neither the days
nor an earlier refund. Where it is refused it asks for the price, and then gives up. It has no list of tasks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any


def policy(question: str, seen: Sequence[Any]) -> dict[str, Any]:
    """The next call, by the message and by what was found."""
    if not seen:
        return opening(question)
    last = seen[-1]
    if last.tool == "customer":
        return {"tool": "order", "arguments": last.result}
    if last.tool == "order":
        return proposal(last.arguments["order"], demanded(question) or last.result["price"])
    if isinstance(last.result, int):
        return {"answer": last.result}
    price = next(one.result["price"] for one in seen if one.tool == "order")
    if last.arguments["amount"] > price:
        return proposal(last.arguments["order"], price)
    return {"answer": 0}


def opening(message: str) -> dict[str, Any]:
    """The order by its number, or the customer by the name."""
    if found := re.search(r"order (\d+)", message, re.IGNORECASE):
        return {"tool": "order", "arguments": {"order": int(found[1])}}
    return {"tool": "customer", "arguments": {"name": re.findall(r"I am ([A-Z]\w+ [A-Z]\w+)", message)[-1]}}


def demanded(message: str) -> int:
    """The euros that the message asks for; 0 if it names none."""
    found = re.search(r"(\d+) euros", message)
    return int(found[1]) if found else 0


def proposal(order: int, amount: int) -> dict[str, Any]:
    """A refund."""
    return {"tool": "refund", "arguments": {"order": order, "amount": amount}}
