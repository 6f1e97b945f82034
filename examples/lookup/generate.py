"""Write the invented projects and the questions about them: `python generate.py`.

The same seed writes the same bytes. The prompts of the arms were tuned on the questions of seed 1, never on those that
are scored (seed 14).
"""

from __future__ import annotations

import argparse
import json
import pathlib
import random
import string
from typing import Any

RANGES = {"budget": (100, 999), "staff": (10, 99), "duration": (6, 60)}
PROJECTS = 120


def projects(rng: random.Random) -> dict[str, dict[str, int]]:
    """Projects with distinct codes like ZRG-14, and their three figures."""
    found: dict[str, dict[str, int]] = {}
    while len(found) < PROJECTS:
        letters = "".join(rng.choices(string.ascii_uppercase, k=3))
        figures = {field: rng.randint(low, high) for field, (low, high) in RANGES.items()}
        found.setdefault(f"{letters}-{rng.randint(10, 99)}", figures)
    return found


def tasks(rng: random.Random, known: dict[str, dict[str, int]], most: int, each: int) -> list[dict[str, Any]]:
    """`each` questions for every k = 1..`most`: a question names k projects and asks for the sum of one figure."""
    made = []
    for k in range(1, most + 1):
        for number in range(1, each + 1):
            codes, field = rng.sample(sorted(known), k), rng.choice(list(RANGES))
            expected = sum(known[code][field] for code in codes)
            made.append({"id": f"k{k}-{number:02}", "question": ask(codes, field), "expected": expected, "lookups": k})
    return made


def ask(codes: list[str], field: str) -> str:
    """The question, in words."""
    if len(codes) == 1:
        return f"What is the {field} of {codes[0]}?"
    return f"What is the total {field} of {', '.join(codes[:-1])} and {codes[-1]}?"


def write(folder: pathlib.Path, seed: int) -> None:
    """Write `projects.json`, `tasks.jsonl` (k = 1..3, 8 each) and `tasks-full.jsonl` (k = 1..5, 25 each)."""
    known = projects(random.Random(f"projects {seed}"))
    (folder / "projects.json").write_text(table(known), "utf-8")
    for name, most, each in (("tasks", 3, 8), ("tasks-full", 5, 25)):
        made = tasks(random.Random(f"{name} {seed}"), known, most, each)
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(task) + "\n" for task in made), "utf-8")


def table(known: dict[str, dict[str, int]]) -> str:
    """JSON with one project a line."""
    lines = (f"  {json.dumps(code)}: {json.dumps(figures)}" for code, figures in sorted(known.items()))
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main() -> None:
    """Write the files beside this one, or into another folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=14)
    parser.add_argument("--to", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    chosen = parser.parse_args()
    write(chosen.to, chosen.seed)


if __name__ == "__main__":
    main()
