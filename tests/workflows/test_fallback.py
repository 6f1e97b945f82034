"""`otherwise`: after which ends it runs, on what, and against whose budget. Every run is replayed too."""

import pytest

from loopworth.runs.decision import Decision
from loopworth.runs.events import FellBack
from tests.workflows.played import Played, pipeline, scripted

FAILING = "{id: a, call: lookup, with: {code: AB}}"


def fallen(run):
    """What `otherwise` ran after."""
    return [(event.at, event.exit) for event in run.outcome.events if type(event) is FellBack]


def test_a_step_that_fails_is_followed_by_otherwise(tmp_path):
    """Its answer is the run's, the run is a success, and the trace says what came before."""
    run = Played(tmp_path, pipeline(FAILING, answer='"{{ a }}"', top="otherwise: {set: none found}"), failing={"AB": 1})
    assert (run.outcome.exit, run.outcome.answer, fallen(run)) == (
        "success",
        "none found",
        [("otherwise", "step_failed")],
    )


def test_what_ended_within_a_step_is_told_by_the_event_too(tmp_path):
    """As data: a run that is right in the end keeps why `otherwise` was needed."""
    steps, model = ["{id: a, ask: hi}", "{call: lookup, with: {code: Z}, if: false}"], "{text: '', finish: stop}"
    run = Played(tmp_path, pipeline(*steps, answer='"{{ a }}"', top=f"{scripted(model)}\notherwise: {{set: 77}}"))
    [event] = [event for event in run.outcome.events if type(event) is FellBack]
    assert (event.cause, run.outcome.exit, run.outcome.cause) == ("empty", "success", None)


def test_otherwise_does_not_run_after_success(tmp_path):
    """It costs nothing where it is not needed."""
    run = Played(tmp_path, pipeline(FAILING, answer='"{{ a }}"', top="otherwise: {call: lookup, with: {code: Z}}"))
    assert (run.outcome.answer, run.log, fallen(run)) == (2, ["AB"], [])


@pytest.mark.parametrize(
    ("top", "steps", "exit"),
    [
        ("check: answer > 9", [FAILING], "check_failed"),
        ("guard: [{on: answer, if: answer == 2}]", [FAILING], "guardrail"),
        ("budget: {tool_calls: 0}", [FAILING], "tool_call_limit"),
        (scripted("{text: '', finish: stop}"), ["{id: a, ask: hi}"], "step_failed"),
    ],
)
def test_each_bad_end_is_followed_by_otherwise(tmp_path, top, steps, exit):
    """Checks, guards, limits of its own and failed steps."""
    run = Played(
        tmp_path,
        pipeline(
            *steps,
            "{call: lookup, with: {code: Z}, if: false}",
            answer='"{{ a }}"',
            top=f"{top}\notherwise: {{set: 77}}",
        ),
    )
    assert (run.outcome.exit, run.outcome.answer, fallen(run)) == ("success", 77, [("otherwise", exit)])


def test_a_person_s_no_is_final(tmp_path):
    """`rejected` is no failure to make up for; a run that waits waits."""
    text = pipeline(
        "{id: a, call: pay, with: {amount: 5}}", answer='"{{ a }}"', top="gate: {pay: required}\notherwise: {set: 1}"
    )
    assert Played(tmp_path, text, ask=lambda _: Decision("reject", "ann")).outcome.exit == "rejected"
    assert Played(tmp_path, text).outcome.exit == "waiting"


def test_neither_a_wrong_input_nor_an_endpoint_that_is_down_is_made_up_for(tmp_path):
    """The one is the caller's fault, the other says nothing about the workflow."""
    text = pipeline(FAILING, answer='"{{ a }}"', top="input: {n: int}\notherwise: {set: 1}")
    assert Played(tmp_path, text, {"n": "x"}).outcome.exit == "invalid_input"
    top = scripted("{error: {status: 500, message: down}}") + "\notherwise: {set: 1}"
    text = pipeline("{id: a, ask: hi}", "{call: lookup, with: {code: A}}", answer='"{{ a }}"', top=top)
    assert Played(tmp_path, text).outcome.exit == "provider_error"


def test_otherwise_is_outside_the_workflow_s_own_budget(tmp_path):
    """It counts against the parent's: here there is none, so the call is made after the limit was hit."""
    top = "budget: {tool_calls: 1}\notherwise: {call: lookup, with: {code: CCC}}"
    text = pipeline(FAILING, "{call: lookup, with: {code: B}}", answer='"{{ a }}"', top=top)
    run = Played(tmp_path, text)
    assert (run.outcome.answer, sorted(run.log)) == (3, ["AB", "CCC"])


