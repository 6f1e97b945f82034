"""A comparison on the terminal. All data are shown as text: nothing in them is read as markup or as control codes."""

from __future__ import annotations

from collections.abc import Iterable

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from loopworth.comparisons.report import Accuracy, Amount, ArmFigures, Level, Report, report, spared_words
from loopworth.comparisons.result import Result
from loopworth.comparisons.sentences import percent
from loopworth.comparisons.verdict import ArmVerdict

LONGEST = 400
"""Characters of one remark."""


def render(result: Result) -> RenderableType:
    """The arms side by side, the levels, the routes, the paired differences, the verdict, and what to be wary of."""
    found = report(result)
    parts = [
        arms_table(found),
        *changes(found),
        *levels_table(result, found),
        *routes_tables(found),
        *differences(result),
        Group(*remarks(result, found)),
    ]
    return Group(*parts)


def shown(text: object, most: int = LONGEST) -> str:
    """Data as one printable line: controls and invisible characters are escaped, and what is long is cut."""
    line = " ".join(str(text).split())
    line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
    return line if len(line) <= most else f"{line[: most - 1]}…"


def table(*columns: str, left: int = 1) -> Table:
    """A table whose first `left` columns hold words and the others figures."""
    made = Table(box=SIMPLE_HEAD, header_style="bold", pad_edge=False)
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


def changes(found: Report) -> Iterable[RenderableType]:
    """What the comparison changed in the arms' files."""
    lines = [Text(f"{shown(arm.arm)}: {shown(one)}") for arm in found.arms for one in arm.differences]
    if lines:
        yield headed("changed from the files", *lines, Text())


def rows(arms: tuple[ArmFigures, ...]) -> Iterable[tuple[str, list[str]]]:
    yield "shape", [arm.shape.replace("_", " ") for arm in arms]
    if any(arm.made < arm.planned for arm in arms):
        yield "runs made", [f"{arm.made} of {arm.planned}" for arm in arms]
    yield "right", [unfigured(arm) if arm.selected else right(arm.figures.accuracy) for arm in arms]
    yield "95 % interval, %", [limits(arm.figures.accuracy) for arm in arms]
    if any(arm.route for arm in arms):
        yield "route right", [right(arm.route) if arm.route else "-" for arm in arms]
    yield "model calls", [number(arm.figures.model_calls) for arm in arms]
    yield "tool calls", [number(arm.figures.tool_calls) for arm in arms]
    yield "tokens", [amount(arm.figures.tokens, "{:,.0f}") for arm in arms]
    yield "cost", [cost(arm) for arm in arms]
    yield "latency p50", [duration(arm.p50) for arm in arms]
    yield "latency p95", [duration(arm.p95) for arm in arms]
    yield "ended", [tally(arm.exits) for arm in arms]
    if any(arm.apart for arm in arms):
        yield "counted apart", [tally(arm.apart) for arm in arms]


def unfigured(arm: ArmFigures) -> str:
    """In the place of an accuracy: where an arm ran only, if at all, says nothing of how often it is right."""
    return "selected tasks" if arm.made else "not run"


def right(found: Accuracy) -> str:
    return f"{found.right}/{found.runs}" + ("" if found.share is None else f" {100 * found.share:.0f} %")


def limits(found: Accuracy) -> str:
    if found.interval is None:
        return "-"
    low, high = (f"{100 * end:.1f}" for end in found.interval)
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
    if not arm.models:
        return "no model"
    return amount(arm.figures.usd, "${:.4g}") if arm.billed else "not billed"


def duration(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    if seconds < 0.0001:
        return "< 0.1 ms"
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


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
    for place, level in enumerate(found.levels, 1):
        cells = level_row(level, arms[level.arm])[: len(made.columns)]
        made.add_row(*map(Text, cells), end_section=place % len(arms) == 0)
    for column in made.columns[1:4]:
        column.no_wrap = True
    yield headed(f"by {name}", made)
    least = f"accept {result.comparison.accept or 0:.3g}: the lower limit of"
    yield from (Text(f"{least} {shown(arm)} {under(name, first)}") for arm, first in found.accepted.items())


def under(name: str, first: str | None) -> str:
    return "is nowhere under it" if first is None else f"is under it first at {name} {shown(first)}"


def level_row(level: Level, arm: ArmFigures) -> list[str]:
    found = level.figures
    calls = [number(found.model_calls), number(found.tool_calls), amount(found.tokens, "{:,.0f}")]
    usd = amount(found.usd, "${:.4g}") if arm.billed else cost(arm)
    return [shown(level.level), shown(level.arm), right(found.accuracy), limits(found.accuracy), *calls, usd]


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
    for column in made.columns:
        column.no_wrap = True
    yield headed("paired differences: tasks won and lost against the arm that held the place", made)
    for one in verdict.arms:
        yield Text(shown(f"{models(result, one)}{one.words}", 4 * LONGEST) + "\n")
    yield Text("verdict: ", style="bold").append(verdict.token).append(f" — {shown(verdict.words)}\n", style="not bold")


def difference_row(one: ArmVerdict) -> list[str]:
    gain = "-" if one.difference is None else f"{one.difference:+.2f}"
    interval = "-" if one.interval is None else f"{one.interval[0]:+.2f} to {one.interval[1]:+.2f}"
    return [shown(one.arm), shown(one.against), str(one.n), str(one.b), str(one.c), gain, interval, one.token]


def models(result: Result, one: ArmVerdict) -> str:
    """The models that both arms used, put before what is said of them."""
    used = [arm.models for arm in result.comparison.arms if arm.name in (one.arm, one.against)]
    names = sorted({name for models in used for name in models})
    return f"With {', '.join(names)}: " if names else "Without a model: "


def remarks(result: Result, found: Report) -> Iterable[Text]:
    """What was made ready, what was spent, and what to be wary of."""
    waited = {key.partition("@")[0]: seconds for key, seconds in result.prepared.items() if seconds >= 0.1}
    ready = [f"{shown(name)} {duration(seconds)}" for name, seconds in waited.items()]
    if ready:
        yield Text(f"made ready before the clocks started: {', '.join(ready)}", style="dim")
    if any(arm.billed for arm in found.arms):
        unknown = sum(trial.usage.usd is None for trial in result.trials)
        more = f", and {unknown} runs of unknown cost" if unknown else ""
        yield Text(f"spent: ${result.usd:.4g}{more}")
    for spared in result.spared:
        if spared.runs:
            yield Text("saved: ").append(shown(spared_words(spared)))
    for warning in found.warnings:
        yield Text("warning: ", style="yellow").append(shown(warning), style="not bold")
