"""The handed cases of kind cost: played over HTTP, and read in what a person, a program and the store are told."""

from __future__ import annotations

import asyncio
import json
import pathlib
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pytest
from ruamel.yaml import YAML

from loopworth import front
from loopworth.models import open_model
from loopworth.runs.store import Store
from loopworth.workflows.compile import compile
from tests.cli.kit import command
from tests.comparisons.reported import Page
from tests.endpoint import FakeEndpoint, said

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("cost.yaml"))["cases"]
MILLION = 1_000_000
USAGE = {"prompt_tokens": 1000, "completion_tokens": 1000}
ASK = """\
workflow: ask
shape: pipeline
model: {model}
steps: [{{id: a, ask: "hi"}}]
answer: "{{{{ a }}}}"
"""


class Asked(NamedTuple):
    """A workflow of one question, and the endpoint that answers it."""

    folder: pathlib.Path
    fake: FakeEndpoint
    given: dict[str, Any]

    @property
    def file(self) -> pathlib.Path:
        return self.folder / "ask.yaml"

    def told(self, *words: str) -> dict[str, Any]:
        done = command(*words, "--json")
        assert done.exit_code == 0, done.output
        return dict(json.loads(done.stdout))

    def run(self, *words: str) -> dict[str, Any]:
        return self.told("run", str(self.file), *words)


def asked(folder: pathlib.Path, fake: FakeEndpoint, given: dict[str, Any]) -> Asked:
    """The case's price, be it one or a list with days, as it stands in a file."""
    prices = given.get("prices", given.get("price_per_million", {} if "price_file" in given else None))
    name = "m1" if "price_file" in given else "vllm/m"
    model = {"name": name, "base_url": fake.base_url, **({} if prices is None else {"price": prices})}
    (folder / "ask.yaml").write_text(ASK.format(model=json.dumps(model)), "utf-8")
    return Asked(folder, fake, given)


def unknown(case: Asked) -> None:
    """To a person, a program, in the list of runs and in a sum."""
    assert [case.run()["usage"]["usd"] for _ in range(2)] == [None, None]
    assert "unknown" in dict(line.split(maxsplit=1) for line in command("run", case.file).stdout.splitlines())["cost"]
    assert "unknown" in command("runs").stdout.splitlines()[1]


def unknown_to_a_budget(case: Asked) -> None:
    unknown(case)
    case.file.write_text(case.file.read_text("utf-8") + "budget: {usd: 1}\n", "utf-8")
    done = command("check", case.file)
    assert done.exit_code == 2, done.output
    assert "the price of m1 is unknown" in done.output


def reasoning_once(case: Asked) -> None:
    found = case.run()
    assert found["usage"]["usd"] == pytest.approx(0.005)
    assert [event["usage"]["usd"] for event in found["events"] if event["type"] == "ModelCalled"] == [0.005]
    assert found["usage"]["reasoning"] == 400


def on_their_days(case: Asked) -> None:
    """The clock of each run is its day; afterwards only what was kept is read."""
    ids = [f"run{k}" for k in range(len(case.given["runs"]))]
    for id, day in zip(ids, case.given["runs"], strict=True):
        run_on(case, id, datetime.fromisoformat(day).replace(hour=12, tzinfo=UTC).timestamp())
    assert costs(case, ids) == [12.0, 9.0]
    assert case.run("--replay", ids[0])["usage"]["usd"] == 12.0
    assert costs(case, ids) == [12.0, 9.0]
    old_report_stays(case)


def old_report_stays(case: Asked) -> None:
    """A comparison is run while the first price holds; the price that comes later changes nothing in its report."""
    (case.folder / "tasks.jsonl").write_text('{"id": "t", "expected": "x"}\n', "utf-8")
    file = case.folder / "comparison.yaml"
    file.write_text("{comparison: c, tasks: tasks.jsonl, score: equals, arms: {a: {workflow: ask.yaml}}}", "utf-8")
    asked(case.folder, case.fake, {"prices": case.given["prices"][:1]})
    old = case.told("compare", str(file))
    assert spent(old) == 12.0
    id = case.told("report")["replayed"]
    asked(case.folder, case.fake, case.given)
    assert spent(case.told("compare", str(file))) == 9.0
    again = case.told("report", id)
    assert (again["recorded_usd"], spent(again)) == (12.0, 12.0)
    assert command("report", id, "--html", case.folder / "old.html").exit_code == 0
    text = Page((case.folder / "old.html").read_text("utf-8")).text
    assert "$12" in text
    assert "$9" not in text


def spent(found: dict[str, Any]) -> float:
    return float(found["arms"][0]["usd"]["total"])


def run_on(case: Asked, id: str, now: float) -> None:
    compiled = compile(case.file)
    models = {key: open_model(spec, now=lambda: now) for key, spec in compiled.models.items()}
    store = Store()

    async def main() -> None:
        await front.run(compiled, {}, models=models, store=store, id=id)
        for model in models.values():
            await model.close()

    asyncio.run(main())
    store.close()


def costs(case: Asked, ids: list[str]) -> list[float]:
    return [case.told("runs", "show", id)["usage"]["usd"] for id in ids]


def nothing_new(case: Asked) -> None:
    """Every answer of the second run is a kept one."""
    first = case.run()
    asked = len(case.fake.requests)
    again = case.run("--replay", first["id"])
    assert (again["spent_usd"], again["replayed"]) == (0.0, True)
    assert again["usage"] == first["usage"]
    assert "nothing now: replayed; as recorded" in command("run", case.file, "--replay", first["id"]).stdout
    assert len(case.fake.requests) == asked


EXPECTED: dict[str, Callable[[Asked], None]] = {
    "Cost unknown; never 0.": unknown,
    "m1 has an unknown price; not 0.": unknown_to_a_budget,
    "0.005: reasoning is part of the 500 and not added.": reasoning_once,
    "The old run keeps 12.0, the new one has 9.0; building the old report again does not change it.": on_their_days,
    "New spend 0 and marked as cached.": nothing_new,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_cost(case: dict[str, Any], tmp_path: pathlib.Path) -> None:
    """A cost is settled when the call is made, counts every token once, and is unknown where a price is."""
    given = dict(case["given"])
    if given.get("run", "").startswith("all answers"):
        given["price_per_million"] = {"input": 1.0, "output": 2.0}
    usage = {"prompt_tokens": 0, "completion_tokens": MILLION} if "prices" in given else given.get("usage", USAGE)
    with FakeEndpoint(last=said("hello", usage=usage)) as fake:
        for line in case["expect"]:
            EXPECTED[line](asked(tmp_path, fake, given))
