"""The verdict: which arm holds the place, decided with a stated chance of being wrong.

The first arm holds the place. Each later one is compared with whichever holds it then, and must show a gain of more
than the smallest worth having; budget and safety can only veto. Doubt, and a tie, leave the place where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from math import inf, isfinite
from typing import Literal, TypeAlias

import msgspec

from loopworth.comparisons import sentences
from loopworth.comparisons.evidence import Evidence, OneLook, Pairs, Shares, pair
from loopworth.comparisons.intervals import Interval
from loopworth.comparisons.net_benefit import Price
from loopworth.comparisons.sequential import Shut
from loopworth.comparisons.vetoes import Veto, cost_veto, extra, harm_veto, latency_veto, saving
from loopworth.runs.usage import Value

Token = Literal["earns", "earns_cheaper", "suffices", "better", "undecided", "over_budget", "not_shown_safe"]
WORDS: dict[Token, str] = {
    "earns": "{arm} earns its place",
    "earns_cheaper": "{arm} earns its place (cheaper)",
    "suffices": "{against} suffices",
    "better": "{against} better",
    "undecided": "undecided",
    "over_budget": "{arm} over budget",
    "not_shown_safe": "{arm} not shown safe",
}
"""What a token says of an arm and the one that it was compared with: of which of the two it speaks is in no token."""
BESIDE: dict[Token, str] = {"suffices": " against {arm}", "better": " than {arm}", "undecided": " on {arm}"}
"""What names the arms, where several were compared and came out otherwise; the other words name them as they are."""
EARNS: tuple[Token, ...] = ("earns", "earns_cheaper")
KEEPS: tuple[Token, ...] = ("suffices", "better", "over_budget", "not_shown_safe")
"""What `--require earns` and, of every challenger, `--require keeps` pass on; `undecided` fails both."""
MIN_GAIN, MOST_LEFT_OUT = 0.10, 0.02


class Measured(Value, frozen=True):
    """What an arm's runs came to, by task id; every planned task should have a key in `right`.

    `right` is the share of the task's runs that were right, None where it was left out (an endpoint that stayed down,
    a run that was never made). `usd` is the task's mean cost, None where unknown; `seconds` the latency of its first
    run. `harmful` says on which tasks a run did harm; None where the arm can do none. `most_usd` and `most_seconds` are
    what a run may take at most, `inf` where no cap is known.
    """

    arm: str
    right: Shares
    usd: Mapping[str, float | None] = {}
    seconds: Mapping[str, float] = {}
    harmful: Mapping[str, bool] | None = None
    most_usd: float = inf
    most_seconds: float = inf


class Rule(Value, frozen=True):
    """What an arm must show (`decide:` of a comparison). Gains and rates are shares, money is in US dollars.

    `min_gain` is the smallest gain worth having: as given, else derived from the prices, else 0.10. `error` is the
    chance of any wrong verdict in the comparison. `not_worse_by` is half of `min_gain` unless given. `max_p95` is in
    seconds.
    """

    min_gain: float | None = None
    error: float = 0.05
    not_worse_by: float | None = None
    correct_is_worth_usd: float | None = None
    wrong_costs_usd: float | None = None
    second_costs_usd: float | None = None
    max_cost_ratio: float | None = None
    max_p95: float | None = None
    max_harm: float | None = None

    @property
    def price(self) -> Price | None:
        """What gains and time are worth; None where no answer has a worth."""
        if self.correct_is_worth_usd is None and self.wrong_costs_usd is None:
            return None
        stake = (self.correct_is_worth_usd or 0.0) + (self.wrong_costs_usd or 0.0)
        return Price(stake, self.second_costs_usd or 0.0)

    @property
    def stated_gain(self) -> float | None:
        """The smallest gain worth having; None where it is the one that pays for itself, task by task."""
        if self.min_gain is not None:
            return self.min_gain
        return MIN_GAIN if self.price is None else None


DEFAULT = Rule()


class ArmVerdict(Value, frozen=True):
    """One challenger against the arm that held the place.

    n pairs; b that only the challenger got right (or did better on), c that only the other did. `interval` is that of
    the difference at 1 - 2 · `error`. `earns_below` and `suffices_above` are the smallest gains at which the verdict
    would switch; `more` forecasts how many more tasks would decide. `break_even` is the gain that pays for the arm's
    extra cost and time, where answers have a worth.
    """

    arm: str
    against: str
    token: Token
    n: int
    b: int
    c: int
    difference: float | None
    interval: Interval | None
    error: float
    words: str
    min_gain: float | None
    earns_below: float | None
    suffices_above: float | None
    more: int | None
    left_out: int
    break_even: float | None = None

    @property
    def title(self) -> str:
        """The token in words that say who."""
        return WORDS[self.token].format(arm=self.arm, against=self.against)


class Verdict(Value, frozen=True):
    """Who holds the place in the end. `token` is the holder's if it earned its place, else the last challenger's."""

    holder: str
    token: Token
    arms: tuple[ArmVerdict, ...]
    words: str

    def meets(self, required: Literal["earns", "keeps"]) -> bool:
        """Whether a challenger earned the place; or whether the first arm keeps it against every one of them."""
        if required == "earns":
            return self.token in EARNS
        return bool(self.arms) and all(one.token in KEEPS for one in self.arms)

    @property
    def title(self) -> str:
        """The token in words that say who; where none earned the place and they came out otherwise, those of all."""
        if not self.arms:
            return self.token
        if earned := [one for one in self.arms if one.arm == self.holder and one.token in EARNS]:
            return earned[-1].title
        alike: dict[tuple[Token, str], list[str]] = {}
        for one in self.arms:
            alike.setdefault((one.token, one.against), []).append(one.arm)
        apart = BESIDE if len(alike) > 1 else {}
        return "; ".join(
            f"{WORDS[token]}{apart.get(token, '')}".format(arm=sentences.listed(names), against=against)
            for (token, against), names in alike.items()
        )


Figures: TypeAlias = Mapping[str, float | None] | Mapping[str, float]
Match: TypeAlias = "tuple[Measured, Measured, Evidence | Shut]"
"""An arm and the holder on the tasks that count between them, and what these show."""


def decide(
    arms: Sequence[Measured],
    rule: Rule = DEFAULT,
    clusters: Mapping[str, str] | None = None,
    match: Callable[[Measured, Measured], Match] | None = None,
) -> Verdict:
    """The verdict on `arms`, which stand in order of complexity; `clusters` names each task's template, if any.

    The number of tasks must have been chosen before any result was seen, unless `match` brings evidence that holds at
    any number. With K challengers each of the K(K+1)/2 pairs that could be compared gets an equal part of the error.
    Where any of them lost more than 2 % of its tasks all are undecided. Thin, missing or odd data give a sentence,
    never an exception.
    """
    if not arms:
        raise ValueError("a verdict takes at least one arm")
    arms, error = [known(arm) for arm in arms], share(rule.error, len(arms))
    matched = match or (lambda arm, holder: (arm, holder, OneLook(paired(arm, holder, rule, clusters), error)))
    broken = any(too_many_lost(matched(later, earlier)[2].pairs) for earlier, later in combinations(arms, 2))
    holder, earned, judged = arms[0], None, []
    for arm in arms[1:]:
        judged.append(judge(matched(arm, holder), rule, broken))
        if judged[-1].token in EARNS:
            holder, earned = arm, judged[-1].token
    token = earned or (judged[-1].token if judged else "undecided")
    return Verdict(holder.arm, token, tuple(judged), sentences.summary(holder.arm, bool(earned), len(judged)))


def withheld(verdict: Verdict, first: str, why: str) -> Verdict:
    """No verdict, whatever the figures show: the place stays with the first arm. `why` ends each sentence."""
    open = {"token": "undecided", "earns_below": None, "suffices_above": None, "more": None}
    words = ((arm, f"{arm.arm} is not judged against {arm.against}: {why}.") for arm in verdict.arms)
    arms = tuple(msgspec.structs.replace(arm, words=said, **open) for arm, said in words)
    return Verdict(first, "undecided", arms, f"{first} keeps the place: {why}.")


def known(arm: Measured) -> Measured:
    """The arm with what is no number (NaN, infinity) taken for what it is: unknown."""
    right = {task: finite(value) for task, value in arm.right.items()}
    usd = {task: finite(value) for task, value in arm.usd.items()}
    seconds = {task: value for task, value in arm.seconds.items() if isfinite(value)}
    return msgspec.structs.replace(arm, right=right, usd=usd, seconds=seconds)


def finite(value: float | None) -> float | None:
    return value if value is not None and isfinite(value) else None


def paired(arm: Measured, holder: Measured, rule: Rule, clusters: Mapping[str, str] | None = None) -> Pairs:
    """Two arms task by task; with what each task costs more, where the smallest gain is the one that pays for it."""
    price = rule.price if rule.stated_gain is None else None
    if price is None or not price.stake:
        return pair(arm.right, holder.right, clusters)
    extra: dict[str, float | None] = {}
    for task in arm.right:
        usd, seconds = (less(mine.get(task), theirs.get(task)) for mine, theirs in sides(arm, holder))
        extra[task] = price.gain(usd, seconds)
    most = (price.most(arm.most_usd, arm.most_seconds), price.most(holder.most_usd, holder.most_seconds))
    return pair(arm.right, holder.right, clusters, extra, most)


def sides(arm: Measured, holder: Measured) -> tuple[tuple[Figures, Figures], ...]:
    return ((arm.usd, holder.usd), (arm.seconds, holder.seconds))


def less(mine: float | None, theirs: float | None) -> float | None:
    return None if mine is None or theirs is None else mine - theirs


def share(error: float, arms: int) -> float:
    """The part of the error that each pair gets."""
    return error / max(arms * (arms - 1) / 2, 1)


def too_many_lost(pairs: Pairs) -> bool:
    return pairs.left_out > MOST_LEFT_OUT * pairs.planned


def judge(match: Match, rule: Rule, broken: bool) -> ArmVerdict:
    """One challenger against the holder of the place, at its part of the error."""
    arm, holder, evidence = match
    if isinstance(evidence, Shut):
        return judge_shut(arm, holder, evidence, rule, broken)
    pairs, error = evidence.pairs, evidence.error
    arm, holder = on_common(arm, holder), on_common(holder, arm)
    delta = smallest_gain(pairs, rule)
    limits = evidence.interval()
    facts = sentences.Facts(arm.arm, holder.arm, pairs, limits, delta, error)
    doubt = unusable(arm, holder, broken, facts)
    token, reason, more = conclusion(arm, holder, rule, facts, evidence) if not doubt else ("undecided", doubt, None)
    pays = breaking_even(arm, holder, rule)
    settles = not doubt and (token in EARNS or not pairs.tied)
    switch = evidence.switch_points(delta) if delta is not None and settles else None
    return ArmVerdict(
        arm=arm.arm,
        against=holder.arm,
        token=token,
        n=pairs.n,
        b=pairs.b,
        c=pairs.c,
        difference=pairs.difference,
        interval=limits,
        error=error,
        words=sentences.paragraph(facts, reason, switch, evidence.account, unpriced(arm, holder), pays),
        min_gain=delta,
        earns_below=switch and switch[0],
        suffices_above=switch and switch[1],
        more=more,
        left_out=pairs.left_out,
        break_even=pays,
    )


def unpriced(*arms: Measured) -> tuple[str, ...]:
    """The arms of which a run's cost is unknown."""
    return tuple(one.arm for one in arms if one.usd and any(usd is None for usd in one.usd.values()))


