"""What can be told before anything is run: how much n shows, and what the runs may cost."""

from __future__ import annotations

import dataclasses
import json
import pathlib
from math import inf

import pytest

from loopworth.comparisons.comparison import load
from loopworth.comparisons.estimate import Estimate, Load, dearer
from loopworth.comparisons.outlook import outlook
from loopworth.comparisons.verdict import Rule
from loopworth.runs.budget import Limits
from loopworth.workflows.load import load_workflow
from tests.cli.kit import command
from tests.cli.test_comparisons import COMPARISON, doubles
from tests.comparisons.contenders import Says, arm, comparison
from tests.comparisons.test_provenance import unsaid

PRICED = """\
workflow: asks
shape: pipeline
input: {n: int}
model: {name: openai/x, max_tokens: 500, price: {input: 1, output: 10}}
steps:
  - id: said
    ask: "Twice {{ n }}?"
answer: "{{ said }}"
"""
LOOP = """\
workflow: loops
shape: constrained_loop
input: {n: int}
model: {name: openai/x, max_tokens: 500, price: {input: 1, output: 10}}
tools: {twice: {python: "shop:slow", effect: read}}
use: [twice]
prompt: "Twice {{ n }}?"
budget: {turns: 6}
"""


def test_twenty_five_tasks_settle_only_large_gaps() -> None:
    """About .4, as the method says; and a pipeline that suffices cannot be shown with them."""
    found = outlook(comparison([arm("a", Says(str)), arm("b", Says(str))], 25))
    assert found.settles == pytest.approx(0.40, abs=0.02)
    assert not found.suffices
    assert "With 25 tasks only true gains of about 0.4" in found.words[0]


@pytest.mark.parametrize(("n", "said"), [(0, "no task"), (1, "no gain of any size")])
def test_too_few_tasks_get_a_sentence(n: int, said: str) -> None:
    """Nothing to show, never an error."""
    assert said in outlook(comparison([arm("a", Says(str)), arm("b", Says(str))], n)).words[0]


def test_a_gain_near_the_smallest_worth_having_takes_no_number_of_tasks() -> None:
    """Equal to it is never settled; above and below take many."""
    given = comparison([arm("a", Says(str)), arm("b", Says(str))], 25, rule=Rule(min_gain=0.2))
    assert outlook(given, gain=0.2).needed[0].tasks is None
    assert (outlook(given, gain=0.21).needed[0].tasks or 0) > 10_000


def test_stopping_early_takes_a_larger_bank() -> None:
    """1.35 times the tasks of one look, and a gate where the later arm is dearer."""
    arms = [arm("a", Says(str)), arm("b", Says(str))]
    free, dear = (Estimate(load, load) for load in (Load(), Load(2, 100, 0.01)))
    arms = [dataclasses.replace(one, estimate=cost) for one, cost in zip(arms, (free, dear), strict=True)]
    once, early = (outlook(comparison(arms, 100, stop_early=early), gain=0.4) for early in (False, True))
    assert (early.needed[0].tasks or 0) == pytest.approx(1.35 * (once.needed[0].tasks or 0), abs=1)
    assert (once.gates, early.gates) == ({}, {"b": 3})


def test_costs_are_assumed_from_the_files_and_capped_by_budgets(tmp_path: pathlib.Path) -> None:
    """Calls, tokens and dollars of each arm; the comparison's own budget is the most that can be spent."""
    doubles(tmp_path)
    (tmp_path / "guess.yaml").write_text(PRICED, "utf-8")
    given = load(tmp_path / "comparison.yaml")
    free, paid = outlook(given).costs
    assert (free.calls, free.usd, free.source) == (0, 0, "assumed")
    assert paid.calls == 12
    assert paid.usd is not None
    assert paid.worst_usd is not None
    assert 0 < paid.usd < paid.worst_usd < 12 * 0.01
    capped = outlook(dataclasses.replace(given, limits=Limits(usd=0.001)))
    assert capped.costs[1].worst_usd == 0.001


