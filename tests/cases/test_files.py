"""The handed cases of kind files: what a run under an odd model name leaves on disk, its report too."""

import pathlib
import re

import pytest
from ruamel.yaml import YAML

from loopworth.runs.shelf import Shelf
from tests.cli.kit import command
from tests.comparisons.reported import Page
from tests.endpoint import FakeEndpoint, said

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("files.yaml"))["cases"]
WORKFLOW = """\
workflow: hello
shape: pipeline
input: {{}}
model: {{name: "openrouter/{name}", base_url: "{url}"}}
steps:
  - {{id: said, ask: Hello}}
answer: "{{{{ said }}}}"
"""
SAFE = re.compile(r"(?!(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$))[a-z0-9_.-]*[a-z0-9_-]", re.IGNORECASE)
"""A name of a file that Linux and Windows take as it is."""


def safe_and_apart(name: str, folder: pathlib.Path, store: pathlib.Path) -> None:
    """Transcripts lie in the run store, each under its run's own id: no file is ever named after a model."""
    names = [name, name.replace("/", "_").replace(":", "_")]
    with FakeEndpoint(*(said(f"from {each}") for each in names)) as fake:
        for number, each in enumerate(names):
            file = folder / f"{number}.yaml"
            file.write_text(WORKFLOW.format(name=each, url=fake.base_url), "utf-8")
            assert command("run", file).exit_code == 0
    assert command("runs", "export", "--output", folder / "all.jsonl").exit_code == 0
    reported(names, folder)
    made = [path.name for top in (store.parent, folder) for path in top.rglob("*")]
    assert [each for each in made if not SAFE.fullmatch(each)] == []
    shelf = Shelf(store)
    kept = {run.id: shelf.outcome(run.id) for run in shelf.runs()}
    assert len(kept) == 2
    assert {outcome.answer for outcome in kept.values()} == {f"from {each}" for each in names}
    models = {outcome.events[0].model.partition("@")[0] for outcome in kept.values()}
    assert models == {f"openrouter/{each}" for each in names}


def reported(names: list[str], folder: pathlib.Path) -> None:
    """The page is named by who asks for it, and its charts after what they show; both models stand in it by name."""
    (folder / "tasks.jsonl").write_text('{"id": "t", "expected": "x"}\n', "utf-8")
    arms = "{one: {workflow: 0.yaml}, two: {workflow: 1.yaml}}"
    file = folder / "comparison.yaml"
    file.write_text(f"{{comparison: c, tasks: tasks.jsonl, score: {{icontains: {{}}}}, arms: {arms}}}", "utf-8")
    with FakeEndpoint(last=said("x")) as fake:
        for number, each in enumerate(names):
            (folder / f"{number}.yaml").write_text(WORKFLOW.format(name=each, url=fake.base_url), "utf-8")
        page = folder / "report.html"
        assert command("compare", file, "--html", page, "--store", folder / "other.db").exit_code == 0
    assert command("report", "--svg", folder / "charts", "--store", folder / "other.db").exit_code == 0
    text = Page((folder / "report.html").read_text("utf-8")).text
    assert all(f"openrouter/{each}@" in text for each in names)


EXPECTED = {
    "Report and transcript get a safe file name on Linux and Windows; two different models never share one "
    "file.": safe_and_apart,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_files(case, tmp_path, own_store, monkeypatch):
    """What may be written where, and every line of what must come of it."""
    monkeypatch.setenv("OPENROUTER_API_KEY", "k")
    for line in case["expect"]:
        EXPECTED[line](case["given"]["model_name"], tmp_path, own_store)