def judge_shut(arm: Measured, holder: Measured, gate: Shut, rule: Rule, broken: bool) -> ArmVerdict:
    """A challenger that has too little to gain; it has no pairs, since it ran on the holder's failures alone."""
    delta = rule.stated_gain or MIN_GAIN
    facts = sentences.Facts(arm.arm, holder.arm, gate.pairs, None, delta, gate.error)
    doubt = sentences.too_few_kept(facts, MOST_LEFT_OUT) if broken else ""
    if not doubt and gate.failed == gate.planned and not gate.gained:
        doubt = sentences.nothing_right(facts)
    return ArmVerdict(
        arm=arm.arm,
        against=holder.arm,
        token="undecided" if doubt else "suffices",
        n=gate.planned,
        b=gate.gained,
        c=0,
        difference=None,
        interval=None,
        error=gate.error,
        words=doubt or sentences.shut(arm.arm, holder.arm, gate, delta),
        min_gain=delta,
        earns_below=None if doubt else -1.0,
        suffices_above=None if doubt else gate.limit,
        more=None,
        left_out=gate.left_out,
    )


def on_common(arm: Measured, other: Measured) -> Measured:
    """The arm with its cost and latency on those tasks alone that both arms can be judged on."""
    tasks = [task for task, right in arm.right.items() if right is not None and other.right.get(task) is not None]
    usd = {task: arm.usd.get(task) for task in tasks}
    seconds = {task: arm.seconds[task] for task in tasks if task in arm.seconds}
    return msgspec.structs.replace(arm, usd=usd, seconds=seconds)


