"""The five systems of an invented shop. Each knows one thing about an order, and may point to another order."""

from __future__ import annotations

import functools
import json
import pathlib
from typing import Any, Literal

System = Literal["shop", "payment", "fraud", "stock", "shipping"]


@functools.cache
def orders() -> dict[str, dict[str, Any]]:
    """What the five systems hold, by order."""
    file = pathlib.Path(__file__).with_name("systems.json")
    found: dict[str, dict[str, Any]] = json.loads(file.read_text("utf-8"))
    return found


def look(system: System, order: int) -> dict[str, Any]:
    """What a system holds about an order.

    Args:
        system: Which system is asked.
        order: The number of the order.
    """
    if str(order) not in orders():
        raise LookupError(f"{system} knows no order {order}")
    held: dict[str, Any] = orders()[str(order)][system]
    return held
