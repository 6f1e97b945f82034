"""A model whose key is not set is refused before anything is run or paid, as a tool whose secret is not set is."""

from __future__ import annotations

import asyncio
import json
import pathlib
from typing import Any

import pytest

import loopworth
from loopworth.models import Unavailable
from loopworth.workflows.faults import WorkflowFault

KEY = "LOOPWORTH_TEST_UNSET_KEY"
ASKS = f"""
workflow: asks
shape: pipeline
input: {{q: str}}
model: {{name: mine, base_url: "http://127.0.0.1:1/v1", api_key: {{env: {KEY}}}}}
tools: {{count: {{python: "counting:count", effect: read}}}}
steps:
  - {{call: count}}
  - {{id: said, ask: "{{{{ q }}}}"}}
answer: "{{{{ said }}}}"
"""
PLAIN = """
workflow: plain
shape: pipeline
input: {q: str}
tools: {count: {python: "counting:count", effect: read}}
steps: [{call: count}]
answer: "{{ q }}"
"""
COUNTING = '''
import pathlib


def count() -> str:
    """Leave a mark."""
    pathlib.Path(__file__).with_name("called.txt").write_text("called")
    return "counted"
'''
COMPARISON = """
comparison: keys
tasks: tasks.jsonl
score: equals
arms:
  plain: {workflow: plain.yaml}
  asks: {workflow: asks.yaml}
"""
LACKS = f"mine needs a key, and the environment variable {KEY} is not set"


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    texts = {"asks.yaml": ASKS, "plain.yaml": PLAIN, "comparison.yaml": COMPARISON, "counting.py": COUNTING}
    for name, text in texts.items():
        (tmp_path / name).write_text(text.lstrip("\n"), "utf-8")
    (tmp_path / "tasks.jsonl").write_text(json.dumps({"id": "1", "q": "a", "expected": "a"}), "utf-8")
    return tmp_path


def faults(caught: pytest.ExceptionInfo[WorkflowFault]) -> list[tuple[str, int, int, str, str]]:
    return [(pathlib.Path(f.file).name, f.line, f.column, f.what, f.instead) for f in caught.value.faults]


def test_a_run_is_refused_at_the_place_that_names_the_variable(folder: pathlib.Path) -> None:
    """A tool before the model is not called; nothing is kept. Checking and compiling need no key."""
    assert loopworth.check(folder / "asks.yaml") == []
    store = loopworth.Store(folder / "runs.db")
    with pytest.raises(WorkflowFault) as caught:
        loopworth.run_sync(loopworth.compile(folder / "asks.yaml"), {"q": "a"}, store=store)
    assert faults(caught) == [("asks.yaml", 4, 65, LACKS, f"set {KEY}")]
    assert not (folder / "called.txt").exists()
    assert store.shelf().runs() == []
    store.close()


@pytest.mark.parametrize(
    ("where", "line"),
    [("model: openai/x", 4), ("model: {name: openai/x}", 4), ("{id: said, ask: hi, model: openai/x}", 8)],
)
def test_the_place_is_where_the_model_is_named(
    folder: pathlib.Path, where: str, line: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A provider's own variable is looked for where the file names none; a model that only a step names, there."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    lines = ASKS.strip("\n").splitlines()
    lines[3], lines[7] = ("", f"  - {where}") if where.startswith("{") else (where, lines[7])
    text = "\n".join(lines).replace("{{ said }}", "done")
    (folder / "asks.yaml").write_text(text, "utf-8")
    with pytest.raises(WorkflowFault) as caught:
        loopworth.run_sync(folder / "asks.yaml", {"q": "a"})
    [(_, at, _, what, instead)] = faults(caught)
    assert (at, instead) == (line, "set OPENAI_API_KEY")
    assert what == "openai/x needs a key, and the environment variable OPENAI_API_KEY is not set"
    monkeypatch.setenv("OPENAI_API_KEY", "sk-made-up-for-a-test")
    with pytest.raises(WorkflowFault) as caught:
        loopworth.run_sync(folder / "asks.yaml", {"q": "a"}, models={"openai/x": "anthropic/y"})
    assert "anthropic/y needs a key" in str(caught.value)


def test_what_stands_in_for_a_model_needs_none_of_its_keys(folder: pathlib.Path) -> None:
    """A program's own model, and a recording."""
    store = loopworth.Store(folder / "runs.db")
    workflow = loopworth.compile(folder / "asks.yaml")
    outcome = loopworth.run_sync(workflow, {"q": "a"}, models={"mine": lambda request: "yes"}, store=store, id="one")
    assert outcome.answer == "yes"
    assert asyncio.run(loopworth.replay(workflow, store.shelf().recording("one"))).answer == "yes"
    store.close()


def test_a_model_that_no_file_names_is_told_in_words() -> None:
    """An executor of the program's own asks by names of its own."""

    class Asks:
        async def run(self, input: dict[str, Any], fx: loopworth.Effects) -> loopworth.Outcome:
            raise AssertionError("nothing is run")

    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ANTHROPIC_API_KEY", raising=False)
        with pytest.raises(Unavailable, match="anthropic/y needs a key: set the environment variable ANTHROPIC"):
            loopworth.run_sync(Asks(), {}, models={"writer": "anthropic/y"})


def test_a_durable_run_is_not_gone_on_with(folder: pathlib.Path) -> None:
    """It stays as it was entered, and goes on once the key is there."""
    store = loopworth.Store(folder / "runs.db")
    run = loopworth.begin(store, folder / "asks.yaml", {"q": "a"})
    with pytest.raises(WorkflowFault, match=LACKS):
        asyncio.run(loopworth.resume(store, run))
    assert not (folder / "called.txt").exists()
    assert asyncio.run(loopworth.resume(store, run, models={"mine": lambda request: "yes"})).answer == "yes"
    store.close()


async def compared(folder: pathlib.Path, **how: Any) -> loopworth.Result:
    return await loopworth.compare(folder / "comparison.yaml", **how)


def test_a_comparison_is_refused_before_its_first_run(folder: pathlib.Path) -> None:
    """The arms that need no key are not run for nothing either, and no comparison is entered. What stands in for the
    model needs no key, nor does a replay."""
    store = loopworth.Store(folder / "runs.db")
    with pytest.raises(WorkflowFault) as caught:
        asyncio.run(compared(folder, store=store))
    assert faults(caught) == [("asks.yaml", 4, 65, LACKS, f"set {KEY}")]
    assert (store.shelf().runs(), (folder / "called.txt").exists()) == ([], False)
    made = asyncio.run(compared(folder, store=store, models={"mine": lambda request: "a"}))
    assert [trial.right for trial in made.final] == [True, True]
    again = asyncio.run(compared(folder, store=store, models={"mine": lambda request: "a"}, replay="last"))
    assert [trial.right for trial in again.final] == [True, True]
    store.close()


def test_a_judge_needs_its_key_as_an_arm_does(folder: pathlib.Path) -> None:
    """It is named where the comparison names it."""
    score = f"score: {{judge: {{model: {{name: j, base_url: 'http://127.0.0.1:1', api_key: {{env: {KEY}}}}}}}}}"
    text = COMPARISON.replace("score: equals", score).replace("  asks: {workflow: asks.yaml}\n", "")
    (folder / "comparison.yaml").write_text(text.lstrip("\n"), "utf-8")
    with pytest.raises(WorkflowFault) as caught:
        asyncio.run(compared(folder))
    [(file, line, _, what, _)] = faults(caught)
    assert (file, line, what) == ("comparison.yaml", 3, LACKS.replace("mine", "j"))
