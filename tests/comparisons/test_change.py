"""`change:`: an arm that is its file but for some keys, and a report that says which."""

import asyncio
import io

import pytest
from rich.console import Console

from loopworth.comparisons import comparison, execution
from loopworth.comparisons.export import to_json
from loopworth.comparisons.language import load
from loopworth.comparisons.table import render

FILES = {
    "code.py": 'def lookup(code: str) -> dict:\n    """Look up."""\n    return {"value": len(code), "unit": "x"}\n',
    "tools.yaml": """
tools:
  lookup: {python: "code:lookup", effect: read, inline: true, returns: {keep: [value], max_chars: 400}}
  pay: {python: "code:lookup", effect: write, approval: required, allow: {code: [a, b]}}
""",
    "p.yaml": """
workflow: p
shape: pipeline
input: {q: str}
tools: tools.yaml
budget: {tool_calls: 5}
steps:
  - {id: found, call: lookup, with: {code: "{{ q }}"}}
  - {id: said, set: "{{ found.value }}"}
answer: "{{ said }}"
""",
    "l.yaml": """
workflow: l
shape: open_loop
input: {q: str}
output: int
tools: {lookup: {python: "code:lookup", effect: read}}
budget: {turns: 4}
prompt: "{{ q }}"
model: {name: scripted, replies: [{calls: [{tool: submit, arguments: {answer: 2}}]}]}
""",
    "tasks.jsonl": '{"id": 1, "q": "ab", "expected": 2}\n{"id": 2, "q": "abc", "expected": 3}\n',
}


def written(folder, arms, *lines):
    for name, text in FILES.items():
        (folder / name).write_text(text, "utf-8")
    text = (
        f"comparison: c\ntasks: tasks.jsonl\nscore: number\narms:\n{arms}\n" + "\n".join(lines) + "\nwrites: allowed\n"
    )
    (folder / "c.yaml").write_text(text, "utf-8")
    return folder / "c.yaml"


def arm(change, file="p.yaml"):
    return f"  a: {{workflow: {file}}}\n  b: {{workflow: {file}, change: {{{change}}}}}"


def changed(folder, arms, *lines):
    """What each arm differs in, as the report says it."""
    made = comparison.load(written(folder, arms, *lines))
    return {one.name: [str(difference) for difference in one.differences] for one in made.arms}, made


def test_an_arm_is_its_file_but_for_what_is_changed(tmp_path):
    """A limit, a step's text, a whole list: replaced exactly; the file itself stays as it is for other arms."""
    change = "budget.tool_calls: 9, budget.time: 5s, steps.said.set: '{{ found.value + 1 }}', check: answer > 0"
    found, made = changed(tmp_path, arm(change))
    assert found == {
        "a": [],
        "b": [
            "budget.tool_calls: 5 → 9",
            "budget.time: not set → 5s",
            "steps.said.set: {{ found.value }} → {{ found.value + 1 }}",
            "check: not set → answer > 0",
        ],
    }
    assert [(one.workflow.limits.tool_calls, one.workflow.limits.time) for one in made.arms] == [(5, None), (9, 5.0)]
    result = asyncio.run(execution.compare(made))
    answers = [[bytes(trial.answer) for trial in result.final if trial.arm == name] for name in "ab"]
    assert [sorted(of_arm) for of_arm in answers] == [[b"2", b"3"], [b"3", b"4"]]


def test_null_removes(tmp_path):
    """The key is as if nobody had written it; a whole list is replaced, not merged."""
    found, made = changed(tmp_path, arm("budget.tool_calls: null, steps: [{id: said, set: 7}]"))
    assert found["b"][0] == "budget.tool_calls: 5 → not set"
    assert made.arms[1].workflow.limits.tool_calls is None
    assert list(made.arms[1].workflow.executor.executor.steps) == ["said"]


def test_a_tool_of_a_catalogue_is_changed_for_one_arm(tmp_path):
    """Whichever file it is in; the rest of a key that is changed in part stays."""
    found, made = changed(tmp_path, arm("tools.lookup.returns.max_chars: 10, tools.lookup.timeout: 2s"))
    mine, theirs = (one.workflow.tools["lookup"] for one in made.arms)
    assert (mine.max_chars, mine.keep, mine.timeout) == (400, ("value",), 60.0)
    assert (theirs.max_chars, theirs.keep, theirs.timeout) == (10, ("value",), 2.0)
    assert found["b"] == ["tools.lookup.returns.max_chars: 400 → 10", "tools.lookup.timeout: not set → 2s"]
    _, made = changed(tmp_path, arm("tools.lookup.returns: null"))
    assert made.arms[1].workflow.tools["lookup"].keep == ()
    _, made = changed(tmp_path, arm("tools.lookup.timeout: 3s", "l.yaml"))
    assert made.arms[1].workflow.tools["lookup"].timeout == 3.0


