"""The HTML report: what stands in it, in which order, and that nothing in it is more than text."""

from __future__ import annotations

import copy
import json
import pathlib
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.comparisons.pages import html as pages
from loopworth.comparisons.pages.charts import charts, inline
from loopworth.comparisons.pages.disagreements import disagreements, final, sides, tasks
from loopworth.comparisons.pages.html import html
from loopworth.comparisons.pages.tables import tables
from loopworth.runs.characters import safe
from tests.comparisons.reported import SPELLED, Page, hostile

SECTIONS = ("arms", "differences", "pareto", "levels", "ends", "steps", "latency", "contrasts", "tasks")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return hostile(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="module")
def page(found: dict[str, Any]) -> Page:
    return Page(html(found, drawings={name: inline(chart, name) for name, chart in charts(found).items()}))


def test_the_verdict_and_its_sentence_stand_first(page: Page, found: dict[str, Any]) -> None:
    """Who opens it reads what came out before anything else."""
    body = [text for tag, text in page.texts if tag not in ("title", "style")]
    who = safe(found["verdict"]["arms"][0]["against"])
    assert body[:5] == ["hostile", "Verdict:", f"{who} better", "—", found["verdict"]["words"]]
    assert body[5].startswith("The place is that of the arm to choose: the first arm holds it")
    assert body[6].startswith("On 8 tasks that both ran, two alone was right on 0 and one alone on 4")
    assert body[7] == safe(found["words"])
    assert page.text.count(body[6]) == 1


def test_of_many_challengers_the_one_that_earned_the_place_is_on_top(found: dict[str, Any]) -> None:
    """By how much, on how many tasks; the sentences of all stand with their differences."""
    [pair] = found["differences"]
    six = [pair | {"arm": f"a{k}", "words": f"a{k} did it."} for k in range(6)]
    many = found | {"differences": six, "verdict": found["verdict"] | {"holder": "a3"}}
    text = Page(html(many)).text
    assert [text.count(one["words"]) for one in six] == [1, 1, 1, 2, 1, 1]
    assert text.index("a3 did it.") < text.index("The arms") < text.index("a0 did it.")
    none = Page(html(many | {"verdict": found["verdict"]})).text
    assert none.index("The arms") < none.index("a3 did it.")


def test_whether_an_answer_is_right_is_copied_with_it(found: dict[str, Any], page: Page) -> None:
    """The sign is a text of the page, and no ornament of its style."""
    signs = [text for tag, text in page.texts if tag == "b" and text in ("✓", "✗", "\u2013")]
    assert (signs.count("✓"), signs.count("✗"), len(signs)) == (12, 4, len(final(found)))
    assert "content:" not in pages.STYLE


def test_a_run_is_told_with_what_it_took_and_why_it_ended(found: dict[str, Any]) -> None:
    """Each run's own cost, where it cost anything; that it ended well is not told of an answer that is wrong."""
    told = copy.deepcopy(found)
    first, second = next(disagreements(told, final(told))).runs
    first.update(latency=2.0, usage=first["usage"] | {"usd": 0.00125})
    second.update(latency=3.0, exit="turn_limit", harmful=True)
    text = Page(html(told)).text
    assert "1+0 calls, 2 s, $0.00125\n" in text
    assert "turn_limit, 1+0 calls, 3 s, did harm\n" in text
    heads = [line for line in text.splitlines() if line.startswith(safe(first["arm"]) + ": ")]
    assert {head.removeprefix(safe(first["arm"])) for head in heads} >= {": wrong"}
    assert safe(second["arm"]) + ": right, turn_limit" in text


def test_a_task_is_told_by_what_it_asks_and_by_why_each_arm_failed(found: dict[str, Any]) -> None:
    """Also where all arms fail, which no disagreement shows. What a remark repeats of the cells is left out."""
    told = copy.deepcopy(found)
    mine, theirs = (trial for trial in told["trials"] if trial["task"].startswith("3 "))
    mine.update(right=False, exit="step_failed", note=f"step 'figures': {'no such table ' * 9}")
    theirs.update(right=False, exit="success", remark="2 of 5 facts are there")
    first = told["trials"][0]
    first.update(right=False, remark="expected this, got that")
    text = Page(html(told)).text
    assert f"question: 3? {SPELLED}"[:40] in text
    assert re.search(r"step_failed: step 'figures': [a-z ]+…, 1\+0 calls", text)
    assert "2 of 5 facts are there, 1+0 calls" in text
    assert "expected this" not in text[: text.index("Disagreements\nRuns")]
    assert "no such table" not in Page(html(found | {"inputs": {}})).text


def test_tasks_and_disagreements_stand_in_the_order_of_their_numbers(found: dict[str, Any]) -> None:
    """Whichever ended first, and 2 before 10."""
    names = ["1", "2", "10", "a", "a-9", "a-09", "a-10", "b"]
    ids = [f"{k}" for k in range(8)]
    named = copy.deepcopy(found)
    for trial in named["trials"]:
        trial["task"] = names[ids.index(trial["task"].partition(" ")[0])]
    named["trials"].sort(key=lambda trial: trial["latency"])
    assert tasks(final(named)) == ["1", "2", "10", "a", "a-09", "a-9", "a-10", "b"]
    assert [one.task for one in disagreements(named, final(named))] == ["2", "a", "a-09", "b"]


