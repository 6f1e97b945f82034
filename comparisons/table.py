"""A comparison on the terminal. All data are shown as text: nothing in them is read as markup or as control codes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from loopworth.comparisons import curve
from loopworth.comparisons.contrast import Contrast
from loopworth.comparisons.pareto import AXES, Beaten, Standing
from loopworth.comparisons.report import Accuracy, Amount, ArmFigures, Judging, Level, Report, report, spared_words
from loopworth.comparisons.result import Result
from loopworth.comparisons.sentences import counted, listed, percent
from loopworth.comparisons.spending import Batching, Seen
from loopworth.comparisons.verdict import ArmVerdict
from loopworth.runs.figures import NOT_BILLED, mean_dollars
from loopworth.runs.secrets import hide

LONGEST = 400
"""Characters of one remark."""
MOST_LEVELS = 60
"""Levels of `group_by` that a table or a chart shows."""


def render(result: Result) -> RenderableType:
    """The arms side by side, the levels, the routes, the paired differences, the verdict, and what to be wary of."""
    found = report(result)
    parts = [
        arms_table(found),
        *judge_lines(found),
        *changes(found),
        *levels_table(result, found),
        *spending_tables(found),
        *routes_tables(found),
        *recovery_table(found),
        *contrasts_table(found),
        *pareto(found),
        *ablation_table(found),
        *differences(result),
        *controls_table(found),
        Group(*remarks(result, found)),
    ]
    return Group(*parts)


def shown(text: object, most: int = LONGEST) -> str:
    """Data as one printable line: controls and invisible characters are escaped, and what is long is cut."""
    line = " ".join(hide(str(text)).split())
    line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
    return line if len(line) <= most else f"{line[: most - 1]}…"


class Fitted(Table):
    """A table that fits the terminal without cutting a word or a figure, as long as they have room side by side: long
    headers break between words first, then the columns move together, then cells break between words; and only what
    still has no room is cut."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        heads = [str(column.header) for column in self.columns]
        cells = [[line for cell in column.cells for line in str(cell).split("\n")] for column in self.columns]
        bodies = [longest([*head.split(), *lines]) for head, lines in zip(heads, cells, strict=True)]
        words = [longest(" ".join([head, *lines]).split()) for head, lines in zip(heads, cells, strict=True)]
        broken = [body if c.no_wrap else word for c, body, word in zip(self.columns, bodies, words, strict=True)]
        room = options.max_width - 2  # for its edges
        ways = [(bodies, 3), (bodies, 2), (broken, 3), (broken, 2), (broken, 1), (words, 1), ([1] * len(words), 1)]
        across = len(self.columns) - 1
        least, gap = next(((least, gap) for least, gap in ways if sum(least) + gap * across <= room), ways[-1])
        wanted = [longest([head, *lines]) for head, lines in zip(heads, cells, strict=True)]
        self.padding = (0, int(gap > 1), 0, int(gap > 2))
        for floor in (bodies, least):
            wanted = narrowed(wanted, floor, room - gap * across)
        for column, width, whole in zip(self.columns, wanted, bodies, strict=True):
            column.width, column.no_wrap = width, column.no_wrap and width >= whole
        yield from super().__rich_console__(console, options)


def longest(texts: Sequence[str]) -> int:
    """The width of the longest."""
    return max(map(cell_len, texts), default=0)