def test_what_is_changed_for_every_arm_is_changed_where_it_is(tmp_path):
    """An arm's own change wins; an arm without the place stays as it is."""
    arms = "  a: {workflow: p.yaml}\n  b: {workflow: l.yaml}\n  d: {workflow: l.yaml, change: {model.seed: 9}}"
    found, made = changed(tmp_path, arms, "change: {model.seed: 7, protocol: json}")
    assert found == {
        "a": [],
        "b": ["model.seed: not set → 7", "protocol: not set → json"],
        "d": ["protocol: not set → json", "model.seed: not set → 9"],
    }
    assert [[spec.seed for spec in one.workflow.models.values()] for one in made.arms] == [[], [7], [9]]


def test_the_name_of_a_model_stands_for_the_whole_of_it(tmp_path):
    """A path below a model that is written as its name."""
    path = written(tmp_path, arm("model.temperature: 0.5", "l.yaml"))
    text = FILES["l.yaml"].partition("model:")[0]
    (tmp_path / "l.yaml").write_text(f"{text}model: ollama/m\n", "utf-8")
    made = comparison.load(path)
    assert [str(one) for one in made.arms[1].differences] == ["model.temperature: not set → 0.5"]
    assert [spec.temperature for spec in made.arms[1].workflow.models.values()] == [0.5]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("budgt.turns: 1", "6:34 'budgt.turns' leads to no key of the workflow; did you mean 'budget'?"),
        ("budget.turns: many", "6:48 `turns` must be a whole number"),
        ("steps.sad.set: 1", "6:34 'steps.sad.set' leads through 'sad', which is not there"),
        ("steps.said.set: '{{ foud }}'", "6:54 step 'said' reads 'foud'"),
        ("answer: '{{ sad }}'", "6:46 `answer` reads 'sad'"),
        ("answer: null", "'answer' is missing in a pipeline"),
        ("tools.lokup.timeout: 1s", "6:34 there is no tool 'lokup' to change; did you mean 'lookup'?"),
        ("tools.lookup: {timeout: 1s}", "6:34 'tools.lookup' is a whole tool"),
        ("tools.lookup.timeout: soon", "6:56 'soon' is not a duration"),
        ("tools.pay.approval: null", "6:34 `approval` of 'pay' may only be tightened"),
        ("tools.pay.allow.code.0: c", "6:58 `allow` of 'pay' may only be tightened, and this allows more for 'code'"),
        ("tools.pay.allow.word: [c]", "6:34 `allow` names 'word', which is not an argument of the tool"),
        ("tools.pay.effect: read", "6:52 `effect` of 'pay' is write, and an override may only tighten it"),
        ("tools: other.yaml", "6:41 there is no file"),
    ],
)
def test_a_change_that_cannot_be_is_a_fault_where_it_is_written(tmp_path, change, said):
    """The path at its key, the value at its value; what is missing then, in the workflow."""
    found = [
        f"{one.line}:{one.column} {one.what}; {one.instead}" for one in load(written(tmp_path, arm(change))).faults
    ]
    assert said in found[0]
    assert len(found) == 1 or "other.yaml" in change, found


def test_what_no_arm_has_is_a_fault_of_the_change_for_all(tmp_path):
    """It would change nothing."""
    path = written(tmp_path, "  a: {workflow: p.yaml}", "change: {model.seed: 7, budgt.turns: 2}")
    found = sorted(fault.what for fault in load(path).faults)
    assert found == ["'budgt.turns' leads to no key of the workflow", "no arm has 'model.seed' to change"]


def test_paths_in_a_change_are_relative_to_the_comparison(tmp_path):
    """Paths are relative to the file they stand in."""
    (tmp_path / "flows").mkdir()
    path = written(tmp_path, arm("tools: mine.yaml", "flows/p.yaml"))
    for name in ("p.yaml", "tools.yaml", "code.py"):
        (tmp_path / "flows" / name).write_text(FILES[name], "utf-8")
    (tmp_path / "mine.yaml").write_text('tools: {lookup: {python: "code:lookup", effect: read, timeout: 7s}}', "utf-8")
    assert comparison.load(path).arms[1].workflow.tools["lookup"].timeout == 7.0


def test_the_report_lists_what_differs(tmp_path):
    """On the terminal and in the JSON."""
    made = comparison.load(written(tmp_path, arm("budget.tool_calls: 9")))
    result = asyncio.run(execution.compare(made))
    console = Console(file=io.StringIO(), width=120, no_color=True)
    console.print(render(result))
    assert "b: budget.tool_calls: 5 → 9" in console.file.getvalue()
    assert b'"changed":[{"key":"budget.tool_calls","before":5,"after":9}]' in to_json(result).replace(b" ", b"")
