"""What every form of a report says: the terminal, the JSON, Markdown, HTML."""

from __future__ import annotations

import csv
import json
import pathlib
import re
from typing import Any

import pytest

from loopworth.comparisons.environment import environment
from loopworth.comparisons.pages.html import html
from loopworth.comparisons.pages.markdown import markdown
from loopworth.comparisons.pages.tables import arms, settings, tables
from tests.cli.kit import command
from tests.comparisons.reported import Page

WORKFLOW = """\
workflow: {name}
shape: pipeline
input: {{n: int}}
steps:
  - {{id: said, set: "{text}"}}
answer: "{{{{ said }}}}"
"""
ASKING = """\
workflow: second
shape: pipeline
input: {n: int}
model:
  name: scripted
  replies: {said: &reply {text: a, usage: {prompt_tokens: 30, completion_tokens: 2}}, more: *reply}
steps:
  - {id: said, ask: "{{ n }}"}
  - {id: more, if: n % 2 == 0, ask: "{{ n }}"}
answer: "{{ n }}"
"""
COMPARISON = """\
comparison: forms
tasks: tasks.jsonl
score: equals
repeats: 2
decide: {harm: answer == "boom", max_harm: 0.1}
arms:
  first: {workflow: first.yaml}
  second: {workflow: second.yaml}
"""


