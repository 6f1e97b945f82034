"""An arm whose runs were made before."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import pathlib

import pytest
from msgspec import structs
from rich.console import Console

import loopworth
from loopworth.comparisons import retelling
from loopworth.comparisons.arms import Control
from loopworth.comparisons.comparison import load
from loopworth.comparisons.execution import compare
from loopworth.comparisons.logged import log, of_control
from loopworth.comparisons.pages import tables
from loopworth.comparisons.report import report
from loopworth.runs.kept import Kept
from loopworth.runs.outcome import Outcome
from loopworth.runs.recording import Recording, RecordingFault, line
from loopworth.runs.usage import Usage
from tests.comparisons.contenders import tasks


def trial(n: int, arm: str, answer: str) -> Recording:
    kept = Kept(f"x.{n}", "trial", "w", "c.yaml", "2026-11-30", parent="x", arm=arm, task="1", repeat=0, attempt=0)
    return Recording(kept, {}, Outcome(answer))


def test_the_runs_of_controls_are_no_runs_of_an_arm(tmp_path: pathlib.Path) -> None:
    """A log that names no arm of this name is taken whole, but for its controls, which were given what others found."""
    path = tmp_path / "runs.jsonl"
    control = Control("bare", "no_tools", "a").key
    path.write_bytes(line(trial(1, "a", "mine")) + line(trial(2, control, "pasted")))
    assert log(path, tasks(1), "october", 1)["1", 0].answer == "mine"
    assert log(path, tasks(1), "a", 1)["1", 0].answer == "mine"


ROWS = [
    {
        "task": "1",
        "answer": "42",
        "seconds": 2.5,
        "usage": {"prompt_tokens": 500, "completion_tokens": 40, "usd": 0.01},
    },
    {
        "task": 1,
        "answer": "41",
        "seconds": 3,
        "repeat": 1,
        "calls": [{"tool": "look", "args": {"at": 1}, "result": 41}],
    },
    {"task": "elsewhere", "answer": None, "seconds": 9, "exit_reason": "turn_limit"},
]


def written(path: pathlib.Path, *rows: object) -> pathlib.Path:
    path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    return path


def test_runs_of_another_tool_are_an_arm(tmp_path: pathlib.Path) -> None:
    """A row says the task, the answer and the seconds; what it does not say of tokens and money is unknown."""
    first, second = log(written(tmp_path / "graph.jsonl", *ROWS), tasks(1), "graph", 2).values()
    assert (first.answer, first.exit, first.latency, first.usage) == ("42", "success", 2.5, Usage(500, 40, usd=0.01))
    assert (second.answer, second.path, second.usage.usd) == ("41", ("look",), None)
    assert [(call.arguments, call.full) for call in second.calls] == [({"at": 1}, 41)]
    [limited] = log(tmp_path / "graph.jsonl", [structs.replace(*tasks(1), id="elsewhere")], "graph", 1).values()
    assert (limited.answer, limited.exit) == (None, "turn_limit")


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 500, "completion_tokens": 40, "total_tokens": 540, "prompt_tokens_details": None},
        {"input_tokens": 500, "output_tokens": 40, "output_tokens_details": {"reasoning_tokens": 0}},
    ],
)
def test_tokens_are_read_as_endpoints_spell_them(tmp_path: pathlib.Path, usage: dict[str, object]) -> None:
    """A log may hold them as they came."""
    path = written(tmp_path / "graph.jsonl", {**ROWS[0], "usage": usage})
    assert log(path, tasks(1), "graph", 1)["1", 0].usage == Usage(500, 40, usd=None)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"answer": 1, "seconds": 1}, "there is no `task`"),
        ({"task": "1", "answer": 1}, "there is no `seconds`"),
        ({"task": "1", "seconds": 1}, "there is no `answer`"),
        ({"task": "1", "answer": 1, "seconds": "2 s"}, "`seconds` is '2 s', and not how long the run took"),
        ({"task": "1", "answer": 1, "seconds": -1}, "`seconds` is -1"),
        ({"task": "1", "answer": 1, "seconds": 1, "repeat": "a"}, "`repeat` is 'a', and the first of a task is 0"),
        (
            {"task": "1", "answer": 1, "seconds": 1, "exit_reason": "bored"},
            "ended for 'bored', which is no exit reason of a program: one of: check_failed, ",
        ),
        (
            {"task": "1", "answer": 1, "seconds": 1, "exit_reason": "recursion_limit"},
            "which is no exit reason of a program: did you mean 'turn_limit'?",
        ),
        ({"id": "1", "answer": 1, "seconds": 1}, "there is no `task`: write `id` as `task`; a log is "),
        ({"task": "1", "output": 1, "seconds": 1}, "there is no `answer`: write `output` as `answer`; a log is "),
        ({**ROWS[0], "usage": {"tokens": 3}}, "its `usage` has 'tokens', which nobody reads: say prompt_tokens, compl"),
        ({**ROWS[0], "usage": [3, 4]}, "its `usage` is [3, 4], and no mapping of prompt_tokens, completion_tokens"),
        ({"loopworth": 1}, "this line is a recording, and the first is not"),
        ([], "this is no JSON object"),
    ],
)
def test_a_row_that_cannot_be_read_is_a_fault_at_its_line(tmp_path: pathlib.Path, row: object, said: str) -> None:
    """It says what to write instead, and no run is left out in silence."""
    path = written(tmp_path / "graph.jsonl", ROWS[0], row)
    with pytest.raises(RecordingFault) as caught:
        log(path, tasks(1), "graph", 1)
    assert f"{path}:2: " in str(caught.value)
    assert said in str(caught.value)


def test_a_log_of_other_tasks_is_a_fault_with_examples_of_both(tmp_path: pathlib.Path) -> None:
    """Nothing could be compared, whatever is the reason: `check` says so, at the arm; so it does of an empty one."""
    file = logs(tmp_path, "")
    written(tmp_path / "dear.jsonl", *({**ROWS[0], "task": f"t{n}"} for n in range(5)))
    (tmp_path / "broken.jsonl").write_text("")
    empty, other = loopworth.check(file)
    assert (empty.line, empty.what) == (5, f"{tmp_path / 'broken.jsonl'}: it has no run that ended")
    said = "it has runs of 't0', 't1', 't2', …, and none of the tasks, which are '0', '1', '2', …"
    assert (other.line, other.what) == (6, f"{tmp_path / 'dear.jsonl'}: {said}")


def test_two_lines_of_one_run_are_a_fault_at_the_second(tmp_path: pathlib.Path) -> None:
    """None of them is dropped in silence; of another arm a line is another run, where this one's are named."""
    path = written(tmp_path / "graph.jsonl", ROWS[0], *ROWS[2:], {**ROWS[0], "answer": "43"})
    with pytest.raises(RecordingFault) as caught:
        log(path, tasks(1), "graph", 2)
    assert f"{path}:3: task '1' with repeat 0 stands in line 1 already; number" in str(caught.value)
    both = ({**ROWS[0], "arm": "graph"}, {**ROWS[0], "arm": "other", "answer": "43"})
    assert log(written(path, *both), tasks(1), "graph", 1)["1", 0].answer == "42"
    with pytest.raises(RecordingFault, match=r'2: .* or name their arms \("arm": "third"\)'):
        log(path, tasks(1), "third", 1)


