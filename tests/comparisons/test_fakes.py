"""Fakes: other implementations under the same names, so that an arm can run and write nothing."""

import asyncio

import pytest

from loopworth.comparisons import comparison, execution
from loopworth.comparisons.language import load

CODE = '''
WRITTEN = []


def lookup(code: str) -> int:
    """Look up."""
    return len(code)


def fake(code: str) -> int:
    """Ninety-nine."""
    return 99


def other(name: str) -> int:
    """Takes something else."""
    return 1


def pay(amount: int) -> str:
    """Pay."""
    raise AssertionError("this must not be called")


def faked(amount: int) -> str:
    """Pay nothing."""
    return "faked"
'''
TOOLS = """
tools:
  lookup: {python: "code:lookup", effect: read, returns: {max_chars: 9}}
  pay: {python: "code:pay", effect: write, approval: required}
  buy: {run: buy.yaml, effect: write}
"""
BUY = """
workflow: buy
shape: pipeline
input: {amount: int}
tools: tools.yaml
steps: [{id: a, call: pay, with: {amount: "{{ amount }}"}}]
answer: "{{ a }}"
"""
ARM = """
workflow: p
shape: pipeline
input: {q: str}
tools: tools.yaml
steps:
  - {id: a, call: lookup, with: {code: "{{ q }}"}}
  - {id: b, call: buy, with: {amount: 5}}
answer: "{{ a }} {{ b }}"
"""
READ, PAY = 'lookup: {python: "code:fake", effect: read}', 'pay: {python: "code:faked", effect: write}'
BOUGHT = 'buy: {python: "code:faked", effect: write}'


def written(folder, fakes):
    head = "comparison: c\ntasks: tasks.jsonl\nscore: equals\napprovals: approve\narms:\n  a: {workflow: p.yaml}\n"
    text = f"{head}tools: {{{fakes}}}\n"
    files = {"code.py": CODE, "tools.yaml": TOOLS, "buy.yaml": BUY, "p.yaml": ARM, "c.yaml": text}
    for name, content in {**files, "tasks.jsonl": '{"q": "ab", "expected": "x"}\n'}.items():
        (folder / name).write_text(content, "utf-8")
    return folder / "c.yaml"


@pytest.mark.parametrize("fakes", [f"{READ}, {PAY}", f"{READ}, {BOUGHT}", f"{READ}, {PAY}, {BOUGHT}"])
def test_a_fake_is_called_in_the_tool_s_place(tmp_path, fakes):
    """In the arm and in every workflow below it; a workflow that is a tool can be faked inside or as a whole."""
    made = comparison.load(written(tmp_path, fakes))
    [trial] = asyncio.run(execution.compare(made)).final
    assert (trial.exit, bytes(trial.answer)) == ("success", b'"99 faked"')
    assert made.arms[0].workflow.tools["lookup"].max_chars == 9


@pytest.mark.parametrize(
    ("fakes", "said"),
    [
        (READ, "the arm 'a' may write (pay), and there is no fake for it"),
        (f"{PAY}, lookup: {{python: 'code:fak', effect: read}}", "'code' has no 'fak'"),
        (f"{PAY}, lookup: {{effect: read}}", "the tool 'lookup' has no implementation"),
        (f"{PAY}, lokup: {{python: 'code:fake', effect: read}}", "no arm has a tool 'lokup'"),
        (f"{PAY}, lookup: {{mcp: {{command: x}}}}", "`mcp` is not in this version"),
        (f"{PAY}, buy: {{run: bu.yaml, effect: write}}", "there is no file"),
    ],
)
def test_a_fake_that_cannot_stand_in_is_a_fault(tmp_path, fakes, said):
    """Every write is covered, and every fake is there and named like a tool."""
    found = [fault.what for fault in load(written(tmp_path, fakes)).faults]
    assert [said in what for what in found] == [True], found


def test_a_fake_takes_what_the_tool_takes(tmp_path):
    """Or every run would end with a call that is refused."""
    found = [
        fault.what for fault in load(written(tmp_path, f"{PAY}, lookup: {{python: 'code:other', effect: read}}")).faults
    ]
    assert found == [
        "the fake of 'lookup' has no 'code', which the tool takes",
        "the fake of 'lookup' needs 'name', which the tool does not take",
    ]
