"""The invoices example: extract, then validate."""

from __future__ import annotations

import collections
import json
import pathlib
import re
from typing import Any

from tests.cli.kit import command
from tests.endpoint import FakeEndpoint, Received
from tests.examples.kit import EXAMPLES, copied, lines, regenerated, said

INVOICES = EXAMPLES / "invoices"
TASKS = lines(INVOICES / "tasks.jsonl")
KNOWN = ("table", "list")


def reader(received: Received) -> dict[str, Any]:
    """Reads every layout without a mistake: the total is the largest sum, net and VAT are told by their words."""
    text = received.body["messages"][-1]["content"]
    words = {"net": r"Net:? (\d+)|(\d+) euros for|: (\d+) euros|before tax (\d+)"}
    words |= {"vat": r"VAT:? (\d+)|(\d+) euros of VAT|, tax (\d+)", "total": r"Total[a-z ]*:? (\d+)|[Pp]a\w+ (\d+)"}
    found = {field: re.search(pattern, text) for field, pattern in words.items()}
    sums = {field: int(next(filter(None, match.groups()))) for field, match in found.items() if match}
    return said(json.dumps({"number": re.findall(r"[A-Z]{2}-\d{4}", text)[0], **sums}))


def test_the_generator_writes_the_shipped_file(tmp_path: pathlib.Path) -> None:
    """Same seed, same bytes; what the prompt was tuned on shares no invoice with what is scored."""
    assert regenerated(tmp_path / "same", "invoices", "tasks.jsonl") == (INVOICES / "tasks.jsonl").read_text("utf-8")
    other = regenerated(tmp_path / "other", "invoices", "tasks.jsonl", "--seed", "1").splitlines()
    assert not {json.loads(line)["invoice"] for line in other} & {task["invoice"] for task in TASKS}


def test_one_invoice_in_five_does_not_add_up() -> None:
    """Five layouts, eight each; number and total stand in every invoice, and no prompt holds one of the numbers."""
    assert [*collections.Counter(task["layout"] for task in TASKS).values()] == [8] * 5
    assert sum(not task["expected"]["adds_up"] for task in TASKS) == 8
    prompts = "".join((INVOICES / name).read_text("utf-8") for name in ("pipeline.yaml", "both.yaml"))
    for task in TASKS:
        assert task["expected"]["number"] in task["invoice"]
        assert str(task["expected"]["total"]) in task["invoice"]
        assert task["expected"]["number"] not in prompts


def test_a_flawless_reader_is_asked_only_for_what_the_patterns_leave(tmp_path: pathlib.Path) -> None:
    """The patterns read the layouts they know and fail aloud at the others; both together ask the model for those."""
    with FakeEndpoint(last=reader) as fake:
        done = command("compare", copied(tmp_path, "invoices", fake.base_url) / "comparison.yaml", "--json")
    assert done.exit_code == 0, done.stderr
    result = json.loads(done.stdout)
    for trial in result["trials"]:
        known = trial["task"].startswith(KNOWN)
        assert trial["right"] == (trial["arm"] != "regex" or known)
        assert trial["exit"] == ("success" if trial["right"] else "step_failed")
        assert trial["model_calls"] == {"regex": 0, "pipeline": 1, "both": 0 if known else 1}[trial["arm"]]
    assert result["verdict"]["token"] in ("earns", "undecided")


def test_a_number_that_stands_nowhere_ends_the_run(tmp_path: pathlib.Path) -> None:
    """What a model made up is caught by the check, not handed on."""
    made_up = said('{"number": "ZZ-0000", "net": 10, "vat": 2, "total": 12}')
    with FakeEndpoint(last=made_up) as fake:
        file = copied(tmp_path, "invoices", fake.base_url) / "pipeline.yaml"
        done = command("run", file, "-i", f"invoice={TASKS[0]['invoice']}", "--json")
    outcome = json.loads(done.stdout)
    assert (outcome["exit"], outcome["answer"]) == ("step_failed", None)
    assert "ZZ-0000" in outcome["note"]
