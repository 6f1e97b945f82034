"""The verdict: its tokens, who holds the place, how the error is split, and a sentence for every odd set of data."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.comparisons.evidence import by_exact_test
from loopworth.comparisons.verdict import EARNS, KEEPS, WORDS, ArmVerdict, Measured, Rule, decide

Shares = dict[str, float | None]


def shares(right: int, wrong: int, first: int = 0) -> Shares:
    """Task ids from `first` on: `right` ones, then `wrong` ones."""
    return {str(first + i): float(i < right) for i in range(right + wrong)}


def arms(b: int, c: int, both: int = 0, neither: int = 0, **agent: Any) -> list[Measured]:
    """A pipeline and an agent with these counts of pairs."""
    marks = [(0.0, 1.0)] * b + [(1.0, 0.0)] * c + [(1.0, 1.0)] * both + [(0.0, 0.0)] * neither
    pipeline: Shares = {str(i): mark[0] for i, mark in enumerate(marks)}
    usd = dict.fromkeys(pipeline, 0.01)
    right: Shares = {str(i): mark[1] for i, mark in enumerate(marks)}
    return [Measured("pipeline", pipeline, usd, dict.fromkeys(pipeline, 1.0)), Measured("agent", right, **agent)]


def only(verdict: Any) -> ArmVerdict:
    assert len(verdict.arms) == 1
    found = verdict.arms[0]
    assert isinstance(found, ArmVerdict)
    return found


@pytest.mark.parametrize(
    ("counts", "token", "holder"),
    [
        ((15, 0, 10, 0), "earns", "agent"),
        ((0, 15, 10, 0), "better", "pipeline"),
        ((1, 1, 68, 0), "suffices", "pipeline"),
        ((0, 0, 40, 0), "undecided", "pipeline"),
        ((7, 1, 10, 7), "undecided", "pipeline"),
        ((0, 0, 25, 0), "undecided", "pipeline"),
    ],
)
def test_accuracy_gives_one_of_four_tokens(counts: tuple[int, int, int, int], token: str, holder: str) -> None:
    """Only `earns` moves the place."""
    verdict = decide(arms(*counts))
    assert (verdict.token, verdict.holder) == (token, holder)


def test_the_json_has_the_fields_of_the_language() -> None:
    """All of them, in order, also where they are empty; then the words and what else a reader may want."""
    encoded = json.loads(msgspec.json.encode(decide(arms(0, 0))))
    assert list(encoded) == ["holder", "token", "arms", "words"]
    fields = ["arm", "against", "token", "n", "b", "c", "difference", "interval", "error", "words"]
    assert list(encoded["arms"][0])[:10] == fields
    assert encoded["arms"][0]["interval"] is None


def test_the_words_hold_the_numbers_they_rest_on() -> None:
    """n, counts, the labelled interval, the smallest gain, the error, the switch points, and what is not shown."""
    found = only(decide(arms(15, 0, 10)))
    for part in ("On 25 tasks", "agent alone was right on 15", "pipeline alone on 0", "+0.60 (90 % interval +0.44 to"):
        assert part in found.words
    for part in ("a gain of 0.1 or less at an error of 0.05", "earns for any under 0.41", "nothing of other kinds of"):
        assert part in found.words


def test_undecided_says_how_many_more_tasks_or_that_it_is_a_tie() -> None:
    """A forecast within ten times n, else the advice to call it a tie; no other token has one."""
    some, tie = only(decide(arms(7, 1, 10, 7))), only(decide(arms(11, 1, 78)))
    assert some.more
    assert f"about {some.more} more tasks" in some.words
    assert (tie.token, tie.more) == ("undecided", None)
    assert "it may take more than ten times as many tasks: treat it as a tie until then" in tie.words
    few = only(decide(arms(1, 0, 3)))
    assert (few.more, by_exact_test(b=10, c=0, n=40, delta=0.1, alpha=0.05)) == (None, "earns")
    assert only(decide(arms(15, 0, 10))).more is None


@pytest.mark.parametrize(
    ("counts", "says"),
    [
        (
            (15, 0, 10),
            "With another smallest gain: agent earns for any under 0.410, pipeline suffices for any above 0.7",
        ),
        ((26, 0, 0), "agent earns for any under 0.782, and there is none for which pipeline suffices."),
        ((1, 1, 68), "pipeline suffices for any above 0.051, and there is none for which agent earns its place."),
        ((0, 15, 10), "Whatever the smallest gain: agent does not earn its place, and pipeline suffices."),
        ((1, 0), "Another smallest gain would not decide it: agent earns for none, and pipeline suffices for none."),
    ],
)
def test_the_switch_points_are_told_whichever_there_are(counts: tuple[int, ...], says: str) -> None:
    """Both, one of the two, all, or none: a sentence that can be read, and always one."""
    assert says in only(decide(arms(*counts))).words


@pytest.mark.parametrize(
    ("counts", "title"),
    [
        ((15, 0, 10), "agent earns its place"),
        ((0, 15, 10), "pipeline better"),
        ((1, 1, 68), "pipeline suffices"),
        ((7, 1, 10), "undecided"),
    ],
)
def test_a_title_says_who(counts: tuple[int, ...], title: str) -> None:
    """Of an arm's row, and of the whole: a token alone does not say which of the two is meant."""
    verdict = decide(arms(*counts))
    assert (only(verdict).title, verdict.title) == (title, title)


