"""A workflow as a tool: the model proposes, the workflow executes. Every run is replayed too."""

import pytest

from loopworth.runs.decision import Decision
from loopworth.workflows.compile import compile
from tests.workflows.played import Played, pipeline

TOOLS = """
tools:
  lookup: {python: "code:lookup", effect: read, inline: true}
  pay: {python: "code:pay", effect: write, inline: true}
  refund: {run: refund.yaml, effect: irreversible, with: {unit: euro}}
"""
REFUND = """
workflow: refund
shape: pipeline
description: Pay money back, once it is checked.
input: {amount: int, unit: str = dollar}
tools: tools.yaml
steps:
  - check: amount < 100
    else: "{{ amount }} is too much"
  - id: paid
    call: pay
    with: {amount: "{{ amount }}"}
answer: "{{ paid }} {{ unit }}"
"""


def loop(*calls, finish="{calls: [{tool: submit, arguments: {answer: done}}]}", top="budget: {turns: 5}"):
    replies = "".join(f"\n    - {{calls: [{{tool: refund, arguments: {{amount: {n}}}}}]}}" for n in calls)
    return f"""
workflow: l
shape: constrained_loop
use: [refund]
output: str
finish: submit
tools: tools.yaml
prompt: go
{top}
model:
  name: scripted
  replies:{replies}
    - {finish}
"""


def played(tmp_path, text, refund=REFUND, **how):
    (tmp_path / "tools.yaml").write_text(TOOLS)
    return Played(tmp_path, text, tools=TOOLS, refund=refund, **how)


def test_its_schema_is_the_workflow_s_input_without_what_is_bound(tmp_path):
    """And its description the workflow's; the bound input reaches the workflow."""
    run = played(tmp_path, loop(5))
    wire = run.compiled.tools["refund"].wire["function"]
    assert wire["description"] == "Pay money back, once it is checked."
    assert wire["parameters"]["properties"] == {"amount": {"type": "integer"}}
    assert [one.full for one in run.outcome.calls] == ["paid 5", "paid 5 euro"]


def test_its_effects_lie_below_the_call_and_only_they_are_counted(tmp_path):
    """The call itself is in the path, and is not a leaf tool call."""
    run = played(tmp_path, loop(5))
    assert run.at("ToolCalled", "StepDone") == [
        "1/call[0]/1",
        "1/call[0]/paid/call",
        "1/call[0]/paid",
        "1/call[0]",
    ]
    assert (run.outcome.tool_calls, run.outcome.path) == (1, ("pay", "refund"))
    assert run.compiled.writes == ("pay",)


def test_its_own_end_is_an_observation(tmp_path):
    """The model is told, and may go on; arguments are checked like those of any tool."""
    run = played(tmp_path, loop(500, "many", 7))
    seen = [(one.status, one.content) for one in run.outcome.calls if one.tool == "refund"]
    assert seen[0] == ("tool_error", "refund ended with step_failed: step 1 (check, line 8): 500 is too much")
    assert seen[1][0] == "invalid_arguments"
    assert seen[2] == ("ok", "paid 7 euro")
    assert (run.outcome.exit, [entry[1] for entry in run.log]) == ("success", [7])


def test_its_budget_is_a_cap_under_the_caller_s(tmp_path):
    """What it spends is the caller's too; its own limit is an observation, the caller's ends the caller."""
    run = played(tmp_path, loop(5), REFUND.replace("tools:", "budget: {tool_calls: 0}\ntools:"))
    assert (run.outcome.exit, run.outcome.calls[-1].content[:36]) == ("success", "refund ended with tool_call_limit: s")
    run = played(tmp_path, loop(5, 6, top="budget: {turns: 5, tool_calls: 1}"))
    assert (run.outcome.exit, [entry[1] for entry in run.log]) == ("tool_call_limit", [5])


def test_a_gate_inside_it_waits_and_a_no_inside_it_is_an_observation(tmp_path):
    """A wait ends the activation of the whole; a decision goes on from there."""
    gated = REFUND.replace("tools:", "gate: {pay: required}\ntools:")
    run = played(tmp_path, loop(5), gated)
    assert (run.outcome.exit, run.outcome.gates) == ("waiting", ("1/call[0]/paid/call/gate",))
    run = played(tmp_path, loop(5), gated, ask=lambda _: Decision("reject", "ann", note="not today"))
    assert (run.outcome.exit, run.outcome.calls[-1].status, run.log) == ("success", "rejected", [])
    assert "not today" in run.outcome.calls[-1].content


def test_a_gate_on_it_is_asked_before_it_begins(tmp_path):
    """Like on any tool, with its canonical arguments."""
    text = loop(5, top="budget: {turns: 5}\ngate: {refund: {choices: [approve, edit, reject]}}")
    run = played(tmp_path, text, ask=lambda _: Decision("edit", "ann", {"amount": 4}))
    assert (run.asked, [entry[1] for entry in run.log]) == (["1/call[0]/gate"], [4])


def test_its_failures_count_like_any_tool_s(tmp_path):
    """The third one ends the loop."""
    run = played(tmp_path, loop(500, 501, 502, 5))
    assert (run.outcome.exit, run.outcome.note, run.log) == ("tool_failures", "refund failed 3 times", [])


def test_a_step_calls_it_like_any_tool(tmp_path):
    """Its value is the workflow's answer."""
    text = pipeline("{id: a, call: refund, with: {amount: 5}}", answer='"{{ a }}"')
    assert played(tmp_path, text).outcome.answer == "paid 5 euro"
    assert played(tmp_path, text.replace("5}", "500}")).outcome.note.startswith("step 'a': refund (tool_error): refund")


@pytest.mark.parametrize(
    ("tools", "said"),
    [
        (
            TOOLS.replace("irreversible", "read"),
            "'refund' runs a workflow that may write (pay), and its `effect` is read",
        ),
        (TOOLS.replace("unit: euro", "unti: euro"), "the workflow 'refund.yaml' has no 'unti'; did you mean 'unit'?"),
        (TOOLS.replace("refund.yaml", "refnd.yaml"), "there is no file"),
        (TOOLS.replace("with: {unit: euro}", "allow: {amuont: [1]}"), "`allow` names 'amuont'"),
        (TOOLS.replace("refund.yaml", "l.yaml"), "the tool 'refund' runs 'l.yaml', which calls it again, without end"),
    ],
)
def test_an_entry_that_cannot_be_right_is_a_fault(tmp_path, tools, said):
    """Its effect, its inputs, its file, its end."""
    from loopworth.workflows.load import load

    for name, text in {"tools": tools, "refund": REFUND, "l": loop(5)}.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    (tmp_path / "code.py").write_text("def lookup(code: str): ...\ndef pay(amount: int): ...\n")
    found = [f"{fault.what}; {fault.instead}" for fault in load(tmp_path / "l.yaml").faults]
    assert [line for line in found if said in line], found


def test_it_compiles_once_however_often_it_is_used(tmp_path):
    """The same workflow as a tool and as a step is one."""
    text = pipeline(
        "{id: a, call: refund, with: {amount: 5}}",
        "{id: b, run: refund.yaml, with: {amount: 6}}",
        answer='"{{ a }}, {{ b }}"',
    )
    run = played(tmp_path, text)
    assert run.outcome.answer == "paid 5 euro, paid 6 dollar"
    assert compile(tmp_path / "w.yaml").shape == "pipeline"
