"""Thin, missing and odd data: whatever a table holds, it gets a token, a sentence and no number that is none."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from math import inf, isfinite, nan
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from loopworth.comparisons.curve import Point, curve
from loopworth.comparisons.export import to_json
from loopworth.comparisons.result import Result
from loopworth.comparisons.table import render
from loopworth.comparisons.verdict import WORDS, ArmVerdict, Measured, Rule, decide
from loopworth.models import ModelSpec
from loopworth.runs.usage import Usage
from tests.comparisons.contenders import Asks, Endpoint, arm, compared, comparison, down, reply, tasks

SHARE = st.sampled_from([0.0, 0.5, 1.0, None, nan, inf])
FIGURE = st.sampled_from([0.0, 0.001, 0.5, 7.0, nan, inf, -inf, None])
SECONDS = st.sampled_from([0.0, 0.2, 3.0, nan, inf])
RULE = st.builds(
    Rule,
    min_gain=st.sampled_from([None, 0.0, 0.1, 1.0]),
    error=st.sampled_from([0.05, 0.001, 0.4]),
    not_worse_by=st.sampled_from([None, 0.0, 0.2]),
    correct_is_worth_usd=st.sampled_from([None, 0.0, 0.5]),
    wrong_costs_usd=st.sampled_from([None, 0.0, 0.25]),
    second_costs_usd=st.sampled_from([None, 0.001]),
    max_cost_ratio=st.sampled_from([None, 2.0]),
    max_p95=st.sampled_from([None, 1.0]),
    max_harm=st.sampled_from([None, 0.1]),
)


def sound(value: Any) -> bool:
    """Whether every number in it is one."""
    if isinstance(value, Mapping):
        return all(map(sound, value.values()))
    if isinstance(value, list | tuple):
        return all(map(sound, value))
    return not isinstance(value, float) or isfinite(value)


def read(text: bytes | str) -> Any:
    """JSON without NaN or Infinity, which are no JSON."""

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} in the JSON")

    return json.loads(text, parse_constant=refuse)


@st.composite
def arms(draw: st.DrawFn) -> list[Measured]:
    ids = [str(n) for n in range(draw(st.integers(0, 30)))]
    column = lambda cells: {task: draw(cells) for task in ids if draw(st.integers(0, 9))}
    made = lambda name: Measured(
        name,
        column(SHARE),
        draw(st.sampled_from([{}, column(FIGURE)])),
        column(SECONDS),
        draw(st.sampled_from([None, column(st.booleans())])),
        draw(st.sampled_from([0.0, 1.0, inf])),
        draw(st.sampled_from([0.0, 9.0, inf])),
    )
    return [made(name) for name in "abc"[: draw(st.integers(1, 3))]]


@settings(max_examples=200, deadline=None)
@given(arms(), RULE)
def test_no_table_breaks_the_verdict(given_arms: list[Measured], rule: Rule) -> None:
    """A token of the language, a sentence for each arm, and numbers that are numbers, in the JSON and in the words."""
    verdict = decide(given_arms, rule)
    assert sound(msgspec.to_builtins(verdict))
    read(msgspec.json.encode(verdict))
    for one in verdict.arms:
        assert one.token in WORDS
        assert one.words.endswith(".")
        assert " nan" not in one.words
        assert " inf" not in one.words
        assert one.n or one.token == "undecided"


def only(first: Mapping[str, Any], second: Mapping[str, Any], rule: Rule = Rule(), **more: Any) -> ArmVerdict:  # noqa: B008
    (found,) = decide([Measured("a", first), Measured("b", second, **more)], rule).arms
    return found


RIGHT, WRONG = ({str(n): share for n in range(100)} for share in (1.0, 0.0))
BAD: dict[str, tuple[Mapping[str, Any], Mapping[str, Any], str]] = {
    "n = 0": ({}, {}, "(n = 0)"),
    "all ties": (RIGHT, RIGHT, "ties alone decide nothing"),
    "all failures": (WRONG, WRONG, "Neither got a task right"),
    "missing pairs": (RIGHT, dict(list(RIGHT.items())[:50]), "were left out"),
    "no pair at all": (RIGHT, {}, "100 of 100 were left out"),
    "NaN scores": (RIGHT, dict.fromkeys(RIGHT, nan), "(n = 0)"),
    "some NaN scores": (WRONG, {**RIGHT, "1": nan, "2": nan, "3": inf}, "More than 2 %"),
    "an arm without any trial": (RIGHT, dict.fromkeys(RIGHT), "no task on which both"),
    "3 % of pairs lost": (WRONG, {**RIGHT, "1": None, "2": None, "3": None}, "More than 2 %"),
}


@pytest.mark.parametrize("case", BAD)
def test_each_bad_input_gets_its_sentence_and_no_verdict(case: str) -> None:
    """By name: what is wrong with these data, and who stays."""
    first, second, says = BAD[case]
    found = only(first, second)
    assert (found.token, says in found.words, "a stays" in found.words) == ("undecided", True, True)
    assert (found.earns_below, found.suffices_above) == (None, None)


@pytest.mark.parametrize("rule", [Rule(correct_is_worth_usd=1.0), Rule(max_cost_ratio=2.0), Rule(max_p95=1.0)])
def test_costs_and_latencies_that_are_no_numbers_are_unknown(rule: Rule) -> None:
    """NaN is never weighed: what needs it stays undecided."""
    odd: dict[str, Any] = {"usd": dict.fromkeys(RIGHT, nan), "seconds": dict.fromkeys(RIGHT, nan)}
    (found,) = decide([Measured("a", WRONG, **odd), Measured("b", RIGHT, **odd)], rule).arms
    assert found.token == "undecided"
    assert sound(msgspec.to_builtins(found))
    assert "nan" not in found.words


def test_one_level_is_no_curve() -> None:
    """A sentence, and neither trend nor fit."""
    found = curve("a", "k", [Point("1", 3.0, 9)])
    assert (found.trend, found.fit) == (None, None)
    assert "only one level of k was run" in found.words


HERE = ModelSpec("vllm/here")
SAID = st.sampled_from(["right", "wrong", "down", "odd"])


def outcome(word: str, question: str) -> Any:
    if word == "down":
        return down()
    return reply(
        question if word == "right" else "no", Usage(1, 1, usd=None) if word == "odd" else Usage(1, 1, usd=0.1)
    )


def run(words: list[tuple[str, str]], **changes: Any) -> Result:
    """Two arms that answer as these words say, task by task."""
    both = [ModelSpec("vllm/a"), ModelSpec("vllm/b")]
    models = {
        f"vllm/{name}": Endpoint(lambda q, n, side=side: outcome(words[int(q) - 1][side], q), name)
        for side, name in enumerate("ab")
    }
    given_arms = [arm(spec.name[-1], Asks(spec.key), spec) for spec in both]
    return compared(comparison(given_arms, tasks=tasks(len(words), k=[1] * len(words)), **changes), models)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(SAID, SAID), max_size=12),
    st.booleans(),
    st.sampled_from([1, 2]),
    st.sampled_from([Rule(), Rule(correct_is_worth_usd=1.0), Rule(max_cost_ratio=1.0, max_p95=1.0)]),
)
def test_no_table_breaks_a_comparison(words: list[tuple[str, str]], early: bool, repeats: int, rule: Rule) -> None:
    """Run, told as JSON and shown: with endpoints that fail, unknown costs, no task, one level, repeats."""
    result = run(words, stop_early=early, repeats=repeats, rule=rule, group_by="k")
    found = read(to_json(result))
    assert found["words"]
    assert found["verdict"] is None or found["verdict"]["token"] in WORDS
    console = Console(width=140, record=True, file=io.StringIO())
    console.print(render(result))
    shown = console.export_text()
    assert not any(f" {word} " in shown for word in ("nan", "inf"))
