"""What a workflow leaves at a limit of its own. Every run is replayed too."""

import pytest

from tests.workflows.played import Played, pipeline

LOOK = "{calls: [{tool: lookup, arguments: {code: AB}}], text: so far 3}"


def loop(*replies, on_limit="answer", output="int", budget="{turns: 1}", more=""):
    lines = "".join(f"\n    - {reply}" for reply in replies)
    return f"""
workflow: l
shape: open_loop
output: {output}
tools: tools.yaml
prompt: go
budget: {budget}
on_limit: {on_limit}
{more}
model:
  name: scripted
  replies:{lines}
"""


def test_the_last_word_is_one_call_without_tools_beyond_the_budget(tmp_path):
    """Its answer stands beside the limit; the call is in the trace under its own id."""
    run = Played(tmp_path, loop(LOOK, "'2'"))
    assert (run.outcome.exit, run.outcome.answer, run.outcome.note) == ("turn_limit", 2, "turns: 1")
    assert run.at("ModelCalled") == ["1/ask", "limit/ask"]
    [requests] = run.requests.values()
    assert (requests[-1].tools, len(requests)) == ((), 2)
    assert requests[-1].messages[-1]["content"].startswith("No more tools can be called.")
    assert run.outcome.transcript[-1].message["content"] == "2"


@pytest.mark.parametrize("reply", ["no idea", "{text: '4', finish: length}", LOOK, "{text: ''}"])
def test_a_last_word_that_is_no_answer_leaves_the_limit_alone(tmp_path, reply):
    """It is asked once; the reason stays the limit."""
    run = Played(tmp_path, loop(LOOK, reply, "'2'"))
    assert (run.outcome.exit, run.outcome.answer, run.outcome.model_calls) == ("turn_limit", None, 2)
    assert run.outcome.note.startswith("turns: 1; the last word was no answer: ")


def test_the_last_word_is_spoken_in_the_loop_s_protocol(tmp_path):
    """In JSON only the answer is left in the schema."""
    first = '\'{"tool": "lookup", "arguments": {"code": "AB"}}\''
    run = Played(tmp_path, loop(first, "'{\"answer\": 2}'", more="protocol: json"))
    assert (run.outcome.exit, run.outcome.answer) == ("turn_limit", 2)
    [requests] = run.requests.values()
    assert [len(request.schema["anyOf"]) for request in requests] == [5, 1]


def test_every_limit_of_the_loop_s_own_has_a_last_word_and_no_other_end_has(tmp_path):
    """Limits of tools and tokens do, repetition does not."""
    again = [LOOK, LOOK, LOOK, LOOK, "'2'"]
    assert (
        Played(tmp_path, loop(LOOK, LOOK.replace("AB", "C"), "'2'", budget="{turns: 9, tool_calls: 1}")).outcome.answer
        == 2
    )
    spent = LOOK.replace("}]", "}], usage: {input: 10, output: 90}")
    assert Played(tmp_path, loop(spent, "'2'", budget="{turns: 9, tokens: 100}")).outcome.exit == "token_limit"
    run = Played(tmp_path, loop(*again, budget="{turns: 9}"))
    assert (run.outcome.exit, run.outcome.answer) == ("repetition", None)


def test_a_limit_of_the_whole_is_not_the_part_s_to_answer(tmp_path):
    """`on_limit` acts for the workflow's own limits; as a step, its answer is the step's value."""
    text = pipeline(
        "{id: a, run: l.yaml}", "{call: lookup, with: {code: Z}}", answer='"{{ a }}"', top="budget: {turns: 1}"
    )
    assert Played(tmp_path, text, l=loop(LOOK, "'2'", budget="{turns: 5}")).outcome.exit == "turn_limit"
    text = text.replace("budget: {turns: 1}", "")
    assert Played(tmp_path, text, l=loop(LOOK, "'2'")).outcome.answer == 2


def test_an_answer_at_a_limit_keeps_the_workflow_s_promises(tmp_path):
    """One that a check refuses is none, and the reason stays the limit."""
    run = Played(tmp_path, loop(LOOK, "'2'", more="check: answer > 5"))
    assert (run.outcome.exit, run.outcome.answer) == ("turn_limit", None)
    assert run.outcome.note == "turns: 1; no answer: `answer > 5` does not hold"


def test_a_loop_s_partial_answer_is_the_last_text_that_was_said(tmp_path):
    """Without a further call; only where it can be read as the answer."""
    run = Played(tmp_path, loop(LOOK, on_limit="partial", output="str"))
    assert (run.outcome.exit, run.outcome.answer, run.outcome.model_calls) == ("turn_limit", "so far 3", 1)
    run = Played(tmp_path, loop(LOOK, on_limit="partial"))
    assert (run.outcome.exit, run.outcome.answer) == ("turn_limit", None)
    assert run.outcome.note.startswith("turns: 1; no partial answer: ")


STEPS = ("{id: a, call: lookup, with: {code: AB}}", "{id: b, call: lookup, with: {code: \"{{ 'x' * a }}\"}}")


def test_a_pipeline_s_partial_answer_has_the_unfinished_steps_skipped(tmp_path):
    """What is done is in it, and what is not is skipped."""
    answer = '{a: "{{ a or 0 }}", b: "{{ b | default(\'none\') }}", why: "{{ b | error }}"}'
    run = Played(tmp_path, pipeline(*STEPS, answer=answer, top="budget: {tool_calls: 1}\non_limit: partial"))
    assert run.outcome.exit == "tool_call_limit"
    assert run.outcome.answer == {"a": 2, "b": "none", "why": "the run ended before it, at its tool_call_limit"}


def test_only_a_limit_of_its_own_leaves_a_partial_answer(tmp_path):
    """A step that failed does not, and a partial answer that breaks the output type is none."""
    top = "budget: {tool_calls: 9}\non_limit: partial"
    run = Played(tmp_path, pipeline(*STEPS, answer='"{{ a or 0 }}"', top=top), failing={"xx": 1})
    assert (run.outcome.exit, run.outcome.answer) == ("step_failed", None)
    top = "output: int\nbudget: {tool_calls: 1}\non_limit: partial"
    run = Played(tmp_path, pipeline(*STEPS, answer="\"{{ b or 'none' }}\"", top=top))
    assert (run.outcome.exit, run.outcome.answer) == ("tool_call_limit", None)
