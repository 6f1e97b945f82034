"""A comparison and its tasks: every fault is found before any model is called, at its place."""

import pytest

from loopworth.comparisons.language import load
from tests.workflows.written import TASKS, faults, loop

AGENT = loop("constrained_loop", "budget: {turns: 3}", "use: [lookup]", "output: int")
WRITER = loop("constrained_loop", "budget: {turns: 3}", "use: [pay]")
GATED = loop("constrained_loop", "budget: {turns: 3}", "use: [send]")


def comparison(*lines, tasks="tasks.jsonl", score="{number: {tolerance: 0}}", arms="{a: {workflow: a.yaml}}"):
    """A comparison with these lines at its end; the first of them is line 5."""
    head = f"comparison: c\ntasks: {tasks}\nscore: {score}\narms: {arms}\n"
    return head + "".join(f"{line}\n" for line in lines)


def found(folder, text, **others):
    return faults(folder, text, name="c.yaml", **{"a_yaml": AGENT, "b_yaml": WRITER, "g_yaml": GATED, **others})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (comparison(tasks="task.jsonl"), "2:8 there is no file"),
        (comparison(tasks="{file: task.jsonl}"), "2:15 there is no file"),
        (comparison(tasks="{file: tasks.jsonl, rename: {p: q}}"), "2:37 no task has a column 'p'"),
        (comparison(tasks="{file: tasks.jsonl, where: knd == 'x'}"), "2:35 `where` reads 'knd'"),
        (comparison(tasks="{file: tasks.jsonl, limit: 0}"), "2:35 `limit` must be at least 1"),
        (comparison(score="numbr"), "3:8 there is no score 'numbr'; did you mean 'number'?"),
        (comparison(score="exact_match"), "3:8 there is no score 'exact_match'; did you mean 'equals'?"),
        (comparison(score="not-exact"), "3:8 there is no score 'not-exact'; did you mean 'not-equals'?"),
        (comparison(score="llm-rubric"), "3:8 there is no score 'llm-rubric'; did you mean 'judge'?"),
        (
            comparison(score="zzz"),
            "3:8 there is no score 'zzz'; scores: contains, date, equals, icontains, json, judge, number, python, "
            "regex, set; `not-…` is the opposite of each but judge",
        ),
        (comparison(score="{number: {tolerence: 0}}"), "3:18 'number' has no option 'tolerence'; did you mean"),
        (comparison(score="{number: {}, equals: {}}"), "3:8 `score` is one score"),
        (comparison(score="judge"), "3:8 `judge` needs a model"),
        (comparison(arms="{a: {workflow: a.yml}}"), "4:22 there is no file"),
        (comparison(arms="{a: {workflow: tools.yaml}}"), "4:22 "),
        (
            comparison(arms="{A b: {workflow: a.yaml}}"),
            "4:8 'A b' is not a name for an input, a step, a tool or an arm",
        ),
        (comparison(arms="{a: {}}"), "4:8 an arm without a contender"),
        (comparison(arms="{a: {workflow: a.yaml, of: a}}"), "4:30 `of` belongs to `control`"),
        (comparison(arms="{}"), "4:1 `arms` is empty"),
        (
            comparison(arms="{a: {workflow: a.yaml}, b: {workflow: b.yaml}}"),
            "4:31 the arm 'b' may write (pay), once for every task; write `tools: fakes.yaml`",
        ),
        (comparison("tools: fakes.yaml"), "5:8 there is no file"),
        (
            comparison("tools: {pya: {python: 'functions:pay', effect: read}}"),
            "5:9 no arm has a tool 'pya'; did you mean",
        ),
        (comparison("writes: allowed", arms="{g: {workflow: g.yaml}}"), "4:8 the arm 'g' may reach a gate (send)"),
        (comparison("writes: allow"), "5:9 `writes` cannot be 'allow'; did you mean 'allowed'?"),
        (comparison("approvals: yes"), "5:12 `approvals` cannot be 'yes'"),
        (comparison("group_by: knd"), "5:11 no task has a column 'knd'; did you mean 'kind'?"),
        (comparison("decide: {cluster: knd}"), "5:19 no task has a column 'knd'; did you mean 'kind'?"),
        (comparison("decide: {harm: answr > 1}"), "5:16 `harm` reads 'answr'"),
        (comparison("decide: {error: 0.5}"), "5:17 `error` must be less than 0.5"),
        (comparison("decide: {mingain: 0.1}"), "5:10 unknown key 'mingain' in `decide`; did you mean 'min_gain'?"),
        (comparison("repeats: 0"), "5:10 `repeats` must be at least 1"),
        (comparison("budget: {usd: 0}"), "5:15 `usd` must be more than 0"),
        (comparison("seed: seven"), "5:7 `seed` must be a whole number"),
        (comparison("change: {model.temprature: 0}"), "5:10 unknown key 'temprature' in `model`; did you mean"),
        (
            comparison("change: {recursion_limit: 9}"),
            "5:10 'recursion_limit' leads to no key of the workflow; did you mean 'budget.turns'?",
        ),
        (comparison("faults: {lookup: {rate: 0.5}}"), "5:10 a fault that does nothing"),
        (comparison(arms="{a: {python: 'app:answer'}}"), "4:20 no file app.py beside the YAML, and no installed"),
        (comparison(arms="{a: {command: []}}"), "4:12 `command` is empty"),
        (comparison(arms="{a: {command: ['', --json]}}"), "4:12 `command` is empty"),
        (comparison(score="{json: {paths: ['']}}"), "3:16 paths: '' is not a path; write one such as total, items[0]"),
        (comparison(arms="{a: {log: tasks.jsonl}}"), "4:17 "),
    ],
)
def test_a_comparison_that_does_not_hang_together_is_a_fault_at_its_place(tmp_path, text, said):
    """Tasks, score, arms, writes, gates, rule; and what comes later says so."""
    lines = found(tmp_path, text)
    assert len(lines) == 1, lines
    assert lines[0].startswith(said)


