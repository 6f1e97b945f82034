"""Guards: outside checks on input, calls and answers, each with its recorded cause. Every run is replayed too."""

import pytest

from loopworth.runs.decision import Decision
from tests.workflows.played import Played, pipeline

CALL = '{id: a, call: pay, with: {amount: "{{ n }}"}}'


def tripped(run):
    return [(event.at, event.on, event.why) for event in run.outcome.events if type(event).__name__ == "GuardTripped"]


def test_a_guard_on_the_input_comes_before_any_call(tmp_path):
    """The cause is in the note and in the trace."""
    top = "input: {n: int}\nguard: [{on: input, if: n > 100, else: '{{ n }} is too much'}]"
    run = Played(tmp_path, pipeline(CALL, answer='"{{ a }}"', top=top), {"n": 500})
    assert (run.outcome.exit, run.outcome.note, run.log) == ("guardrail", "on input: 500 is too much", [])
    assert tripped(run) == [("", "input", "500 is too much")]
    assert Played(tmp_path, pipeline(CALL, answer='"{{ a }}"', top=top), {"n": 5}).outcome.exit == "success"


def test_a_guard_on_a_call_sees_the_tool_and_its_arguments(tmp_path):
    """The call is not made, and the run ends; nothing stands in the way of another call."""
    top = "input: {n: int}\nguard: [{on: call, if: tool == 'pay' and args.amount > n}]"
    text = pipeline("{call: pay, with: {amount: 5}}", "{call: pay, with: {amount: 50}}", answer="1", top=top)
    run = Played(tmp_path, text, {"n": 10})
    assert [entry[1] for entry in run.log] == [5]
    assert run.outcome.exit == "guardrail"
    assert run.outcome.note == "step 2 (call, line 8): on call: `tool == 'pay' and args.amount > n` holds"
    assert [(event.at, event.status) for event in run.outcome.events if type(event).__name__ == "ToolCalled"] == [
        ("1/call", "ok"),
        ("2/call", "not_run"),
    ]


def test_a_guard_on_a_call_ends_a_loop(tmp_path):
    """Even where the same turn submits an answer."""
    loop = """
workflow: l
shape: open_loop
output: int
tools: tools.yaml
prompt: go
budget: {turns: 3}
model:
  name: scripted
  replies: [{calls: [{tool: lookup, arguments: {code: BAD}}, {tool: submit, arguments: {answer: 1}}]}]
guard: [{on: call, if: "args.code == 'BAD'", else: never}]
"""
    run = Played(tmp_path, loop)
    assert (run.outcome.exit, run.outcome.answer, run.log) == ("guardrail", None, [])


def test_what_a_person_edits_is_guarded_again(tmp_path):
    """A guard holds of what would really run."""
    top = "input: {n: int}\nguard: [{on: call, if: args.amount > 100}]\ngate: {pay: {choices: [approve, edit, reject]}}"
    text = pipeline(CALL, answer='"{{ a }}"', top=top)
    run = Played(tmp_path, text, {"n": 5}, ask=lambda _: Decision("edit", "ann", {"amount": 500}))
    assert (run.outcome.exit, run.log) == ("guardrail", [])


def test_a_guard_on_the_answer_sees_what_a_check_sees(tmp_path):
    """The answer, the calls and what they returned."""
    top = "input: {n: int}\nguard: [{on: answer, if: 'calls | length == 1 and observations[0] == answer'}]"
    assert Played(tmp_path, pipeline(CALL, answer='"{{ a }}"', top=top), {"n": 5}).outcome.exit == "guardrail"
    assert Played(tmp_path, pipeline(CALL, answer="no", top=top), {"n": 5}).outcome.exit == "success"


def test_a_guard_that_cannot_be_decided_lets_nothing_through(tmp_path):
    """It fails closed."""
    top = "input: {n: int}\nguard: [{on: input, if: n / 0 > 1}]"
    run = Played(tmp_path, pipeline(CALL, answer='"{{ a }}"', top=top), {"n": 5})
    assert run.outcome.exit == "guardrail"
    assert "cannot be decided" in run.outcome.note


@pytest.mark.parametrize("skip", ["", ", on_error: skip"])
def test_a_guard_of_a_part_fails_its_step(tmp_path, skip):
    """It is the part's own end; the step fails with it, and may be skipped."""
    inner = pipeline("{id: x, call: lookup, with: {code: A}}", answer='"{{ x }}"', top="guard: [{on: call, if: true}]")
    text = pipeline(
        f"{{id: a, run: inner.yaml{skip}}}",
        "{call: lookup, with: {code: Z}}",
        answer="\"{{ a or 'none' }}\"" if skip else '"{{ a }}"',
    )
    run = Played(tmp_path, text, inner=inner)
    if skip:
        assert run.outcome.answer == "none"
    else:
        assert run.outcome.exit == "step_failed"
        assert "ended with guardrail" in run.outcome.note
