"""The figures of a comparison in words, the same on the terminal and on every page; what is unknown is not 0."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from loopworth.comparisons.contrast import Contrast
from loopworth.comparisons.intervals import Interval
from loopworth.comparisons.measures import Accuracy, Amount
from loopworth.comparisons.pareto import AXES, Beaten, Standing
from loopworth.comparisons.report import ArmFigures, Judging
from loopworth.comparisons.result import Spared
from loopworth.comparisons.sentences import counted, grouped, listed
from loopworth.comparisons.spending import Batching, Seen
from loopworth.runs.characters import safe
from loopworth.runs.figures import NOT_BILLED, mean_dollars, rounded
from loopworth.runs.secrets import hide

LONGEST = 400
"""Characters of one remark."""
MOST_LEVELS = 60
"""Levels of `group_by` that a table or a chart shows."""


def shown(text: object, most: int = LONGEST) -> str:
    """Data as one line of signs that show: what would be obeyed, or hide, is spelled out, and what is long is cut."""
    line = safe(" ".join(hide(str(text)).split()), lines=False)
    return line if len(line) <= most else safe(f"{line[: most - 1]}…")


def judge_words(one: Judging) -> Iterable[str]:
    known = one.agreement
    if known.share is not None and known.interval is not None:
        kappa = (
            ""
            if known.kappa is None or known.kappa_interval is None
            else (f", kappa {known.kappa:.2f} ({known.kappa_interval[0]:.2f} to {known.kappa_interval[1]:.2f})")
        )
        of = f"{known.agreed}/{known.n} {100 * known.share:.0f} % (95 % interval {span(known.interval)} %)"
        yield f"{one.model} agrees with the labels on {of}{kappa}"
    if one.repeated:
        yield f"{counted(one.repeated, 'labelled row')} more, the same as another, counted for nothing"
    if one.unshown:
        names = ", ".join(f"`{name}`" for name in one.unshown)
        yield f"no labelled row has {names}, which it is shown of a task: it was judged with less to go by"
    if known.unjudged:
        yield f"it gave no verdict on {counted(known.unjudged, 'labelled row')}"
    split = f"; {one.split} passed in one order only, which is wrong" if one.split else ""
    yield f"it judged {counted(one.runs, 'run')}, each in both orders{split}"
    usd = mean_dollars(one.usd)
    yield f"apart from the arms' figures: {counted(one.calls, 'call')}, {whole(one.tokens)} tokens, cost {usd}"
    if one.doubt:
        yield f"no verdict: {one.doubt}"


def rows(arms: tuple[ArmFigures, ...]) -> Iterable[tuple[str, list[str]]]:
    yield "shape", [arm.shape.replace("_", " ") for arm in arms]
    if any(arm.protocols for arm in arms):
        yield "protocol", [", ".join(arm.protocols) or "-" for arm in arms]
    if any(arm.made < arm.planned for arm in arms):
        yield "runs made", [f"{arm.made} of {arm.planned}" for arm in arms]
    yield "right", [unfigured(arm) if arm.selected else right(arm.figures.accuracy) for arm in arms]
    yield "95 % interval, %", [limits(arm.figures.accuracy) for arm in arms]
    if any(arm.answered < arm.figures.accuracy.runs for arm in arms):
        yield "right of answered", [of(arm.figures.accuracy, arm.answered) for arm in arms]
    if any(arm.apart for arm in arms):
        yield "right of all runs", [of(arm.figures.accuracy, arm.made) for arm in arms]
    for k in sorted({one.k for arm in arms for one in arm.passes if one.k > 1}):
        yield f"right {k} of {k}, %", [passed(arm, k) for arm in arms]
    if any(arm.route for arm in arms):
        yield "route right", [right(arm.route) if arm.route else "-" for arm in arms]
    yield "model calls", [number(arm.figures.model_calls) for arm in arms]
    yield "tool calls", [number(arm.figures.tool_calls) for arm in arms]
    yield "tokens", [tokens(arm.figures.tokens) for arm in arms]
    yield "cost", [cost(arm) for arm in arms]
    yield "latency p50", [duration(arm.latency.p50) for arm in arms]
    yield "latency p95", [duration(arm.latency.p95) for arm in arms]
    if any(arm.harm for arm in arms):
        yield "did harm", [harm(arm.harm) for arm in arms]
    yield "ended", [tally(arm.exits) for arm in arms]
    if any(arm.apart for arm in arms):
        yield "counted apart", [tally(arm.apart) for arm in arms]
    if any(origin(arm) != "measured" for arm in arms):
        yield "figures are", [origin(arm) for arm in arms]


SURE, TAIL = "how sure the figures are: 95 % intervals of the means", "an upper 95 % limit of p95"
ALONE = "each arm alone, over tasks: whether two overlap is no test of the arms, which the paired differences are"
UNDER = "p95 is under"
"""What `extents` are, what they are not, and which of them is the limit."""


def sure(columns: Collection[str]) -> str:
    """The title of `extents`, which names what there is."""
    return f"{SURE}, and {TAIL}" if UNDER in columns else SURE


def extents(arms: Sequence[ArmFigures]) -> Iterable[tuple[str, list[str]]]:
    """Between which limits lies what `rows` has as one figure; without those of which no arm has any."""
    found = [arm.figures for arm in arms]
    yield from ranges("model calls", [one.model_calls_interval for one in found], rounded)
    yield from ranges("tool calls", [one.tool_calls_interval for one in found], rounded)
    yield from ranges("tokens", [one.tokens.interval for one in found], "{:,.0f}".format)
    yield from ranges("cost", [arm.figures.usd.interval if arm.billed else None for arm in arms], paid)
    if any(arm.latency.p95_upper is not None for arm in arms):
        yield UNDER, [tail(arm) for arm in arms]


def ranges(
    name: str, intervals: Sequence[Interval | None], form: Callable[[float], str]
) -> Iterable[tuple[str, list[str]]]:
    """Intervals in words, of which one that is a point is that; none where all are."""
    ends = [() if one is None else tuple(dict.fromkeys(map(form, one))) for one in intervals]
    if any(len(both) > 1 for both in ends):
        yield name, ["-".join(both) or "-" for both in ends]


def paid(usd: float) -> str:
    return f"${rounded(usd)}" if usd else NOT_BILLED


def tail(arm: ArmFigures) -> str:
    """The upper limit of p95; at a small n there is none."""
    found = arm.latency
    return "no limit" if found.n and found.p95_upper is None else duration(found.p95_upper)


def origin(arm: ArmFigures) -> str:
    """Where its figures are from: what is measured is not named beside what is not."""
    found = arm.sources
    tokens = f"tokens {found.tokens}" if found.tokens != found.counts else ""
    usd = f"cost {found.usd}" if arm.billed and found.usd != found.counts else ""
    parts = [found.counts if found.counts != "measured" else "", tokens, usd]
    return "\n".join(part for part in parts if part) or "measured"


def unfigured(arm: ArmFigures) -> str:
    """In the place of an accuracy: where an arm ran only, if at all, says nothing of how often it is right."""
    return "selected tasks" if arm.made else "not run"


def right(found: Accuracy) -> str:
    if not found.runs:
        return "-"
    return f"{found.right}/{found.runs}" + ("" if found.share is None else f" {100 * found.share:.0f} %")


def of(found: Accuracy, runs: int) -> str:
    return f"{found.right}/{runs}" if runs else "-"


def passed(arm: ArmFigures, k: int) -> str:
    """pass^k, with its interval."""
    return next((f"{100 * one.share:.0f} ({span(one.interval)})" for one in arm.passes if one.k == k), "-")


def limits(found: Accuracy) -> str:
    return span(found.interval)


def span(interval: tuple[float, float] | None) -> str:
    """An interval of shares, in per cent."""
    if interval is None:
        return "-"
    low, high = (f"{100 * end:.1f}" for end in interval)
    return f"{low}-{high}"


def number(value: float | None) -> str:
    return "-" if value is None else rounded(value)


def amount(found: Amount, form: Callable[[float], str]) -> str:
    """The mean per run; a lower limit of it where some runs are unknown, `unknown` where all are."""
    if not found.known:
        return "unknown" if found.unknown else "-"
    mean = form(found.total / (found.known + found.unknown))
    return f"≥ {mean}" if found.unknown else mean


def cost(arm: ArmFigures) -> str:
    """US dollars per run."""
    if arm.selected:
        return "-"
    return usd_amount(arm.figures.usd) if arm.billed else NOT_BILLED


def tokens(found: Amount) -> str:
    """The mean tokens per run."""
    return amount(found, "{:,.0f}".format)


def usd_amount(found: Amount) -> str:
    """The mean US dollars per run."""
    nothing = found.known and not found.unknown and not found.total
    return NOT_BILLED if nothing else amount(found, lambda usd: f"${rounded(usd, 4)}")


def duration(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    if seconds < 0.0001:
        return "< 0.1 ms"
    return f"{rounded(seconds)} s" if seconds >= 1 else f"{rounded(1000 * seconds)} ms"


def harm(found: tuple[int, int] | None) -> str:
    """Runs that did harm, of those that were looked at."""
    return "-" if found is None else f"{found[0]}/{found[1]} {100 * found[0] / found[1]:.0f} %"


def tally(exits: dict[str, int]) -> str:
    return "\n".join(f"{exit} {n}" for exit, n in exits.items()) or "-"


def accept_words(name: str, least: float, accepted: Mapping[str, str | None]) -> Iterable[str]:
    """The first level of `name` at which the lower limit of arms is under what is accepted."""
    firsts = {
        arm: "is nowhere under it" if first is None else f"is under it first at {name} {shown(first)}"
        for arm, first in accepted.items()
    }
    yield from (f"accept {least:.3g}: the lower limit of {arms} {words}" for arms, words in grouped(firsts.items()))


def curve_words(said: Iterable[tuple[str, str]]) -> Iterable[str]:
    """How accuracy goes with the levels, arm by arm."""
    yield from (f"{arms}: {words}" for arms, words in grouped(said))


def no_verdict(stopped: str, interrupted: bool) -> str:
    """Why there is none."""
    if stopped or interrupted:
        return f"there is no verdict on a part of the plan: {stopped or 'it was interrupted'}."
    return "a single arm is compared with nothing."


def whole(tokens: float | None) -> str:
    return "unknown" if tokens is None else f"{tokens:,.0f}"


def money(usd: float | None, arm: ArmFigures) -> str:
    return mean_dollars(usd) if arm.billed else NOT_BILLED


def seen_words(one: Seen) -> str:
    """What was asked of a model after the answer stood in an observation; one call is needed to give it."""
    runs = counted(one.runs, "run")
    words = f"the expected answer stood in an observation in {one.seen} of the {runs} that called a tool"
    if one.after:
        calls = counted(rounded(one.after), "model call")
        words += f", and {calls} came after it on average (giving it takes one)"
    capped = counted(one.capped, "run")
    return words + (f"; of {capped} that ended at a limit {one.capped_seen} had it" if one.capped else "")


def batching_words(one: Batching) -> str:
    calls = [counted(rounded(n), noun) for n, noun in ((one.model_calls, "model call"), (one.tool_calls, "tool call"))]
    among = "" if one.runs == one.made else f"in the {one.runs} of {counted(one.made, 'run')} that asked for a tool, "
    ratio = f"{among}{calls[0]} for {calls[1]} a run ({one.ratio:.2f} each)"
    if one.tool_calls <= one.asking:
        return f"{ratio}; no turn asked for several at once"
    worth = "" if one.usd is None or not one.usd else f", ${rounded(abs(one.usd), 4)} a run"
    more = "" if one.tokens is None else f", which {saving(one.tokens)} input tokens{worth} (estimated)"
    return f"{ratio}; turns asked for several at once{more}: an arm with `parallel: false` would measure it"


def saving(tokens: float) -> str:
    return f"saves about {tokens:,.0f}" if tokens >= 0 else f"takes about {-tokens:,.0f} more"


def control_words(votes: int, words: str) -> str:
    """What is said of a control beside its figures: how many runs voted, and what came of it."""
    return "; ".join(filter(None, (f"majority of {votes} runs" if votes > 1 else "", words)))


def times(one: Contrast) -> Iterable[tuple[str, str, str, str]]:
    """How many times as much an arm cost and took: in all, with its interval, and on the median task; what is unknown,
    or over nothing, is left out."""
    for what, found, median in (("cost", one.usd, one.usd_median), ("time", one.seconds, one.seconds_median)):
        if found is not None:
            yield what, number(found.ratio), "-".join(map(rounded, found.interval)), number(median)
    if one.usd is not None:
        each = number(one.usd_per_right) if one.any_right else "no correct answer"
        yield "cost of a right answer", each, "", ""


def pareto_words(standings: Sequence[Standing]) -> Iterable[str]:
    """The Pareto set and its axes; then for each other arm by which it is beaten, and on which."""
    told = [axis for axis in AXES if any(axis in one.axes for one in standings)]
    best = ", ".join(one.arm for one in standings if not one.dominated_by)
    none = "".join(f", {axis} tells none apart" for axis in AXES if axis not in told)
    yield f"not shown to be beaten on {listed(told)}{' at once' * (len(told) > 1)} (the Pareto set{none}): {best}"
    for one in standings:
        ways: dict[str, list[str]] = {}
        for beaten in one.beaten:
            ways.setdefault(beaten_words(beaten), []).append(beaten.by)
        yield from (f"{one.arm}: {' and '.join(arms)} shown {how}" for how, arms in ways.items())


LESS = {"accuracy": "not worse", "cost": "cheaper", "time": "faster"}
NO_MORE = {"cost": "at no more cost", "time": "in no more time"}
UNKNOWN = {"cost": "what either costs is unknown", "time": "how long either takes is unknown"}


def beaten_words(one: Beaten) -> str:
    """On which axes an arm is shown better, and why the others decide nothing."""
    better = listed([LESS[axis] for axis in one.on]) if len(one.on) > 1 else "better"
    no_more = [NO_MORE[axis] for axis in one.no_more]
    return "; ".join([", ".join([better, *([listed(no_more)] if no_more else [])]), *(UNKNOWN[a] for a in one.unknown)])


def dearer(usd: float | None) -> str:
    """US dollars more, or less."""
    return "unknown" if usd is None else f"{'-' if usd < 0 else '+'}${rounded(abs(usd), 4)}"


def gained(difference: float | None) -> str:
    return "-" if difference is None else f"{difference:+.2f}"


def between(interval: tuple[float, float] | None) -> str:
    return "-" if interval is None else f"{interval[0]:+.2f} to {interval[1]:+.2f}"


def spared_words(spared: Spared) -> str:
    """What stopping early saved on one arm."""
    source = "estimated from those made" if spared.made else "assumed from its files"
    known = "" if spared.usd == 0 else f", and about ${rounded(spared.usd or 0, 4)} ({source}) not spent"
    money = known if spared.usd is not None else ", at a cost that is not known"
    return f"{spared.arm}: {spared.runs} of {counted(spared.planned, 'run')} were not needed{money}"
