"""A score of the user's own: its word is taken, and nothing it does costs more than its own row."""

from __future__ import annotations

import pathlib
import time
from typing import Any

import pytest

from loopworth.comparisons.named_scores import scorer
from loopworth.comparisons.scores import FAILED, Bounded, Score, ScoreFault

CHECKS = """
import os, re, sys, time

def plain(answer, expected):
    return answer == expected

def noted(answer, expected):
    print("to nowhere", input) or sys.stdin.read(0)
    return answer == expected, f"{type(expected).__name__}"

def trips(answer, expected):
    if answer == "raise":
        return 1 / 0
    if answer == "exit":
        sys.exit(1)
    if answer == "die":
        os._exit(3)
    if answer == "sleep":
        time.sleep(60)
    if answer == "regex":
        return re.match("(a+)+$", "a" * 40 + "b") is None
    if answer == "half":
        return 0.5
    return True

async def later(answer, expected):
    return True

table = {}
"""


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "checks.py").write_text(CHECKS, "utf-8")
    return tmp_path


def made(folder: pathlib.Path, name: str, form: str = "python", **options: Any) -> Bounded:
    return scorer(form, {"function": f"checks:{name}", **options}, folder)


def test_the_functions_word_is_taken(folder: pathlib.Path) -> None:
    """True or False, with its note or ours; `not-` turns it round; what it prints is in nobody's way."""
    score = made(folder, "plain")
    assert (score("a", "a"), score("a", "b")) == (Score(True), Score(False, "expected 'b', got 'a'"))
    assert made(folder, "noted")([1], {"a": 1}) == Score(False, "dict")
    assert made(folder, "plain", "not-python")("a", "b").right
    assert score("\ud800", "\ud800").right


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("raise", "ZeroDivisionError: division by zero (checks.py:13)"),
        ("exit", "SystemExit: 1 (checks.py:15)"),
        ("die", "checks:trips ended its process (status 3)"),
        ("sleep", "checks:trips took longer than 1 s"),
        ("regex", "checks:trips took longer than 1 s"),
        ("half", "it returned '0.5', not True or False"),
    ],
)
def test_a_function_that_fails_costs_its_own_row(folder: pathlib.Path, answer: str, says: str) -> None:
    """That row is wrong and says why, under `not-` too; the rows before and after it are scored."""
    for form in ("python", "not-python"):
        score = made(folder, "trips", form, timeout="1s")
        fine = Score(form == "python", "" if form == "python" else "'fine' is what was not expected")
        assert score("fine", "x") == fine
        assert score(answer, "x") == Score(False, FAILED + says)
        assert score("fine", "x") == fine


def test_its_time_is_kept(folder: pathlib.Path) -> None:
    """Also inside a regular expression, where nothing in the same process could end it."""
    score = made(folder, "trips", timeout="300ms")
    score("fine", "x")
    began = time.monotonic()
    score("regex", "x")
    assert time.monotonic() - began < 30


def test_its_process_ends_with_the_comparison(folder: pathlib.Path) -> None:
    """What waited for it fails at once; a comparison that is run again gets a new one."""
    score = made(folder, "plain")
    score("a", "a")
    assert score.own is not None
    process = score.own.process
    assert process is not None
    score.own.close()
    assert process.process.poll() is not None
    assert score("a", "a") == Score(False, f"{FAILED}the comparison is over")
    score.own.open()
    assert score("a", "a") == Score(True)


@pytest.mark.parametrize(
    ("options", "option", "says"),
    [
        ({"function": "checks:plian"}, "function", "did you mean 'plain'?"),
        ({"function": "check:plain"}, "function", "no file check.py beside the YAML"),
        ({"function": "checks:table"}, "function", "is not a function"),
        ({"function": "checks:later"}, "function", "not `async`"),
        ({"function": "checks:plain", "timeout": "5"}, "timeout", "'5' is not a duration; write 5s"),
        ({"function": "checks:plain", "time": "5s"}, "time", "did you mean 'timeout'?"),
        ({}, None, "needs a function"),
    ],
)
def test_a_name_that_leads_to_no_function_is_a_fault(
    folder: pathlib.Path, options: dict[str, Any], option: str | None, says: str
) -> None:
    """Before anything runs, at its option."""
    with pytest.raises(ScoreFault) as caught:
        scorer("python", options, folder)
    assert caught.value.option == option
    assert says in str(caught.value)