def smallest_gain(pairs: Pairs, rule: Rule) -> float | None:
    """The smallest gain worth having: the rule's, or what pays for the arm's extra cost and time (under 0 where it
    costs less). None where prices are given and a cost or a latency that they need is unknown."""
    if rule.stated_gain is not None:
        return rule.stated_gain
    return None if pairs.prices is None else pairs.prices.break_even


def breaking_even(arm: Measured, holder: Measured, rule: Rule) -> float | None:
    """The gain that pays for the arm's extra cost and time on average; None where it is unknown, or nothing has a
    worth."""
    price = rule.price
    return None if price is None else price.gain(*(extra(mine, theirs) for mine, theirs in sides(arm, holder)))


def unusable(arm: Measured, holder: Measured, broken: bool, facts: sentences.Facts) -> str:
    """Why these data allow no verdict at all; "" where they may."""
    if not facts.pairs.n:
        return sentences.without_pairs(facts)
    if broken:
        return sentences.too_few_kept(facts, MOST_LEFT_OUT)
    if facts.delta is None:
        return sentences.unknown_worth(facts)
    if not any(arm.right.values()) and not any(holder.right.values()):
        return sentences.nothing_right(facts)
    return ""


def conclusion(
    arm: Measured, holder: Measured, rule: Rule, facts: sentences.Facts, evidence: Evidence
) -> tuple[Token, str, int | None]:
    """The token, the sentence with its reason, and how many more tasks would decide: accuracy, savings, vetoes.

    Ties alone, however many, are no verdict on accuracy; an arm that is shown cheaper and faster may earn by them.
    """
    delta = facts.delta or 0.0
    found: Token = evidence.ruling(delta)
    cheaper = "" if found in ("earns", "better") else savings(arm, holder, rule, facts, evidence)
    if facts.pairs.tied and not cheaper:
        return "undecided", sentences.tied(facts), None
    if found not in EARNS and not cheaper:
        more = evidence.forecast(delta) if found == "undecided" else None
        return found, sentences.reason(facts, found, more), more
    if veto := strongest(vetoes(arm, holder, rule, facts.error)):
        return veto.token, sentences.vetoed(facts, veto.words), None
    return ("earns_cheaper", cheaper, None) if cheaper else (found, sentences.reason(facts, found, None), None)


