"""The tickets example: routes by rules, by the model, and by both."""

from __future__ import annotations

import collections
import json
import pathlib

from tests.cli.kit import command
from tests.endpoint import FakeEndpoint, Received, said
from tests.examples.kit import EXAMPLES, copied

TICKETS = [json.loads(line) for line in (EXAMPLES / "tickets" / "tasks.jsonl").read_text("utf-8").splitlines()]
DESKS = {task["ticket"]: task["expected_route"] for task in TICKETS}


def postmaster(received: Received) -> dict[str, object]:
    """Knows every ticket's desk."""
    asked = received.body["messages"][-1]["content"]
    return said(next(desk for ticket, desk in DESKS.items() if ticket in asked))


def test_there_are_ten_tickets_for_each_desk() -> None:
    """40 different tickets, 4 desks."""
    assert len(DESKS) == 40
    assert collections.Counter(DESKS.values()) == dict.fromkeys(("billing", "shipping", "technical", "account"), 10)


def test_no_prompt_holds_a_ticket_that_is_scored() -> None:
    """The examples in a prompt give nothing away."""
    for file in (EXAMPLES / "tickets").glob("*.yaml"):
        assert not [ticket for ticket in DESKS if ticket in file.read_text("utf-8")]


def test_rules_need_no_model_and_the_model_decides_the_rest(tmp_path: pathlib.Path) -> None:
    """With a model that knows every desk, `model` is always right, and `both` asks only where no rule fires."""
    with FakeEndpoint(last=postmaster) as fake:
        done = command("compare", copied(tmp_path, "tickets", fake.base_url) / "comparison.yaml", "--json")
    assert done.exit_code == 0, done.stderr
    trials = json.loads(done.stdout)["trials"]
    taken = {(trial["arm"], trial["task"]): trial["route"] for trial in trials}
    right = collections.Counter(trial["arm"] for trial in trials if trial["right"])
    unruled = [task["id"] for task in TICKETS if taken["rules", task["id"]] == "otherwise"]
    assert right["model"] == 40
    assert right["both"] == right["rules"] + len(unruled)
    assert len(fake.requests) == 40 + len(unruled)
