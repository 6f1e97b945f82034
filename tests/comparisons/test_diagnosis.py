"""`diagnose`: the right part for planted defects, nothing where nothing is wrong."""

from __future__ import annotations

import asyncio
import json
import pathlib
from typing import Any

import pytest

import loopworth
from loopworth.comparisons.diagnosis import diagnose
from loopworth.models import ScriptedModel
from loopworth.runs.kept import Query
from loopworth.runs.message import Reply, Request
from loopworth.runs.recording import Recording
from loopworth.runs.shelf import Shelf
from loopworth.runs.store import Store
from tests.comparisons.planted import HEALTHY, LOOK, OTHERS, PLANTED, RULES, loop, run


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_defect_leads_to_its_part(name: str, tmp_path: pathlib.Path) -> None:
    """The first finding names the part in which the defect was planted, with a run, a place and a change."""
    part, workflow = PLANTED[name]
    findings = diagnose(run(tmp_path, name, workflow))
    assert [finding.part for finding in findings] == [part], findings
    assert findings[0].signs[0].run
    assert findings[0].change


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_workflow_has_no_finding(name: str, tmp_path: pathlib.Path) -> None:
    """One slip that is mended, calls that differ, a job that is waited for: nothing to look at."""
    recordings = run(tmp_path, name, HEALTHY[name])
    assert [one.kept.exit for one in recordings] == ["success"]
    assert diagnose(recordings) == []


@pytest.mark.parametrize("rule", RULES)
def test_each_rule_finds_what_it_is_for(rule: str, tmp_path: pathlib.Path) -> None:
    """Whatever the protocol, one cause is one finding."""
    assert [finding.rule for finding in diagnose(run(tmp_path, rule, RULES[rule]))] == [rule]


COMPARISON = """
comparison: figures
tasks: tasks.jsonl
score: icontains
arms:
  fixed: {workflow: fixed.yaml}
  agent: {workflow: agent.yaml}
"""
FIXED = """
workflow: fixed
shape: pipeline
input: {question: str}
steps: [{id: said, set: "389"}]
answer: "{{ said }}"
"""


def compared(folder: pathlib.Path, scripts: list[list[Any]], **workflow: Any) -> pathlib.Path:
    """The store of a comparison in which the agent says one script on each task."""
    model = Scripts(scripts)
    run(folder, "agent", loop(**workflow), times=0)
    rows = [{"question": f"{k}", "expected": "389"} for k in range(len(scripts))]
    (folder / "tasks.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    (folder / "fixed.yaml").write_text(FIXED, "utf-8")
    (folder / "comparison.yaml").write_text(COMPARISON, "utf-8")
    with_store = Store(folder / "compared.db")
    asyncio.run(loopworth.compare(folder / "comparison.yaml", models={"scripted": model}, store=with_store))
    with_store.close()
    return folder / "compared.db"


class Scripts:
    """A model with a script for each question, which is its number."""

    name, endpoint, concurrency = "scripted", "scripted", 4

    def __init__(self, scripts: list[list[Any]]) -> None:
        self.models = [ScriptedModel(script) for script in scripts]

    async def reply(self, request: Request, seconds: float | None) -> Reply:
        return await self.models[int(request.messages[0]["content"])].reply(request, seconds)

    async def close(self) -> None:
        """Nothing is open."""


def test_a_cap_is_proposed_from_the_runs_that_ended_well(tmp_path: pathlib.Path) -> None:
    """The 95th percentile of the healthy runs' turns, and half as much again; an arm that is sound has no finding."""
    healthy = [[*OTHERS[:n], "It is 389."] for n in (1, 2, 3, 3)]
    store = compared(tmp_path, [*healthy, OTHERS, OTHERS], budget={"turns": 20})
    [finding] = diagnose(recorded(store))
    assert (finding.subject, finding.rule, finding.runs, finding.of) == ("agent", "cap", 2, 6)
    assert finding.change == "budget.turns: 6"
    assert "4 runs that ended well" in finding.why


def test_what_one_run_of_many_does_is_no_habit(tmp_path: pathlib.Path) -> None:
    """From two runs and a fifth of them on; but one claim of a call that was not made is enough."""
    right = [LOOK, "It is 389."]
    store = compared(tmp_path, [right, right, right, right, OTHERS, [LOOK, "I ran lookup and refunded it: 389."]])
    assert diagnose(recorded(store)) == []
    (tmp_path / "again").mkdir()
    store = compared(tmp_path / "again", [right] * 5 + [[LOOK, "I have refunded it: 389."]], tools="lookup refund")
    assert [(finding.rule, finding.runs) for finding in diagnose(recorded(store))] == [("claims", 1)]


def test_wrong_answers_that_are_the_first_result_stop_too_early(tmp_path: pathlib.Path) -> None:
    """The scores of a comparison tell a hasty answer from a right one."""
    store = compared(tmp_path, [[LOOK, "It is 389."], [OTHERS[0], "390"], [OTHERS[1], "391"]])
    [finding] = diagnose(recorded(store))
    assert (finding.part, finding.rule, finding.runs) == ("termination", "first_result", 2)


def test_a_wrong_sum_of_right_figures_wants_a_tool(tmp_path: pathlib.Path) -> None:
    """What was looked up is right, and the number made of it stands in no result."""
    wrong = [LOOK, OTHERS[0], "In all 700."]
    store = compared(tmp_path, [[LOOK, "It is 389."], wrong, wrong])
    [finding] = diagnose(recorded(store))
    assert (finding.part, finding.rule, finding.runs) == ("tools", "works_out", 2)


def recorded(store: pathlib.Path) -> list[Recording]:
    shelf = Shelf(store)
    [one] = shelf.runs(Query(kinds=("comparison",)))
    scores = shelf.scores(one.id)
    return [
        Recording(trial, shelf.records(trial.id), shelf.outcome(trial.id), scores[trial.id])
        for trial in shelf.trials(one.id)
    ]


@pytest.mark.parametrize("rule", RULES)
def test_a_change_is_one_that_an_arm_can_try(rule: str, tmp_path: pathlib.Path) -> None:
    """Every proposed line is a `change:` that passes `check`, so that a comparison can say what it was worth."""
    [finding] = diagnose(run(tmp_path, rule, RULES[rule]))
    (tmp_path / "tasks.jsonl").write_text('{"question": "What?", "expected": "389"}', "utf-8")
    (tmp_path / "fixed.yaml").write_text(FIXED, "utf-8")
    arms = f"""
  mended:
    workflow: {rule}.yaml
    change:
      {finding.change}
writes: allowed
approvals: approve
"""
    file = tmp_path / "comparison.yaml"
    file.write_text(COMPARISON.replace("  agent: {workflow: agent.yaml}\n", arms.lstrip("\n")), "utf-8")
    assert [str(fault) for fault in loopworth.check(file)] == []