def test_what_there_is_none_of_has_no_heading(found: dict[str, Any]) -> None:
    """Arms that are programs name no model."""
    none = found | {"provenance": found["provenance"] | {"models": []}}
    said = "Models, and how they were asked"
    assert [said in Page(html(one)).text for one in (found, none)] == [True, False]


def test_all_sections_are_there_in_order(page: Page) -> None:
    """One a figure of the comparison, then the tasks, the disagreements, and where it is from."""
    ids = [attributes["id"] for tag, attributes in page.elements if tag == "section" and "id" in attributes]
    assert ids == [*SECTIONS, "disagreements", "origin"]
    assert sum(tag == "svg" for tag, _ in page.elements) == 6
    for words in ("95 % interval", "success", "SHA-256", "seed", "pydantic"):
        assert words in page.text


def test_every_text_is_shown_as_text(page: Page) -> None:
    """A script, a tag that closes a cell, an attribute, an escape of a terminal, a mark that turns the line: all of it
    stands there to be read, in every place that can hold it, and no element or attribute is made of it."""
    assert page.faults == []
    assert not {"script", "img", "iframe", "link", "form", "object"} & {tag for tag, _ in page.elements}
    names = {name for _, attributes in page.elements for name in attributes}
    assert not {name for name in names if name.startswith("on")} | ({"style"} & names)
    assert not {"\x1b", "\u202e"} & set(page.text)
    for tag in ("bdi", "pre"):
        assert any(SPELLED in text for kind, text in page.texts if kind == tag), tag
    assert any(SPELLED[:20] in text for kind, text in page.texts if kind == "text")