def test_the_title_of_several_arms_says_which_it_speaks_of() -> None:
    """The holder's if it earned its place; else all that came out otherwise, so that no open question is hidden by
    the last arm's answer."""
    pipeline, agent = arms(30, 0, 10)
    worse = Measured("worse", shares(0, 40))
    assert decide([pipeline, agent, worse]).title == "agent earns its place"
    poor, twin = msgspec.structs.replace(worse, arm="poor"), msgspec.structs.replace(agent, arm="twin")
    assert decide([agent, worse, poor]).title == "agent better"
    assert decide([agent, worse, twin]).title == "agent better than worse; undecided on twin"
    assert decide([agent, twin, worse, poor]).title == "undecided on twin; agent better than worse and poor"
    assert decide([agent]).title == "undecided"


def test_a_place_is_kept_where_no_challenger_is_undecided() -> None:
    """In whatever order they stand: `--require keeps` must not pass on the last one's answer alone."""
    agent = arms(30, 0, 10)[1]
    worse, twin = Measured("worse", shares(0, 40)), msgspec.structs.replace(agent, arm="twin")
    found = [decide([agent, *others]) for others in ([worse, twin], [twin, worse], [worse])]
    assert [(one.token, one.meets("keeps")) for one in found] == [
        ("undecided", False),
        ("better", False),
        ("better", True),
    ]


def test_each_of_k_challengers_gets_its_part_of_the_error() -> None:
    """Two challengers make three pairs that could be compared, three make six; intervals widen with it."""
    one, two = arms(15, 0, 10), [*arms(15, 0, 10), Measured("third", shares(25, 0))]
    assert only(decide(one)).error == 0.05
    assert [found.error for found in decide(two).arms] == pytest.approx([0.05 / 3] * 2)
    narrow, wide = only(decide(one)).interval, decide(two).arms[0].interval
    assert narrow
    assert wide
    assert wide[0] < narrow[0]
    assert "96.67 % interval" in decide(two).arms[0].words


def test_a_later_arm_must_beat_whichever_holds_the_place() -> None:
    """It gains over the pipeline, but not over the agent that took its place."""
    pipeline, agent = arms(30, 0, 10)
    verdict = decide([pipeline, agent, Measured("open", shares(40, 0)), Measured("last", shares(0, 40))])
    assert [(found.arm, found.against) for found in verdict.arms] == [
        ("agent", "pipeline"),
        ("open", "agent"),
        ("last", "agent"),
    ]
    assert (verdict.holder, verdict.token, verdict.arms[-1].token) == ("agent", "earns", "better")


SLOW = {str(i): 30.0 for i in range(100)}
DEAR = {str(i): 0.10 + 0.001 * (i % 3) for i in range(100)}
CLEAN = dict.fromkeys(SLOW, False)


