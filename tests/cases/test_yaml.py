"""The handed cases of kind yaml: a file means what its author wrote, or says at which line it cannot."""

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
from ruamel.yaml import YAML

from loopworth import check, run_sync
from loopworth.workflows.document import parse, plain
from loopworth.workflows.load import load

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("yaml.yaml").read_text("utf-8"))["cases"]
GIVEN = {case["id"]: case["given"] for case in CASES}


def workflow(folder, scalar, model="{name: scripted, replies: [fine]}"):
    """A workflow whose step hands a scalar to another one that asks a model about it."""
    path = folder / "w.yaml"
    path.write_text(
        f"workflow: w\nshape: pipeline\nmodel: {model}\nsteps:\n  - id: given\n    set: {scalar}\n"
        f'  - {{id: said, ask: "It is {{{{ given }}}}."}}\nanswer: "{{{{ given }}}}"\n',
        "utf-8",
    )
    return path


def reported(folder, text):
    """Line, column and words of each fault of a file."""
    path = folder / "w.yaml"
    path.write_text(text, "utf-8")
    return [(fault.line, fault.column, f"{fault.what}; {fault.instead}") for fault in check(path)]


def scalar_of(snippet):
    return snippet.strip().splitlines()[-1].partition(": ")[2]


def a_step_gets_the_text_no(snippet, folder):
    """The step's value, and what the model reads, is the text; never false."""
    outcome = run_sync(workflow(folder, scalar_of(snippet)), {})
    assert (outcome.answer, outcome.transcript[0].message["content"]) == ("no", "It is no.")
    assert parse(snippet, "f").value == {"inputs": {"country": "no"}}


def labels_are_texts(snippet, folder):
    """Three labels of a `choose`, and its value is one of them."""
    labels = snippet.split("labels: ")[1].strip()
    path = workflow(folder, "1", "{name: scripted, replies: ['no']}")
    text = path.read_text("utf-8").replace('ask: "It is {{ given }}."', f"choose: Which?, from: {labels}")
    path.write_text(text.replace('answer: "{{ given }}"', 'answer: "{{ said }}"'), "utf-8")
    assert load(path).sound().main.steps[1].from_ == ["yes", "no", "maybe"]
    assert run_sync(path, {}).answer == "no"


def a_date_stays_as_it_was_written(snippet, folder):
    """In the prompt, in the transcript, and in JSON."""
    outcome = run_sync(workflow(folder, scalar_of(snippet)), {})
    assert outcome.transcript[0].message["content"] == "It is 2024-01-05."
    assert json.loads(json.dumps(outcome.answer)) == "2024-01-05"
    done = loopworth(folder, "run", folder / "w.yaml", "--json")
    assert json.loads(done.stdout)["answer"] == "2024-01-05"


def a_time_is_no_number_of_seconds(snippet, folder):
    """The text as written."""
    assert run_sync(workflow(folder, scalar_of(snippet)), {}).answer == "12:30:45"


def a_merge_is_no_duplicate(snippet, folder):
    """Own keys win, and the duplicate check does not fire; it does for a key that is really written twice."""
    snippet = f"x-{snippet}"
    document = parse(snippet, "f")
    assert (plain(document.value), document.faults) == ({"model": {"temperature": 1}}, [])
    rest = "  name: ollama/m\nworkflow: w\nshape: pipeline\nsteps: [{ask: hi}]\nanswer: 1\n"
    assert reported(folder, snippet + rest) == []
    assert load(folder / "w.yaml").main.model.temperature == 1
    assert [words for _, _, words in reported(folder, snippet + "  temperature: 2\n" + rest)] == [
        "the key 'temperature' is written twice; the first is in line 4"
    ]


def tabs_are_not_allowed(snippet, folder):
    """The words, the line and the column."""
    [(line, column, words)] = reported(folder, snippet)
    assert (line, column) == (2, 1)
    assert "tabs are not allowed" in words


def a_key_on_is_on(snippet, folder):
    """An unknown key is told as it was written."""
    found = [words for line, _, words in reported(folder, snippet) if line == 1]
    assert any("unknown key 'on'" in words for words in found)
    assert not any("True" in words for words in found)


