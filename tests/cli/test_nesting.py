"""JSON of a user that is nested without end: a clear message, or a text like any other, and no bug of ours."""

from __future__ import annotations

import json
import pathlib

import pytest

import loopworth
from tests.cli.kit import command

LEVELS = (150, 600, 2_000, 100_000)
"""What Python reads and nothing else takes, and what nothing takes."""
SAID = "nested too deeply: at most 100 levels"
ECHO = """
workflow: echo
shape: pipeline
input: {x: {json_schema: {}}}
steps: [{id: a, set: "{{ x }}"}]
answer: "{{ a }}"
"""
PAY = """
workflow: pay
shape: gated_loop
model: {name: scripted, replies: [{calls: [{tool: pay, arguments: {amount: [1]}}]}, done]}
prompt: Pay.
budget: {turns: 3}
tools: {pay: {python: "shop:pay", effect: write}}
gate: {pay: {choices: [approve, edit]}}
"""
SHOP = '''
def pay(amount: list) -> str:
    """Pay."""
    return "paid"
'''
COMMAND = "import sys\nprint(sys.argv[1] + '[' * {0} + ']' * {0} + sys.argv[2])\n"
ROW = '{"task": 1, "answer": 1, "seconds": 1}\n'


@pytest.fixture(params=LEVELS)
def nest(request: pytest.FixtureRequest, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "echo.yaml").write_text(ECHO, "utf-8")
    (tmp_path / "pay.yaml").write_text(PAY, "utf-8")
    (tmp_path / "shop.py").write_text(SHOP, "utf-8")
    (tmp_path / "says.py").write_text(COMMAND.format(request.param), "utf-8")
    return "[" * request.param + "]" * request.param


def comparison(folder: pathlib.Path, arm: str, tasks: str = '{"id": 1, "x": 1, "expected": "[1]"}\n') -> pathlib.Path:
    (folder / "tasks.jsonl").write_text(tasks, "utf-8")
    text = f"comparison: c\ntasks: tasks.jsonl\nscore: json\narms: {{a: {{{arm}}}}}\n"
    (folder / "c.yaml").write_text(text, "utf-8")
    return folder / "c.yaml"


def test_an_input_says_so(nest: str, tmp_path: pathlib.Path) -> None:
    """On the command line and in a file; one input alone is then a text."""
    (tmp_path / "input.json").write_text(f'{{"x": {nest}}}', "utf-8")
    for word in (f'{{"x": {nest}}}', "@input.json"):
        done = command("run", "echo.yaml", "--input", word)
        assert (done.exit_code, SAID in done.stderr) == (2, True)
    assert command("run", "echo.yaml", "-i", f"x={nest}").exit_code == 0


def test_an_input_of_a_program_is_an_end_of_its_run(nest: str, tmp_path: pathlib.Path) -> None:
    """`run` raises nothing for an input, and what is entered for later says it at once; nothing is kept of it."""
    deep: list[object] = []
    for _ in range(len(nest) // 2):
        deep = [deep]
    store = loopworth.Store(tmp_path / "runs.db")
    outcome = loopworth.run_sync("echo.yaml", {"x": deep}, store=store)
    assert (outcome.exit, SAID in outcome.note) == ("invalid_input", True)
    with pytest.raises(ValueError, match=SAID):
        loopworth.begin(store, "echo.yaml", {"x": deep})
    assert store.shelf().runs() == []
    store.close()


@pytest.mark.parametrize("column", ["x", "expected"])
def test_a_task_is_a_fault_at_its_line(nest: str, column: str, tmp_path: pathlib.Path) -> None:
    """Whatever the column."""
    task = json.dumps({"id": 1, "x": 1, "expected": 1} | {column: "NEST"}).replace('"NEST"', nest)
    done = command("compare", comparison(tmp_path, "workflow: echo.yaml", task))
    assert (done.exit_code, f"tasks.jsonl:1:1  is {SAID}" in done.stderr) == (2, True)


@pytest.mark.parametrize("before", ["", ROW])
@pytest.mark.parametrize("row", ['"answer": NEST', '"answer": 1, "calls": [{"tool": "a", "args": NEST, "result": 1}]'])
def test_a_row_of_a_log_is_a_fault_at_its_line(nest: str, before: str, row: str, tmp_path: pathlib.Path) -> None:
    """Of a run that was made elsewhere, first in its file or after others, and when it is diagnosed."""
    text = before + '{"task": 1, "seconds": 1, ' + row.replace("NEST", nest) + "}\n"
    (tmp_path / "log.jsonl").write_text(text, "utf-8")
    for words in (("compare", comparison(tmp_path, "log: log.jsonl")), ("diagnose", "log.jsonl")):
        done = command(*words)
        assert (done.exit_code, f"log.jsonl:{2 if before else 1}: " in done.stderr) == (2, True), done.stderr
        assert SAID in done.stderr


def test_a_recording_is_none_at_its_line(nest: str, tmp_path: pathlib.Path) -> None:
    """Whoever reads the file."""
    (tmp_path / "log.jsonl").write_text(f'{{"loopworth": 1, "x": {nest}}}\n', "utf-8")
    log = comparison(tmp_path, "log: log.jsonl")
    for words in (("compare", log), ("diagnose", "log.jsonl"), ("runs", "show", "log.jsonl")):
        done = command(*words)
        assert (done.exit_code, "log.jsonl:1: this line is no recording: " in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize("around", [("", ""), ('{"answer":', "}"), ('{"answer": 1, "calls":', "}")])
def test_what_a_command_writes_is_a_text(nest: str, around: tuple[str, str], tmp_path: pathlib.Path) -> None:
    """As all is that is no JSON: a wrong answer, and no bug."""
    words = json.dumps(["python", "says.py", *around])
    done = command("compare", comparison(tmp_path, f"command: {words}"), "--json")
    assert done.exit_code == 0, done.stderr
    [trial] = json.loads(done.stdout)["trials"]
    assert (trial["exit"], trial["right"], nest[:20] in trial["answer"]) == ("success", False, True)


def test_the_arguments_of_an_edit_are_refused(nest: str) -> None:
    """The call waits on."""
    assert command("run", "pay.yaml", "--durable").exit_code == 4
    [asked] = json.loads(command("inbox", "list", "--json").stdout)
    done = command("inbox", "edit", asked["name"], f'{{"amount": {nest}}}')
    assert (done.exit_code, SAID in done.stderr) == (2, True)
    assert len(json.loads(command("inbox", "list", "--json").stdout)) == 1
    done = command("attack", "pay.yaml", "--call", f'pay={{"amount": {nest}}}')
    assert (done.exit_code, SAID in done.stderr) == (2, True)
