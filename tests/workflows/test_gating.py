"""Gates from YAML: edits, decisions that stand for a run, questions that expire. Every run is replayed too."""

import asyncio

import pytest

from loopworth.runs.decision import Decision, Question
from loopworth.runs.world import Live
from tests.workflows.played import Played, pipeline

TWICE = '{id: a, for_each: [5, 5, 6], call: pay, with: {amount: "{{ item }}"}}'


def played(tmp_path, gate, ask, step=TWICE):
    return Played(tmp_path, pipeline(step, answer='"{{ a }}"', top=f"gate: {{pay: {gate}}}"), ask=ask)


def test_an_edit_gives_the_step_the_result_of_what_really_ran(tmp_path):
    """And the arguments that ran are in the record."""
    run = played(tmp_path, "{choices: [approve, edit, reject]}", lambda _: Decision("edit", "ann", {"amount": 1}))
    assert run.outcome.answer == ["paid 1"] * 3
    assert [one.arguments for one in run.outcome.calls] == [{"amount": 1}] * 3


def test_an_edit_is_checked_like_any_call(tmp_path):
    """Wrong arguments of a person are refused as those of a model are."""
    step = "{id: a, call: pay, with: {amount: 5}}"
    run = played(tmp_path, "{choices: [edit]}", lambda _: Decision("edit", "ann", {"amonut": 1}), step)
    assert (run.outcome.exit, run.log) == ("step_failed", [])
    assert "invalid_arguments" in run.outcome.note


@pytest.mark.parametrize(("remember", "asked"), [("never", 3), ("run", 2)])
def test_a_remembered_decision_stands_for_equal_calls_of_the_run(tmp_path, remember, asked):
    """The same tool with the same canonical arguments; another amount is another question."""
    run = played(tmp_path, f"{{remember: {remember}}}", lambda _: Decision("approve", "ann"))
    assert (len(run.asked), [entry[1] for entry in run.log]) == (asked, [5, 5, 6])
    by = [event.by for event in run.outcome.events if type(event).__name__ == "GateDecided"]
    assert by == (["ann", "ann (remembered)", "ann"] if asked == 2 else ["ann"] * 3)


def test_a_remembered_no_stands_too(tmp_path):
    """In a loop, where the run goes on."""
    loop = """
workflow: l
shape: gated_loop
tools: tools.yaml
prompt: go
budget: {turns: 4}
on_repeat: {tell: never, stop: never}
gate: {pay: {remember: run}}
model:
  name: scripted
  replies:
    - {calls: [{tool: pay, arguments: {amount: 5}}, {tool: pay, arguments: '{ "amount" : 5 }'}]}
    - done
"""
    run = Played(tmp_path, loop, ask=lambda _: Decision("reject", "ann", note="no"))
    assert (run.asked, [one.status for one in run.outcome.calls]) == (["1/call[0]/gate"], ["rejected", "rejected"])


def test_equal_questions_at_once_are_asked_once(tmp_path):
    """Two reads of one turn wait for the one answer."""
    step = '{id: a, for_each: [5, 5, 5], call: lookup, with: {code: "AB"}}'
    text = pipeline(step, answer='"{{ a }}"', top="gate: {lookup: {remember: run}}")
    run = Played(tmp_path, text, ask=lambda _: Decision("approve", "ann"))
    assert (run.outcome.answer, len(run.asked)) == ([2, 2, 2], 1)


async def nobody(question, id):
    await asyncio.Event().wait()


@pytest.mark.parametrize("decided", ["approve", "reject"])
def test_a_question_that_expires_is_decided_as_its_author_said(decided):
    """While somebody is there to be asked; the decision says that it was the clock."""
    question = Question("pay", {}, "h", timeout=0.01, on_timeout=decided)
    decision = asyncio.run(Live({}, nobody).gate(question, "1/gate"))
    assert (decision.choice, decision.by, decision.note) == (decided, "timeout", "nobody decided within 0.01 s")


def test_a_timeout_of_the_one_who_is_asked_is_not_the_question_s():
    """A bug in what asks is not taken for a decision."""

    async def broken(question, id):
        raise TimeoutError("theirs")

    with pytest.raises(TimeoutError, match="theirs"):
        asyncio.run(Live({}, broken).gate(Question("pay", {}, "h", timeout=9, on_timeout="approve"), "1/gate"))


def test_a_gate_s_timeout_reaches_the_question(tmp_path):
    """From YAML to whoever asks."""
    seen = []

    def ask(question):
        seen.append((question.timeout, question.on_timeout, question.remember, question.choices))
        return Decision("approve")

    gate = "{timeout: 24h, on_timeout: approve, remember: run, choices: [approve, edit]}"
    played(tmp_path, gate, ask, "{id: a, call: pay, with: {amount: 5}}")
    assert seen == [(86400.0, "approve", True, ("approve", "edit", "reject"))]
