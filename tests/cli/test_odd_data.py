"""`loopworth compare` on thin, missing and odd data: a sentence and never a verdict, as JSON and on the terminal."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from tests.cli.kit import command

ARMS = """\
SAID = {
    "right": {"answer": "yes", "usage": {"prompt_tokens": 1, "completion_tokens": 1, "usd": 0.01}},
    "wrong": {"answer": "no", "usage": {"prompt_tokens": 1, "completion_tokens": 1, "usd": 0.02}},
    "lost": {"answer": None, "exit_reason": "provider_error"},
    "odd": {"answer": "odd", "usage": {"prompt_tokens": 1, "completion_tokens": 1, "usd": 0.01}},
    "nan": {"answer": float("nan"), "usage": {"prompt_tokens": 1, "completion_tokens": 1, "usd": float("nan")}},
    "inf": {"answer": "yes", "usage": {"prompt_tokens": 1, "completion_tokens": 1, "usd": float("inf")}},
}


def first(a):
    return SAID[a]


def judge(answer, expected):
    return float("nan") if answer == "odd" else answer == expected


def second(b):
    if b == "raise":
        raise ValueError("no")
    return SAID[b]
"""
COMPARISON = """\
comparison: odd
score: equals
tasks: {file: tasks.jsonl, where: "kept == 'yes'"}
arms:
  first: {python: "arms:first"}
  second: {python: "arms:second"}
group_by: level
decide: {min_gain: 0.10}
"""
TABLES: dict[str, tuple[list[tuple[str, str]], str]] = {
    "n = 0": ([], "holds for none of the 1 tasks"),
    "all ties": ([("right", "right")] * 40, "ties alone decide nothing"),
    "all failures": ([("wrong", "wrong")] * 40, "Neither got a task right"),
    "all failures, by a bug": ([("wrong", "raise")] * 40, "Neither got a task right"),
    "missing pairs": ([("right", "lost")] * 20 + [("right", "wrong")] * 20, "More than 2 %"),
    "NaN scores": ([("wrong", "odd")] * 40, "left out"),
    "some NaN scores": ([("wrong", "right")] * 47 + [("wrong", "odd")] * 3, "More than 2 %"),
    "NaN answers": ([("right", "nan"), ("wrong", "nan")], "undecided"),
    "infinite costs": ([("right", "inf"), ("wrong", "inf")] * 3, "undecided"),
    "an arm without any trial": ([("right", "lost")] * 40, "its program failed the arm 'second'"),
    "6 % of pairs lost": ([("wrong", "right")] * 47 + [("right", "lost")] * 3, "More than 2 %"),
    "a tag with one level": ([("right", "wrong"), ("wrong", "right")], "only one level of level was run"),
}
PRICED = "decide: {correct_is_worth_usd: 0.5, second_costs_usd: 0.001, max_cost_ratio: 3, max_p95: 1s}\n"


def odd(folder: pathlib.Path, rows: list[tuple[str, str]], comparison: str = COMPARISON) -> pathlib.Path:
    (folder / "arms.py").write_text(ARMS, "utf-8")
    (folder / "comparison.yaml").write_text(comparison, "utf-8")
    lines = [{"id": n, "a": a, "b": b, "expected": "yes", "level": 1, "kept": "yes"} for n, (a, b) in enumerate(rows)]
    lines += [{"id": "unkept", "a": "right", "b": "right", "expected": "yes", "level": 1, "kept": "no"}]
    (folder / "tasks.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return folder / "comparison.yaml"


def read(text: str) -> Any:
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} in the JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize("priced", [False, True])
@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("case", TABLES)
def test_bad_input_gets_a_sentence_and_no_verdict(tmp_path: pathlib.Path, case: str, early: bool, priced: bool) -> None:
    """In both forms the same words; no NaN, no infinity; nothing that is required of a verdict is met."""
    rows, says = TABLES[case]
    if priced and case == "all failures, by a bug":
        says = "What a run of second costs is unknown"  # a program that failed did not say what it had used
    comparison = COMPARISON + ("stop_early: true\n" if early else "")
    comparison = comparison.replace("decide: {min_gain: 0.10}\n", PRICED) if priced else comparison
    if early and len(rows) == 50:
        rows = rows[-6:]  # else it is settled before most of what is lost is met
    if any("odd" in row for row in rows):
        comparison = comparison.replace("score: equals", 'score: {python: "arms:judge"}')
    file = odd(tmp_path, rows, comparison)
    done = command("compare", file, "--json", "--no-store", "--require", "earns")
    assert done.exit_code in (1, 2, 3), done.output
    if not rows:
        assert says in done.output
        return
    found = read(done.stdout)
    said = " ".join([found["words"], *found["warnings"], *(one["words"] for one in found.get("curves", ()))])
    if found["verdict"] is not None:
        assert {one["token"] for one in found["verdict"]["arms"]} == {"undecided"}
        said += " ".join(one["words"] for one in found["verdict"]["arms"])
    if not (early and case == "a tag with one level"):
        assert says in said
    on_terminal = command("compare", file, "--no-store", "--require", "keeps")
    assert on_terminal.exit_code in (1, 3), on_terminal.output
    shown = on_terminal.stdout
    assert "undecided" in shown or "no verdict" in shown or "stopped after" in shown
    assert not any(f" {word} " in f"{shown} {said} ".replace(",", " ") for word in ("nan", "inf", "$nan", "$inf"))
