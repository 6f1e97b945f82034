"""Limits hold, whoever spends."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.runs.budget import UNQUOTED, Budget, Limits
from loopworth.runs.journal import Record, body
from loopworth.runs.message import Reply
from loopworth.runs.observation import Observation
from loopworth.runs.outcome import Stop
from loopworth.runs.usage import Quote, Usage


def admit(budget, kind="model", want=100, at=0.0, beyond=False, quote=UNQUOTED):
    return asyncio.run(budget.admit(kind, want, lambda: at, beyond, quote))


@pytest.mark.parametrize(
    ("limits", "kind", "exit"),
    [
        (Limits(turns=1), "model", "turn_limit"),
        (Limits(tool_calls=1), "tool", "tool_call_limit"),
        (Limits(tokens=50), "model", "token_limit"),
        (Limits(usd=0.5), "model", "cost_limit"),
        (Limits(usd=0.5), "tool", "cost_limit"),
        (Limits(time=5), "model", "time_limit"),
        (Limits(time=5), "tool", "time_limit"),
    ],
)
def test_each_limit_refuses_the_next_call_by_its_own_name(limits, kind, exit):
    """The first call goes through, the second is refused with the limit's exit reason and its owner."""
    budget = Budget(limits, path="sub/run/")
    budget.settle(admit(budget, kind, 40), Usage(20, 30, usd=0.5))
    with pytest.raises(Stop) as stop:
        admit(budget, kind, at=6.0)
    assert (stop.value.exit, stop.value.owner) == (exit, "sub/run/")


def test_a_hit_limit_stays_hit():
    """Parallel calls of a run that is over are refused too, though their own kind has room."""
    budget = Budget(Limits(tool_calls=0))
    with pytest.raises(Stop):
        admit(budget, "tool")
    with pytest.raises(Stop) as stop:
        admit(budget, "model")
    assert stop.value.exit == "tool_call_limit"


def test_what_a_sub_workflow_spends_is_charged_to_its_parent():
    """A budget is one meter."""
    parent = Budget(Limits(turns=3))
    child = Budget(Limits(), "sub/", parent)
    child.settle(admit(child), Usage(7, 5, usd=0.25))
    assert (parent.turns, parent.tokens, parent.usd) == (1, 12, 0.25)


def test_the_last_word_may_pass_its_own_budget_but_not_its_parents():
    """`beyond` is charged all the same, and the owner above still decides."""
    parent = Budget(Limits(turns=2))
    child = Budget(Limits(turns=0), "sub/", parent)
    admit(child, beyond=True)
    assert (child.turns, parent.turns) == (1, 1)
    admit(child, beyond=True)
    with pytest.raises(Stop) as stop:
        admit(child, beyond=True)
    assert stop.value.owner == ""


def test_unknown_output_is_charged_as_it_was_held():
    """An endpoint that reports no usage must not make a token limit endless."""
    budget = Budget(Limits(tokens=1000))
    budget.settle(admit(budget, want=300), Usage(None, None, usd=None))
    assert (budget.tokens, budget.held) == (300, 0)


@given(st.lists(st.integers(1, 400), min_size=1, max_size=12), st.integers(1, 900))
def test_output_tokens_never_pass_the_limit(wants, limit):
    """However many calls run at once and however greedy they are, what they write fits the limit."""
    budget = Budget(Limits(tokens=limit))

    async def call(want):
        try:
            hold = await budget.admit("model", want, lambda: 0.0)
        except Stop:
            return
        await asyncio.sleep(0)
        assert budget.tokens + budget.held <= limit
        budget.settle(hold, Usage(0, hold.output))

    async def all_of_them():
        await asyncio.gather(*(call(want) for want in wants))

    asyncio.run(all_of_them())
    assert budget.tokens <= limit
    assert budget.held == 0


def test_a_wait_for_a_person_is_no_time_spent():
    """`time` counts active time."""
    budget = Budget(Limits(time=5))
    budget.pause(100)
    assert admit(budget, at=104.0).output == 100


def test_a_tool_that_keeps_failing_ends_the_run_at_its_own_number():
    """The count is per tool and belongs to the whole run, sub-workflows included."""
    run = Budget(Limits())
    sub = Budget(Limits(), "sub/", run)
    for _ in range(2):
        sub.failed("lookup", 3)
        sub.failed("other", None)
    admit(sub)
    sub.failed("lookup", 3)
    with pytest.raises(Stop) as stop:
        admit(sub)
    assert (stop.value.exit, stop.value.owner) == ("tool_failures", "")


def recorded(failures):
    """A journal of one model call at `sub/run/`, then of so many failed calls of a tool."""
    failed = body(Observation("", "look", "tool_error", "down"))
    reply = Record("h", "model", body(Reply({}, usage=Usage(20, 30, usd=0.5))), began=2.0)
    return {"sub/run/1/ask": reply} | {f"{n}/call": Record("h", "tool", failed, began=3.0) for n in range(failures)}


@pytest.mark.parametrize(("failures", "ends"), [(2, False), (3, True)])
def test_a_resumed_run_has_spent_and_failed_what_its_records_say(failures, ends):
    """Else every resume would be a fresh budget, and three more tries of a dead tool."""
    budget = Budget(Limits())
    budget.restore(recorded(failures), {"look": 3})
    assert (budget.turns, budget.tokens, budget.usd, budget.tool_calls) == (1, 50, 0.5, failures)
    if not ends:
        admit(budget)
        return
    with pytest.raises(Stop) as stop:
        admit(budget)
    assert stop.value.exit == "tool_failures"


