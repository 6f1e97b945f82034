"""What a run is expected to take, and may take at most, told from its files: every shape and every key that repeats."""

from __future__ import annotations

import pathlib
from math import inf

import pytest

from loopworth.comparisons.estimate import Estimate, Load, estimate
from loopworth.workflows.load import load_workflow

MODEL = "{name: openai/x, max_tokens: 500, price: {input: 1, output: 10}}"
HEAD = f"workflow: w\ninput: {{n: int}}\nmodel: {MODEL}\n"
INNER = f"workflow: i\nshape: pipeline\ninput: {{n: int}}\nmodel: {MODEL}\nsteps: [{{id: a, ask: hm}}]\nanswer: done\n"
PRIVATE = "{name: openai/y, max_tokens: 500, price: {input: 100, output: 1000}}"


def told(folder: pathlib.Path, shape: str, body: str) -> Estimate:
    (folder / "inner.yaml").write_text(INNER, "utf-8")
    (folder / "shop.py").write_text("def look(n: int) -> int:\n    return n\n", "utf-8")
    (folder / "w.yaml").write_text(f"{HEAD}shape: {shape}\n{body}", "utf-8")
    return estimate(*load_workflow(folder / "w.yaml"))


PIPELINES = {
    "no model": ("steps: [{id: a, set: 1}]", 0, 0),
    "a question": ("steps: [{id: a, ask: hm}]", 1, 1),
    "a typed question may be asked again": ("steps: [{id: a, ask: hm, output: int}]", 1, 2),
    "a choice may be asked again": ("steps: [{id: a, choose: hm, from: [x, y]}]", 1, 2),
    "a choice by similarity is one call": ("steps: [{id: a, choose: hm, from: [x, y], by: similarity}]", 1, 1),
    "another workflow": ("steps: [{id: a, run: inner.yaml, with: {n: 1}}]", 1, 1),
    "retries are the worst": ("steps: [{id: a, ask: hm, retry: {attempts: 3}}]", 1, 3),
    "rounds without `until` are all made": ("steps: [{id: a, ask: hm, repeat: {times: 4}}]", 4, 4),
    "half of the others": ("steps: [{id: a, ask: hm, repeat: {times: 5, until: a == 'x'}}]", 3, 5),
    "items without end": ('steps: [{id: a, for_each: "{{ range(n) }}", ask: hm}]', 3, inf),
    "a tool that is a workflow": (
        "tools: {more: {run: inner.yaml, effect: read, description: more}}\nsteps: [{id: a, call: more, with: {n: 1}}]",
        1,
        1,
    ),
    "otherwise is the worst": ("steps: [{id: a, ask: hm}]\notherwise: {run: inner.yaml}", 1, 2),
}


@pytest.mark.parametrize("case", PIPELINES)
def test_the_calls_of_a_pipeline_are_those_of_its_steps(tmp_path: pathlib.Path, case: str) -> None:
    """Expected, and at most: with re-asks, retries, rounds, items, sub-workflows and `otherwise`."""
    body, expected, worst = PIPELINES[case]
    found = told(tmp_path, "pipeline", f"{body}\nanswer: done\n")
    assert (found.expected.calls, found.worst.calls) == (expected, worst)


ROUTES = "from:\n  a: {description: one, ask: hm}\n  b: {description: two, run: inner.yaml}\n"


def test_a_router_asks_once_and_takes_one_route(tmp_path: pathlib.Path) -> None:
    """One call more than its routes take on average; at most a second asking and the dearest route."""
    found = told(tmp_path, "router", f"choose: which\n{ROUTES}")
    assert (found.expected.calls, found.worst.calls) == (2, 3)


def test_a_choice_by_similarity_generates_nothing_and_costs_nothing(tmp_path: pathlib.Path) -> None:
    """In a router and in a step: the workflow's model is priced, and is not asked for the choice."""
    asked, compared = (told(tmp_path, "router", f"choose: which\n{by}{ROUTES}") for by in ("", "by: similarity\n"))
    assert asked.worst.usd is not None
    assert compared.worst.usd is not None
    assert 0 < compared.worst.usd < asked.worst.usd
    step = "steps: [{id: a, choose: hm, from: [x, y], by: similarity}]\nanswer: done\n"
    assert told(tmp_path, "pipeline", step).worst.usd == 0


def test_rules_alone_take_no_call(tmp_path: pathlib.Path) -> None:
    """A router whose routes all have `if` and no description asks nobody."""
    body = "choose: which\nfrom:\n  a: {if: n > 1, set: 1}\n  b: {if: n < 2, set: 2}\n"
    assert told(tmp_path, "router", body) == Estimate(Load(), Load())


LOOPS = {
    "constrained_loop": "use: [look]\n",
    "open_loop": "",
    "gated_loop": "gate: {look: required}\n",
}


@pytest.mark.parametrize("shape", LOOPS)
def test_a_loop_takes_half_of_its_turns_and_at_most_all(tmp_path: pathlib.Path, shape: str) -> None:
    """One more where it may have a last word at its limit; what `otherwise` takes comes on top."""
    body = f"{LOOPS[shape]}tools: {{look: {{python: 'shop:look', effect: read}}}}\nprompt: hm\nbudget: {{turns: 6}}\n"
    found = told(tmp_path, shape, body)
    assert (found.expected.calls, found.worst.calls) == (3, 6)
    assert told(tmp_path, shape, f"{body}on_limit: answer\n").worst.calls == 7
    assert told(tmp_path, shape, f"{body}otherwise: {{run: inner.yaml}}\n").worst.calls == 7


def test_what_is_expected_keeps_the_budget_too(tmp_path: pathlib.Path) -> None:
    """A cap of the workflow's own bounds both; so nothing is expected that cannot be."""
    step = "steps: [{id: a, ask: hm, repeat: {times: 40}}]\nanswer: done\nbudget: {tokens: 300, usd: 0.0001}\n"
    found = told(tmp_path, "pipeline", step)
    assert (found.expected.tokens, found.worst.tokens) == (300, 300)
    assert (found.expected.usd, found.worst.usd) == (0.0001, 0.0001)


def test_a_step_with_a_model_of_its_own_has_its_price(tmp_path: pathlib.Path) -> None:
    """A hundred times as dear a model makes the step a hundred times as dear."""
    plain, dear = (
        told(tmp_path, "pipeline", f"steps: [{{id: a, ask: hm{model}}}]\nanswer: done\n")
        for model in ("", f", model: {PRIVATE}")
    )
    assert plain.expected.usd
    assert dear.expected.usd == pytest.approx(100 * plain.expected.usd)