def test_a_loop_costs_more_than_a_question(tmp_path: pathlib.Path) -> None:
    """Every turn sends the turns before it: three turns of six are six parts and more."""
    from loopworth.comparisons.estimate import estimate

    doubles(tmp_path)
    (tmp_path / "ask.yaml").write_text(PRICED, "utf-8")
    (tmp_path / "loop.yaml").write_text(LOOP, "utf-8")
    ask, loop = (estimate(*load_workflow(tmp_path / name)) for name in ("ask.yaml", "loop.yaml"))
    assert (loop.expected.calls, loop.worst.calls) == (3, 6)
    assert dearer(loop, ask, 3)
    assert not dearer(ask, loop, 1)
    (tmp_path / "loop.yaml").write_text(LOOP.replace("turns: 6", "turns: none, time: 60s"), "utf-8")
    assert estimate(*load_workflow(tmp_path / "loop.yaml")).worst.tokens == inf


def test_the_most_that_runs_may_take_is_explained_and_cut(tmp_path: pathlib.Path) -> None:
    """How it is reckoned, what is assumed, and which key makes it less; which says no more once it stands there."""
    file = doubles(tmp_path)
    (tmp_path / "guess.yaml").write_text(LOOP, "utf-8")
    wide = outlook(load(file))
    assert [note.partition(":")[0] for note in wide.notes[:2]] == ["assumed", "at most"]
    most = wide.costs[1].worst_tokens
    assert most is not None
    assert f"guess ({most / wide.tasks:,.0f} tokens a run now)" in wide.notes[2]
    assert "every turn is taken" in " ".join(command("plan", file).stdout.split())
    (tmp_path / "guess.yaml").write_text(LOOP.replace("turns: 6", "turns: 6, tokens: 900"), "utf-8")
    held = outlook(load(file))
    assert held.costs[1].worst_tokens == 900 * held.tasks
    assert len(held.notes) == 2


def test_the_command_prints_it_and_spends_nothing(tmp_path: pathlib.Path) -> None:
    """The words, the tasks a gain takes, the costs; no run is made or kept."""
    done = command("plan", doubles(tmp_path, 25))
    assert done.exit_code == 0, done.output
    assert "With 25 tasks only true gains" in done.stdout
    assert "assumed" in done.stdout
    assert not (tmp_path / ".loopworth").exists()


def test_a_pilot_measures_what_runs_cost(tmp_path: pathlib.Path) -> None:
    """Every arm on the first tasks; the expectation is then from these, and no score is shown."""
    done = command("plan", doubles(tmp_path), "--pilot", 2, "--json")
    found = json.loads(done.stdout)
    assert [(one["source"], one["tokens"]) for one in found["costs"]] == [("estimated", 0), ("estimated", 132)]
    assert "right" not in done.stdout
    assert not list(unsaid(found))
    assert [one["provenance"]["tokens"] for one in found["costs"]] == ["estimated", "estimated"]
    assert found["provenance"]["min_gain"] == "assumed"


def test_a_pilot_says_which_arm_does_not_answer(tmp_path: pathlib.Path) -> None:
    """Before the other runs are paid for."""
    file = doubles(tmp_path, comparison=COMPARISON.replace("arms:\n", 'arms:\n  broken: {python: "broken:broken"}\n'))
    (tmp_path / "broken.py").write_text("def broken(n): raise RuntimeError('no key')", "utf-8")
    told = " ".join(command("plan", file, "--pilot", 2).stdout.split())
    assert "broken: in the pilot all 2 runs ended as step_failed: answer failed: RuntimeError: no key" in told


def test_a_faulty_file_is_no_plan(tmp_path: pathlib.Path) -> None:
    """As for every command: status 2 with its faults."""
    assert command("plan", doubles(tmp_path, comparison=COMPARISON.replace("score:", "scor:"))).exit_code == 2
