"""A model's key that is not set, on the command line: status 2, where and what to set, and nothing was run."""

from __future__ import annotations

import json
import pathlib

import pytest

from loopworth.comparisons.comparison import load
from tests.cli.kit import command
from tests.workflows.test_keys import ASKS as ASKING
from tests.workflows.test_keys import COMPARISON, COUNTING, KEY, LACKS, PLAIN

WORDS = [
    ["run", "asks.yaml", "-i", "q=a"],
    ["run", "asks.yaml", "--durable", "-i", "q=a"],
    ["compare", "comparison.yaml"],
    ["compare", "comparison.yaml", "--no-store"],
    ["plan", "comparison.yaml", "--pilot", "1"],
]


@pytest.fixture
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    texts = {"asks.yaml": ASKING, "plain.yaml": PLAIN, "comparison.yaml": COMPARISON, "counting.py": COUNTING}
    for name, text in texts.items():
        (tmp_path / name).write_text(text.lstrip("\n"), "utf-8")
    (tmp_path / "tasks.jsonl").write_text(json.dumps({"id": "1", "q": "a", "expected": "a"}), "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_what_would_ask_a_model_without_its_key_is_refused(folder: pathlib.Path, words: list[str]) -> None:
    """With the place, and nothing called, paid or kept."""
    done = command(*words)
    assert (done.exit_code, done.stderr) == (2, f"asks.yaml:4:65  {LACKS}\n    set {KEY}\n")
    assert done.stdout == ""
    assert not (folder / "called.txt").exists()
    assert "no such runs are kept" in command("runs").stdout or "nothing is kept yet" in command("runs").stdout


@pytest.mark.parametrize("more", [[], ["--durable"]])
def test_a_key_that_a_model_of_the_command_line_lacks_is_told_of_the_option(
    folder: pathlib.Path, more: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file names another model, and is not to blame."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    done = command("run", "asks.yaml", "--model", "openai/x", "-i", "q=a", *more)
    said = "--model openai/x: openai/x needs a key: set the environment variable OPENAI_API_KEY\n"
    assert (done.exit_code, done.stderr) == (2, said)
    assert not (folder / "called.txt").exists()


def test_what_asks_no_model_needs_no_key(folder: pathlib.Path) -> None:
    """Checking, planning, drawing."""
    for words in (["check", "comparison.yaml"], ["plan", "comparison.yaml"], ["draw", "asks.yaml"]):
        assert command(*words).exit_code == 0


def test_a_fleet_is_sent_from_where_no_arm_is_asked(folder: pathlib.Path) -> None:
    """But the judge, and the arms that a named control runs, are asked there: their keys are needed before all."""
    file = folder / "comparison.yaml"
    plain = load(file)
    assert plain.of_workers == set(plain.models) != set()
    file.write_text(file.read_text("utf-8") + "  pasted: {control: retry, of: asks}\n", "utf-8")
    assert load(file).of_workers == frozenset()
    text = COMPARISON.replace("score: equals", "score: {judge: {model: anthropic/y}}")
    file.write_text(text.lstrip("\n"), "utf-8")
    judged = load(file)
    assert judged.panel is not None
    assert judged.of_workers == set(judged.models) - {judged.panel.model.key} == set(plain.models)