def test_it_asks_for_nothing(page: Page) -> None:
    """No address but its own anchors, and a policy that lets the browser load and run nothing."""
    hrefs = [attributes["href"] for _, attributes in page.elements if "href" in attributes]
    assert hrefs
    assert all(href.startswith("#") for href in hrefs)
    assert not any("src" in attributes for _, attributes in page.elements)
    [policy] = [a["content"] for tag, a in page.elements if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "url(" not in pages.STYLE
    assert "@import" not in pages.STYLE


def test_the_comparisons_file_is_named_as_the_others_are(page: Page, found: dict[str, Any]) -> None:
    """By its path from its own folder: where that is on somebody's disk is nobody else's."""
    assert pathlib.Path(found["file"]).is_absolute()
    assert str(pathlib.Path(found["file"]).parent) not in page.text
    assert ("dt", "file") in page.texts
    assert page.text.count("comparison.yaml") >= 2


def test_ids_are_not_used_twice(page: Page) -> None:
    """Charts bring ids of their own."""
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_disagreements_beyond_the_limit_are_named_in_their_row(found: dict[str, Any]) -> None:
    """The first N with both transcripts; for the others the table of tasks says which command shows them."""
    named = copy.deepcopy(found)
    for k, trial in enumerate(named["trials"]):
        trial["run"] = f"ab12.{k}"
    page = Page(html(named, transcripts=1))
    assert sum(tag == "summary" for tag, _ in page.elements) == 2  # one pair, and the comparison's file
    chosen, *others = list(disagreements(named, final(named)))
    rows = [text for tag, text in page.texts if tag == "code" and text.startswith("loopworth runs show")]
    assert sorted(rows) == sorted(f"loopworth runs show {run['run']}" for one in (chosen, *others) for run in one.runs)
    assert "3 more are named" in page.text


def test_two_transcripts_stand_side_by_side_from_where_they_part(found: dict[str, Any]) -> None:
    """What is alike before is counted, not shown again."""
    [first, *_] = disagreements(found, final(found))
    made = copy.deepcopy(first)
    for run, last in zip(made.runs, ("yes", "no"), strict=True):
        run["transcript"] = [{"at": "", "message": {"role": role, "content": role}} for role in ("system", "user")]
        run["transcript"].append({"at": "", "message": {"role": "assistant", "content": last}})
    both = sides(made)
    assert both.alike == 2
    assert [[line.text for line in side][:-1] for side in (both.left, both.right)] == [["yes"], ["no"]]
    assert [(side[-1].role, side[-1].text.splitlines()[0]) for side in (both.left, both.right)] == [
        ("answer", run["answer"].splitlines()[0]) for run in made.runs
    ]


def test_a_run_that_asked_no_model_is_told_by_its_calls(found: dict[str, Any]) -> None:
    """And one that has no answer by why it ended."""
    made = copy.deepcopy(next(disagreements(found, final(found))))
    made.runs[0]["transcript"] = []
    made.runs[0]["calls"] = [{"tool": "look", "arguments": {"k": 1}, "content": "found"}]
    made.runs[1].update(exit="step_failed", note="no such key", remark="no answer: step_failed")
    both = sides(made)
    assert (both.left[0].role, both.left[0].text) == ("look", '{"k": 1}\nfound')
    assert (both.right[-1].role, both.right[-1].text) == ("end", "step_failed: no such key\n(no answer: step_failed)")


def test_long_transcripts_are_cut_and_say_so(found: dict[str, Any]) -> None:
    """However long the runs are, and whatever they are escaped to, the page stays small."""
    long = copy.deepcopy(found)
    for trial in long["trials"]:
        trial["transcript"] = [{"at": "", "message": {"role": "assistant", "content": trial["arm"] + '"' * 500_000}}]
    made = html(long)
    assert len(made) < 300_000
    assert "more characters" in made


def test_half_a_surrogate_pair_is_a_sign_and_the_rest_stays(found: dict[str, Any]) -> None:
    """What no file can hold does not keep the page from being written."""
    odd = copy.deepcopy(found)
    odd["trials"][0]["answer"] = "\udcb2 degrees"
    assert "\ufffd degrees" in html(odd).encode().decode()


@given(st.text(st.characters(), max_size=40))
def test_no_text_changes_what_the_page_is_made_of(text: str) -> None:
    """The same elements whatever an answer says."""
    made = [Page(html(SMALL | {"trials": [TRIAL | {"answer": some}]})) for some in ("plain", text)]
    assert made[0].elements == made[1].elements
    assert made[1].faults == []


def test_of_many_levels_the_first_are_shown(found: dict[str, Any]) -> None:
    """In the table and in the chart; how many there are is said."""
    many = copy.deepcopy(found)
    many["levels"] = [one | {"level": f"l{k}"} for k in range(70) for one in found["levels"][:2]]
    [levels] = [table for table in tables(many) if table.name == "levels"]
    assert len(levels.rows) == 120
    assert levels.words[0] == "The first 60 of 70 levels; the JSON has all."
    drawn = json.dumps(charts(many)["levels"].to_dict())
    assert ("l59" in drawn, "l60" in drawn) == (True, False)


def test_what_is_accepted_is_what_the_file_says(found: dict[str, Any]) -> None:
    """The bound stands beside the level that is under it."""
    said = found | {"spec": {"decide": {"accept": 0.85}}, "accepted": {"one": "3", "two": None}}
    [levels] = [table for table in tables(said) if table.name == "levels"]
    assert [words.partition(" the")[0] for words in levels.words[-2:]] == ["accept 0.85:"] * 2


def test_a_comparison_without_a_verdict_says_why(found: dict[str, Any]) -> None:
    """A part of the plan, or a single arm, has none."""
    part = found | {"verdict": None, "differences": [], "stopped": "the limit in US dollars"}
    assert "there is no verdict on a part of the plan: the limit in US dollars." in Page(html(part)).text
    assert "a single arm is compared with nothing." in Page(html(part | {"stopped": ""})).text


TRIAL = {
    "arm": "a", "task": "t", "repeat": 0, "attempt": 0, "exit": "success", "right": True, "latency": 1.0, "answer": "",
    "expected": "x", "expected_route": None, "model_calls": 1, "tool_calls": 0, "transcript": None,
    "usage": {"usd": 0.0},
}  # fmt: skip
FIGURES = {
    "accuracy": {"right": 1, "runs": 1, "n": 1, "share": 1.0, "interval": [0.2, 1.0]},
    "model_calls": 1, "tool_calls": 0,
    "tokens": {"mean": 1.0, "total": 1, "known": 1, "unknown": 0},
    "usd": {"mean": 0.0, "total": 0.0, "known": 1, "unknown": 0},
}  # fmt: skip
SMALL: dict[str, Any] = {
    "comparison": "c", "file": "c.yaml", "spec": {}, "seed": 0, "repeats": 1, "interrupted": False, "stopped": "",
    "seconds": 1.0, "recorded_usd": 0.0, "replayed": None, "verdict": None, "differences": [], "warnings": [],
    "words": "c: 1 arm", "pareto": [], "ends": [], "steps": [], "contrasts": [], "any_differ": None, "controls": [],
    "recoveries": [], "trials": [], "answer_seen": [], "batching": [],
    "arms": [FIGURES | {"arm": "a", "shape": "pipeline", "models": [], "billed": False, "changed": [],
                        "selected": False, "protocols": [], "planned": 1, "made": 1, "answered": 1, "passes": [],
                        "exits": {"success": 1}, "apart": {}, "route": None,
                        "latency": {"p50": 1.0, "p95": 1.0, "note": ""}, "routes": []}],
    "provenance": {"began": "", "python": "3", "platform": "", "versions": {}, "files": {}, "models": []},
}  # fmt: skip


def test_the_page_is_the_same_from_the_json_that_compare_prints(found: dict[str, Any], tmp_path: pathlib.Path) -> None:
    """One source for the terminal's JSON and the page."""
    file = tmp_path / "found.json"
    file.write_text(json.dumps(found), "utf-8")
    assert html(json.loads(file.read_text("utf-8"))) == html(found)
