"""Modifiers, gates and limits that could do nothing, or too much, are faults at their places."""

import pytest

from tests.workflows.written import TOOLS, faults, loop, steps

ROUTER = """workflow: w
shape: router
input: {q: str}
tools: tools.yaml
choose: "{{ q }}"
from:
  a: {if: q, set: 1, on_error: skip}
otherwise: {set: 2}
on_limit: partial
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (steps("- {set: 1, max_concurrency: 2}"), "7:12 `max_concurrency` without `for_each`"),
        (
            steps("- {for_each: [1], call: pay, with: {amount: 1}, max_concurrency: 2}"),
            "7:66 a `for_each` over a write runs one item at a time",
        ),
        (steps("- {set: 1}", "on_limit: answer"), "8:11 `on_limit: answer` is a loop's"),
        (steps("- {set: 1}", "on_limit: partial"), "8:1 `on_limit` without `budget`"),
        (
            loop("open_loop", "budget: {turns: 1}", "gate: {pay: {on_timeout: approve}}"),
            "8:14 `on_timeout` without `timeout`; add `timeout: 24h`",
        ),
        (
            loop(
                "open_loop",
                "budget: {turns: 1}",
                "gate: {pay: {timeout: 1h, on_timeout: approve, choices: [edit, reject]}}",
            ),
            "8:39 `on_timeout: approve`, and `choices` offers edit and reject only; write `on_timeout: reject`, "
            "or add approve to `choices`",
        ),
        (steps("- {id: a, set: '{{ last + 1 }}', repeat: {times: 2}}"), "7:20 step 'a' reads 'last', which the first"),
        (
            steps("- {id: a, set: 1, repeat: {times: 2, until: last == a}}"),
            "7:45 step 'a' reads 'last', which the first",
        ),
        (steps("- {id: a, set: 1, repeat: {times: 2, until: b}}"), "7:45 step 'a' reads 'b'"),
        (
            steps("- {id: a, set: 1}", "budget: {time: 5s}", "on_limit: partial", answer="'{{ a }}'"),
            "10:13 `answer` reads 'a', which may be skipped",
        ),
        (
            steps("- {run: payer.yaml, retry: {attempts: 2}}"),
            "7:21 `retry` over a write (pay), which may then happen twice",
        ),
    ],
)
def test_what_would_be_without_effect_is_a_fault(tmp_path, text, said):
    """Each at its own place, and nothing else is said."""
    payer = steps("- {call: pay, with: {amount: 1}}").replace("input: {q: str, late: bool = false}\n", "")
    found = faults(tmp_path, text, payer_yaml=payer)
    assert [said in line for line in found] == [True], found


def test_a_router_has_no_limits_to_act_on_and_nothing_to_skip(tmp_path):
    """Both belong to what its routes run, and to steps."""
    assert [line.split(";")[0] for line in faults(tmp_path, ROUTER)] == [
        "7:32 `on_error: skip` is for a step: nothing reads a skipped answer",
        "9:11 a router has nothing to give for `on_limit: partial`",
    ]


@pytest.mark.parametrize(
    "lines",
    [
        ["- {id: a, for_each: [1], max_concurrency: 2, call: lookup, with: {code: a}, retry: {attempts: 2, wait: 1s}}"],
        ['- {id: a, set: "{{ last or 0 }}", repeat: {times: 2, until: last is defined and a == last}}'],
        ["- {id: a, ask: x, timeout: 5s, on_error: skip}", "- {set: '{{ a or 1 }}'}"],
        ["- {set: 1}", "guard: [{on: call, if: tool == 'pay'}, {on: answer, if: answer}]", "otherwise: {ask: x}"],
        [
            "- {set: 1}",
            "gate: {pay: {timeout: 24h, on_timeout: approve, remember: run, choices: [approve, edit, reject]}}",
        ],
        ["- {id: a, set: 1}", "budget: {time: 5s}", "on_limit: partial"],
    ],
)
def test_what_has_an_effect_is_no_fault(tmp_path, lines):
    """Every modifier where it stands in the language."""
    assert faults(tmp_path, steps(*lines)) == []


def test_a_part_whose_writes_are_all_idempotent_may_be_tried_again(tmp_path):
    """As a single tool may."""
    payer = steps("- {call: pay, with: {amount: 1}}").replace("input: {q: str, late: bool = false}\n", "")
    text = steps("- {run: payer.yaml, retry: {attempts: 2}}")
    tools = TOOLS.replace("effect: write", "effect: write, idempotent: true")
    assert faults(tmp_path, text, payer_yaml=payer, tools_yaml=tools) == []
