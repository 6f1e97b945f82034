"""The modifiers of a step, from YAML to the outcome; every run here is also replayed, and must come out the same."""

import pytest

from tests.workflows.played import Played, pipeline, scripted


def test_a_retry_tries_again_after_a_failure_and_waits_between(tmp_path):
    """`attempts` are in total; each further one is a place of its own, and the pauses are the world's."""
    step = "{id: a, call: lookup, with: {code: AB}, retry: {attempts: 3, wait: 2s}}"
    run = Played(tmp_path, pipeline(step, answer='"{{ a }}"'), failing={"AB": 2})
    assert (run.outcome.answer, run.log, run.slept) == (2, ["AB"] * 3, [2.0, 2.0])
    assert run.at("ToolCalled") == ["a/call", "a/~2/call", "a/~3/call"]


def test_the_last_attempt_is_the_step_s_end(tmp_path):
    """The failure of the last one names the step."""
    step = "{id: a, call: lookup, with: {code: AB}, retry: {attempts: 2}}"
    run = Played(tmp_path, pipeline(step, answer='"{{ a }}"'), failing={"AB": 9})
    assert run.outcome.exit == "step_failed"
    assert run.outcome.note == "step 'a': lookup (tool_error): lookup failed: LookupError: no AB"
    assert run.log == ["AB", "AB"]


def test_many_failures_of_a_step_s_tool_are_no_tool_failures(tmp_path):
    """`max_failures` is a rule for loops."""
    step = "{id: a, call: lookup, with: {code: AB}, retry: {attempts: 6}}"
    assert Played(tmp_path, pipeline(step, answer='"{{ a }}"'), failing={"AB": 5}).outcome.answer == 2


def test_a_retried_write_keeps_its_key(tmp_path):
    """The idempotency key has no attempt in it, or a retry would pay twice."""
    step = "{id: a, call: pay, with: {amount: 5}, retry: {attempts: 3}}"
    run = Played(tmp_path, pipeline(step, answer='"{{ a }}"'), failing={5: 1})
    assert run.outcome.answer == "paid 5"
    assert run.log == [("pay", 5, "a/call"), ("pay", 5, "a/call")]


def test_a_write_that_times_out_is_not_tried_again(tmp_path):
    """It may have happened, and the end says so."""
    step = "{id: a, call: hang, with: {amount: 5}, timeout: 20ms, retry: {attempts: 3}}"
    run = Played(tmp_path, pipeline(step, answer='"{{ a }}"'))
    assert run.log == [("hang", 5)]
    assert run.outcome.exit == "step_failed"
    assert "gave no answer within 0.02 s; it may have happened all the same" in run.outcome.note


def test_a_timeout_is_for_one_attempt(tmp_path):
    """An attempt that takes too long is a failure; the next one has its own time. Each is a place, the first too."""
    step = "{id: a, call: slow, with: {code: hang}, timeout: 20ms, retry: {attempts: 2}}"
    run = Played(tmp_path, pipeline(step, answer='"{{ a }}"'))
    assert (run.outcome.exit, run.log) == ("step_failed", ["hang", "hang"])
    assert run.outcome.note.startswith("step 'a' ended with time_limit")
    assert run.at("ToolCalled") == ["a/~1/call", "a/~2/call"]


def test_a_repeat_runs_until_its_condition_holds(tmp_path):
    """Rounds are places; each reads the one before as `last`, and `until` the step's own value."""
    step = '{id: n, repeat: {times: 5, until: n >= 3, wait: 10s}, set: "{{ (last | default(0)) + 1 }}"}'
    run = Played(tmp_path, pipeline(step, "{call: lookup, with: {code: A}}", answer='"{{ n }}"'))
    assert (run.outcome.answer, run.slept) == (3, [10.0, 10.0])


def test_a_repeat_that_never_holds_gives_its_last_round(tmp_path):
    """It is bounded, and reached or not the value is there."""
    step = "{id: n, repeat: {times: 2, until: n > 9}, call: lookup, with: {code: \"{{ (last or 'AAAA') | string }}\"}}"
    run = Played(tmp_path, pipeline(step, answer='"{{ n }}"'))
    assert (run.outcome.answer, run.log) == (1, ["AAAA", "4"])
    assert run.at("ToolCalled") == ["n/1/call", "n/2/call"]


def test_until_reads_the_round_and_the_one_before(tmp_path):
    """A fixed point: stop when nothing changes any more."""
    step = (
        "{id: n, repeat: {times: 9, until: last is defined and n == last}, "
        "call: lookup, with: {code: \"{{ 'x' * (last or 4) }}\"}}"
    )
    assert Played(tmp_path, pipeline(step, answer='"{{ n }}"')).log == ["xxxx", "xxxx"]


