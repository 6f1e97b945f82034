"""Write the invented invoices and what stands in them: `python generate.py`.

The same seed writes the same bytes. The prompt was tuned on the invoices of seed 1, never on those that are scored
(seed 14). One invoice in five does not add up.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import random
from typing import Any

EACH = 8
LAYOUTS = {
    "table": "Invoice: {number}\nDate: {day} March\nNet: {net}\nVAT: {vat}\nTotal: {total}",
    "list": "Total due {total}\nNet {net}\nVAT {vat}\nInvoice {number}\nPay within {days} days",
    "letter": "With our invoice {number} we charge you {net} euros for the {goods}, plus {vat} euros of VAT. "
    "Please pay {total} euros within {days} days.",
    "total_first": "Please pay {total} euros by {day} March. This is invoice {number}, for {count} {goods}: "
    "{net} euros, and {vat} euros of VAT.",
    "noisy": "Your order {order} of {day} March, {count} {goods}. Amount before tax {net} euros, tax {vat} euros, "
    "to be paid {total} euros. Our reference for this invoice is {number}.",
}
GOODS = ("lamps", "chairs", "pumps", "tiles", "clocks", "bags", "books", "shelves")


def invoice(rng: random.Random, adds_up: bool) -> dict[str, Any]:
    """What stands on one invoice. The amounts are whole euros."""
    net = 5 * rng.randint(12, 180)
    vat = net // 5
    total = net + vat + (0 if adds_up else rng.choice((-30, -20, -10, 10, 20, 30)))
    letters = "".join(rng.choices("ABCDEFGHKLMNPRSTUVWXZ", k=2))
    number, order = rng.sample(range(1000, 10000), 2)
    rest = {"day": rng.randint(2, 28), "days": rng.choice((7, 14, 30)), "goods": rng.choice(GOODS)}
    sums = {"net": net, "vat": vat, "total": total}
    return {"number": f"{letters}-{number}", "order": order, "count": rng.randint(2, 9), **sums, **rest}


def generated(seed: int) -> list[dict[str, Any]]:
    """`EACH` invoices of every layout; the last one in every five has a wrong total."""
    rng = random.Random(f"invoices {seed}")
    tasks = []
    for layout, text in LAYOUTS.items():
        for n in range(1, EACH + 1):
            adds_up = (len(tasks) + 1) % 5 != 0
            held = invoice(rng, adds_up)
            expected = {"number": held["number"], "total": held["total"], "adds_up": adds_up}
            asked = {"id": f"{layout}-{n}", "invoice": text.format(**held)}
            tasks.append({**asked, "expected": expected, "layout": layout})
    return tasks


def write(folder: pathlib.Path, seed: int) -> None:
    """Write `tasks.jsonl`."""
    (folder / "tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in generated(seed)), "utf-8")


def main() -> None:
    """Write the file beside this one, or into another folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=14)
    parser.add_argument("--to", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    chosen = parser.parse_args()
    write(chosen.to, chosen.seed)


if __name__ == "__main__":
    main()
