"""Arms that are not ours: a Python function, a command, a log of runs that were made."""

from __future__ import annotations

import json
import os
import pathlib
import stat
import time

import pytest

from tests.cli.kit import command, figures
from tests.cli.test_comparisons import doubles

FUNCTIONS = """\
import asyncio


def twice(n):
    return 2 * n


async def later(n):
    await asyncio.sleep(0)
    return {
        "answer": 2 * n,
        "usage": {"prompt_tokens": 10, "completion_tokens": 2, "usd": 0.01, "model_calls": 3},
        "calls": [{"tool": "look", "args": {"n": n}, "result": n}],
    }


def whole(task):
    return task["n"] * 2


def fails(n):
    raise ValueError("no idea")


def gives_up(n):
    return {"answer": None, "exit_reason": "turn_limit"}


def absurd(n):
    return {"answer": 2 * n, "usage": {"prompt_tokens": 10**25, "completion_tokens": 10**15, "usd": 1e308}}


def brief(n):
    return {"answer": "no", "calls": [{"tool": "look"}, "ask", {"tool": "hand", "args": {"n": n}, "result": "5"}]}


def needs(n, other):
    return other
"""
AGENT = """\
#!/bin/sh
read line
case "$line" in *'"n": 1}'*) sleep 60 & echo $! > child.txt; wait;; esac
case "$line" in *'"n": 2}'*) echo broken >&2; exit 3;; esac
echo '{"answer": 4, "usage": {"prompt_tokens": 5, "completion_tokens": 1}}'
"""
HEAD = """\
comparison: doubles
tasks: tasks.jsonl
score: {number: {tolerance: 0}}
arms:
  double: {workflow: double.yaml}
"""


@pytest.fixture(autouse=True)
def here(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def file(folder: pathlib.Path, arm: str, n: int = 6, more: str = "") -> pathlib.Path:
    """A comparison of the pipeline with one other arm."""
    made = doubles(folder, n, HEAD + f"  theirs: {arm}\n" + more)
    (folder / "app.py").write_text(FUNCTIONS, "utf-8")
    (folder / "agent").write_text(AGENT, "utf-8")
    (folder / "agent").chmod(stat.S_IRWXU)
    return made


def found(path: pathlib.Path, *words: object) -> dict[str, object]:
    done = command("compare", path, "--json", *words)
    assert done.exit_code == 0, done.output
    return dict(json.loads(done.stdout))


def theirs(result: dict[str, object]) -> dict[str, object]:
    return next(arm for arm in result["arms"] if arm["arm"] == "theirs")  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["twice", "later", "whole"])
def test_a_python_function_is_an_arm(tmp_path: pathlib.Path, name: str) -> None:
    """By the columns that it names, or with all of them as one dict; awaited or in a thread."""
    assert theirs(found(file(tmp_path, f'{{python: "app:{name}"}}')))["accuracy"]["right"] == 6  # type: ignore[index]


def test_a_cell_is_what_the_hints_of_a_function_say(tmp_path: pathlib.Path) -> None:
    """A text where a number is meant makes wrong answers that look like an arm's; what cannot be read is a fault."""
    (tmp_path / "app.py").write_text("def twice(n: int):\n    return 2 * n\n\n\nbare = lambda n: 2 * n\n", "utf-8")
    file = tmp_path / "c.yaml"
    file.write_text(
        "comparison: c\ntasks: tasks.csv\nscore: number\n"
        'arms: {hinted: {python: "app:twice"}, bare: {python: "app:bare"}}\n',
        "utf-8",
    )
    (tmp_path / "tasks.csv").write_text("n,expected\n1,2\n2,4\n", "utf-8")
    assert {arm["arm"]: arm["accuracy"]["right"] for arm in found(file)["arms"]} == {"hinted": 2, "bare": 2}
    file.write_text(file.read_text("utf-8").replace('hinted: {python: "app:twice"}, ', ""), "utf-8")
    assert {arm["arm"]: arm["accuracy"]["right"] for arm in found(file)["arms"]} == {"bare": 0}
    file.write_text(file.read_text("utf-8").replace("app:bare", "app:twice"), "utf-8")
    (tmp_path / "tasks.csv").write_text("n,expected\n1,2\nmany,4\n", "utf-8")
    output = command("check", file).output
    assert "tasks.csv:3:1  task '2' is no input of the arm 'bare': n must be a whole number" in output


def test_a_hint_says_nothing_of_a_column_that_the_function_is_not_given(tmp_path: pathlib.Path) -> None:
    """A tag of the name of a parameter that workflows do not take; and an empty cell will do for a default."""
    (tmp_path / "app.py").write_text("def twice(n: int, k: int = 0):\n    return 2 * n\n", "utf-8")
    (tmp_path / "w.yaml").write_text(
        'workflow: w\nshape: pipeline\ninput: {n: int}\nsteps: [{id: said, set: "{{ n }}"}]\nanswer: "{{ said }}"\n',
        "utf-8",
    )
    file = tmp_path / "c.yaml"
    text = 'comparison: c\ntasks: tasks.csv\nscore: number\narms: {theirs: {python: "app:twice"}}\n'
    file.write_text(text.replace("arms: {", "arms: {w: {workflow: w.yaml}, "), "utf-8")
    (tmp_path / "tasks.csv").write_text("n,k,expected\n1,many,2\n2,,4\n", "utf-8")
    assert command("check", file).exit_code == 0
    file.write_text(text, "utf-8")
    assert "tasks.csv:2:3  task '1' is no input of the arm 'theirs': k must be" in command("check", file).output
    (tmp_path / "tasks.csv").write_text("n,k,expected\n1,7,2\n2,,4\n", "utf-8")
    assert command("check", file).exit_code == 0


