"""Which tasks count: `where` over typed columns, then `limit`; what does not count need not be sound."""

from __future__ import annotations

import asyncio
import pathlib

import pytest

from loopworth.comparisons.comparison import load
from loopworth.comparisons.execution import compare
from loopworth.comparisons.language import load as load_files
from loopworth.comparisons.report import report
from loopworth.workflows.faults import WorkflowFault

ARM = "workflow: w\nshape: pipeline\ninput: {n: TYPE}\nsteps: [{id: s, set: '{{ n }}'}]\nanswer: '{{ s }}'\n"
ROWS = "id,n,lang,expected\n1,5,en,5\n2,x,de,\n3,12,en,12\n4,7,en,7\n5,8,en,9\n"


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "tasks.csv").write_text(ROWS, "utf-8")
    (tmp_path / "int.yaml").write_text(ARM.replace("TYPE", "int"), "utf-8")
    (tmp_path / "str.yaml").write_text(ARM.replace("TYPE", "str"), "utf-8")
    return tmp_path


def written(folder: pathlib.Path, tasks: str, more: str = "", arm: str = "int.yaml") -> pathlib.Path:
    path = folder / "c.yaml"
    path.write_text(f"comparison: c\ntasks: {tasks}\nscore: equals\narms: {{a: {{workflow: {arm}}}}}\n{more}", "utf-8")
    return path


def faults(path: pathlib.Path) -> list[str]:
    return [f"{pathlib.Path(f.file).name}:{f.line}:{f.column} {f.what}" for f in load_files(path).faults]


def test_where_sees_cells_as_the_types_of_the_inputs(folder: pathlib.Path) -> None:
    """`n` is a number because the arm takes one; `limit` counts what is left."""
    found = load(written(folder, "{file: tasks.csv, where: lang == 'en' and n > 6, limit: 2}"))
    assert [task.id for task in found.tasks] == ["3", "4"]
    tags = load(written(folder, "{file: tasks.csv, where: \"lang == 'en' and n | int > 6\"}", arm="str.yaml"))
    assert [task.id for task in tags.tasks] == ["3", "4", "5"]


def test_a_row_that_does_not_count_need_not_be_sound(folder: pathlib.Path) -> None:
    """Row 2 has neither a number nor an expected value, and `loopworth check` agrees with `compare`."""
    assert faults(written(folder, "{file: tasks.csv, where: lang == 'en'}")) == []
    assert faults(written(folder, "{file: tasks.csv, limit: 1}")) == []
    assert faults(written(folder, "tasks.csv")) == [
        "tasks.csv:3:1 task '2' has no field 'expected'",
        "tasks.csv:3:3 task '2' is no input of the arm 'a': n must be a whole number, got \"x\"",
    ]


def test_a_where_that_cannot_be_told_is_one_fault(folder: pathlib.Path) -> None:
    """At its place, or at the row on which it fails; rows it would have dropped are not faulty besides."""
    assert faults(written(folder, "{file: tasks.csv, where: lnag == 'en'}")) == [
        "c.yaml:2:33 `where` reads 'lnag', which is no column of the tasks"
    ]
    assert [fault.split()[0] for fault in faults(written(folder, "{file: tasks.csv, where: n > 1}"))] == [
        "tasks.csv:3:1"
    ]
    assert faults(written(folder, "{file: tasks.csv, where: lang == 'fr'}")) == [
        "c.yaml:2:33 `where` holds for none of the 5 tasks"
    ]


def test_what_is_run_is_what_was_chosen(folder: pathlib.Path) -> None:
    """The arm gets a number and answers with it; harm sees one too."""
    path = written(folder, "{file: tasks.csv, where: lang == 'en'}", "decide: {harm: task.n > 10, max_harm: 0.5}\n")
    result = asyncio.run(compare(load(path)))
    assert {trial.task: (trial.right, trial.harmful) for trial in result.trials} == {
        "1": (True, False),
        "3": (True, True),
        "4": (True, False),
        "5": (False, False),
    }


def test_a_score_that_fails_is_told_in_the_report(folder: pathlib.Path) -> None:
    """The row is wrong, the others are scored, and the scorer's file is one of the comparison's."""
    hangs = "    while answer == 12:\n        pass\n"
    (folder / "own.py").write_text(f"def score(answer, expected):\n{hangs}    return str(answer) == expected\n")
    path = written(folder, "{file: tasks.csv, where: lang == 'en'}")
    path.write_text(path.read_text().replace("equals", "{python: {function: 'own:score', timeout: 1s}}"))
    comparison = load(path)
    result = asyncio.run(compare(comparison))
    assert {trial.task: trial.right for trial in result.trials} == {"1": True, "3": False, "4": True, "5": False}
    said = "a: the score failed on 1 of 4 runs, which count as wrong: the score failed: own:score took longer than 1 s"
    assert said in report(result).warnings
    assert "own.py" in comparison.files


@pytest.mark.parametrize(
    ("score", "said"),
    [
        ("{python: 'own:scroe'}", "c.yaml:3:9 'own' has no 'scroe'"),
        ("{python: {function: 'own:scroe'}}", "c.yaml:3:18 'own' has no 'scroe'"),
        ("{python: {timeout: 5s}}", "c.yaml:3:9 'python' needs a function"),
        ("python", "c.yaml:3:8 'python' needs a function"),
        ("{regex: '[0-9]+'}", "c.yaml:3:16 'regex' takes a mapping of options"),
        ("{json: {paths: [total, a..b]}}", "c.yaml:3:16 paths: 'a..b' is not a path"),
    ],
)
def test_a_faulty_score_is_told_where_it_stands(folder: pathlib.Path, score: str, said: str) -> None:
    """Before anything runs."""
    (folder / "own.py").write_text("def score(answer, expected):\n    return True\n")
    path = written(folder, "{file: tasks.csv, where: lang == 'en'}")
    path.write_text(path.read_text().replace("score: equals", f"score: {score}"))
    [found] = faults(path)
    assert found.startswith(said)
    with pytest.raises(WorkflowFault):
        load(path)