def braces_without_a_space_are_an_error(snippet, folder):
    """At line 1, and no odd number comes of it."""
    assert (1, 14, "the text inside { } is cut short here; inside { } quote it, or use one line per key") in reported(
        folder, snippet
    )
    assert "62" not in repr(parse(snippet, "f").value)


def utf8_is_read_and_written_whatever_the_default(snippet, folder):
    """The signs in a comment and in a prompt; stdout is UTF-8, and no file is opened in the default encoding."""
    signs = re.findall(r"[^\x00-\x7f]", snippet)
    text = "".join(signs)
    path = workflow(folder, f"'{text}' # {text}", f"{{name: scripted, replies: ['{text}']}}")
    assert parse(path.read_text("utf-8"), "f").value["steps"][0]["set"] == text
    done = loopworth(folder, "run", path, "--transcript", encoding=GIVEN["YA-17"]["system"].split()[-1])
    assert (done.returncode, done.stderr) == (0, b"")
    assert f"It is {text}." in done.stdout.decode("utf-8")
    written = json.loads(loopworth(folder, "run", path, "--json", encoding="cp1252").stdout.decode("utf-8"))
    assert f"It is {text}." in json.dumps(written["transcript"], ensure_ascii=False)
    reported_in_utf8(path, text, folder)


def reported_in_utf8(path, text, folder):
    """The page and the Markdown of a comparison of it."""
    (folder / "tasks.jsonl").write_text('{"id": "t", "expected": "x"}\n', "utf-8")
    comparison = folder / "comparison.yaml"
    arms = f"{{a: {{workflow: {path.name}}}}}"
    comparison.write_text(f"{{comparison: c, tasks: tasks.jsonl, score: equals, arms: {arms}}}", "utf-8")
    pages = ("--html", "r.html", "--markdown", "r.md")
    done = loopworth(folder, "compare", comparison, *pages, encoding="cp1252")
    assert done.returncode == 0, done.stderr
    assert f"<bdi>{text}</bdi>" in (folder / "r.html").read_text("utf-8")
    assert "**Verdict" in (folder / "r.md").read_text("utf-8")


def a_python_tag_is_refused(snippet, folder):
    """With its line, and nothing is imported or called."""
    sign = folder / "called"
    harmful = snippet.replace("name:os.system ''", f"object/apply:os.mkdir ['{sign}']")
    assert harmful != snippet
    for text in (snippet, harmful):
        [(line, column, words)] = [found for found in reported(folder, text) if "tags" in found[2]]
        assert (line, column) == (1, 4)
        assert "tags are not allowed: !!python/" in words
    assert not sign.exists()


def loopworth(folder, *arguments, encoding="utf-8"):
    """The command line, in a process whose default encoding is another one; reading in it is an error."""
    python = [sys.executable, "-X", "warn_default_encoding", "-W", "error::EncodingWarning"]
    environ = {**os.environ, "PYTHONUTF8": "0", "PYTHONIOENCODING": encoding, "COLUMNS": "200"}
    command = [*python, "-m", "loopworth", *map(str, arguments)]
    return subprocess.run(command, cwd=folder, env=environ, capture_output=True, timeout=60, check=False)


HOLDS = {
    "YA-01": a_step_gets_the_text_no,
    "YA-03": labels_are_texts,
    "YA-05": a_date_stays_as_it_was_written,
    "YA-07": a_time_is_no_number_of_seconds,
    "YA-09": a_merge_is_no_duplicate,
    "YA-11": tabs_are_not_allowed,
    "YA-13": a_key_on_is_on,
    "YA-15": braces_without_a_space_are_an_error,
    "YA-17": utf8_is_read_and_written_whatever_the_default,
    "YA-19": a_python_tag_is_refused,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_case(case, tmp_path):
    """The one line of `expect` holds of what is given."""
    assert len(case["expect"]) == 1
    HOLDS[case["id"]](case["given"]["workflow_yaml"], tmp_path)
