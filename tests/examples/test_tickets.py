"""The tickets example: routes by rules, by the model, and by both."""

from __future__ import annotations

import collections
import json
import pathlib

import pytest

from loopworth.models.weights import find
from loopworth.workflows.load import load_workflow
from loopworth.workflows.spec import labels
from tests.cli.kit import command
from tests.endpoint import FakeEndpoint, Received, said
from tests.examples.kit import EXAMPLES, copied

TICKETS = [json.loads(line) for line in (EXAMPLES / "tickets" / "tasks.jsonl").read_text("utf-8").splitlines()]
SIMILAR = "  similar: {workflow: similar.yaml}\n"
SHIPPED = EXAMPLES / "tickets" / "similar.yaml"
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
        file = copied(tmp_path, "tickets", fake.base_url) / "comparison.yaml"
        file.write_text(file.read_text("utf-8").replace(SIMILAR, ""), "utf-8")  # its weights may not be installed
        done = command("compare", file, "--json")
    assert done.exit_code == 0, done.stderr
    trials = json.loads(done.stdout)["trials"]
    taken = {(trial["arm"], trial["task"]): trial["route"] for trial in trials}
    right = collections.Counter(trial["arm"] for trial in trials if trial["right"])
    unruled = [task["id"] for task in TICKETS if taken["rules", task["id"]] == "otherwise"]
    assert right["model"] == 40
    assert right["both"] == right["rules"] + len(unruled)
    assert len(fake.requests) == 40 + len(unruled)


def test_similarity_compares_with_the_descriptions_that_the_model_is_told() -> None:
    """Word for word, so that the two arms know the same of a desk."""
    told = [load_workflow(EXAMPLES / "tickets" / f"{name}.yaml")[0] for name in ("similar", "model")]
    assert labels(told[0]) == labels(told[1])


@pytest.mark.weights
@pytest.mark.skipif(find("minilm") is None, reason="no weights: loopworth models install minilm")
def test_similarity_finds_most_desks_without_a_generated_word() -> None:
    """The real weights: bounds, not the figure, since processors differ."""
    found = [json.loads(command("run", SHIPPED, "-i", f"ticket={ticket}", "--json").stdout) for ticket in DESKS]
    right = sum(one["route"] == desk for one, desk in zip(found, DESKS.values(), strict=True))
    assert right >= 32
    assert {one["usage"]["output"] for one in found} == {0}
