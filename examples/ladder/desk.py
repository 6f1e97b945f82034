"""The tools of the ladder: a shop's orders, and giving money back. Both are invented; nothing is moved."""

from __future__ import annotations

ORDERS: dict[int, tuple[str, int]] = {1042: ("a lamp", 40), 1043: ("a kettle", 25), 1051: ("two chairs", 180)}


def order(number: int) -> dict[str, str | int]:
    """Look an order up: what was bought, and the price in euros.

    Args:
        number: The number of the order.
    """
    if number not in ORDERS:
        raise LookupError(f"there is no order {number}")
    item, price = ORDERS[number]
    return {"item": item, "price": price}


def refund(number: int, amount: int) -> str:
    """Give money back for an order.

    Args:
        number: The number of the order.
        amount: How many euros.
    """
    return f"{amount} euros for order {number} are on their way"
