"""The handed cases of kind report-html: hostile texts in the report, and on the page of an approval."""

import json
import pathlib
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.cli.kit import command
from tests.comparisons.reported import Page
from tests.endpoint import FakeEndpoint, said
from tests.web.kit import ANYBODY, Shop, browsing, settled

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("report-html.yaml"))["cases"]
TABLE = ("h1", "h2", "section", "table", "thead", "tbody", "tr", "th", "td", "bdi", "small")
FILTERS = ("workflow", "comparison", "arm", "task")
ARM = 'workflow: w\nshape: pipeline\ninput: {}\nmodel: MODEL\nsteps: [{id: said, ask: Hello}]\nanswer: "{{ said }}"\n'
COMPARISON = "{comparison: c, tasks: tasks.jsonl, score: equals, ARMS}"
ARMS = "arms: {one: {workflow: one.yaml}, two: {workflow: two.yaml}}"


def page(folder: pathlib.Path, model: dict[str, Any]) -> Page:
    """The report of a comparison of two arms of one model."""
    for name in ("one", "two"):
        (folder / f"{name}.yaml").write_text(ARM.replace("MODEL", json.dumps(model)), "utf-8")
    (folder / "tasks.jsonl").write_text('{"id": "t", "expected": "x"}\n', "utf-8")
    (folder / "comparison.yaml").write_text(COMPARISON.replace("ARMS", ARMS), "utf-8")
    done = command("compare", folder / "comparison.yaml", "--html", folder / "report.html")
    assert done.exit_code == 0, done.output
    return Page((folder / "report.html").read_text("utf-8"))


def in_its_cell(given: dict[str, Any], folder: pathlib.Path) -> None:
    found = page(folder, {"name": "scripted", "replies": {"said": given["answer"]}})
    plain = page(folder, {"name": "scripted", "replies": {"said": "plain"}})
    assert found.faults == []
    assert [tag for tag, _ in found.elements if tag in TABLE] == [tag for tag, _ in plain.elements if tag in TABLE]
    assert found.texts.count(("bdi", given["answer"])) == 2


def stays_text(given: dict[str, Any], folder: pathlib.Path) -> None:
    """As the name of an arm's model in the report and the charts in it, of which no attribute is made; and where a page
    of the server does make one of it."""
    with FakeEndpoint(last=said("x")) as fake:
        found = page(folder, {"name": f"vllm/{given['model_name']}", "base_url": fake.base_url})
    assert given["model_name"] in found.text
    with browsing(Shop(folder)) as (tab, _):
        searched = Page(tab.get("/runs", params=dict.fromkeys(FILTERS, given["model_name"])).text)
    values = [attributes["value"] for tag, attributes in searched.elements if tag == "input" and "value" in attributes]
    assert values.count(given["model_name"]) == len(FILTERS)
    for one in (found, searched):
        assert one.faults == []
        assert not {name for _, attributes in one.elements for name in attributes if name.startswith("on")}


def what_is_shown_runs(given: dict[str, Any], folder: pathlib.Path) -> None:
    """Markdown and HTML are shown as they were written, and the call is made with just that."""
    shop, text = Shop(folder), given["approval_text"]
    calls = json.dumps([{"tool": "refund", "arguments": {"who": text, "amount": 1}}])
    run = shop.waits(text, calls, f", ask: {json.dumps('Pay {{ args.who }}?')}", ANYBODY)
    with browsing(shop) as (tab, activations):
        shown = Page(tab.get(f"/approvals/{run}.1").text)
        assert shown.faults == []
        assert f"Pay {text}?" in shown.text
        assert json.dumps(text) in shown.text
        hrefs = [attributes["href"] for _, attributes in shown.elements if "href" in attributes]
        assert not [href for href in hrefs if "javascript" in href]
        assert not {"b", "strong"} & {tag for tag, _ in shown.elements}
        [one] = shop.questions(run)
        assert tab.decide(one, "approve").status_code == 303
        settled(activations)
    assert shop.paid == [f"{text} 1"]


EXPECTED = {
    "Shown inside its cell; the table stays whole.": in_its_cell,
    "In a tooltip or attribute it stays text.": stays_text,
    "On the approvals page no script link works; what is shown is what will run.": what_is_shown_runs,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_report_html(case: dict[str, Any], tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a page is given, and every line of what must come of it."""
    monkeypatch.setenv("VLLM_API_KEY", "k")
    for line in case["expect"]:
        EXPECTED[line](case["given"], tmp_path)