@pytest.fixture
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """A comparison whose second arm does harm on one task in three."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LOOPWORTH_STORE", str(tmp_path / "runs.db"))
    texts = {"first": "{{ n }}", "second": "{{ 'boom' if n % 3 == 0 else n }}"}
    for name, text in texts.items():
        (tmp_path / f"{name}.yaml").write_text(WORKFLOW.format(name=name, text=text), "utf-8")
    rows = [{"id": f"t{n}", "n": n, "expected": str(n)} for n in range(9)]
    (tmp_path / "tasks.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    (tmp_path / "comparison.yaml").write_text(COMPARISON, "utf-8")
    return tmp_path


def shown() -> tuple[str, dict[str, Any]]:
    """The comparison that was run last, on the terminal and as JSON."""
    terminal, written = command("report"), command("report", "--json")
    assert (terminal.exit_code, written.exit_code) == (0, 0), terminal.output + written.output
    return terminal.stdout, json.loads(written.stdout)


def test_harm_is_told_in_every_form(folder: pathlib.Path) -> None:
    """How many runs did harm, of how many; and which ones."""
    assert command("compare", str(folder / "comparison.yaml")).exit_code == 0
    terminal, found = shown()
    assert [arm["harm"] for arm in found["arms"]] == [{"harmful": 0, "runs": 18}, {"harmful": 6, "runs": 18}]
    assert found["arms"][1]["provenance"]["harm"] == "recorded"
    page = Page(html(found))
    for text in (terminal, markdown(found), page.text):
        assert "did harm" in text
        assert "6/18 33 %" in text
    assert command("report", "--csv", str(folder / "trials.csv")).exit_code == 0
    with (folder / "trials.csv").open(encoding="utf-8", newline="") as file:
        assert sum(row["harmful"] == "True" for row in csv.DictReader(file)) == 6
    told = [text for tag, text in page.texts if tag == "small"]
    assert sum("did harm" in text for text in told) == sum(bool(trial["harmful"]) for trial in found["trials"]) == 6


def test_a_page_tells_of_an_arm_what_the_terminal_does(folder: pathlib.Path) -> None:
    """Every row of its table; how runs ended stands in a table of its own, and where all figures are from in words."""
    command("compare", str(folder / "comparison.yaml"))
    terminal, found = shown()
    lines = terminal[terminal.index("shape") : terminal.index("calls, tokens and cost are means")].splitlines()
    names = [re.split(r"\s{2,}", line.strip())[0] for line in lines if re.match(r"\s?\S", line)]
    table = arms(found)
    assert [name for name in names if name not in ("ended", "figures are")] == list(table.head[1:])
    assert "All figures are recorded." in " ".join(table.words)
    for row in table.rows:
        assert all(cell.replace(", ", "\n").split("\n")[0] in terminal for cell in row[1:])
    assert "ends" in [one.name for one in tables(found)]


def test_how_sure_the_means_are_is_told_in_every_form(folder: pathlib.Path) -> None:
    """The same limits on the terminal, in the JSON, in Markdown and in HTML."""
    rows = [{"id": f"t{n}", "n": n, "expected": str(n)} for n in range(60)]
    (folder / "tasks.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    (folder / "second.yaml").write_text(ASKING, "utf-8")
    command("compare", str(folder / "comparison.yaml"))
    terminal, found = shown()
    [_, second] = found["arms"]
    ends = [second["model_calls_interval"], second["tokens"]["interval"]]
    assert [[round(end, 2) for end in both] for both in ends] == [[1.38, 1.64], [44.01, 52.35]]
    assert second["usd"]["interval"] == [0, 0]
    assert second["latency"]["p95_upper"] > second["latency"]["p50"]
    for text in (terminal, markdown(found), Page(html(found)).text):
        line = " ".join(text[text.lower().index("how sure the figures are") :].split())
        assert all(cell in line for cell in ("1.38-1.64", "44-52", "p95 is under"))


def test_a_setting_that_is_not_given_is_no_setting() -> None:
    """Neither what is null nor what is empty; 0 is one."""
    assert settings({"key": "a/b", "name": "a/b", "seed": None, "extra": {}, "temperature": 0}) == "temperature 0"


def test_a_report_names_what_the_comparison_was_run_on(folder: pathlib.Path) -> None:
    """Not what it is told again on; of runs that kept nothing of that it says so."""
    command("compare", str(folder / "comparison.yaml"))
    command("runs", "export", "-o", "runs.jsonl")
    file = folder / "runs.jsonl"
    for python, kept in (("2.7.18", True), (environment()["python"], False)):
        lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        for line in lines:
            if line["run"]["kind"] == "comparison":
                line["run"]["input"]["environment"] = {**environment(), "python": python} if kept else None
        file.write_text("\n".join(map(json.dumps, lines)), "utf-8")
        found = json.loads(command("report", str(file), "--json").stdout)
        assert found["provenance"]["python"] == python
        assert found["provenance"]["environment"] == ("run" if kept else "told again")
        assert ("what it was run on is not kept" in Page(html(found)).text) is not kept


def test_what_stopping_early_saved_is_told_in_every_form(folder: pathlib.Path) -> None:
    """Runs that were not needed."""
    rows = [{"id": f"t{n}", "n": 3 * n, "expected": str(3 * n)} for n in range(200)]
    (folder / "tasks.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    file = folder / "comparison.yaml"
    file.write_text(COMPARISON.replace("repeats: 2", "stop_early: true"), "utf-8")
    assert command("compare", str(file)).exit_code == 0
    terminal, found = shown()
    [words] = re.findall(r"saved: (second: \d+ of 200 runs were not needed)", " ".join(terminal.split()))
    assert f"Saved: {words}" in markdown(found)
    assert f"Saved: {words}" in Page(html(found)).text


@pytest.mark.parametrize(("arms", "on_top"), [(2, True), (6, False)])
def test_many_challengers_leave_the_verdict_on_top(folder: pathlib.Path, arms: int, on_top: bool) -> None:
    """Their sentences stand under it, or where there are more than a screen's, with their differences; once each."""
    names = [f"arm_{k}" for k in range(arms)]
    file = folder / "comparison.yaml"
    head = COMPARISON.partition("decide:")[0]
    lines = [f"  {name}: {{workflow: {'second' if k else 'first'}.yaml}}\n" for k, name in enumerate(names)]
    file.write_text(f"{head}arms:\n{''.join(lines)}", "utf-8")
    command("compare", str(file))
    text = Page(html(shown()[1])).text
    for name in names[1:]:
        at = text.index(f"both ran, {name} ")
        assert (at < text.index("The arms")) is on_top
        assert text.count(f"both ran, {name} ") == 1


def test_how_many_runs_of_a_control_voted_is_told_in_every_form(folder: pathlib.Path) -> None:
    """A majority of nine runs is no single run, whatever is said of it beside that."""
    assert command("compare", str(folder / "comparison.yaml")).exit_code == 0
    _, found = shown()
    arm = found["arms"][0]
    control = {
        "control": "retry",
        "kind": "retry",
        "of": "second",
        "votes": 9,
        "words": "",
        "figures": arm,
        "agent": arm,
    }
    told = found | {"controls": [control, control | {"control": "pasted", "votes": 1, "words": "as good"}]}
    for text in (markdown(told), Page(html(told)).text):
        assert "retry of second: majority of 9 runs" in text
        assert "pasted of second: as good" in text


def test_a_disagreement_says_which_run_of_its_task_it_is(folder: pathlib.Path) -> None:
    """As the table of tasks does, where each is run several times."""
    assert command("compare", str(folder / "comparison.yaml")).exit_code == 0
    _, found = shown()
    page = Page(html(found))
    for task in ("t0 (1)", "t0 (2)", "t3 (1)"):
        assert f"| {task} | second | boom | first | " in markdown(found)
        assert page.text.splitlines().count(task) == 2
