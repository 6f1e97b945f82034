"""The tools of the refunds example: a shop's orders, and a transfer. Both are invented; nothing is moved."""

from __future__ import annotations

import functools
import json
import pathlib
import re
from typing import Any


@functools.cache
def orders() -> dict[str, dict[str, Any]]:
    """Every order by its number."""
    file = pathlib.Path(__file__).with_name("orders.json")
    found: dict[str, dict[str, Any]] = json.loads(file.read_text("utf-8"))
    return found


def order(order: int) -> dict[str, Any]:
    """Look an order up: the item, its price in euros, days since it came, whether it was refunded.

    Args:
        order: The number of the order.
    """
    if str(order) not in orders():
        raise LookupError(f"there is no order {order}")
    return {key: value for key, value in orders()[str(order)].items() if key != "name"}


def customer(name: str) -> dict[str, int]:
    """Find the order of a customer who did not give its number.

    Args:
        name: The customer's first and last name.
    """
    found = [int(number) for number, held in orders().items() if held["name"] == name]
    if not found:
        raise LookupError(f"there is no customer {name}")
    return {"order": found[0]}


def transfer(order: int, amount: int) -> int:
    """Pay money back for an order. Returns what was paid.

    Args:
        order: The number of the order.
        amount: How many euros.
    """
    if str(order) not in orders():
        raise LookupError(f"there is no order {order}")
    return amount


def number(message: str) -> int:
    """Read the number of the order out of a message.

    Args:
        message: The message as it came.
    """
    found = re.search(r"\border (\d{4})\b", message, re.IGNORECASE)
    if found is None:
        raise ValueError("the message names no order")
    return int(found[1])
