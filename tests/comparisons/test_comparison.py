"""From a file to a comparison that is ready to run."""

from __future__ import annotations

import asyncio
import json
import pathlib
from typing import Any

import pytest

from loopworth.comparisons.comparison import load
from loopworth.comparisons.execution import compare
from loopworth.comparisons.result import Result
from loopworth.runs.budget import Limits
from loopworth.workflows.faults import WorkflowFault

PIPELINE = """
workflow: plain
shape: pipeline
input: {question: str}
steps:
  - id: said
    set: "{{ question }}"
answer: "{{ said }}"
"""
PAYS = """
workflow: pays
shape: pipeline
input: {question: str}
tools:
  pay: {python: "shop:pay", effect: irreversible, approval: required, with: {till: real}}
steps:
  - id: paid
    call: pay
    with: {to: "{{ question }}"}
answer: "{{ paid }}"
"""
SHOP = '''
def pay(to: str, till: str) -> str:
    """Pay somebody."""
    return f"{till} paid {to}"

def pretend(to: str) -> str:
    """Pay nobody."""
    return f"pretended to pay {to}"
'''


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    rows = [{"id": f"t{k}", "question": str(k), "expected": str(k), "size": k % 3} for k in range(6)]
    (tmp_path / "tasks.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "plain.yaml").write_text(PIPELINE)
    (tmp_path / "pays.yaml").write_text(PAYS)
    (tmp_path / "shop.py").write_text(SHOP)
    return tmp_path


def written(folder: pathlib.Path, text: str = "", tasks: str = "tasks.jsonl", arm: str = "plain.yaml") -> pathlib.Path:
    path = folder / "comparison.yaml"
    path.write_text(f"comparison: tried\ntasks: {tasks}\nscore: equals\narms:\n  first: {{workflow: {arm}}}\n{text}")
    return path


def faults(path: pathlib.Path) -> list[str]:
    with pytest.raises(WorkflowFault) as caught:
        load(path)
    return [f"{pathlib.Path(fault.file).name}:{fault.line} {fault.what}" for fault in caught.value.faults]


def run(path: pathlib.Path) -> Result:
    return asyncio.run(compare(load(path)))


def test_a_file_becomes_a_comparison(folder: pathlib.Path) -> None:
    """Every key that this version knows arrives where it acts."""
    text = "repeats: 2\ngroup_by: size\nseed: 7\nbudget: {usd: 5, time: 2m}\napprovals: reject\n"
    text += "decide: {min_gain: 0.2, error: 0.1, max_p95: 20s, cluster: size, accept: 0.9}\n"
    found = load(written(folder, text))
    assert ([arm.name for arm in found.arms], len(found.tasks)) == (["first"], 6)
    assert (found.repeats, found.group_by, found.seed, found.approvals) == (2, "size", 7, "reject")
    assert found.limits == Limits(usd=5, time=120)
    assert (found.rule.min_gain, found.rule.error, found.rule.max_p95) == (0.2, 0.1, 20)
    assert (found.cluster, found.accept, found.spec["repeats"]) == ("size", 0.9, 2)
    assert sorted(found.files) == ["comparison.yaml", "plain.yaml", "tasks.jsonl"]


def test_where_chooses_and_limit_cuts_what_is_left(folder: pathlib.Path) -> None:
    """The limit counts the tasks that `where` keeps, not those it drops."""
    found = load(written(folder, tasks="{file: tasks.jsonl, where: size == 1 or id == 't5', limit: 2}"))
    assert [task.id for task in found.tasks] == ["t1", "t4"]


def test_where_that_keeps_nothing_or_fails_is_a_fault(folder: pathlib.Path) -> None:
    """It is found before anything runs, at its place or at the task's."""
    none = written(folder, tasks="{file: tasks.jsonl, where: size > 8}")
    assert faults(none) == ["comparison.yaml:2 `where` holds for none of the 6 tasks"]
    broken = written(folder, tasks="{file: tasks.jsonl, where: question > 2}")
    assert [fault.split()[0] for fault in faults(broken)] == [f"tasks.jsonl:{line}" for line in range(1, 7)]


def test_a_single_task_is_picked_by_its_id(folder: pathlib.Path) -> None:
    """An unknown id is answered by the nearest."""
    assert [task.id for task in load(written(folder), task="t3").tasks] == ["t3"]
    with pytest.raises(LookupError, match="t5"):
        load(written(folder), task="t55")


def test_the_first_tasks_alone_can_be_run(folder: pathlib.Path) -> None:
    """`limit` of the command cuts further."""
    assert [task.id for task in load(written(folder), limit=2).tasks] == ["t0", "t1"]


def test_a_task_of_the_wrong_type_is_a_fault_at_its_line(folder: pathlib.Path) -> None:
    """Inputs are checked against every arm before any model call."""
    with (folder / "tasks.jsonl").open("a") as file:
        file.write('\n{"question": 5, "expected": "5"}\n')
    [found] = faults(written(folder))
    assert found.startswith("tasks.jsonl:7 task '7' is no input of the arm 'first'")


def test_a_file_that_is_no_comparison_is_a_fault(folder: pathlib.Path) -> None:
    """A workflow is not compared with anything."""
    assert faults(folder / "plain.yaml") == ["plain.yaml:1 is not a comparison"]


def test_a_limit_on_an_unknown_price_is_a_fault(folder: pathlib.Path) -> None:
    """Nothing would ever reach it."""
    asks = PIPELINE.replace('set: "{{ question }}"', 'ask: "{{ question }}"')
    (folder / "plain.yaml").write_text(f"{asks}model: {{name: vllm/own, base_url: 'http://127.0.0.1:1/v1'}}\n")
    assert faults(written(folder, "budget: {usd: 1}\n")) == ["comparison.yaml:6 the price of 'vllm/own' is not known"]


def test_a_limit_on_harm_that_nothing_defines_is_a_fault(folder: pathlib.Path) -> None:
    """`max_harm` takes `harm`."""
    assert faults(written(folder, "decide: {max_harm: 0.01}\n")) == ["comparison.yaml:6 `max_harm` without `harm`"]


def test_an_arm_that_writes_is_refused(folder: pathlib.Path) -> None:
    """Unless the file allows it: a comparison would pay once for every task."""
    path = written(folder, "approvals: approve\n", arm="pays.yaml")
    assert any("may write (pay)" in fault for fault in faults(path))
    result = run(written(folder, "approvals: approve\nwrites: allowed\n", arm="pays.yaml"))
    assert {bytes(trial.answer) for trial in result.trials} == {f'"real paid {k}"'.encode() for k in range(6)}


def test_fakes_take_the_place_of_what_writes(folder: pathlib.Path) -> None:
    """Same name, other implementation; the gate stays."""
    fakes = 'tools:\n  pay: {python: "shop:pretend", effect: irreversible}\n'
    result = run(written(folder, f"approvals: approve\n{fakes}", arm="pays.yaml"))
    assert b'"pretended to pay 0"' in {bytes(trial.answer) for trial in result.trials}
    refused = run(written(folder, f"approvals: reject\n{fakes}", arm="pays.yaml"))
    assert {(trial.exit, trial.right) for trial in refused.trials} == {("rejected", False)}


def test_an_approval_that_a_gate_does_not_offer_is_a_no(folder: pathlib.Path) -> None:
    """The answer is the file's, and the gate's own choices bind it like any other."""
    narrow = PAYS.replace("approval: required", "approval: {choices: [edit, reject]}")
    (folder / "pays.yaml").write_text(narrow, "utf-8")
    result = run(written(folder, "approvals: approve\nwrites: allowed\n", arm="pays.yaml"))
    assert {trial.exit for trial in result.trials} == {"rejected"}


def test_fakes_may_not_take_a_guard_away(folder: pathlib.Path) -> None:
    """A fake that only reads would let writes run side by side."""
    path = written(
        folder, 'approvals: approve\ntools:\n  pay: {python: "shop:pretend", effect: read}\n', arm="pays.yaml"
    )
    assert any("may only tighten" in fault for fault in faults(path))


def test_a_gate_that_nobody_answers_is_refused(folder: pathlib.Path) -> None:
    """A task's own `approve` answers it, and goes before the file's."""
    assert any("reach a gate" in fault for fault in faults(written(folder, "writes: allowed\n", arm="pays.yaml")))
    rows = [
        {"question": str(k), "expected": f"real paid {k}", "approve": ["approve", "reject"][k % 2]} for k in range(4)
    ]
    (folder / "tasks.jsonl").write_text("\n".join(map(json.dumps, rows)))
    result = run(written(folder, "writes: allowed\napprovals: approve\n", arm="pays.yaml"))
    assert [(trial.task, trial.exit) for trial in sorted(result.trials, key=lambda trial: trial.task)] == [
        ("1", "success"),
        ("2", "rejected"),
        ("3", "success"),
        ("4", "rejected"),
    ]


def test_harm_is_counted_by_task(folder: pathlib.Path) -> None:
    """A condition that holds, or fails, is harm; a run without an answer did none by it."""
    found: dict[str, Any] = {}
    for harm in ("answer == '3'", "answer > 2", "answer is defined and task.size == 1"):
        result = run(written(folder, f'decide: {{harm: "{harm}", max_harm: 0.1}}\n'))
        found[harm] = sum(trial.harmful is True for trial in result.trials)
    assert list(found.values()) == [1, 6, 2]


def test_every_fault_of_every_file_comes_at_once(folder: pathlib.Path) -> None:
    """Tasks, workflows and the comparison are checked together, before anything runs."""
    (folder / "plain.yaml").write_text(PIPELINE.replace("{{ said }}", "{{ sad }}"))
    with (folder / "tasks.jsonl").open("a") as file:
        file.write('\n{"expected": "5"}\n')
    files = {fault.split(":")[0] for fault in faults(written(folder, "group_by: sizes\n"))}
    assert files == {"comparison.yaml", "plain.yaml", "tasks.jsonl"}
