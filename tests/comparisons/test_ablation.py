"""What each change was worth: exactly the parts that differ, and the paired difference to the base."""

from __future__ import annotations

import asyncio
import io
import json
import pathlib
from typing import Any

import pytest
from rich.console import Console

from loopworth.comparisons.ablation import between
from loopworth.comparisons.comparison import load
from loopworth.comparisons.evidence import interval, pair
from loopworth.comparisons.execution import compare
from loopworth.comparisons.export import to_json
from loopworth.comparisons.pages.markdown import markdown
from loopworth.comparisons.table import render
from loopworth.workflows.variant import Difference, settled

WORKFLOW = """
workflow: w
shape: pipeline
input: {q: int}
budget: {time: 60s}
steps:
  - {id: said, set: "{{ q }}"}
  - {id: more, set: "{{ said }}"}
answer: "{{ more }}"
"""
ARMS = """
comparison: ablated
tasks: tasks.jsonl
score: number
arms:
  base: {workflow: w.yaml}
  one: {workflow: w.yaml, change: {steps.more.set: "{{ said + 1 }}"}}
  two: {workflow: w.yaml, change: {steps.said.set: "{{ q if q < 6 else 0 }}", budget.time: 9s}}
  other: {workflow: v.yaml}
"""
N = 20


@pytest.fixture
def file(tmp_path: pathlib.Path) -> pathlib.Path:
    """The base is right on the first half of the tasks, `one` on the second, `two` on a quarter of all."""
    for name in ("w.yaml", "v.yaml"):
        (tmp_path / name).write_text(WORKFLOW, "utf-8")
    rows = [{"id": k, "q": k, "expected": k if k <= N // 2 else k + 1} for k in range(1, N + 1)]
    (tmp_path / "tasks.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    (tmp_path / "c.yaml").write_text(ARMS, "utf-8")
    return tmp_path / "c.yaml"


def result(file: pathlib.Path) -> Any:
    return asyncio.run(compare(load(file)))


def test_each_arm_is_told_beside_the_arm_that_it_is_but_for_some_parts(file: pathlib.Path) -> None:
    """The parts exactly, and the paired difference with its interval; an arm of another file has no base. The intervals
    of both hold at once with 95 %."""
    found = json.loads(to_json(result(file)))["ablation"]
    assert [(one["arm"], one["base"], one["n"], one["b"], one["c"]) for one in found] == [
        ("one", "base", N, 10, 10),
        ("two", "base", N, 0, 5),
    ]
    assert found[0]["changed"] == [{"key": "steps.more.set", "before": "{{ said }}", "after": "{{ said + 1 }}"}]
    assert [part["key"] for part in found[1]["changed"]] == ["steps.said.set", "budget.time"]
    assert found[1]["difference"] == pytest.approx(-0.25)
    right = {str(k): float(k <= 10) for k in range(1, N + 1)}
    worse = {str(k): float(k < 6) for k in range(1, N + 1)}
    assert found[1]["interval"] == pytest.approx(list(interval(pair(worse, right), 0.025 / 2) or ()))
    assert found[1]["interval"][0] < -0.25 < found[1]["interval"][1]


def test_the_table_and_the_page_say_what_was_changed_and_its_worth(file: pathlib.Path) -> None:
    """In the terminal and in Markdown."""
    made, console = result(file), Console(file=io.StringIO(), width=200)
    console.print(render(made))
    out = " ".join(console.file.getvalue().split())  # type: ignore[attr-defined]
    assert "what each change was worth, task by task" in out
    assert "gain 97.5 % interval cost" in out
    assert "one base steps.more.set: {{ said }} → {{ said + 1 }} 20 10 10 +0.00" in out
    page = markdown(json.loads(to_json(made)))
    assert "| gain | 97.5 % interval | cost |" in page
    assert "What each change was worth" in page
    assert "budget.time: 60s → 9s" in page


def test_a_long_change_takes_no_figure_its_room(file: pathlib.Path) -> None:
    """Mappings are told as they may stand in a file."""
    long = "{{ said }}" + " and again" * 40
    file.write_text(ARMS.replace("budget.time: 9s", f"budget: {{time: 9s}}, answer: '{long}'"), "utf-8")
    console = Console(file=io.StringIO(), width=100)
    console.print(render(result(file)))
    out = console.file.getvalue()  # type: ignore[attr-defined]
    assert ["97.5 %" in out, "interval" in out] == [True, True]
    assert 'budget: {"time": "60s"} → {"time": "9s"}' in " ".join(out.split())


def test_where_no_arm_is_the_file_the_least_changed_is_the_base(file: pathlib.Path) -> None:
    """Then what differs is from its part to the other's, and a part that both changed alike is none."""
    text = ARMS.replace("  base: {workflow: w.yaml}\n", "")
    text = text.replace('"{{ said + 1 }}"', '"{{ said + 1 }}", budget.time: 9s')
    text = text.replace("budget.time: 9s}}\n  other", "budget.time: 9s, steps.more.set: '{{ said + 2 }}'}}\n  other")
    file.write_text(text, "utf-8")
    [found] = json.loads(to_json(result(file)))["ablation"]
    assert (found["arm"], found["base"]) == ("two", "one")
    assert [(part["key"], part["before"], part["after"]) for part in found["changed"]] == [
        ("steps.more.set", "{{ said + 1 }}", "{{ said + 2 }}"),
        ("steps.said.set", "{{ q }}", "{{ q if q < 6 else 0 }}"),
    ]


def test_a_part_that_only_the_base_has_changed_goes_back() -> None:
    """From the base's value to the file's."""
    base, arm = [Difference("a", 1, 2)], [Difference("b", None, 3)]
    assert between(base, arm) == (Difference("a", 2, 1), Difference("b", None, 3))
    assert between(base, base) == ()


def test_a_part_inside_one_that_the_other_replaced_is_told_as_the_whole() -> None:
    """From what the base really has to what the arm really has, whichever of the two replaced it."""
    whole = [Difference("budget", {"turns": 4, "usd": 1}, {"turns": 5})]
    inner = [Difference("budget.turns", 4, 6)]
    assert between(whole, inner) == (Difference("budget", {"turns": 5}, {"turns": 6, "usd": 1}),)
    assert between(inner, whole) == (Difference("budget", {"turns": 6, "usd": 1}, {"turns": 5}),)
    steps = [Difference("steps", [{"id": "s", "set": 1}], [{"id": "t", "set": 2}])]
    step = [Difference("steps.s.set", 1, 3)]
    assert between(steps, step) == (Difference("steps", [{"id": "t", "set": 2}], [{"id": "s", "set": 3}]),)


@pytest.mark.parametrize(
    ("made", "comes_to"),
    [
        ([("a", {"b": 1}, {"b": 2}), ("a.b", 2, 3)], [("a", {"b": 1}, {"b": 3})]),
        ([("a.b", 1, 2), ("a", {"b": 2, "c": 3}, {"b": 4})], [("a", {"b": 1, "c": 3}, {"b": 4})]),
        ([("a.b", 1, 2), ("a", {"b": 2}, {"b": 1})], []),
        ([("a", {"b": 1}, None), ("a.b", None, 2)], [("a", {"b": 1}, {"b": 2})]),
        ([("a", None, {"b": 1}), ("a.b", 1, None)], [("a", None, {})]),
        ([("a", 1, 2), ("ab", 1, 2)], [("a", 1, 2), ("ab", 1, 2)]),
        ([("model", "x/y", {"name": "x/z"}), ("model.seed", None, 1)], [("model", "x/y", {"name": "x/z", "seed": 1})]),
    ],
)
def test_changes_one_after_another_are_told_by_what_they_come_to(made: list[Any], comes_to: list[Any]) -> None:
    """A part that lies in no other one, from what the file says to what the arm runs with."""
    assert [(one.key, one.before, one.after) for one in settled(Difference(*one) for one in made)] == comes_to


def test_a_step_is_one_part_whether_by_its_name_or_its_number(file: pathlib.Path) -> None:
    """Two arms that change the same step differ in one part, from the one's value to the other's."""
    text = ARMS.replace("  base: {workflow: w.yaml}\n", "").replace(", budget.time: 9s", "")
    file.write_text(text.replace("steps.said.set", "steps.1.set"), "utf-8")
    [found] = json.loads(to_json(result(file)))["ablation"]
    assert [(part["key"], part["before"]) for part in found["changed"]] == [("steps.more.set", "{{ said + 1 }}")]


def test_an_arm_that_comes_to_the_same_is_no_other_one(file: pathlib.Path) -> None:
    """Whatever way its changes took, one arm for all and one for itself: then nothing was changed."""
    text = ARMS.replace("budget.time: 9s", "budget.time: 9s, budget: {time: 60s}")
    file.write_text(text, "utf-8")
    found = json.loads(to_json(result(file)))
    assert [[part["key"] for part in arm["changed"]] for arm in found["arms"]][2] == ["steps.said.set"]