def test_what_a_program_does_not_tell_is_unknown(tmp_path: pathlib.Path) -> None:
    """Its cost is not 0, no verdict makes it so, and the verdict says it."""
    path = file(tmp_path, '{python: "app:twice"}', more="decide: {max_cost_ratio: 2}\n")
    result = found(path)
    assert (theirs(result)["usd"]["mean"], theirs(result)["billed"]) == (None, True)  # type: ignore[index]
    assert "What a run of theirs costs is unknown." in result["verdict"]["arms"][0]["words"]  # type: ignore[index]
    assert "unknown" in command("compare", path).stdout


def test_a_program_is_named_as_who_answered(tmp_path: pathlib.Path) -> None:
    """No report says `without a model` of what may well ask one."""
    result = found(file(tmp_path, '{python: "app:later"}'))
    assert "answered by theirs (python);" in str(result["words"])


def test_what_a_program_tells_is_counted(tmp_path: pathlib.Path) -> None:
    """Tokens, dollars, model calls and tool calls are those it gives."""
    arm = theirs(found(file(tmp_path, '{python: "app:later"}')))
    assert (arm["model_calls"], arm["tool_calls"]) == (3, 1)
    assert (arm["tokens"]["mean"], arm["usd"]["mean"]) == (12, pytest.approx(0.01))  # type: ignore[index]


def test_figures_that_can_be_none_are_unknown(tmp_path: pathlib.Path) -> None:
    """More tokens or dollars than anything can use are no figures, and no sum overflows for them."""
    arm = theirs(found(file(tmp_path, '{python: "app:absurd"}')))
    assert (arm["tokens"]["unknown"], arm["usd"]["unknown"]) == (6, 6)  # type: ignore[index]