def test_a_failure_that_is_skipped_leaves_its_reason(tmp_path):
    """The value is skipped, and `error` says why; the run goes on."""
    step = "{id: a, call: lookup, with: {code: AB}, on_error: skip}"
    run = Played(tmp_path, pipeline(step, answer='"{{ a | default(0) }}: {{ a | error }}"'), failing={"AB": 1})
    assert run.outcome.answer == "0: lookup (tool_error): lookup failed: LookupError: no AB"
    assert [(event.at, event.state) for event in run.outcome.events if hasattr(event, "state")] == [("a", "skipped")]


def test_skipped_items_of_a_for_each_keep_their_places(tmp_path):
    """What failed is dropped by `select('defined')`, and the later items still run."""
    step = '{id: a, for_each: [A, BB, CCC], call: lookup, with: {code: "{{ item }}"}, on_error: skip}'
    answer = '{all: "{{ a | length }}", good: "{{ a | select(\'defined\') | list }}"}'
    run = Played(tmp_path, pipeline(step, answer=answer), failing={"BB": 1})
    assert run.outcome.answer == {"all": 3, "good": [1, 3]}


def test_modifiers_nest_from_for_each_to_timeout(tmp_path):
    """Item, then round, then attempt: the ids say which is around which."""
    step = (
        "{id: a, for_each: [A, BB], if: index == 1, repeat: {times: 2}, retry: {attempts: 2}, timeout: 5s, "
        'call: lookup, with: {code: "{{ item }}"}}'
    )
    run = Played(tmp_path, pipeline(step, answer="\"{{ a | select('defined') | list }}\""), failing={"BB": 1})
    assert run.outcome.answer == [2]
    assert run.at("ToolCalled") == ["a/1/1/~1/call", "a/1/1/~2/call", "a/1/2/~1/call"]


def test_a_limit_of_the_run_is_no_failure_to_retry_or_to_skip(tmp_path):
    """The run's own budget ends the run, whatever stands around the step."""
    step = "{id: a, for_each: [A, BB], call: lookup, with: {code: A}, retry: {attempts: 5}, on_error: skip}"
    run = Played(tmp_path, pipeline(step, answer="ok", top="budget: {tool_calls: 1}"))
    assert (run.outcome.exit, run.log) == ("tool_call_limit", ["A"])


def test_an_endpoint_that_is_down_is_not_skipped(tmp_path):
    """What says nothing about the workflow ends the run as it is."""
    step = "{id: a, ask: hi, on_error: skip, retry: {attempts: 2}}"
    top = scripted("{error: {status: 500, message: down}}", "late")
    text = pipeline(step, "{call: lookup, with: {code: A}}", answer="ok", top=top)
    assert Played(tmp_path, text).outcome.exit == "provider_error"


def test_five_votes_have_five_seeds(tmp_path):
    """A call's seed is made of the model's and the place: item, round and attempt."""
    top = 'model: {name: scripted, seed: 7, replies: {a: "yes"}}'
    steps = ("{id: a, for_each: [1, 2, 3, 4, 5], ask: vote}", "{call: lookup, with: {code: A}}")
    run = Played(tmp_path, pipeline(*steps, answer='"{{ a | most_common }}"', top=top))
    [requests] = run.requests.values()
    assert len({request.seed for request in requests}) == 5


@pytest.mark.parametrize("most", [1, 3])
def test_max_concurrency_bounds_the_items_at_once(tmp_path, most):
    """So many items run at once, and no more."""
    step = '{id: a, for_each: [A, BB, CCC, DDDD], max_concurrency: N, call: slow, with: {code: "{{ item }}"}}'
    run = Played(tmp_path, pipeline(step.replace("N", str(most)), answer='"{{ a }}"'))
    assert run.outcome.answer == [1, 2, 3, 4]
    assert run.compiled.executor.executor.steps["a"].at_once == most


def test_a_sub_workflow_is_tried_again_as_a_whole(tmp_path):
    """Each attempt is a run of its own, under its own place and budget."""
    inner = pipeline("{id: x, call: lookup, with: {code: AB}}", answer='"{{ x }}"', top="budget: {tool_calls: 1}")
    text = pipeline(
        "{id: a, run: inner.yaml, retry: {attempts: 2}}", "{call: lookup, with: {code: Z}}", answer='"{{ a }}"'
    )
    run = Played(tmp_path, text, inner=inner, failing={"AB": 1})
    assert run.outcome.answer == 2
    assert run.at("ToolCalled") == ["a/run/x/call", "a/~2/run/x/call", "2/call"]