@pytest.mark.parametrize(
    ("agent", "rule", "token"),
    [
        ({"usd": DEAR}, Rule(max_cost_ratio=5), "over_budget"),
        ({"usd": DEAR}, Rule(max_cost_ratio=20), "earns"),
        ({}, Rule(max_cost_ratio=5), "undecided"),
        ({"seconds": SLOW}, Rule(max_p95=20), "over_budget"),
        ({"seconds": SLOW}, Rule(max_p95=40), "earns"),
        ({"harmful": CLEAN}, Rule(max_harm=0.01), "not_shown_safe"),
        ({"harmful": CLEAN}, Rule(max_harm=0.05), "earns"),
        ({}, Rule(max_harm=0.01), "earns"),
        ({"usd": DEAR, "harmful": CLEAN}, Rule(max_cost_ratio=5, max_harm=0.01), "over_budget"),
        ({"harmful": CLEAN}, Rule(max_cost_ratio=5, max_harm=0.01), "not_shown_safe"),
    ],
)
def test_limits_veto_an_arm_that_earned_its_place(agent: Mapping[str, Any], rule: Rule, token: str) -> None:
    """Shown over, not settled, not shown safe; an arm that can do no harm needs no clean runs."""
    verdict = decide(arms(60, 0, 40, **agent), rule)
    assert verdict.token == token
    assert verdict.holder == ("agent" if token == "earns" else "pipeline")
    assert only(verdict).more is None


def test_limits_never_help_an_arm_that_did_not_earn() -> None:
    """A pipeline that suffices still does when the agent breaks every cap."""
    rule = Rule(max_cost_ratio=1.0, max_p95=0.1, max_harm=0.0001)
    found = decide(arms(1, 1, 98, usd=DEAR, seconds=SLOW, harmful=CLEAN), rule)
    assert found.token == "suffices"


def test_an_arm_shown_cheaper_faster_and_not_worse_earns_its_place() -> None:
    """Each of the three must be shown: unknown costs, or a margin too small for n, leave it as it was."""
    saving = {str(i): 0.001 + 0.0001 * (i % 3) for i in range(100)}
    quick = {str(i): 0.2 + 0.01 * (i % 3) for i in range(100)}
    for b, c, token in ((0, 0, "undecided"), (1, 1, "suffices")):
        both = 100 - b - c
        assert decide(arms(b, c, both, usd=saving, seconds=quick)).token == "earns_cheaper"
        assert decide(arms(b, c, both, usd=saving)).token == token
        assert decide(arms(b, c, both, usd={**saving, "3": None}, seconds=quick)).token == token
        assert decide(arms(b, c, both, usd=saving, seconds=quick), Rule(not_worse_by=0.001)).token == token


@pytest.mark.parametrize("n", [1, 20, 30, 300, 3000])
@pytest.mark.parametrize("halves", [False, True])
def test_ties_alone_are_no_verdict_however_many(n: int, halves: bool) -> None:
    """Also of repeats that tie at a half: undecided, in words, without switch points, and nothing more to run."""
    level: Shares = dict.fromkeys(map(str, range(n)), 0.5 if halves else 1.0)
    found = only(decide([Measured("pipeline", level), Measured("agent", level)]))
    assert (found.token, found.n, found.difference, found.more) == ("undecided", n, 0.0, None)
    assert (found.earns_below, found.suffices_above) == (None, None)
    assert "ties alone decide nothing" in found.words


def test_the_smallest_gain_comes_from_the_prices_where_they_are_given() -> None:
    """9 cents more and 29 seconds at a tenth of a cent, over a stake of 75 cents; min_gain goes first."""
    agent = {"usd": dict.fromkeys(SLOW, 0.10), "seconds": SLOW}
    rule = Rule(correct_is_worth_usd=0.5, wrong_costs_usd=0.25, second_costs_usd=0.001)
    assert only(decide(arms(60, 0, 40, **agent), rule)).min_gain == pytest.approx((0.09 + 0.029) / 0.75)
    assert only(decide(arms(60, 0, 40, **agent), Rule(min_gain=0.3, correct_is_worth_usd=1))).min_gain == 0.3
    assert only(decide(arms(60, 0, 40))).min_gain == 0.1
    cheaper = arms(60, 0, 40, usd=dict.fromkeys(SLOW, 0.001))
    assert only(decide(cheaper, Rule(correct_is_worth_usd=1))).min_gain == pytest.approx(-0.009)