def test_otherwise_of_a_part_counts_against_the_whole(tmp_path):
    """And a limit of the whole ends the whole, without the part's `otherwise`."""
    inner = pipeline(FAILING, answer='"{{ a }}"', top="check: false\notherwise: {call: lookup, with: {code: CCC}}")
    outer = "{id: x, run: inner.yaml}", "{call: lookup, with: {code: Z}, if: x > 99}"
    run = Played(tmp_path, pipeline(*outer, answer='"{{ x }}"', top="budget: {tool_calls: 2}"), inner=inner)
    assert (run.outcome.exit, run.outcome.note) == (
        "step_failed",
        "step 'x' ended with check_failed: `false` does not hold",
    )
    inner = inner.replace("check: false", "check: answer == 3")
    assert Played(tmp_path, pipeline(*outer, answer='"{{ x }}"'), inner=inner).outcome.answer == 3
    run = Played(tmp_path, pipeline(*outer, answer='"{{ x }}"', top="budget: {tool_calls: 1}"), inner=inner)
    assert (run.outcome.exit, run.log) == ("tool_call_limit", ["AB"])


def test_the_answer_of_otherwise_keeps_what_the_workflow_promises(tmp_path):
    """Its type, its guards and its check hold of whatever leaves it."""
    failing = {"AB": 1}
    text = pipeline(FAILING, answer='"{{ a }}"', top="output: int\notherwise: {set: many}")
    assert Played(tmp_path, text, failing=failing).outcome.exit == "unparsable"
    text = pipeline(FAILING, answer='"{{ a }}"', top="check: answer < 5\notherwise: {set: 7}")
    assert Played(tmp_path, text, failing=failing).outcome.exit == "check_failed"


def test_otherwise_can_be_another_workflow_with_inputs_of_the_same_name(tmp_path):
    """A pipeline falls back to another shape by one line."""
    inner = pipeline('{id: x, call: lookup, with: {code: "{{ q }}"}}', answer='"{{ x * 10 }}"', top="input: {q: str}")
    text = pipeline(
        "{check: q == 'no'}",
        "{call: lookup, with: {code: Z}}",
        answer="1",
        top="input: {q: str}\notherwise: {run: inner.yaml}",
    )
    run = Played(tmp_path, text, {"q": "four"}, inner=inner)
    assert (run.outcome.answer, run.at("ToolCalled")) == (40, ["otherwise/x/call"])


ROUTER = """
workflow: r
shape: router
input: {q: str}
tools: tools.yaml
model: {name: scripted, replies: [neither, nor]}
choose: "{{ q }}"
from:
  sure: {if: "q == 'sure'", call: lookup, with: {code: AB}, retry: {attempts: 2}}
  other: {description: other, set: 1}
otherwise: {call: lookup, with: {code: CCC}}
"""


def test_a_router_falls_back_when_it_finds_no_route_and_when_its_route_fails(tmp_path):
    """Once in both cases, and what nothing fits is the route `otherwise`."""
    run = Played(tmp_path, ROUTER, {"q": "x"})
    assert (run.outcome.answer, run.outcome.route, fallen(run)) == (3, "otherwise", [("otherwise", "no_route")])
    run = Played(tmp_path, ROUTER, {"q": "sure"}, failing={"AB": 2})
    assert (run.outcome.answer, run.outcome.route, fallen(run)) == (3, "sure", [("otherwise", "step_failed")])
    assert Played(tmp_path, ROUTER, {"q": "sure"}, failing={"AB": 1}).outcome.answer == 2


def test_an_otherwise_that_fails_is_the_end(tmp_path):
    """It does not run twice."""
    run = Played(tmp_path, ROUTER, {"q": "x"}, failing={"CCC": 9})
    assert (run.outcome.exit, run.log) == ("step_failed", ["CCC"])


def test_a_loop_falls_back(tmp_path):
    """A loop that reaches its limit hands over to a fixed path."""
    loop = """
workflow: l
shape: open_loop
output: int
tools: tools.yaml
prompt: go
budget: {turns: 1}
model: {name: scripted, replies: [{calls: [{tool: lookup, arguments: {code: AB}}]}]}
otherwise: {call: lookup, with: {code: CCC}}
"""
    run = Played(tmp_path, loop)
    assert (run.outcome.answer, fallen(run)) == (3, [("otherwise", "turn_limit")])