def savings(arm: Measured, holder: Measured, rule: Rule, facts: sentences.Facts, evidence: Evidence) -> str:
    """The sentence that an arm is shown cheaper, faster and not worse; "" where one of the three is not shown."""
    margin = not_worse_margin(rule, facts.delta or 0.0)
    cost, time = saving(arm.usd, holder.usd, facts.error), saving(arm.seconds, holder.seconds, facts.error)
    if cost is None or time is None or not evidence.not_worse_by(margin):
        return ""
    return sentences.cheaper(facts, margin, cost, time)


def not_worse_margin(rule: Rule, delta: float) -> float:
    """By how much a cheaper arm may be worse; half of the smallest gain worth having, unless the rule says."""
    return rule.not_worse_by if rule.not_worse_by is not None else max(delta, 0.0) / 2


def vetoes(arm: Measured, holder: Measured, rule: Rule, error: float) -> list[Veto]:
    """Every limit that the arm is not shown to keep."""
    found = [
        cost_veto(arm.usd, holder.usd, rule.max_cost_ratio, error) if rule.max_cost_ratio is not None else None,
        latency_veto(arm.seconds.values(), rule.max_p95, error) if rule.max_p95 is not None else None,
        harm_veto(arm.harmful.values(), rule.max_harm, error)
        if rule.max_harm is not None and arm.harmful is not None
        else None,
    ]
    return [veto for veto in found if veto]


def strongest(found: Sequence[Veto]) -> Veto | None:
    """A limit shown broken weighs more than safety not shown, and that more than a limit left open."""
    order = ("over_budget", "not_shown_safe", "undecided")
    return min(found, key=lambda veto: order.index(veto.token), default=None)