@pytest.mark.parametrize("before", ["", '{"task": "1", "answer": 1, "seconds": 1}\n'])
def test_brackets_without_end_are_no_row(tmp_path: pathlib.Path, before: str) -> None:
    """A program may log them as its model said them; they are no bug of ours."""
    (tmp_path / "graph.jsonl").write_text(f"{before}{'[' * 200_000}\n", "utf-8")
    with pytest.raises(RecordingFault):
        log(tmp_path / "graph.jsonl", tasks(1), "graph", 1)


def test_a_control_has_a_name_that_no_arm_and_no_other_control_has() -> None:
    """Whatever a file names its controls: names of arms have no space."""
    keys = [
        Control(*of).key
        for of in (
            ("retry", "retry", "a"),
            ("retry", "pasted", "a"),
            ("retry", "retry", "b"),
            ("pasted", "pasted", "a"),
        )
    ]
    assert len(set(keys)) == 4
    assert all(map(of_control, keys))
    assert not any(map(of_control, ("a", "retry", None)))


LOGS = """\
comparison: logs
tasks: tasks.jsonl
score: equals
arms:
  broken: {log: broken.jsonl}
  dear: {log: dear.jsonl}
"""
LOST = "def lost(**task): return {'answer': None, 'exit_reason': 'provider_error'}"


def logs(folder: pathlib.Path, more: str) -> pathlib.Path:
    """A comparison of two logs on 20 tasks: of runs that an endpoint failed, and of all but one at a cent each."""
    ids = [str(n) for n in range(20)]
    written(folder / "tasks.jsonl", *({"id": id, "expected": "42"} for id in ids))
    failed = {"answer": None, "seconds": 1, "exit_reason": "provider_error"}
    written(folder / "broken.jsonl", *({"task": id, **failed} for id in ids))
    written(folder / "dear.jsonl", *({**ROWS[0], "task": id} for id in ids[1:]))
    (folder / "lost.py").write_text(LOST)
    (folder / "logs.yaml").write_text(LOGS + more)
    return folder / "logs.yaml"


def test_what_was_logged_is_read_to_its_end_whatever_it_cost_and_failed(tmp_path: pathlib.Path) -> None:
    """Nobody is asked or paid for it now: no budget is spent on it, no endpoint is down, and nothing of it is made
    again."""
    result = asyncio.run(compare(load(str(logs(tmp_path, "budget: {usd: 0.05}\n")))))
    assert (result.whole, len(result.final), len(result.trials)) == (True, 39, 39)


@pytest.mark.parametrize("again", [False, True])
def test_what_logged_runs_had_cost_is_told_as_that(tmp_path: pathlib.Path, again: bool) -> None:
    """Nothing is spent on them now, nor was it when a comparison is told again; what is unknown of them is theirs."""
    path, store = logs(tmp_path, ""), tmp_path / "runs.db"
    result = asyncio.run(loopworth.compare(path, store=store))
    with contextlib.closing(loopworth.Store(store)) as kept:
        before = kept.shelf().run(result.id)
        told, document = retelling.told(kept.shelf(), before)
    assert (before.usage.usd, before.usage.tokens) == (0.0, 0)
    console = Console(width=160, record=True, file=io.StringIO())
    console.print(loopworth.render(told if again else result))
    said = console.export_text()
    assert "spent: nothing\n" in said
    assert "the runs that were logged had cost: $0.19, and 20 runs of unknown cost" in said
    assert (told.usd if again else result.usd) == 0.0
    assert told.recorded_usd == pytest.approx(0.19)
    assert tables.recorded_cost(document).startswith("$0.19, $0.19 of it for runs that were logged")


def test_a_log_lacks_what_it_has_no_run_of(tmp_path: pathlib.Path) -> None:
    """And not what a comparison that stops did not come to."""
    result = asyncio.run(compare(load(str(logs(tmp_path, '  lost: {python: "lost:lost"}\n')))))
    assert result.stopped
    said = report(result).warnings
    assert "broken: figures are as recorded" in said
    assert "dear: figures are as recorded; the log has no run of 1 of 20" in said
