"""Write the invented parcels and the questions about them: `python generate.py`.

The same seed writes the same bytes. The prompt of the agent was tuned on the questions of seed 1, never on those that
are scored (seed 14).
"""

from __future__ import annotations

import argparse
import json
import pathlib
import random
import string
from itertools import pairwise
from typing import Any

MOST, EACH = 5, 8
NAMES = ("Adler", "Birch", "Corso", "Dahl", "Elmer", "Fonda", "Garrel", "Holm", "Ivers", "Jansky", "Keller", "Lund")
GOODS = ("Books", "Clocks", "Lamps", "Paints", "Pumps", "Seeds", "Shoes", "Tiles", "Tools", "Wines")


def codes(rng: random.Random, count: int) -> list[str]:
    """Distinct codes like ZRG-14."""
    found: dict[str, None] = {}
    while len(found) < count:
        found.setdefault("".join(rng.choices(string.ascii_uppercase, k=3)) + f"-{rng.randint(10, 99)}")
    return list(found)


def generated(seed: int) -> tuple[dict[str, dict[str, str]], list[dict[str, Any]]]:
    """Where each parcel came from, and the tasks: `EACH` chains for every length k = 1..`MOST`."""
    rng = random.Random(f"chain {seed}")
    free = codes(rng, EACH * sum(range(1, MOST + 1)))
    parcels: dict[str, dict[str, str]] = {}
    tasks = []
    for k in range(1, MOST + 1):
        for number in range(1, EACH + 1):
            chain = [free.pop() for _ in range(k)]
            sender = f"{rng.choice(NAMES)} {rng.choice(GOODS)}"
            for code, before in pairwise(chain):
                parcels[code] = {"repacked_from": before}
            parcels[chain[-1]] = {"sender": sender}
            asked = {"question": f"Who sent parcel {chain[0]}?", "code": chain[0]}
            tasks.append({"id": f"k{k}-{number:02}", **asked, "expected": sender, "lookups": k})
    return parcels, tasks


def write(folder: pathlib.Path, seed: int) -> None:
    """Write `parcels.json` and `tasks.jsonl`."""
    parcels, tasks = generated(seed)
    lines = (f"  {json.dumps(code)}: {json.dumps(origin)}" for code, origin in sorted(parcels.items()))
    (folder / "parcels.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
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
