"""A comparison on the terminal. All data are shown as text: nothing in them is read as markup or as control codes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from loopworth.comparisons import curve
from loopworth.comparisons.figures import (
    ALONE,
    LONGEST,
    MOST_LEVELS,
    accept_words,
    batching_words,
    between,
    control_words,
    curve_words,
    dearer,
    duration,
    extents,
    gained,
    judge_words,
    limits,
    money,
    no_verdict,
    number,
    pareto_words,
    right,
    rows,
    seen_words,
    shown,
    spared_words,
    sure,
    times,
    tokens,
    usd_amount,
    whole,
)
from loopworth.comparisons.fitted_table import Fitted
from loopworth.comparisons.levels import Level
from loopworth.comparisons.report import ArmFigures, Report, report
from loopworth.comparisons.result import Result
from loopworth.comparisons.sentences import counted, percent
from loopworth.comparisons.verdict import ArmVerdict
from loopworth.runs.figures import NOT_BILLED, rounded


def render(result: Result) -> RenderableType:
    """The arms side by side, the levels, the routes, the paired differences, the verdict, and what to be wary of."""
    found = report(result)
    parts = [
        arms_table(found),
        *extents_table(found),
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


def table(*columns: str, left: int = 1) -> Fitted:
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
    made.columns[0].no_wrap, made.parted = True, True
    for name, cells in rows(found.arms):
        made.add_row(Text(name), *map(Text, cells))
    means = "calls, tokens and cost are means per run; latency is without queueing and rate-limit pauses"
    return headed(shown(found.words), made, Text(f"{means}\n", style="dim"))


def extents_table(found: Report) -> Iterable[RenderableType]:
    """One row for each arm, so that many have room; nothing where no figure has an interval."""
    columns = dict(extents(found.arms))
    if not columns:
        return
    made = table("arm", *columns)
    for arm, *cells in zip(found.arms, *columns.values(), strict=True):
        made.add_row(*map(Text, [shown(arm.arm), *cells]))
    yield headed(sure(columns), made, Text(f"{ALONE}\n", style="dim"))


def judge_lines(found: Report) -> Iterable[RenderableType]:
    """That `right` is an LLM's word, how far it agrees with people, and what it cost."""
    if (one := found.judging) is not None:
        yield headed("`right` is the word of an LLM judge", *(Text(shown(line)) for line in judge_words(one)), Text())


def changes(found: Report) -> Iterable[RenderableType]:
    """What the comparison changed in the arms' files."""
    lines = [Text(f"{shown(arm.arm)}: {shown(one)}") for arm in found.arms for one in arm.differences]
    if lines:
        yield headed("changed from the files", *lines, Text())


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
    words = curve_words((one.arm, one.words) for one in found.curves)
    low = accept_words(name, result.comparison.accept or 0, found.accepted)
    yield from (Text(shown(line, 4 * LONGEST)) for line in (*words, *low))
    yield Text()


def level_row(level: Level, arm: ArmFigures) -> list[str]:
    found = level.figures
    calls = [number(found.model_calls), number(found.tool_calls), tokens(found.tokens)]
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
        yield headed("how runs ended, whether they were right, and what they took in all", made)
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


def routes_tables(found: Report) -> Iterable[RenderableType]:
    """A confusion matrix for each arm that took routes."""
    for arm in found.arms:
        if not arm.routes:
            continue
        taken = sorted({label for _, label, _ in arm.routes})
        made = table("expected ↓ taken →", *(shown(label or "(none)") for label in taken))
        made.parted = True
        counts = {(expected, label): n for expected, label, n in arm.routes}
        for expected in sorted({label for label, _, _ in arm.routes}):
            made.add_row(Text(shown(expected)), *(Text(str(counts.get((expected, label), "·"))) for label in taken))
        yield headed(f"routes of {shown(arm.arm)}", made)


# -- the verdict ------------------------------------------------------------------------------------------------------


def differences(result: Result) -> Iterable[RenderableType]:
    """Each challenger against the arm that held the place, and who holds it in the end."""
    verdict = result.verdict
    if verdict is None:
        why = no_verdict(result.stopped, result.interrupted)
        yield Text("verdict: ", style="bold").append(f"none — {shown(why)}\n", style="not bold")
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


def pareto(found: Report) -> Iterable[RenderableType]:
    """Which arms no other is shown to beat, and by which the others are."""
    if found.standings:
        yield from (Text(shown(line)) for line in pareto_words(found.standings))
        yield Text()


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
            made.add_row(*map(Text, [shown(one.control), shown(one.of), *cells, tokens(mine.tokens)]))
    ran = [made] if made.rows else []
    yield headed("controls, on the tasks that the agent ran: descriptive, outside the verdict", *ran)
    for one in found.controls:
        if words := control_words(one.votes, one.words):
            yield Text(f"{shown(one.control)} of {shown(one.of)}: {shown(words)}")
    yield Text()


def models(result: Result, one: ArmVerdict) -> str:
    """Who answered in both arms, put before what is said of them."""
    both = [arm.answering for arm in result.comparison.arms if arm.name in (one.arm, one.against)]
    names = sorted({name for answering in both for name in answering})
    return f"With {', '.join(names)}: " if names else "Without a model: "


def total(usd: float, unknown: int) -> str:
    """What runs cost in all, as far as it is known."""
    known = f"${rounded(usd, 4)}" if usd else "nothing that is known" if unknown else "nothing"
    return known + (f", and {counted(unknown, 'run')} of unknown cost" if unknown else "")


def remarks(result: Result, found: Report) -> Iterable[Text]:
    """What was made ready, what was spent, and what to be wary of."""
    waited = {key.partition("@")[0]: seconds for key, seconds in result.prepared.items() if seconds >= 0.1}
    ready = [f"{shown(name)} {duration(seconds)}" for name, seconds in waited.items()]
    if ready:
        yield Text(f"made ready before the clocks started: {', '.join(ready)}", style="dim")
    if any(arm.billed for arm in found.arms) or (found.judging is not None and found.judging.usd != 0):
        unknown = sum(result.paid(trial).usd is None for trial in result.runs)
        yield Text(f"spent: {total(result.paid_usd if result.retold else result.usd, unknown)}")
    if logged := [trial.usage.usd for trial in result.trials if trial.arm in result.comparison.logged]:
        words = total(sum(usd or 0.0 for usd in logged), sum(usd is None for usd in logged))
        yield Text(f"the runs that were logged had cost: {words}")
    for spared in result.spared:
        if spared.runs:
            yield Text("saved: ").append(shown(spared_words(spared)))
    for warning in found.warnings:
        yield Text("warning: ", style="yellow").append(shown(warning), style="not bold")