def narrowed(widths: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """The widths, of which the widest are made less until they have room together, and none less than its `least`."""
    found = list(widths)
    while sum(found) > room and (can := [k for k, width in enumerate(found) if width > least[k]]):
        found[max(can, key=lambda k: found[k])] -= 1
    return found


def table(*columns: str, left: int = 1) -> Table:
    """A table whose first `left` columns hold words and the others figures."""
    made = Fitted(box=SIMPLE_HEAD, header_style="bold", pad_edge=False)
    for place, column in enumerate(columns):
        made.add_column(Text(column), justify="left" if place < left else "right", overflow="fold")
    return made


def headed(title: str, *parts: RenderableType) -> Group:
    return Group(Text(title, style="bold"), *parts)


# -- the arms ---------------------------------------------------------------------------------------------------------


def arms_table(found: Report) -> Group:
    """One column for each arm. Figures are means of its scored runs."""
    made = table("", *(shown(arm.arm) for arm in found.arms))
    made.columns[0].no_wrap = True
    for name, cells in rows(found.arms):
        made.add_row(Text(name), *map(Text, cells))
    means = "calls, tokens and cost are means per run; latency is without queueing and rate-limit pauses"
    return headed(shown(found.words), made, Text(f"{means}\n", style="dim"))


def judge_lines(found: Report) -> Iterable[RenderableType]:
    """That `right` is an LLM's word, how far it agrees with people, and what it cost."""
    if (one := found.judging) is not None:
        yield headed("`right` is the word of an LLM judge", *(Text(shown(line)) for line in judge_words(one)), Text())


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
    if known.unjudged:
        yield f"it gave no verdict on {counted(known.unjudged, 'labelled row')}"
    split = f"; {one.split} passed in one order only, which is wrong" if one.split else ""
    yield f"it judged {counted(one.runs, 'run')}, each in both orders{split}"
    usd = mean_dollars(one.usd)
    yield f"apart from the arms' figures: {counted(one.calls, 'call')}, {whole(one.tokens)} tokens, cost {usd}"
    if one.doubt:
        yield f"no verdict: {one.doubt}"


def changes(found: Report) -> Iterable[RenderableType]:
    """What the comparison changed in the arms' files."""
    lines = [Text(f"{shown(arm.arm)}: {shown(one)}") for arm in found.arms for one in arm.differences]
    if lines:
        yield headed("changed from the files", *lines, Text())


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
    yield "tokens", [amount(arm.figures.tokens, "{:,.0f}") for arm in arms]
    yield "cost", [cost(arm) for arm in arms]
    yield "latency p50", [duration(arm.p50) for arm in arms]
    yield "latency p95", [duration(arm.p95) for arm in arms]
    if any(arm.harm for arm in arms):
        yield "did harm", [harm(arm.harm) for arm in arms]
    yield "ended", [tally(arm.exits) for arm in arms]
    if any(arm.apart for arm in arms):
        yield "counted apart", [tally(arm.apart) for arm in arms]
    if any(origin(arm) != "measured" for arm in arms):
        yield "figures are", [origin(arm) for arm in arms]


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
    return "-" if value is None else f"{value:.3g}"


def amount(found: Amount, form: str) -> str:
    """The mean per run; a lower limit of it where some runs are unknown, `unknown` where all are."""
    if not found.known:
        return "unknown" if found.unknown else "-"
    mean = form.format(found.total / (found.known + found.unknown))
    return f"≥ {mean}" if found.unknown else mean


def cost(arm: ArmFigures) -> str:
    """US dollars per run."""
    if arm.selected:
        return "-"
    return usd_amount(arm.figures.usd) if arm.billed else NOT_BILLED


def usd_amount(found: Amount) -> str:
    """The mean US dollars per run."""
    return NOT_BILLED if found.known and not found.unknown and not found.total else amount(found, "${:.4g}")


def duration(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    if seconds < 0.0001:
        return "< 0.1 ms"
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


def harm(found: tuple[int, int] | None) -> str:
    """Runs that did harm, of those that were looked at."""
    return "-" if found is None else f"{found[0]}/{found[1]} {100 * found[0] / found[1]:.0f} %"


def tally(exits: dict[str, int]) -> str:
    return "\n".join(f"{exit} {n}" for exit, n in exits.items()) or "-"


# -- levels and routes ------------------------------------------------------------------------------------------------


def levels_table(result: Result, found: Report) -> Iterable[RenderableType]:
    group = result.comparison.group_by
    if not found.levels or group is None:
        return
    name, arms = shown(group), {arm.arm: arm for arm in found.arms}
    cost = ["cost"] if any(arm.billed for arm in found.arms) else []
    made = table(name, "arm", "right", "95 %", "model calls", "tool calls", "tokens", *cost, left=2)
    most = MOST_LEVELS * len(arms)
    for place, level in enumerate(found.levels[:most], 1):
        cells = level_row(level, arms[level.arm])[: len(made.columns)]
        made.add_row(*map(Text, cells), end_section=place % len(arms) == 0)
    for column in made.columns[1:4]:
        column.no_wrap = True
    yield headed(f"by {name}", made)
    if len(found.levels) > most:
        yield Text(f"the first {MOST_LEVELS} of {len(found.levels) // len(arms):,} levels: --json has all")
    least = f"accept {result.comparison.accept or 0:.3g}: the lower limit of"
    yield from (Text(f"{shown(one.arm)}: {shown(one.words)}") for one in found.curves)
    yield from (Text(f"{least} {shown(arm)} {under(name, first)}") for arm, first in found.accepted.items())
    yield Text()


def under(name: str, first: str | None) -> str:
    return "is nowhere under it" if first is None else f"is under it first at {name} {shown(first)}"


def level_row(level: Level, arm: ArmFigures) -> list[str]:
    found = level.figures
    calls = [number(found.model_calls), number(found.tool_calls), amount(found.tokens, "{:,.0f}")]
    usd = usd_amount(found.usd) if arm.billed else NOT_BILLED
    return [shown(level.level), shown(level.arm), right(found.accuracy), limits(found.accuracy), *calls, usd]


# -- what the runs were spent on --------------------------------------------------------------------------------------


def spending_tables(found: Report) -> Iterable[RenderableType]:
    """How runs ended, where any ended otherwise than well; what each step took; what came after the answer was seen."""
    arms = {arm.arm: arm for arm in found.arms}
    if any(end.exit != "success" for end in found.ends):
        made = table("arm", "ended", "runs", "right", "wrong", "tokens", "cost", left=2)
        for end in found.ends:
            counts = [str(end.runs), str(end.right), str(end.wrong)]
            made.add_row(
                *map(Text, [shown(end.arm), end.exit, *counts, whole(end.tokens), money(end.usd, arms[end.arm])])
            )
        yield headed("how runs ended, and what they cost in all", made)
    if any(step.model_calls for step in found.steps):
        yield headed("by step, or turn of a loop: means of the runs that came to it", steps_table(found, arms))
    for one in found.seen:
        if one.seen or one.capped:
            yield Text(f"{shown(one.arm)}: {seen_words(one)}")
    for batch in found.batching:
        yield Text(f"{shown(batch.arm)}: {batching_words(batch)}")
    if found.seen or found.batching:
        yield Text()


def steps_table(found: Report, arms: Mapping[str, ArmFigures]) -> Table:
    made = table("arm", "step", "runs", "model calls", "tool calls", "tokens", "cost", left=2)
    for step in found.steps:
        calls = [str(step.runs), number(step.model_calls), number(step.tool_calls)]
        made.add_row(
            *map(Text, [shown(step.arm), shown(step.step), *calls, whole(step.tokens), money(step.usd, arms[step.arm])])
        )
    return made


def whole(tokens: float | None) -> str:
    return "unknown" if tokens is None else f"{tokens:,.0f}"


def money(usd: float | None, arm: ArmFigures) -> str:
    return mean_dollars(usd) if arm.billed else NOT_BILLED


def seen_words(one: Seen) -> str:
    """What was asked of a model after the answer stood in an observation; one call is needed to give it."""
    runs = counted(one.runs, "run")
    words = f"the expected answer stood in an observation in {one.seen} of the {runs} that called a tool"
    if one.after:
        calls = counted(f"{one.after:.3g}", "model call")
        words += f", and {calls} came after it on average (giving it takes one)"
    capped = counted(one.capped, "run")
    return words + (f"; of {capped} that ended at a limit {one.capped_seen} had it" if one.capped else "")


def batching_words(one: Batching) -> str:
    calls = [counted(f"{n:.3g}", noun) for n, noun in ((one.model_calls, "model call"), (one.tool_calls, "tool call"))]
    among = "" if one.runs == one.made else f"in the {one.runs} of {counted(one.made, 'run')} that asked for a tool, "
    ratio = f"{among}{calls[0]} for {calls[1]} a run ({one.ratio:.2f} each)"
    if one.tool_calls <= one.asking:
        return f"{ratio}; no turn asked for several at once"
    worth = "" if one.usd is None or not one.usd else f", ${one.usd:.4g} a run"
    more = "" if one.tokens is None else f", which saves about {one.tokens:,.0f} input tokens{worth} (estimated)"
    return f"{ratio}; turns asked for several at once{more}: an arm with `parallel: false` would measure it"


def routes_tables(found: Report) -> Iterable[RenderableType]:
    """A confusion matrix for each arm that took routes."""
    for arm in found.arms:
        if not arm.routes:
            continue
        taken = sorted({label for _, label, _ in arm.routes})
        made = table("expected ↓ taken →", *(shown(label or "(none)") for label in taken))
        counts = {(expected, label): n for expected, label, n in arm.routes}
        for expected in sorted({label for label, _, _ in arm.routes}):
            made.add_row(Text(shown(expected)), *(Text(str(counts.get((expected, label), "·"))) for label in taken))
        yield headed(f"routes of {shown(arm.arm)}", made)


# -- the verdict ------------------------------------------------------------------------------------------------------


def differences(result: Result) -> Iterable[RenderableType]:
    """Each challenger against the arm that held the place, and who holds it in the end."""
    verdict = result.verdict
    if verdict is None:
        return
    level = f"{percent(verdict.arms[0].error)} interval"  # one error for all pairs
    made = table("arm", "against", "n", "won", "lost", "gain", level, "verdict", left=2)
    for one in verdict.arms:
        made.add_row(*map(Text, difference_row(one)))
    for column in made.columns[:-1]:
        column.no_wrap = True
    yield headed("paired differences: tasks won and lost against the arm that held the place", made)
    for one in verdict.arms:
        yield Text(shown(f"{models(result, one)}{one.words}", 4 * LONGEST) + "\n")
    yield (
        Text("verdict: ", style="bold")
        .append(shown(verdict.title))
        .append(f" — {shown(verdict.words)}\n", style="not bold")
    )


def contrasts_table(found: Report) -> Iterable[RenderableType]:
    """Cost and time beside the arm that each was compared with, and whether any of several arms differ at all."""
    if found.differ is not None:
        test = f"{found.differ.statistic:.2f}, {found.differ.df} df, p {curve.chance(found.differ.p)}"
        yield Text(f"do any of the arms differ? Cochran's Q {test}\n")
    if not any(one.usd or one.seconds for one in found.contrasts):
        return
    made = table("arm", "against", "of", "times", "95 %", "median task", left=3)
    for one in found.contrasts:
        for what, *figures in times(one):
            made.add_row(*map(Text, [shown(one.arm), shown(one.against), what, *figures]))
    yield headed("cost and time beside the arm that held the place: descriptive", made)
    tested = [one for one in found.contrasts if one.holm is not None]
    if tested:
        pairs = (f"{shown(one.arm)} against {shown(one.against)} p {curve.chance(one.holm or 0.0)}" for one in tested)
        yield Text(f"whether they are right alike, by McNemar's test, corrected by Holm: {', '.join(pairs)}\n")


def times(one: Contrast) -> Iterable[tuple[str, str, str, str]]:
    """How many times as much an arm cost and took: in all, with its interval, and on the median task; what is unknown,
    or over nothing, is left out."""
    for what, found, median in (("cost", one.usd, one.usd_median), ("time", one.seconds, one.seconds_median)):
        if found is not None:
            yield what, number(found.ratio), "{:.3g}-{:.3g}".format(*found.interval), number(median)
    if one.usd is not None:
        each = number(one.usd_per_right) if one.any_right else "no correct answer"
        yield "cost of a right answer", each, "", ""


def pareto(found: Report) -> Iterable[RenderableType]:
    """Which arms no other is shown to beat, and by which the others are."""
    if found.standings:
        yield from (Text(shown(line)) for line in pareto_words(found.standings))
        yield Text()


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


def ablation_table(found: Report) -> Iterable[RenderableType]:
    """What the changes of each arm were worth, beside the arm that has none of them."""
    if not found.ablation:
        return
    level = f"{percent(found.ablation[0].error)} interval"  # one error for all
    made = table("arm", "base", "changed", "n", "won", "lost", "gain", level, "cost", left=3)
    for one in found.ablation:
        parts = "\n".join(shown(part) for part in one.changed)
        gain, interval = gained(one.difference), between(one.interval)
        counts = [str(one.n), str(one.b), str(one.c), gain, interval, dearer(one.usd)]
        made.add_row(*map(Text, [shown(one.arm), shown(one.base), parts, *counts]))
    for column in made.columns[3:]:
        column.no_wrap = True
    yield headed("what each change was worth, task by task: descriptive, all parts of an arm together", made)


def dearer(usd: float | None) -> str:
    """US dollars more, or less."""
    return "unknown" if usd is None else f"{'-' if usd < 0 else '+'}${abs(usd):.4g}"


def gained(difference: float | None) -> str:
    return "-" if difference is None else f"{difference:+.2f}"


def between(interval: tuple[float, float] | None) -> str:
    return "-" if interval is None else f"{interval[0]:+.2f} to {interval[1]:+.2f}"


def difference_row(one: ArmVerdict) -> list[str]:
    figures = [str(one.n), str(one.b), str(one.c), gained(one.difference), between(one.interval)]
    return [shown(one.arm), shown(one.against), *figures, shown(one.title)]


def recovery_table(found: Report) -> Iterable[RenderableType]:
    """What became of the runs that a fault struck, beside those that it spared."""
    if not found.recoveries:
        return
    made = table("arm", "fault", "recovered", "95 %", "without it", "95 %", left=2)
    for one in found.recoveries:
        rates = [right(one.struck), limits(one.struck), right(one.others), limits(one.others)]
        made.add_row(*map(Text, [shown(one.arm), shown(f"{one.tool}: {one.fault}"), *rates]))
    yield headed("runs in which a fault struck and the answer was right all the same, beside the other runs", made)


def controls_table(found: Report) -> Iterable[RenderableType]:
    """Controls describe; they are no part of the verdict's tests."""
    if not found.controls:
        return
    made = table("control", "of", "right", "95 %", "the agent", "model calls", "tokens", left=2)
    for one in found.controls:
        if one.figures.accuracy.runs:
            mine, other = one.figures, one.agent
            cells = [right(mine.accuracy), limits(mine.accuracy), right(other.accuracy), number(mine.model_calls)]
            made.add_row(*map(Text, [shown(one.control), shown(one.of), *cells, amount(mine.tokens, "{:,.0f}")]))
    ran = [made] if made.rows else []
    yield headed("controls, on the tasks that the agent ran: descriptive, outside the verdict", *ran)
    for one in found.controls:
        votes = f"majority of {one.votes} runs" if one.votes > 1 else ""
        if words := "; ".join(text for text in (votes, one.words) if text):
            yield Text(f"{shown(one.control)} of {shown(one.of)}: {shown(words)}")
    yield Text()


def models(result: Result, one: ArmVerdict) -> str:
    """Who answered in both arms, put before what is said of them."""
    both = [arm.answering for arm in result.comparison.arms if arm.name in (one.arm, one.against)]
    names = sorted({name for answering in both for name in answering})
    return f"With {', '.join(names)}: " if names else "Without a model: "


def remarks(result: Result, found: Report) -> Iterable[Text]:
    """What was made ready, what was spent, and what to be wary of."""
    waited = {key.partition("@")[0]: seconds for key, seconds in result.prepared.items() if seconds >= 0.1}
    ready = [f"{shown(name)} {duration(seconds)}" for name, seconds in waited.items()]
    if ready:
        yield Text(f"made ready before the clocks started: {', '.join(ready)}", style="dim")
    if any(arm.billed for arm in found.arms) or (found.judging is not None and found.judging.usd != 0):
        unknown = sum(trial.spent.usd is None for trial in result.runs)
        usd = result.recorded_usd if result.retold else result.usd
        known = f"${usd:.4g}" if usd else "nothing that is known" if unknown else "nothing"
        more = f", and {counted(unknown, 'run')} of unknown cost" if unknown else ""
        yield Text(f"spent: {known}{more}")
    for spared in result.spared:
        if spared.runs:
            yield Text("saved: ").append(shown(spared_words(spared)))
    for warning in found.warnings:
        yield Text("warning: ", style="yellow").append(shown(warning), style="not bold")