def priced(n: int, b: int, c: int, cost: Any, **caps: float) -> list[Measured]:
    """n tasks, b won and c lost, of an agent that costs this much on task i where it is right or wrong."""
    mark = lambda i: (0.0, 1.0) if i < b else (1.0, 0.0) if i < b + c else (1.0, 1.0)
    pipeline, agent = ({str(i): mark(i)[side] for i in range(n)} for side in (0, 1))
    usd = {task: cost(int(task), agent[task]) for task in agent}
    free = dict.fromkeys(agent, 0.0)
    return [Measured("pipeline", pipeline, free, most_usd=0.0), Measured("agent", agent, usd, **caps)]


def test_prices_are_weighed_task_by_task() -> None:
    """Of the same counts and mean cost the gain is less certain where the agent costs most when it is wrong."""
    rule = Rule(correct_is_worth_usd=1.0)
    even = only(decide(priced(100, 32, 11, lambda i, right: 0.089), rule))
    wrong = only(decide(priced(100, 32, 11, lambda i, right: 0.012 + 0.7 * (1 - right)), rule))
    assert (even.min_gain, wrong.min_gain) == (pytest.approx(0.089), pytest.approx(0.089, abs=1e-4))
    assert (even.token, wrong.token) == ("earns", "undecided")
    assert wrong.earns_below is not None
    assert even.earns_below is not None
    assert wrong.earns_below < even.earns_below
    assert "must gain 8.9 points of accuracy, weighed task by task, to pay" in wrong.words


def test_a_few_tasks_with_varied_costs_are_decided_where_a_cap_bounds_them() -> None:
    """Fifteen differences are too few for Student's t; the e-process needs the most that a run may cost."""
    rule, cost = Rule(correct_is_worth_usd=1.0), lambda i, right: 0.01 + 0.001 * (i % 3)
    known, unknown = (only(decide(priced(25, 15, 0, cost, **caps), rule)) for caps in ({"most_usd": 0.05}, {}))
    assert (known.token, unknown.token) == ("earns", "undecided")
    assert "No cap on what a run may cost is known" in unknown.words
    assert "nothing is decided before 25 tasks tell the two apart" in unknown.words
    assert unknown.more


@given(st.integers(1, 60), st.data())
def test_switch_points_of_prices_agree_with_the_verdict(n: int, data: st.DataObject) -> None:
    """As without prices: earns above the break-even gain just where the arm earns, and suffices likewise."""
    b = data.draw(st.integers(0, n))
    c = data.draw(st.integers(0, n - b))
    costs = data.draw(st.lists(st.floats(0, 0.2), min_size=n, max_size=n))
    one = only(decide(priced(n, b, c, lambda i, right: costs[i], most_usd=0.2), Rule(correct_is_worth_usd=1.0)))
    if one.earns_below is None or one.suffices_above is None or one.min_gain is None or one.token == "earns_cheaper":
        return
    assert (one.token == "earns") == (one.earns_below >= one.min_gain)
    assert one.token != "suffices" or one.suffices_above <= one.min_gain + 1e-9
    assert one.earns_below <= one.suffices_above


def test_what_pays_is_told_where_the_smallest_gain_is_stated_too() -> None:
    """The break-even gain beside `min_gain`, which decides."""
    rule = Rule(min_gain=0.3, correct_is_worth_usd=0.5, wrong_costs_usd=0.25, second_costs_usd=0.001)
    found = only(decide(arms(60, 0, 40, usd=dict.fromkeys(SLOW, 0.10), seconds=SLOW), rule))
    assert (found.min_gain, found.break_even) == (0.3, pytest.approx((0.09 + 0.029) / 0.75))
    assert "must gain 15.9 points of accuracy to pay" in found.words