@pytest.mark.parametrize(
    "text",
    [
        comparison(),
        comparison(tasks="{file: tasks.jsonl, where: kind == 'x', rename: {kind: sort}}".replace("kind ==", "sort ==")),
        comparison("writes: allowed", arms="{b: {workflow: b.yaml}}"),
        comparison("tools: {pay: {python: 'functions:pay', effect: read}}", arms="{b: {workflow: b.yaml}}"),
        comparison("writes: allowed", "approvals: reject", arms="{g: {workflow: g.yaml}}"),
        comparison("decide: {harm: \"answer is defined and task.kind == 'x'\", max_p95: 20s}", "group_by: kind"),
        comparison(score="not-equals"),
        comparison(score="{not-json: {}}"),
    ],
)
def test_a_comparison_that_hangs_together_is_no_fault(tmp_path, text):
    """What the language offers in this version."""
    assert found(tmp_path, text) == []


def test_controls_are_checked_though_they_come_later_and_so_are_changes(tmp_path):
    """A control of no arm, and a dotted path that leads nowhere, are faults of their own."""
    arms = "{a: {workflow: a.yaml, change: {budgt.turns: 1, budget.turns: 2}}, p: {control: pasted, of: b}}"
    lines = [line for line in found(tmp_path, comparison(arms=arms)) if "not in this version" not in line]
    assert [line.split(";")[0] for line in lines] == [
        "4:39 'budgt.turns' leads to no key of the workflow",
        "4:99 there is no arm 'b' to control",
    ]


