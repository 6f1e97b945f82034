"""The handed cases of kind stats: what a figure says where there is little, nothing, or something broken."""

from __future__ import annotations

import io
import json
import math
import pathlib
import warnings
from typing import Any

import pytest
from rich.console import Console
from ruamel.yaml import YAML

from loopworth.comparisons.export import to_json
from loopworth.comparisons.intervals import wilson
from loopworth.comparisons.named_scores import scorer
from loopworth.comparisons.paired_test import mcnemar_exact, mcnemar_midp
from loopworth.comparisons.report import report
from loopworth.comparisons.result import Result
from loopworth.comparisons.table import render
from loopworth.runs.effects import Effects
from loopworth.runs.outcome import Failed, Outcome
from tests.comparisons.contenders import Says, arm, compared, comparison

FILE = pathlib.Path(__file__).with_name("stats.yaml")
CASES = {case["id"]: case for case in YAML(typ="safe").load(FILE.read_text("utf-8"))["cases"]}


class Rows:
    """Right on the first rows, wrong on the next, and a step that fails on the rest."""

    def __init__(self, right: int, wrong: int) -> None:
        self.right, self.wrong = right, wrong

    async def run(self, input: dict[str, Any], fx: Effects) -> Outcome:
        row = int(input["question"])
        if row > self.right + self.wrong:
            raise Failed("step 'parsed': no JSON in it")
        return Outcome(str(row) if row <= self.right else "no")


def shown(result: Result) -> str:
    console = Console(width=160, record=True, file=io.StringIO())
    console.print(render(result))
    return " ".join(console.export_text().split())


def one_arm(rows: int, right: int, wrong: int) -> Result:
    return compared(comparison([arm("rows", Rows(right, wrong))], rows))


def errors_count_as_not_right_and_both_figures_have_names(given: Any, expect: list[str]) -> None:
    """Shows 36 of 50 and 36 of 45 with names; the headline figure is the one with errors counted as not right, or the
    choice is stated."""
    assert len(expect) == 1
    result = one_arm(given["rows"], given["right"], given["wrong"])
    text, answered = shown(result), given["rows"] - given["errors"]
    assert f"right {given['right']}/{given['rows']} 72 %" in text
    assert f"right of answered {given['right']}/{answered}" in text
    found = json.loads(to_json(result))["arms"][0]
    assert (found["accuracy"]["share"], found["answered"]) == (given["right"] / given["rows"], answered)


def no_score_is_n_0(given: Any, expect: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    """n = 0 and no mean; not 0 and not NaN; no warnings on the console."""
    assert (len(expect), given["scores"]) == (1, [])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = compared(comparison([arm("a", Says(str)), arm("b", Says(str))], 0))
        text = shown(result)
        accuracy = report(result).arms[0].figures.accuracy
    assert (accuracy.n, accuracy.share, accuracy.interval) == (0, None, None)
    assert "n = 0" in text
    assert "nan" not in text.lower()
    assert b"NaN" not in to_json(result)
    assert capfd.readouterr() == ("", "")


def nothing_right_is_less_sure_of_few(given: Any, expect: list[str]) -> None:
    """The interval is wider for 25 than for 5000; neither is plus or minus 0."""
    assert len(expect) == 1
    few, many = (wilson(one["right"], one["n"]) for one in (given, given["also"]))
    assert few is not None
    assert many is not None
    assert few[1] - few[0] > many[1] - many[0] > 0
    shown_few, shown_many = (shown(one_arm(n, 0, n)) for n in (25, 250))
    assert "0.0-13.3" in shown_few
    assert "0.0-1.5" in shown_many


def ties_alone_are_no_difference(given: Any, expect: list[str]) -> None:
    """No difference, p = 1 or not defined with words; no NaN and no crash."""
    assert len(expect) == 1
    n = int(given["pairs"].split()[0])
    result = compared(comparison([arm("a", Says(str)), arm("b", Says(str))], n))
    assert result.verdict is not None
    one = result.verdict.arms[0]
    assert (one.n, one.b, one.c, one.difference) == (n, 0, 0, 0.0)
    assert "did equally well on every one" in one.words
    assert (mcnemar_exact(0, 0), mcnemar_midp(0, 0)) == (1.0, 1.0)
    assert one.interval is not None
    assert not any(map(math.isnan, one.interval))
    assert "nan" not in shown(result).lower()


def nothing_called_where_nothing_was_expected_is_right(given: Any, expect: list[str]) -> None:
    """Score 1; no division by zero."""
    assert len(expect) == 1
    assert scorer("set")(given["called_tools"], given["expected_tools"]).right
    assert scorer("json")(given["called_tools"], given["expected_tools"]).right


def failed_rows_are_one_thing_everywhere(given: Any, expect: list[str]) -> None:
    """Log and headline figure treat the three alike."""
    assert len(expect) == 1
    failed = int(given["event"].split()[0])
    result = one_arm(10, 10 - failed, 0)
    found = json.loads(to_json(result))
    of_log = [trial for trial in found["trials"] if trial["exit"] == "step_failed"]
    assert [trial["right"] for trial in of_log] == [False] * failed
    assert found["arms"][0]["accuracy"]["right"] == 10 - failed
    assert found["arms"][0]["accuracy"]["runs"] == 10
    assert [(end["runs"], end["wrong"]) for end in found["ends"] if end["exit"] == "step_failed"] == [(failed, failed)]
    assert found["arms"][0]["exits"]["step_failed"] == failed


TESTS = {
    "SX-01": errors_count_as_not_right_and_both_figures_have_names,
    "SX-03": no_score_is_n_0,
    "SX-05": nothing_right_is_less_sure_of_few,
    "SX-07": ties_alone_are_no_difference,
    "SX-09": nothing_called_where_nothing_was_expected_is_right,
    "SX-11": failed_rows_are_one_thing_everywhere,
}


@pytest.mark.parametrize("id", CASES)
def test_stats(id: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Every line of the case's `expect` holds."""
    case = CASES[id]
    more = {"capfd": capfd} if id == "SX-03" else {}
    TESTS[id](case["given"], case["expect"], **more)
