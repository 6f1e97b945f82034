"""The handed cases of kind judge: what a judge's words come to, and what those of the tested model do not."""

import asyncio
import json
import pathlib

import pytest
from ruamel.yaml import YAML

from loopworth.comparisons import export, table
from loopworth.comparisons.agreement import Label
from loopworth.comparisons.comparison import Comparison
from loopworth.comparisons.execution import compare
from loopworth.comparisons.judge import Judge
from loopworth.comparisons.tasks import Task
from loopworth.models import ModelSpec
from tests.comparisons.contenders import Endpoint, Says, arm

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("judge.yaml").read_text("utf-8"))["cases"]
REFEREE = ModelSpec("vllm/referee")


def compared(answer, judge_text):
    """One task; the judge says the same of everything. The result, and what the judge was sent."""
    referee = Endpoint(lambda _, __: judge_text)
    judge = Judge(REFEREE, labels=(Label("a", "b", False),))
    arms = (arm("one", Says(lambda _: answer)), arm("two", Says(lambda _: answer)))
    task = Task("1", {"question": "What is 6 * 7?"}, "42")
    made = Comparison("c", "c.yaml", arms, (task,), judge)
    return asyncio.run(compare(made, open=lambda _: referee)), referee.asked


def fails(given):
    """In each order; and the answer stands in one text of the JSON that the judge is sent, and nowhere else."""
    result, asked = compared(given["answer_under_test"], given["judge_text"])
    assert [(trial.right, trial.remark) for trial in result.final] == [(False, "the judge: The answer is off.")] * 2
    sent = [request for request in asked if "6 * 7" in request.messages[1]["content"]]
    assert len(sent) == 4
    for request in sent:
        system, user = request.messages
        assert json.loads(user["content"])["answer"] == given["answer_under_test"]
        assert "VERDICT" not in system["content"]


def is_counted_apart(given):
    """No failed test: not scored, under a name of its own in the figures, and in a warning."""
    result, _ = compared("42", given["judge_text"])
    assert [(trial.exit, trial.right) for trial in result.final] == [("success", None)] * 2
    found = export.document(result)
    assert [(one["accuracy"]["runs"], one["apart"]) for one in found["arms"]] == [(0, {"judge_error": 1})] * 2
    assert (found["judge"]["unjudged"], found["judge"]["agreement"]["unjudged"]) == (2, 1)
    assert any("judge_error" in warning for warning in found["warnings"])
    assert "judge_error 1" in dict(table.rows(table.report(result).arms))["counted apart"]


EXPECTED = {
    "Verdict fail: what the tested model wrote cannot count as a verdict.": fails,
    "The row is a judge error, not a failed test; it is counted and shown apart.": is_counted_apart,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_judge(case):
    """What a judge says, and every line of what must come of it."""
    for line in case["expect"]:
        EXPECTED[line](case["given"])