@pytest.mark.parametrize(
    ("tasks", "said"),
    [
        (TASKS.replace('"q": "b"', '"p": "b"'), ":2:1  task '2' has no field 'q'\n    did you mean 'p'?"),
        (
            TASKS.replace('"expected": 2', '"answer": 2'),
            ":2:1  task '2' has no field 'expected'\n    write `tasks: {file: …, rename: {answer: expected}}`",
        ),
        (TASKS.replace('"expected": 2', '"xpected": 2'), ":2:1  task '2' has no field 'expected'"),
        (TASKS.replace('"expected": 2', '"expected": "two"'), ":2:1  `expected` of task '2': 'two' is not a number"),
        (TASKS.replace('"id": 2', '"id": "1"'), ":2:1  the id '1' is taken by line 1"),
        (TASKS + "{", ":3:2  is not JSON"),
    ],
)
def test_a_task_without_what_it_needs_is_named_with_its_line(tmp_path, tasks, said):
    """Before any model call: an input without a default, and an expected value that the score can read."""
    assert found(tmp_path, comparison(), tasks_jsonl=tasks) == []
    [fault] = load(tmp_path / "c.yaml").faults
    assert str(fault).startswith(f"{tmp_path / 'tasks.jsonl'}{said}")


def test_no_expected_value_is_held_against_a_score_that_could_not_be_read(tmp_path):
    """What a misspelt option would make of the values is not known: its own fault is told alone."""
    tasks = TASKS.replace('"expected": 2', '"expected": "two"')
    lines = every(tmp_path, comparison(score="{number: {tolerence: 0}}"), tasks)
    assert [what for _, what in lines] == ["'number' has no option 'tolerence'"]


def test_a_score_is_needed_where_there_is_something_to_compare_an_answer_with(tmp_path):
    """A route is right or wrong by itself; an `expected` is met by the rule of a score."""
    unscored = comparison().replace("score: {number: {tolerance: 0}}\n", "")
    [said] = found(tmp_path, unscored)
    assert said.startswith("1:1 no `score` says when an answer is right, and task '1' has an `expected`; write ")
    routes = '{"id": 1, "q": "a", "expected_route": "how"}\n'
    assert every(tmp_path, unscored, routes) == []
    assert every(tmp_path, unscored, routes + '{"id": 2, "q": "a"}') == [(2, "task '2' has no field 'expected'")]


def test_a_task_of_a_taken_id_hides_no_other_fault(tmp_path):
    """Neither those of its file, nor those of the comparison that its tasks show."""
    rows = '{"id": 1, "q": "a", "expected": 1}\n' * 2 + '{"id": 3, "p": "a", "approve": 1}\n'
    assert set(every(tmp_path, comparison("group_by: knd"), rows)) == {
        (2, "the id '1' is taken by line 1"),
        (3, "`approve` is approve or reject, not 1"),
        (3, "task '3' has no field 'q'"),
        (3, "task '3' has no field 'expected'"),
        (5, "no task has a column 'knd'"),
    }


def every(folder, text, rows):
    """Line and words of every fault of a comparison on these tasks."""
    found(folder, text, tasks_jsonl=rows)
    return [(fault.line, fault.what) for fault in load(folder / "c.yaml").faults]


def test_files_of_every_kind_are_told_apart(tmp_path):
    """A workflow, a catalogue, a comparison and tasks: by their top key, or their ending."""
    assert found(tmp_path, comparison()) == []
    (tmp_path / "t.yaml").write_text("- {id: 1, q: a, expected: 1}\n", "utf-8")
    names = ["a.yaml", "tools.yaml", "c.yaml", "tasks.jsonl", "t.yaml"]
    loaded = load(*(tmp_path / name for name in names)).sound()
    assert len(loaded.files.workflows) == 1
    assert [len(tasks) for tasks in loaded.tasks.values()] == [2, 2, 1]
    (tmp_path / "n.yaml").write_text("nothing: 1\n", "utf-8")
    [fault] = load(tmp_path / "n.yaml").faults
    assert fault.what == "the file is not a workflow, a tool catalogue or a comparison"
