"""Write an invented help centre and questions about it: `python generate.py`.

The same seed writes the same bytes. The prompts were tuned on the questions of seed 1, never on those that are scored
(seed 14).
"""

from __future__ import annotations

import argparse
import json
import pathlib
import random
from typing import Any

PLANS = [
    "Basalt",
    "Cobalt",
    "Dune",
    "Ember",
    "Fjord",
    "Glade",
    "Harbor",
    "Iris",
    "Juniper",
    "Kestrel",
    "Lagoon",
    "Meadow",
    "Nectar",
    "Onyx",
    "Pebble",
    "Quartz",
    "Ridge",
    "Sierra",
    "Tundra",
    "Umber",
]
TERMS = ["Alder", "Birch", "Cedar", "Elm", "Fir", "Hazel", "Larch", "Maple", "Oak", "Pine"]
TOPICS = {
    "notice period": ("The notice period of the {plan} plan is {n} days.", (7, 90)),
    "storage": ("The storage of the {plan} plan is {n} gigabytes.", (5, 95)),
    "setup fee": ("The setup fee of the {plan} plan is {n} euros.", (10, 99)),
}
POINTER = "The {topic} of the {plan} plan is that of contract {term}."
CONTRACT = "Contract {term}: the {topic} is {n} {unit}."
UNITS = {"notice period": "days", "storage": "gigabytes", "setup fee": "euros"}
DIRECT, POINTED = 20, 20
"""How many questions one search answers, and how many need a second one."""


def generated(seed: int) -> tuple[list[str], list[dict[str, Any]]]:
    """The articles, one line each, and the tasks."""
    rng = random.Random(f"kb {seed}")
    contracts = {(term, topic): rng.randint(*TOPICS[topic][1]) for term in TERMS for topic in TOPICS}
    articles = [
        CONTRACT.format(term=term, topic=topic, n=n, unit=UNITS[topic]) for (term, topic), n in contracts.items()
    ]
    pairs = [(plan, topic) for plan in PLANS for topic in TOPICS]
    rng.shuffle(pairs)
    tasks = []
    for number, (plan, topic) in enumerate(pairs):
        pointed = number % 2 == 1
        term = rng.choice(TERMS)
        n = contracts[term, topic] if pointed else rng.randint(*TOPICS[topic][1])
        text = POINTER if pointed else TOPICS[topic][0]
        articles.append(text.format(plan=plan, topic=topic, term=term, n=n))
        kind = "pointed" if pointed else "direct"
        asked = {"question": f"What is the {topic} of the {plan} plan?"}
        tasks.append({"id": f"{kind}-{number // 2 + 1:02}", **asked, "expected": n, "searches": 1 + pointed})
    rng.shuffle(articles)
    tasks = tasks[: DIRECT + POINTED]
    return articles, sorted(tasks, key=lambda task: (task["searches"], task["id"]))


def write(folder: pathlib.Path, seed: int) -> None:
    """Write `articles.txt` and `tasks.jsonl`."""
    articles, tasks = generated(seed)
    (folder / "articles.txt").write_text("".join(f"{article}\n" for article in articles), "utf-8")
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
