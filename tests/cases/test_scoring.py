"""The handed cases of kind scoring: what is right under which score, by which option."""

import pathlib
import time

import pytest
from ruamel.yaml import YAML

from loopworth.comparisons.comparison import Comparison
from loopworth.comparisons.named_scores import scorer
from loopworth.comparisons.tasks import Task
from tests.comparisons.contenders import Says, arm, compared

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("scoring.yaml").read_text("utf-8"))["cases"]
PAGE = " ".join((pathlib.Path(__file__).parents[2] / "docs" / "scores.md").read_text("utf-8").split())
TEXTUAL = ("equals", "contains", "icontains", "number", "json", "set")


def right(name, answer, target, **options):
    return scorer(name, options)(answer, target).right


def is_a_number_by_options(given):
    """Separators and currency are accepted unless an option refuses them; as texts all are wrong."""
    assert all(right("number", answer, given["target"]) for answer in given["answers"])
    assert not any(right("equals", answer, given["target"]) for answer in given["answers"])
    strict = {"thousands": "refuse", "currency": "refuse"}
    assert [a for a in given["answers"] if right("number", a, given["target"], **strict)] == ["1234.0"]
    assert "`thousands`" in PAGE
    assert "`currency`" in PAGE


def is_wrong(given):
    """Under every score that looks at texts or numbers."""
    assert not any(right(name, given["answer"], given["target"]) for name in TEXTUAL)


def is_a_percentage_by_an_option(given):
    """60% is right always; one option says whether 60 is, or 0.6."""
    found = {
        option: [answer for answer in given["answers"] if right("number", answer, given["target"], percent=option)]
        for option in ("strict", "number", "fraction")
    }
    assert found == {"strict": ["60%"], "number": ["60%", "60"], "fraction": ["60%", "0.6"]}
    assert "`percent`" in PAGE


def is_found_on_the_last_line(given):
    """Not the 9, nor the 4."""
    assert right("number", given["answer"], given["target"])
    assert not any(right("number", given["answer"], other) for other in ("9", "4", "94"))


def is_equal_by_case_and_space(given):
    """Exactly, all are wrong; the last is wrong whatever is ignored."""
    loose = {"case": "ignore", "space": "ignore"}
    *three, last = given["answers"]
    assert all(right("equals", answer, given["target"], **loose) for answer in three)
    assert not any(right("equals", answer, given["target"]) for answer in given["answers"])
    assert not right("equals", last, given["target"], **loose)


def is_a_date_by_its_order(given):
    """A name of a month says which is which; a number does not."""
    named, numbered = given["answers"]
    assert not any(right("equals", answer, given["target"]) for answer in given["answers"])
    assert right("date", named, given["target"])
    assert not right("date", numbered, given["target"])
    assert right("date", numbered, given["target"], order="day_first")
    assert not right("date", numbered, given["target"], order="month_first")


def is_not_worked_out(given):
    """Wrong within a second; in a comparison the row after them is scored, and right."""
    began = time.process_time()
    for answer in given["answers"]:
        assert not any(right(name, answer, given["target"]) for name in TEXTUAL if "contains" not in name)
    assert time.process_time() - began < 1
    rows = [*given["answers"], given["target"]]
    tasks = tuple(Task(str(n), {"question": row}, given["target"]) for n, row in enumerate(rows))
    for name in (name for name in TEXTUAL if "contains" not in name):
        found = compared(Comparison("c", "c.yaml", (arm("a", Says(str)),), tasks, scorer(name)))
        assert [trial.task for trial in found.final if trial.right] == [tasks[-1].id]
        assert len(found.final) == len(rows)


def is_no_number(given):
    """As texts, and as values."""
    for pair in (given, given["also"]):
        assert not any(right(name, pair["answer"], pair["target"]) for name in TEXTUAL)
    assert not any(right(name, True, "1") or right(name, "true", 1) or right(name, 1, True) for name in TEXTUAL)


EXPECTED = {
    "Right under the numeric scorer by documented options; under exact text all wrong.": is_a_number_by_options,
    "Wrong.": is_wrong,
    "60% is right; whether 60 and 0.6 are is set by an option and documented.": is_a_percentage_by_an_option,
    "Right: the number on the last line is found.": is_found_on_the_last_line,
    "The first three by the options case and space; the last is wrong under exact.": is_equal_by_case_and_space,
    "The exact scorer says wrong; a date scorer accepts the first; the second only with a stated day order.": (
        is_a_date_by_its_order
    ),
    "Wrong or scorer error for that row within a second; the other rows are scored.": is_not_worked_out,
    "Both wrong: a truth value is not the number 1.": is_no_number,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_scoring(case):
    """What a model may answer, and every line of what must come of it."""
    for line in case["expect"]:
        EXPECTED[line](case["given"])
