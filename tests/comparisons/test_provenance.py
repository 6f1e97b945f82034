"""Where numbers are from: each one of the document says it, and what is not measured is shown as such."""

from __future__ import annotations

import dataclasses
import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from rich.console import Console

from loopworth.comparisons.export import to_json
from loopworth.comparisons.provenance import ORDER, weakest
from loopworth.comparisons.result import Result
from loopworth.comparisons.table import render
from loopworth.comparisons.verdict import Rule
from loopworth.models import ModelSpec
from loopworth.models.spec import Price
from loopworth.runs.usage import Usage
from tests.comparisons.contenders import Asks, Endpoint, Says, arm, compared, comparison, reply, tasks
from tests.comparisons.test_stopping import always, early, often

PAID = Usage(10, 5, usd=0.001)
HERE, OURS = ModelSpec("vllm/here"), ModelSpec("vllm/ours", price=Price(1.0, 2.0))


def result(asked: ModelSpec = HERE, usage: Usage = PAID, **changes: Any) -> Result:
    """A pipeline without a model, and one that asks this one."""
    arms = [arm("plain", Says(lambda q: q if int(q) % 3 else "no")), arm("asks", Asks(asked.key), asked)]
    given = comparison(arms, 12, **{"tasks": tasks(12, k=[1, 2, 3] * 4), **changes})
    return compared(given, {asked.name: Endpoint(lambda q, n: reply(q, usage))})


def unsaid(node: Any, path: str = "", said: bool = False) -> Iterator[str]:
    """The paths of numbers of which nothing says where they are from."""
    if isinstance(node, dict):
        where = node.get("provenance", {})
        where = where.get("numbers", {}) if "versions" in where else where
        assert set(where.values()) <= set(ORDER), where
        for key, value in node.items():
            if key != "numbers":
                yield from unsaid(value, f"{path}/{key}", said or key in where)
    elif isinstance(node, list):
        for place, value in enumerate(node):
            yield from unsaid(value, f"{path}/{place}", said)
    elif isinstance(node, int | float) and not isinstance(node, bool) and not said:
        yield path


RESULTS = {
    "a curve with an accepted level": lambda: result(group_by="k", accept=0.9),
    "repeats": lambda: result(repeats=2),
    "prices": lambda: result(OURS, rule=Rule(correct_is_worth_usd=0.5, wrong_costs_usd=0.1)),
    "caps": lambda: result(rule=Rule(max_cost_ratio=2.0, max_p95=1.0)),
    "a cut call": lambda: result(usage=Usage(10, 5, usd=0.001, estimated=True)),
    "a shut gate": lambda: compared(early(always, often)),
    "stopped early": lambda: compared(early(often, always, 200)),
    "no task": lambda: result(tasks=()),
    "replayed": lambda: dataclasses.replace(result(), replayed=True, id="1"),
}


@pytest.mark.parametrize("case", RESULTS)
def test_every_number_says_where_it_is_from(case: str) -> None:
    """Each block has a map of its own: the document is walked, and no number is found that no map covers."""
    assert not list(unsaid(json.loads(to_json(RESULTS[case]()))))


def origin(found: Result) -> dict[str, str]:
    document = json.loads(to_json(found))
    return dict(next(one["provenance"] for one in document["arms"] if one["arm"] == "asks"))


def test_prices_of_the_author_are_assumed_and_list_prices_estimated() -> None:
    """Tokens and times are measured all the same; what is not billed is no guess."""
    ours, listed = origin(result(OURS)), origin(result(ModelSpec("openai/gpt-4o")))
    assert (ours["usd"], ours["tokens"], ours["latency"], ours["planned"]) == (
        "assumed", "measured", "measured", "assumed",
    )  # fmt: skip
    assert listed["usd"] == "estimated"
    assert json.loads(to_json(result()))["arms"][0]["provenance"]["usd"] == "measured"


def test_a_replay_is_recorded_and_a_cut_call_estimated() -> None:
    """In the arm, in its trials and in the verdict on it."""
    again = json.loads(to_json(dataclasses.replace(result(), replayed=True, id="1")))
    assert {one["provenance"]["accuracy"] for one in again["arms"]} == {"recorded"}
    assert again["provenance"]["numbers"]["seconds"] == "recorded"
    assert again["verdict"]["arms"][0]["provenance"]["n"] == "recorded"
    assert again["trials"][0]["provenance"]["latency"] == "recorded"
    cut = json.loads(to_json(result(usage=Usage(10, 5, usd=0.001, estimated=True))))
    assert [one["provenance"]["tokens"] for one in cut["arms"]] == ["measured", "estimated"]
    assert {t["usage"]["provenance"]["input"] for t in cut["trials"] if t["arm"] == "asks"} == {"estimated"}


def test_a_verdict_rests_on_the_weaker_of_the_two_arms() -> None:
    """Its pairs are measured, its rule assumed; where gains must pay for costs, the switch points are as costs are."""
    plain = json.loads(to_json(result(OURS)))["verdict"]["arms"][0]["provenance"]
    assert (plain["b"], plain["interval"], plain["error"], plain["min_gain"]) == (
        "measured", "measured", "assumed", "assumed",
    )  # fmt: skip
    assert plain["earns_below"] == "measured"
    paid = json.loads(to_json(result(OURS, rule=Rule(correct_is_worth_usd=0.5))))["verdict"]["arms"][0]["provenance"]
    assert (paid["earns_below"], paid["break_even"]) == ("assumed", "assumed")


def test_the_weakest_source_counts() -> None:
    """Measured, recorded, estimated, assumed: in this order, and nothing at all is no guess."""
    assert weakest("measured", "assumed", "recorded") == "assumed"
    assert weakest() == "measured"


def shown(found: Result) -> str:
    console = Console(width=140, record=True, file=io.StringIO())
    console.print(render(found))
    return console.export_text()


def test_the_table_shows_what_is_not_measured() -> None:
    """A row for it where there is any; none where all is measured."""
    free = compared(comparison([arm("a", Says(str)), arm("b", Says(str))], 3))
    assert "figures are" not in shown(free)
    assert "cost assumed" in shown(result(OURS))
    assert "recorded" in shown(dataclasses.replace(free, replayed=True, id="1"))
