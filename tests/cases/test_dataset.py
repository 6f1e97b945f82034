"""The handed cases of kind dataset: a task file is read as it was meant, or is faulty at its line."""

import json
import os
import pathlib
import subprocess
import sys

import pytest
from ruamel.yaml import YAML

from loopworth.comparisons.tasks import read
from loopworth.workflows.faults import WorkflowFault

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("dataset.yaml").read_text("utf-8"))["cases"]


def compared(folder, *options):
    """A comparison of one arm, which asks a model with the template of the case, on the folder's tasks."""
    asked = (
        'import pathlib\n\ndef note() -> str:\n    """Note it."""\n    pathlib.Path("called").touch()\n    return "x"\n'
    )
    (folder / "asked.py").write_text(asked, "utf-8")
    (folder / "arm.yaml").write_text(
        "workflow: arm\nshape: pipeline\ninput: {question: str}\n"
        'tools: {note: {python: "asked:note", effect: read}}\nmodel: {name: scripted, replies: [fine]}\n'
        'steps:\n  - {id: noted, call: note}\n  - {id: said, ask: "{{ question }}"}\nanswer: "{{ said }}"\n',
        "utf-8",
    )
    (folder / "c.yaml").write_text(
        "comparison: c\ntasks: tasks.jsonl\nscore: equals\narms: {a: {workflow: arm.yaml}}\n", "utf-8"
    )
    command = [sys.executable, "-m", "loopworth", "compare", "c.yaml", *options]
    environ = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}
    return subprocess.run(command, cwd=folder, env=environ, capture_output=True, encoding="utf-8", timeout=120)


def has_an_id(given, folder):
    """The column is `id`, not `\\ufeffid`."""
    header = given["file"].partition("header ")[2]
    (folder / "t.csv").write_text(f"{header}\n7,a\n", "utf-8-sig")
    [task] = read(folder / "t.csv")
    assert (task.id, task.fields) == ("7", {"question": "a"})


def is_faulty_before_any_call(given, folder):
    """At line 2, with the field's name; nothing is called and nothing is asked with an empty prompt."""
    (folder / "tasks.jsonl").write_text(given["jsonl"], "utf-8")
    done = compared(folder)
    assert done.returncode == 2
    assert "tasks.jsonl:2:1  task '2' has no field 'question'" in done.stdout + done.stderr
    assert not (folder / "called").exists()


def is_one_id(given, folder):
    """By the documented rule that ids are texts: a duplicate, in every format."""
    (folder / "t.jsonl").write_text(given["jsonl"], "utf-8")
    (folder / "t.yaml").write_text("".join(f"- {line}\n" for line in given["jsonl"].splitlines()), "utf-8")
    for name in ("t.jsonl", "t.yaml"):
        with pytest.raises(WorkflowFault) as caught:
            read(folder / name)
        [fault] = caught.value.faults
        assert (fault.line, fault.what) == (2, "the id '1' is taken by line 1")
    page = (pathlib.Path(__file__).parents[2] / "docs" / "tasks.md").read_text("utf-8")
    assert '`1` and `"1"` are one id' in " ".join(page.split())


def is_not_there(given, folder):
    """Status 2, the id that is not there, and no table; an id that is there runs alone."""
    wanted = given["command"].rpartition(" ")[2]
    first, last = (int(word) for word in given["dataset"].removeprefix("ids ").split(" to "))
    rows = [json.dumps({"id": n, "question": "q", "expected": "fine"}) for n in range(first, last + 1)]
    (folder / "tasks.jsonl").write_text("\n".join(rows), "utf-8")
    done = compared(folder, "--task", wanted)
    assert done.returncode == 2
    assert f"there is no task '{wanted}'" in done.stderr
    assert (done.stdout, (folder / "called").exists()) == ("", False)
    assert compared(folder, "--task", str(last)).returncode == 0


def has_two_clean_rows(given, folder):
    """No mark before the first key, no CR after the last value."""
    assert given["file"] == "JSONL saved with a BOM and CRLF line ends; two rows"
    text = '{"id": "a", "question": "x"}\r\n{"id": "b", "question": "y"}\r\n'
    (folder / "t.jsonl").write_bytes(text.encode("utf-8-sig"))
    assert [(task.id, task.fields) for task in read(folder / "t.jsonl")] == [
        ("a", {"question": "x"}),
        ("b", {"question": "y"}),
    ]


EXPECTED = {
    "The column id is found.": has_an_id,
    "Error naming line 2 and the field question before any model call, or the row is listed as an error; never "
    "an empty prompt.": is_faulty_before_any_call,
    "Treated as the same id by a documented rule or kept apart everywhere; never half and half.": is_one_id,
    "Error that 99 is not in the set; exit status not 0; no empty report.": is_not_there,
    "Two rows; no BOM in the first key, no CR at the end of the last value.": has_two_clean_rows,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_dataset(case, tmp_path):
    """What a task file may be, and every line of what must come of it."""
    for line in case["expect"]:
        EXPECTED[line](case["given"], tmp_path)
