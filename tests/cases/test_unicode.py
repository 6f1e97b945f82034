"""The handed cases of kind unicode: text that no encoding can write."""

import json
import pathlib
import subprocess
import sys

import pytest
from ruamel.yaml import YAML

from loopworth.runs.recording import read
from tests.cases.answering import says
from tests.cli.kit import ROOT, command
from tests.comparisons.reported import Page
from tests.endpoint import FakeEndpoint, said

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("unicode.yaml"))["cases"]


SHOWN = "\ufffd degrees"
FILES = {
    "says.yaml": """\
workflow: says
shape: pipeline
input: {}
tools: {gauge: {python: "gauge:read", description: "Read it.", effect: read}}
steps:
  - {id: said, call: gauge}
answer: "{{ said }}"
""",
    "comparison.yaml": "{comparison: c, tasks: t.jsonl, score: {contains: {}}, arms: {says: {workflow: says.yaml}}}",
    "t.jsonl": '{"id": "t1", "expected": "degrees"}\n',
}


def replaced(given, folder, store):
    """By a process of its own, as a shell sees it."""
    with FakeEndpoint(last=said(json.loads(given["model_text_json"]))) as fake:
        words = [sys.executable, "-m", "loopworth", "run", says(folder, fake.base_url)]
        done = subprocess.run(words, cwd=ROOT, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    assert "answer   answer \ufffd end\n" in done.stdout.decode("utf-8")


def opens(given, folder, store):
    """A comparison over a tool that says it has its report (a page, too), its JSON and its list of runs; and a file of
    runs in which the half stands is read, shown and replayed."""
    text = json.loads(given["transcript_line"])["text"]
    for name, lines in FILES.items():
        (folder / name).write_text(lines, "utf-8")
    (folder / "gauge.py").write_text(f"def read() -> str:\n    return {text!a}\n", "utf-8")
    table, exported = (command("compare", folder / "comparison.yaml", *more) for more in ((), ("--json",)))
    assert (table.exit_code, exported.exit_code) == (0, 0), table.stderr + exported.stderr
    (trial,) = json.loads(exported.stdout)["trials"]
    assert (trial["right"], trial["answer"]) == (True, SHOWN)
    page = folder / "report.html"
    assert command("report", "--html", page).exit_code == 0
    assert SHOWN in Page(page.read_text("utf-8")).text
    (folder / "found.json").write_text(exported.stdout.replace(json.dumps(SHOWN), json.dumps(text)), "utf-8")
    assert command("report", folder / "found.json", "--html", page).exit_code == 0
    assert SHOWN in Page(page.read_text("utf-8")).text
    shown = command("runs", "show", "last")
    assert (shown.exit_code, "says" in shown.stdout) == (0, True), shown.output
    assert command("run", folder / "says.yaml").exit_code == 0
    assert command("runs", "export", "last", "--output", folder / "all.jsonl").exit_code == 0
    halved = (folder / "all.jsonl").read_text("utf-8").replace(SHOWN, json.dumps(text)[1:-1])
    (folder / "all.jsonl").write_text(halved, "utf-8")
    assert [one.outcome.answer for one in read(folder / "all.jsonl").found] == [text]
    replayed = command("run", folder / "says.yaml", "--replay", folder / "all.jsonl", "--transcript")
    assert (replayed.exit_code, f"answer   {SHOWN}\n" in replayed.stdout) == (0, True), replayed.output


EXPECTED = {
    "The answer is printed with a replacement sign; exit status 0.": replaced,
    "The report is built and opens; the rest of the text is unchanged.": opens,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_unicode(case, tmp_path, own_store):
    """What a model may say that is half a character, and every line of what must come of it."""
    for line in case["expect"]:
        EXPECTED[line](case["given"], tmp_path, own_store)
