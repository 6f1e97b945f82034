"""Write what the five systems hold and the questions about it: `python generate.py`.

The same seed writes the same bytes. The prompt of the agent was tuned on the questions of seed 1, never on those that
are scored (seed 14).
"""

from __future__ import annotations

import argparse
import json
import pathlib
import random
from typing import Any

Record = dict[str, dict[str, Any]]
CAUSES = {
    "payment": ("card_expired", "no_funds"),
    "fraud": ("address_mismatch", "stolen_card"),
    "stock": ("sold_out", "damaged"),
    "shipping": ("address_unknown", "lost"),
}
SYSTEMS = ("shop", "payment", "fraud", "stock", "shipping")
# The states of shop, payment, fraud, stock and shipping; `*` is where the cause stands.
SHOWN = (  # the shop's state leads to the system that knows
    ("unpaid", "*", "not checked", "not picked", "not sent"),
    ("on hold", "held", "*", "not picked", "not sent"),
    ("waiting", "paid", "clear", "*", "not sent"),
    ("sent", "paid", "clear", "picked", "*"),
)
HIDDEN = (  # it leads to a system that knows who knows
    ("waiting", "*", "not checked", "not picked", "not sent"),
    ("cancelled", "refunded", "*", "not picked", "not sent"),
    ("cancelled", "refunded", "clear", "*", "not sent"),
    ("unpaid", "reversed", "clear", "picked", "*"),
    ("on hold", "paid", "clear", "*", "not sent"),
)
LINKED = (  # it leads to a system that names another order
    ("on hold", "held", ("linked",), "not picked", "not sent"),
    ("waiting", "paid", "clear", ("reserved",), "not sent"),
    ("sent", "paid", "clear", "picked", ("bundled",)),
    ("cancelled", "refunded", ("linked",), "not picked", "not sent"),
)
TASKS = (("shown", 1, 10), ("hidden", 1, 10), ("linked", 2, 12), ("linked", 3, 8))
"""The kind of a task's first order, how many orders have to be looked into, how many tasks."""


class Shop:
    """The orders so far."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.held: dict[int, Record] = {}
        self.free = rng.sample(range(1000, 10000), 120)

    def order(self, kind: str, orders: int) -> tuple[int, str]:
        """A new order and its cause. `orders` - 1 others stand between it and the one with the cause."""
        number, other, cause = self.free.pop(), 0, ""
        if orders > 1:
            states = self.rng.choice(LINKED)
            other, cause = self.order(self.rng.choice(("shown", "hidden")), orders - 1)
        else:
            states = self.rng.choice(SHOWN if kind == "shown" else HIDDEN)
            cause = self.rng.choice(CAUSES[SYSTEMS[states.index("*")]])
        self.held[number] = {
            system: {"state": state[0], "order": other}
            if isinstance(state, tuple)
            else {"state": cause if state == "*" else state}
            for system, state in zip(SYSTEMS, states, strict=True)
        }
        return number, cause


def generated(seed: int) -> tuple[dict[int, Record], list[dict[str, Any]]]:
    """The systems' records by order, and the tasks."""
    shop, tasks = Shop(random.Random(f"orders {seed}")), []
    for kind, orders, count in TASKS:
        for n in range(1, count + 1):
            number, cause = shop.order(kind, orders)
            state = shop.held[number]["shop"]["state"]
            asked = {"question": f"Order {number} is {state}. Why?", "order": number, "state": state}
            tags = {"kind": kind, "orders": orders}
            tasks.append({"id": f"{kind}{orders}-{n:02}", **asked, "expected": cause, **tags})
    return shop.held, tasks


def write(folder: pathlib.Path, seed: int) -> None:
    """Write `systems.json` and `tasks.jsonl`."""
    held, tasks = generated(seed)
    lines = (f'  "{number}": {json.dumps(record)}' for number, record in sorted(held.items()))
    (folder / "systems.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
    (folder / "tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in tasks), "utf-8")


def main() -> None:
    """Write the files beside this one, or into another folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=14)
    parser.add_argument("--to", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    chosen = parser.parse_args()
    write(chosen.to, chosen.seed)


if __name__ == "__main__":
    main()
