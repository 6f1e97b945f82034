"""The handed cases of kind export: what a comparison's answers are in JSON, and in CSV for a spreadsheet."""

import csv
import json
import pathlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from loopworth.comparisons.pages.csv import FORMULA, cell
from tests.cli.kit import command

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("export.yaml"))["cases"]
ARM = 'workflow: w\nshape: pipeline\ninput: {said: ANY}\nsteps: [{id: same, set: "{{ said }}"}]\nanswer: "{{ same }}"\n'
COMPARISON = "{comparison: c, tasks: tasks.jsonl, score: equals, arms: {one: {workflow: one.yaml}}}"


def exported(folder: pathlib.Path, said: Any) -> tuple[Any, str]:
    """The answer of one run that gave this back: in the JSON, and in the CSV."""
    kind = "str" if isinstance(said, str) else "float"
    (folder / "one.yaml").write_text(ARM.replace("ANY", kind), "utf-8")
    (folder / "tasks.jsonl").write_text(json.dumps({"id": "t", "said": said, "expected": said}) + "\n", "utf-8")
    (folder / "comparison.yaml").write_text(COMPARISON, "utf-8")
    done = command("compare", folder / "comparison.yaml", "--json")
    assert done.exit_code == 0, done.output
    assert command("report", "--csv", folder / "trials.csv").exit_code == 0
    with (folder / "trials.csv").open(encoding="utf-8", newline="") as file:
        [row] = csv.DictReader(file)
    return json.loads(done.stdout)["trials"][0]["answer"], row["answer"]


def numbers_stay(given: dict[str, Any], folder: pathlib.Path) -> None:
    """A number is one in both; a text that is one is the same text, without a mark before it."""
    for score in given["scores"]:
        as_json, as_csv = exported(folder, score)
        assert (as_json, type(as_json)) == (score, type(score))
        assert as_csv == str(score)


EXPECTED = {"Numbers stay numbers.": numbers_stay}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_export(case: dict[str, Any], tmp_path: pathlib.Path) -> None:
    """What a run gave, and every line of what must become of it."""
    for line in case["expect"]:
        EXPECTED[line](case["given"], tmp_path)


@pytest.mark.parametrize(
    "said", ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "  =1", "%0", "\uff1d1", "-1_0"]
)
def test_no_text_is_a_formula(said: str, tmp_path: pathlib.Path) -> None:
    """A spreadsheet shows it; in the JSON it is as it was."""
    as_json, as_csv = exported(tmp_path, said)
    assert as_json == said
    assert not as_csv.lstrip().startswith(FORMULA)


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers())
def test_a_number_is_never_marked(number: float) -> None:
    """Nor is its text."""
    assert (cell(number), cell(str(number))) == (number, str(number))
