"""The verdict in plain words, built from the numbers it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, floor, isfinite

from loopworth.comparisons.evidence import LEAST_VARIED, Pairs, Ruling
from loopworth.comparisons.intervals import Interval
from loopworth.comparisons.ratios import Ratio
from loopworth.comparisons.sequential import Shut
from loopworth.runs.figures import rounded
from loopworth.runs.usage import Value


class Facts(Value, frozen=True):
    """What a sentence is built from: the two arms, their pairs, the interval, the smallest gain and the error."""

    arm: str
    against: str
    pairs: Pairs
    limits: Interval | None
    delta: float | None
    error: float


def percent(error: float) -> str:
    """How an interval at 1 - 2 · error is labelled: `90 %` for 0.05."""
    return f"{100 * (1 - 2 * error):.4g} %"


def paragraph(
    facts: Facts,
    reason: str,
    switch: Interval | None,
    account: str = "",
    unpriced: tuple[str, ...] = (),
    pays: float | None = None,
) -> str:
    """What was found, what it shows, how it was settled, where the verdict would switch, and what it does not show."""
    cost = f"What a run of {' or of '.join(unpriced)} costs is unknown." if unpriced else ""
    settled = account if switch else ""
    parts = [finding(facts), reason, settled, cost, breaking_even(facts, pays), switches(facts, switch), scope(facts)]
    return " ".join(part for part in parts if part)


def finding(facts: Facts) -> str:
    """How the pairs came out."""
    pairs, arm, against = facts.pairs, facts.arm, facts.against
    if not pairs.n or pairs.difference is None:
        return ""
    lost = f" ({pairs.left_out} of {pairs.planned} tasks left out)" if pairs.left_out else ""
    tasks = f"On {counted(pairs.n, 'task')} that both ran{lost}"
    level = f"{pairs.difference:+.2f}"
    if facts.limits:
        level += f" ({percent(facts.error)} interval {facts.limits[0]:+.2f} to {facts.limits[1]:+.2f})"
    if pairs.tied:
        return f"{tasks}, {arm} and {against} did equally well on every one: a difference of {level}."
    did = "was right on" if pairs.whole else "did better on"
    return f"{tasks}, {arm} alone {did} {pairs.b} and {against} alone on {pairs.c}: a difference of {level}."


def reason(facts: Facts, found: Ruling | str, more: int | None) -> str:
    """What the pairs rule out, and the verdict that follows."""
    gain = f"{facts.delta:.3g}"
    at = f"at an error of {facts.error:.3g}"
    match found:
        case "earns":
            return f"That rules out a gain of {gain} or less {at}: {facts.arm} earns its place."
        case "better":
            return f"That rules out any gain {at}: {facts.against} is better."
        case "suffices" if facts.delta is not None and facts.delta >= 1:
            return f"Only a gain of {gain} would pay for it, and there is none: {facts.against} suffices."
        case "suffices":
            return (
                f"That rules out a gain of {gain} or more {at}: {facts.against} suffices. "
                f"It does not show that {facts.arm} gains nothing."
            )
    return (
        f"That rules out neither a gain of {gain} or less nor one of {gain} or more {at}: undecided, and "
        f"{facts.against} stays. {outlook(more)} It does not show that the two are equal."
    )


def outlook(more: int | None) -> str:
    if more is None:
        return "At these rates it may take more than ten times as many tasks: treat it as a tie until then."
    return f"At these rates about {counted(more, 'more task')} would decide it."


def cheaper(facts: Facts, margin: float, cost: Ratio, time: Ratio) -> str:
    return (
        f"That rules out that {facts.arm} is worse by {margin:.3g} or more at an error of {facts.error:.3g}, and it "
        f"costs {rounded(cost.ratio)} times as much (at most {rounded(cost.interval[1])}) and takes "
        f"{rounded(time.ratio)} times as long (at most {rounded(time.interval[1])}): {facts.arm} earns its place."
    )


def vetoed(facts: Facts, words: str) -> str:
    return f"By its answers {facts.arm} earns its place, but {words}: {facts.against} stays."


def without_pairs(facts: Facts) -> str:
    lost = f": {facts.pairs.left_out} of {facts.pairs.planned} were left out" if facts.pairs.planned else ""
    return (
        f"There is no task on which both {facts.arm} and {facts.against} left an outcome (n = 0){lost}. "
        f"Nothing is shown: undecided, and {facts.against} stays."
    )


def too_few_kept(facts: Facts, most: float) -> str:
    return (
        f"More than {100 * most:g} % of the tasks of an arm were left out, which may favour one side: every verdict is "
        f"undecided, and {facts.against} stays. Make the missing ones: `--resume` does, but for those of a log."
    )


def unknown_worth(facts: Facts) -> str:
    return (
        "What a run costs, or what an answer is worth, is unknown, so the smallest gain that pays cannot be derived: "
        f"undecided, and {facts.against} stays. Set min_gain or the prices."
    )


def tied(facts: Facts) -> str:
    return (
        f"No task tells the two apart, and ties alone decide nothing, however many: undecided, and {facts.against} "
        "stays. Treat it as a tie; it does not show that the two are equal on other tasks."
    )


def nothing_right(facts: Facts) -> str:
    return (
        f"Neither got a task right, so there is nothing to compare: undecided, and {facts.against} stays. "
        "Look at some answers and at the score first."
    )


def shut(arm: str, against: str, shut: Shut, delta: float) -> str:
    """Why an arm that ran on few tasks, or on none, cannot gain enough."""
    failed = f"{against} was wrong on {shut.failed} of {counted(shut.planned, 'task')}"
    ran = "it was not run at all" if not shut.ran else f"it was run on {shut.ran} of these alone and got {shut.gained}"
    unknown = f", and {shut.left_out} without an outcome count as gained" if shut.left_out else ""
    return (
        f"{failed}, and {arm} can gain only there: {ran}{unknown}. At most {shut.most} gained of {shut.planned} rule "
        f"out a gain of {delta:.3g} or more at an error of {shut.level:.3g}: {against} suffices. It says nothing of "
        f"how often {arm} is right elsewhere. {switched(arm, against, -1.0, shut.limit)}"
    )


def breaking_even(facts: Facts, gain: float | None) -> str:
    """What the prices say a gain must be to pay, and how they are weighed."""
    if gain is None or not facts.pairs.n:
        return ""
    must = f"must gain {100 * gain:.3g}" if gain >= 0 else f"may lose {-100 * gain:.3g}"
    weighed = ", weighed task by task," if facts.pairs.weighed is not None else ""
    caps = ""
    if facts.pairs.weighed is not None and not all(map(isfinite, (facts.pairs.lowest, facts.pairs.swapped.lowest))):
        caps = (
            " No cap on what a run may cost is known (`budget: {usd: …}` of the workflows, and `time: …` where seconds "
            f"have a price), and without one nothing is decided before {LEAST_VARIED} tasks tell the two apart."
        )
    return f"At these prices {facts.arm} {must} points of accuracy{weighed} to pay for what it costs.{caps}"


def switches(facts: Facts, switch: Interval | None) -> str:
    return "" if switch is None else switched(facts.arm, facts.against, *switch)


def switched(arm: str, against: str, low: float, high: float) -> str:
    """Under which other smallest gain the arm earns, and above which the other suffices; said plainly where that is
    under or above none, or any."""
    under, above = floor(low * 1000) / 1000, ceil(high * 1000) / 1000
    if high < 0:
        return f"Whatever the smallest gain: {arm} does not earn its place, and {against} suffices."
    if under <= 0 and above >= 1:
        return f"Another smallest gain would not decide it: {arm} earns for none, and {against} suffices for none."
    if under <= 0:
        suffices = f"{against} suffices for any above {above:.3f}"
        return f"With another smallest gain: {suffices}, and there is none for which {arm} earns its place."
    earns = f"With another smallest gain: {arm} earns for any under {under:.3f}"
    if above >= 1:
        return f"{earns}, and there is none for which {against} suffices."
    return f"{earns}, {against} suffices for any above {above:.3f}."


def scope(facts: Facts) -> str:
    return "It says nothing of other kinds of task, or of another model." if facts.pairs.n else ""


def summary(holder: str, earned: bool, challengers: int) -> str:
    """Who holds the place, in one sentence."""
    if not challengers:
        return f"{holder} is the only arm: there is nothing to compare it with."
    if earned:
        return f"{holder} earned the place."
    return f"{holder} keeps the place: no other arm earned it."


def listed(words: Sequence[str]) -> str:
    """Several in a sentence: `a, b and c`."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def grouped(said: Iterable[tuple[str, str]]) -> Iterable[tuple[str, str]]:
    """What is said of several is said once, of all of them: `a, b` and the words."""
    of: dict[str, list[str]] = {}
    for name, words in said:
        of.setdefault(words, []).append(name)
    return ((", ".join(names), words) for words, names in of.items())


def counted(n: int | str, noun: str) -> str:
    """So many of a thing; a text is a number as it is shown."""
    figure = n if isinstance(n, str) else f"{n:,}"
    return f"{figure} {noun}" + ("" if figure == "1" else "s")