def test_prices_that_no_gain_could_pay_for_say_so() -> None:
    """And an unknown cost leaves the smallest gain unknown, and the verdict undecided."""
    dear = only(decide(arms(60, 0, 40, usd=dict.fromkeys(SLOW, 2.0)), Rule(correct_is_worth_usd=0.5)))
    assert (dear.token, "Only a gain of 3.98 would pay" in dear.words) == ("suffices", True)
    unknown = only(decide(arms(60, 0, 40), Rule(correct_is_worth_usd=0.5)))
    assert (unknown.token, unknown.min_gain, "unknown" in unknown.words) == ("undecided", None, True)


@pytest.mark.parametrize(("lost", "token"), [(2, "earns"), (3, "undecided")])
def test_more_than_two_percent_left_out_makes_every_verdict_undecided(lost: int, token: str) -> None:
    """Also that of another arm that lost nothing; 2 % itself is allowed, and what was left out is shown."""
    pipeline, agent = arms(60, 0, 40)
    broken: Shares = {**agent.right, **dict.fromkeys([str(i) for i in range(lost)])}
    verdict = decide([pipeline, agent, Measured("third", broken)])
    assert verdict.arms[0].token == token
    assert verdict.arms[1].left_out == lost
    assert f"{lost} of 100 tasks left out" in verdict.arms[1].words


@pytest.mark.parametrize(
    ("given_arms", "says"),
    [
        (arms(0, 0), "(n = 0)"),
        ([Measured("pipeline", shares(10, 5)), Measured("agent", {})], "15 of 15 were left out"),
        ([Measured("pipeline", shares(9, 0)), Measured("agent", shares(9, 0, first=50))], "18 of 18 were left out"),
        ([Measured("pipeline", shares(9, 0)), Measured("agent", dict.fromkeys("012345678", float("nan")))], "n = 0"),
        (arms(0, 0, 0, 100), "Neither got a task right"),
        (arms(0, 0, 20), "did equally well on every one"),
        (arms(1, 0), "On 1 task "),
    ],
)
def test_odd_data_give_a_sentence_and_no_verdict(given_arms: list[Measured], says: str) -> None:
    """Nothing, no pair, NaN, failures only, ties only, one task: undecided, in words, and no NaN in the JSON."""
    verdict = decide(given_arms)
    assert verdict.token == "undecided"
    assert says in only(verdict).words
    assert "nan" not in (only(verdict).words + json.dumps(msgspec.to_builtins(verdict))).lower()


def test_a_single_arm_is_compared_with_nothing() -> None:
    """It holds the place, and the words say why there is no verdict."""
    verdict = decide(arms(1, 1)[:1])
    assert (verdict.holder, verdict.token, verdict.arms) == ("pipeline", "undecided", ())
    assert "only arm" in verdict.words


@given(st.lists(st.tuples(st.sampled_from([0, 0.5, 1, None]), st.sampled_from([0, 0.5, 1, None])), max_size=40))
def test_no_data_break_the_verdict(marks: list[tuple[float | None, float | None]]) -> None:
    """Any mixture of repeats and holes has a token, and an interval between -1 and 1 that holds the difference."""
    pipeline: Shares = {str(i): mark[0] for i, mark in enumerate(marks)}
    agent: Shares = {str(i): mark[1] for i, mark in enumerate(marks)}
    found = only(decide([Measured("pipeline", pipeline), Measured("agent", agent)]))
    assert found.token in WORDS
    assert found.n + found.left_out == len(marks)
    if found.interval and found.difference is not None:
        assert -1 <= found.interval[0] <= found.difference <= found.interval[1] <= 1


def test_what_a_required_verdict_passes_on_parts_the_tokens() -> None:
    """`earns` and `keeps` have no token in common, and `undecided` fails both."""
    assert {*EARNS, *KEEPS, "undecided"} == set(WORDS)
    assert not set(EARNS) & set(KEEPS)


def test_a_verdict_on_a_thousand_tasks_takes_well_under_five_seconds() -> None:
    """Three exact tests and both switch points."""
    began = time.process_time()
    decide(arms(180, 61, 600, 159))
    assert time.process_time() - began < 5