def test_calls_that_are_told_without_arguments_are_reported(tmp_path: pathlib.Path) -> None:
    """Where the arms disagree the page has what was told, and no more."""
    found(file(tmp_path, '{python: "app:brief"}'), "--html", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "look" in page
    assert "{&#34;n&#34;: 1}\n5" in page


@pytest.mark.parametrize(
    ("name", "exit", "note"), [("fails", "step_failed", "no idea"), ("gives_up", "turn_limit", "")]
)
def test_a_program_that_fails_is_wrong(tmp_path: pathlib.Path, name: str, exit: str, note: str) -> None:
    """Under the reason that it gives, or with the error that it raised; it ends nothing else."""
    result = found(file(tmp_path, f'{{python: "app:{name}"}}'))
    assert theirs(result)["exits"] == {exit: 6}
    notes = [trial["note"] for trial in result["trials"] if trial["arm"] == "theirs"]  # type: ignore[attr-defined]
    assert all(note in one for one in notes)


def test_a_command_gets_json_and_is_killed_with_all_that_it_started(tmp_path: pathlib.Path) -> None:
    """At its time limit its process group is gone; a status that is not 0 is a failure with what it said last."""
    began = time.monotonic()
    result = found(file(tmp_path, "{command: [./agent], timeout: 1s}"))
    assert time.monotonic() - began < 30
    trials = {t["task"]: t for t in result["trials"] if t["arm"] == "theirs"}  # type: ignore[attr-defined]
    assert [trials[f"n{n}"]["exit"] for n in (1, 2, 3)] == ["time_limit", "step_failed", "success"]
    assert "broken" in trials["n2"]["note"]
    child = int((tmp_path / "child.txt").read_text("utf-8"))
    for _ in range(50):
        if not alive(child):
            break
        time.sleep(0.1)  # the kernel reaps it when it will
    assert not alive(child)


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return "Z" not in pathlib.Path(f"/proc/{process}/stat").read_text("utf-8").split(")")[1][:3]


def test_runs_of_a_log_are_taken_as_they_were(tmp_path: pathlib.Path) -> None:
    """An arm made of what `runs export` wrote calls nothing; the tasks that the log lacks are left out."""
    path = file(tmp_path, '{python: "app:later"}')
    command("compare", path)
    lines = command("runs", "export", "last").stdout
    assert lines
    (tmp_path / "october.jsonl").write_text(lines, "utf-8")
    (tmp_path / "app.py").write_text("raise SystemExit\n", "utf-8")
    again = doubles(tmp_path, 6, HEAD + "  theirs: {log: october.jsonl}\n")
    arm = theirs(found(again, "--no-store"))
    assert (arm["accuracy"]["right"], arm["model_calls"], arm["shape"]) == (6, 3, "log")  # type: ignore[index]
    more = found(doubles(tmp_path, 8, HEAD + "  theirs: {log: october.jsonl}\n"), "--no-store")
    assert more["verdict"]["arms"][0]["left_out"] == 2  # type: ignore[index]
    assert more["verdict"]["token"] == "undecided"  # type: ignore[index]


def test_runs_of_a_program_are_replayed_without_it(tmp_path: pathlib.Path) -> None:
    """The call is recorded like any effect: a replay tells the same and starts nothing."""
    path = file(tmp_path, "{command: [./agent], timeout: 1s}", 4)
    before = found(path)
    (tmp_path / "agent").unlink()
    after = found(path, "--replay", "last")
    assert figures(after["verdict"]) == figures(before["verdict"])


@pytest.mark.parametrize(
    ("arm", "said"),
    [
        ('{python: "app:twise"}', "did you mean 'twice'?"),
        ('{python: "app:needs"}', "needs 'other', which is no input"),
        ("{command: []}", "`command` is empty"),
        ("{command: [no_such_program]}", "there is no program 'no_such_program' on the PATH"),
        ("{command: [agent, --json]}", "there is no program 'agent' on the PATH\n    did you mean './agent'?"),
        ("{command: [./agemt]}", "did you mean"),
        ("{command: [./app.py]}", "'./app.py' may not be executed"),
        ("{log: september.jsonl}", "there is no file"),
        (
            "{log: tasks.jsonl}",
            "there is no `task`: write `id` as `task`; a log is what `loopworth runs export` writes, or such lines: {",
        ),
        ("{workflow: double.yaml, timeout: 3s}", "`timeout` belongs to"),
    ],
)
def test_a_program_that_is_not_there_is_a_fault_at_its_place(tmp_path: pathlib.Path, arm: str, said: str) -> None:
    """Before anything runs, with the line of the comparison."""
    done = command("check", file(tmp_path, arm))
    assert done.exit_code == 2
    assert "comparison.yaml:6:" in done.stderr + done.stdout
    assert said in done.stderr + done.stdout
    refused = command("compare", tmp_path / "comparison.yaml")
    assert (refused.exit_code, said in refused.stderr) == (2, True)


ODD = """\
import time


def fails(n):
    raise ValueError("no idea")


def late(n):
    time.sleep(5)


def calls(n):
    return {"answer": 2 * n, "calls": 3}


def cancelled(n):
    return {"answer": 2 * n, "exit_reason": "cancelled"}


def broken(n):
    return {"answer": 2 * n, "exit_reason": ["harness_error"]}
"""


@pytest.mark.parametrize(
    ("name", "exit", "note"),
    [
        ("fails", "step_failed", "ValueError: no idea"),
        ("late", "time_limit", "within 0.2 s"),
        ("calls", "step_failed", "its `calls` are 3: say a list of {tool, args, result, status}"),
        ("cancelled", "step_failed", "'cancelled', which is no exit reason of a program"),
        ("broken", "step_failed", "['harness_error'], which is no exit reason of a program"),
    ],
)
def test_what_a_failed_program_used_is_unknown(tmp_path: pathlib.Path, name: str, exit: str, note: str) -> None:
    """It ends for a reason of its own, in words; what it spent before it failed, it did not say, and that is not 0."""
    path = file(tmp_path, f'{{python: "odd:{name}", timeout: 200ms}}', 2)
    (tmp_path / "odd.py").write_text(ODD, "utf-8")
    said = found(path)
    trials = [trial for trial in said["trials"] if trial["arm"] == "theirs"]  # type: ignore[attr-defined]
    assert [(trial["exit"], trial["usage"]["usd"]) for trial in trials] == [(exit, None)] * 2
    assert all(note in trial["note"] for trial in trials)
    assert "What a run of theirs costs is unknown." in json.dumps(said["verdict"])


def test_no_more_than_a_command_may_write_is_read(tmp_path: pathlib.Path) -> None:
    """One that writes on and on is killed then, and not at its time limit; what it complains of is no matter."""
    path = file(tmp_path, "{command: [sh, -c, 'yes | head -c 300000000; yes >&2'], timeout: 60s}", 1)
    began = time.monotonic()
    [trial] = [one for one in found(path)["trials"] if one["arm"] == "theirs"]  # type: ignore[attr-defined]
    assert (trial["exit"], "wrote more than 16 MiB" in trial["note"]) == ("step_failed", True)
    assert time.monotonic() - began < 30


@pytest.mark.parametrize(
    "script", ["setsid sleep 20 & sleep 20", "yes | head -c 15000000; yes | head -c 900000; sleep 20"]
)
def test_the_time_limit_of_a_command_holds(tmp_path: pathlib.Path, script: str) -> None:
    """Also where a child that got away holds its output open, or more was written than is read yet."""
    path = file(tmp_path, f"{{command: [sh, -c, '{script}'], timeout: 500ms}}", 1)
    began = time.monotonic()
    [trial] = [one for one in found(path)["trials"] if one["arm"] == "theirs"]  # type: ignore[attr-defined]
    assert trial["exit"] == "time_limit"
    assert time.monotonic() - began < 10