def test_a_part_of_a_resumed_run_is_charged_with_its_own_records_alone():
    """What ran beside it is its parent's; its clock begins with its first record."""
    budget = Budget(Limits(), path="sub/run/", above=Budget(Limits()), start=9.0)
    budget.restore(recorded(3), {"look": 3})
    assert (budget.tokens, budget.tool_calls, budget.start) == (50, 0, 2.0)
    admit(budget)


def test_a_call_waits_for_what_calls_in_flight_may_give_back():
    """They hold more than they use: ten that want 1,000 each and write 100 all fit 3,500, and none is cut."""
    budget, granted = Budget(Limits(tokens=3500)), []

    async def call():
        hold = await budget.admit("model", 1000, lambda: 0.0)
        granted.append(hold.output)
        await asyncio.sleep(0)
        budget.settle(hold, Usage(0, 100))

    async def all_of_them():
        await asyncio.gather(*(call() for _ in range(10)))

    asyncio.run(all_of_them())
    assert (granted, budget.tokens) == ([1000] * 10, 1000)


def test_what_a_call_may_cost_is_held_before_it_is_made():
    """Output at its price for as much as it may write, and the prompt: what is left cuts the output, or refuses it."""
    budget, quote = Budget(Limits(usd=1.0)), Quote(100, 0.1, 0.001)
    first = admit(budget, want=500, quote=quote)
    assert (first.output, first.usd, first.limit) == (500, pytest.approx(0.6), None)
    budget.settle(first, Usage(100, 500, usd=0.6))
    second = admit(budget, want=500, quote=quote)
    assert (second.output, second.limit, second.owner) == (300, "cost_limit", "")
    budget.settle(second, Usage(100, 290, usd=0.39))
    with pytest.raises(Stop) as stop:
        admit(budget, want=500, quote=quote)
    assert (stop.value.exit, stop.value.note) == (
        "cost_limit",
        "usd: 1.0, and the next call may pass it: 0.99 is spent",
    )


def test_a_prompt_that_does_not_fit_what_is_left_is_not_sent():
    """The tokens of a prompt are estimated before the call, and count."""
    budget = Budget(Limits(tokens=1000))
    assert admit(budget, want=500, quote=Quote(600)).output == 400
    with pytest.raises(Stop) as stop:
        admit(Budget(Limits(tokens=1000)), want=500, quote=Quote(1000))
    assert stop.value.exit == "token_limit"


def test_what_a_call_does_not_say_is_charged_as_it_was_held_and_again_on_a_resume():
    """Else an endpoint without usage would make every limit endless, at the latest when the run goes on."""
    budget, quote = Budget(Limits(usd=1.0, tokens=5000)), Quote(100, 0.1, 0.001)
    hold, unknown = admit(budget, want=200, quote=quote), Usage(None, None, usd=None)
    budget.settle(hold, unknown)
    assert (budget.tokens, budget.usd, budget.held, budget.held_usd) == (300, pytest.approx(0.3), 0, 0.0)
    again = Budget(Limits(usd=1.0))
    again.restore({"1/ask": Record("h", "model", body(Reply({}, usage=unknown, held=hold)))}, {})
    assert (again.tokens, again.usd) == (budget.tokens, budget.usd)


@given(st.lists(st.tuples(st.integers(1, 400), st.integers(0, 300)), min_size=1, max_size=12), st.integers(1, 900))
def test_no_limit_is_passed_however_many_calls_run_at_once(calls, limit):
    """Where prompts are as large as they were thought to be, neither tokens nor dollars pass their limits."""
    budget = Budget(Limits(tokens=limit, usd=limit / 1000), above=Budget(Limits(usd=limit / 2000)))

    async def call(want, input):
        try:
            hold = await budget.admit("model", want, lambda: 0.0, quote=Quote(input, input / 1000, 0.001))
        except Stop:
            return
        await asyncio.sleep(0)
        budget.settle(hold, Usage(input, hold.output, usd=(input + hold.output) / 1000))

    async def all_of_them():
        await asyncio.gather(*(call(want, input) for want, input in calls))

    asyncio.run(all_of_them())
    assert budget.tokens <= limit
    assert budget.above.usd <= limit / 2000 + 1e-9
    assert (budget.held, budget.held_usd) == (0, 0.0)


def test_the_outermost_limit_is_the_one_that_counts():
    """A tool call that both may not make ends the outer run, whatever the inner one would make of its own limit."""
    outer = Budget(Limits(tool_calls=1))
    inner = Budget(Limits(tool_calls=1), "sub/run/", outer)
    admit(inner, "tool")
    with pytest.raises(Stop) as stop:
        admit(inner, "tool")
    assert stop.value.owner == ""


def test_the_end_by_failures_names_the_tool_that_failed_too_often():
    """And not every tool that ever failed."""
    budget = Budget(Limits())
    for tool in ("other", "look", "look"):
        budget.failed(tool, 2)
    with pytest.raises(Stop) as stop:
        admit(budget, "tool")
    assert stop.value.note == "look failed 2 times"
