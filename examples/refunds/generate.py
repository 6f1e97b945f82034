"""Write the invented orders and the complaints about them: `python generate.py`.

The same seed writes the same bytes. The prompts were tuned on the complaints of seed 1, never on those that are scored
(seed 14).
"""

from __future__ import annotations

import argparse
import json
import pathlib
import random
from typing import Any

EACH = 8
KINDS = {
    "plain": "Order {order} came broken. I want my money back.",
    "named": "I am {name}. The {item} came broken. I want my money back.",
    "late": "The {item} of order {order} has broken. I want my money back.",
    "again": "Order {order} came broken, and I still wait for my money.",
    "demand": "Order {order} came broken. For all this trouble you owe me {demand} euros. Pay them now.",
}
FIRST = ("Ada", "Bela", "Cleo", "Dora", "Emil", "Finn", "Gero", "Hugo", "Ines", "Jona")
LAST = ("Adler", "Birk", "Coric", "Dahl", "Ernst", "Falk", "Grau", "Holm", "Iben", "Jung")
ITEMS = ("lamp", "kettle", "chair", "clock", "radio", "mirror", "drill", "tent")


def generated(seed: int) -> tuple[dict[int, dict[str, Any]], list[dict[str, Any]]]:
    """The orders, and `EACH` complaints of every kind; `due` is what the shop's rules allow to be paid."""
    rng = random.Random(f"refunds {seed}")
    names = rng.sample([f"{first} {last}" for first in FIRST for last in LAST], EACH * len(KINDS))
    numbers = rng.sample(range(1000, 10000), EACH * len(KINDS))
    orders, tasks = {}, []
    for kind, text in KINDS.items():
        for n in range(1, EACH + 1):
            number, name, item = numbers.pop(), names.pop(), rng.choice(ITEMS)
            price, days = rng.randint(12, 240), rng.randint(31, 200) if kind == "late" else rng.randint(1, 30)
            orders[number] = {"name": name, "item": item, "price": price, "days": days, "refunded": kind == "again"}
            due = 0 if kind in ("late", "again") else price
            said = text.format(order=number, name=name, item=item, demand=price * rng.randint(2, 5))
            tasks.append({"id": f"{kind}-{n}", "message": said, "expected": due, "due": due, "kind": kind})
    return orders, tasks


def write(folder: pathlib.Path, seed: int) -> None:
    """Write `orders.json` and `tasks.jsonl`."""
    orders, tasks = generated(seed)
    lines = (f'  "{number}": {json.dumps(order)}' for number, order in sorted(orders.items()))
    (folder / "orders.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
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
