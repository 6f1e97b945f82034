"""A diagnosis of what programs, and logs of other tools, tell of their calls."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from loopworth.comparisons.diagnosis import diagnose
from loopworth.comparisons.logged import made_elsewhere
from tests.cli.kit import command

SHOP = {"tool": "shop", "args": {"order": 7}, "result": "see the warehouse"}
STORE = {"tool": "warehouse", "args": {"order": 7}, "result": "see the shop"}
NOTHING = [{"tool": "find", "args": {"words": word}, "result": []} for word in ("trip", "travel", "tour")]
ORDER = [{**SHOP, "args": args} for args in ('{"order": 7}', '{ "order":7 }', {"order": 7})]
TOLD: dict[str, list[dict[str, Any]]] = {
    "cycle": [SHOP, STORE, {**SHOP, "tool": "till"}] * 2,
    "same_call": ORDER,
    "error_results": [{**SHOP, "args": {"order": n}, "result": "Error: no such order"} for n in range(3)],
    "says_nothing": NOTHING,
    "wrong_tool": [one for call in NOTHING[:2] for one in (call, {**call, "tool": "search", "result": "page 3"})],
    "tool_failures": [{**SHOP, "args": {"order": n}, "status": "tool_error", "result": "503"} for n in range(3)],
}
HEALTHY: dict[str, list[Any]] = {
    "other arguments": [{**SHOP, "args": {"order": n}} for n in range(6)],
    "other results": [{**SHOP, "result": f"{n} of 4 are packed"} for n in range(4)],
    "no arguments": [{"tool": "shop", "result": "see the warehouse"}] * 4,
    "no results": [{"tool": "shop", "args": {"order": 7}}] * 4,
    "names alone": ["shop"] * 4,
    "a gap between": [SHOP, STORE, {"tool": "shop"}, SHOP, STORE],
}


def log(path: pathlib.Path, calls: list[Any], **more: Any) -> pathlib.Path:
    """Three rows of another tool's log that all tell of these calls."""
    row = {"answer": None, "seconds": 2, "exit_reason": "success", "calls": calls, **more}
    path.write_text("\n".join(json.dumps({"task": n, **row}) for n in range(3)), "utf-8")
    return path


def rules(path: pathlib.Path) -> list[str]:
    return [finding.rule for finding in diagnose(made_elsewhere(path) or ())]


@pytest.mark.parametrize("rule", TOLD)
def test_told_calls_are_read_like_others(rule: str, tmp_path: pathlib.Path) -> None:
    """A program that asks a model has a loop, wherever it stands."""
    assert rules(log(tmp_path / "log.jsonl", TOLD[rule])) == [rule]


@pytest.mark.parametrize("name", HEALTHY)
def test_what_a_program_does_not_tell_is_no_finding(name: str, tmp_path: pathlib.Path) -> None:
    """A call whose arguments or result nobody knows is equal to none, and found nothing that anybody knows of."""
    assert rules(log(tmp_path / "log.jsonl", HEALTHY[name])) == []


def test_a_program_that_asks_no_model_is_a_fixed_path(tmp_path: pathlib.Path) -> None:
    """What it calls, and how often, somebody wrote."""
    assert rules(log(tmp_path / "log.jsonl", TOLD["cycle"], usage={"model_calls": 0})) == []


@pytest.mark.parametrize(("exit", "rule"), [("empty", "empty"), ("context_overflow", "overflow")])
def test_the_ends_of_a_program_that_loops_are_those_of_a_loop(exit: str, rule: str, tmp_path: pathlib.Path) -> None:
    """As it tells them."""
    assert rules(log(tmp_path / "log.jsonl", [SHOP], exit_reason=exit)) == [rule]


def test_a_log_of_another_tool_is_diagnosed_as_it_is(tmp_path: pathlib.Path) -> None:
    """Its rows are named, and so is what a program has in the place of a key of ours; a faulty row is one."""
    path = log(tmp_path / "log.jsonl", TOLD["same_call"])
    said = command("diagnose", path).stdout
    assert 'log.jsonl:1 told[2]  shop({"order":7}) 3 times in a row' in said
    assert "on_repeat: {tell: 2, stop: 3}   # by the program's own means" in said
    assert "no rule found anything" in command("diagnose", log(path, HEALTHY["names alone"])).stdout
    path.write_text('{"task": 1}\n', "utf-8")
    done = command("diagnose", path)
    assert (done.exit_code, "log.jsonl:1: there is no `answer`" in done.stderr) == (2, True)


def test_the_arm_of_a_program_goes_round_in_circles_too(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it returned was kept, and is read from there."""
    monkeypatch.chdir(tmp_path)
    calls = TOLD["cycle"]
    (tmp_path / "theirs.py").write_text(f"def answer(q):\n    return {{'answer': 'no', 'calls': {calls!r}}}\n", "utf-8")
    (tmp_path / "tasks.jsonl").write_text('{"q": "a", "expected": "b"}\n{"q": "c", "expected": "d"}\n', "utf-8")
    arms = 'arms: {theirs: {python: "theirs:answer"}}\n'
    (tmp_path / "c.yaml").write_text(f"comparison: c\ntasks: tasks.jsonl\nscore: equals\n{arms}", "utf-8")
    assert command("compare", tmp_path / "c.yaml").exit_code == 0
    said = command("diagnose", "last").stdout
    assert 'told[5]  shop({"order":7}), warehouse({"order":7}), till({"order":7}) 2 times in a row' in said
