"""The charts of a comparison, by Altair, from the JSON of `comparisons.export`. Names in them are data alone: no field,
expression or link of a chart is made of one.

Altair and vl-convert (extra `report`) are loaded with this module, which is imported on use.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count, pairwise
from math import ceil, exp, floor, isfinite, log, log10
from typing import Any, TypeAlias

import altair as alt
from rich.cells import cell_len, set_cell_size

from loopworth.comparisons.figures import shown
from loopworth.comparisons.pages.disagreements import latest
from loopworth.comparisons.pages.tables import Found, first_levels, spend
from loopworth.comparisons.sentences import counted, percent

Rows: TypeAlias = list[dict[str, Any]]
INK, GRID = "#010203", "#040506"
"""Stand for the page's own colours, which Altair has no name for."""
COLOURS = [
    *("#2f7fd8", "#c9610c", "#1b9068", "#b4519f", "#8d7a14", "#6c6ad6", "#c2455a", "#5f7a86"),
    *("#9a5b3a", "#3f8f9f", "#a06ae0", "#6f8f2f"),
]
"""At least 3 : 1 against white and against the dark page."""
WIDTH = 330
"""Pixels between the ends of an axis: a phone, which is about so wide, shows a chart at nearly its own size."""
MOST_TICKS = 12
FAR = 20
"""How many times the least the most is where an axis is logarithmic, which has no place for 0."""
CLOSE, BESIDE = 1 / 40, 1 / 60
"""Shares of an axis: levels are told apart from so far on; an arm stands at most so far beside the next at a level."""
EXACT = ".12~g"
"""How a number of the tasks is written: as it is."""
LEAST_SECONDS = 1e-4
"""The least latency that is told apart from none, as in every table."""
TICKS = 5
"""About so many labels stand beside one another."""
SLANTED = 22
"""Pixels from one label to the next where they stand aslant."""
LONGEST = 24
"""Columns of a name in a chart. Charts cut nothing themselves: they would cut a character in two."""
WIDTHS = {"mwMW@%—…": 12.0, "ABCDEFGHIJKLNOPQRSTUVXYZ&+<=>~^#": 10.0}
"""Pixels that a sign of a label may take, if it is one of these: a chart is drawn without the reader's fonts."""
WIDE = 7.7
"""Pixels of a column of any other sign."""
BEYOND = 16
"""Pixels between the numbers of an axis and its title, which the numbers take some of in a reader's fonts."""
LABELS = {"labelLimit": 0, "labelFontSize": 12, "labelFlush": False, "labelOverlap": "greedy"}
LINE, ABOVE = 14, 8
"""Pixels of a line of a name, and from its last one to the middle of what is drawn below it."""
LOWER: dict[str, Any] = {"yOffset": LINE}
NAMED = alt.Step(2 * (LINE + ABOVE) + 6)
"""By how much that is drawn lower for a name of two lines, and what both take."""
LEGEND: dict[str, Any] = {"labelLimit": 0, "orient": "bottom", "columns": 2, "columnPadding": 40, "symbolOpacity": 1}


def charts(found: Found) -> dict[str, alt.TopLevelMixin]:
    """The charts by the name of their table; one that has nothing to show is left out."""
    every = {
        "differences": forest,
        "pareto": accuracy_and_cost,
        "levels": decay,
        "ends": ends,
        "steps": growth,
        "latency": latencies,
    }
    made = ((name, make(found)) for name, make in every.items())
    return {name: styled(chart) for name, chart in made if chart is not None}


def svg(chart: alt.TopLevelMixin) -> str:
    """Standalone SVG, dark on white."""
    return drawn(chart.properties(background="white")).replace(INK, "#1b1d21").replace(GRID, "#888")


def inline(chart: alt.TopLevelMixin, name: str) -> str:
    """SVG to stand in a page, in the page's own colours, under ids of its own; it scales down with the page."""
    text = drawn(chart).replace(INK, "currentColor").replace(GRID, "currentColor")
    text = re.sub(r'(id="|url\(#)(\w+)', rf"\g<1>{name}-\g<2>", text)
    return text.replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1)


def drawn(chart: alt.TopLevelMixin) -> str:
    made = io.StringIO()
    chart.save(made, format="svg")
    return made.getvalue()


def png(chart: alt.TopLevelMixin) -> bytes:
    """At twice the size, on white."""
    made = io.BytesIO()
    chart.properties(background="white").save(made, format="png", scale_factor=2)
    return made.getvalue()


def styled(chart: Any) -> Any:
    ink = {"labelColor": INK, "titleColor": INK}
    lines = {"gridColor": GRID, "domainColor": GRID, "tickColor": GRID, "gridOpacity": 0.2, "tickOpacity": 0.5}
    return (
        chart.configure(background="transparent", aria=False)
        .configure_view(stroke=None)
        .configure_axis(**ink, **lines, **LABELS, titleFontSize=12, titleFontWeight="normal")
        .configure_axisY(titlePadding=BEYOND)
        .configure_legend(**ink, **LEGEND, labelFontSize=12, symbolStrokeWidth=2)
    )


def data(rows: Rows) -> Any:
    return alt.Data(values=rows)  # type: ignore[no-untyped-call]


def colour(found: Found, rows: Rows) -> alt.Color:
    """An arm's colour, the same in every chart; those that are in it are in the legend."""
    every = {named(arm["arm"], found): COLOURS[k % len(COLOURS)] for k, arm in enumerate(found["arms"])}
    drawn = {row["arm"] for row in rows}
    shown = {name: colour for name, colour in every.items() if name in drawn}
    narrow = 2 * max(map(width, shown), default=0.0) < WIDTH - LEGEND["columnPadding"]
    legend = alt.Legend(columns=2 if narrow else 1)
    scale = alt.Scale(domain=list(shown), range=list(shown.values()))
    return alt.Color("arm:N", title=None, scale=scale, legend=legend)


def named(arm: str, found: Found) -> str:
    """An arm's name as a chart shows it."""
    return labels(one["arm"] for one in found["arms"])[arm]


def labels(texts: Iterable[str], most: int = LONGEST) -> dict[str, str]:
    """Texts as a chart shows them: cut, and told apart from others that are cut to the same."""
    short = {text: cut(text, most) for text in texts}
    times = Counter(short.values())
    return {text: said if times[said] == 1 else f"{said} ({k})" for k, (text, said) in enumerate(short.items(), 1)}


def cut(text: object, most: int = LONGEST) -> str:
    """A text on one line, in so many columns: a character may take up two, or none."""
    line = shown(text, 4 * most)
    return line if cell_len(line) <= most else f"{set_cell_size(line, most - 1).rstrip()}…"


def width(line: str) -> float:
    """The most pixels that a line may take in any font."""
    known = {sign: pixels for signs, pixels in WIDTHS.items() for sign in signs}
    return sum(known.get(sign, cell_len(sign) * WIDE) for sign in line)


def names(field: str) -> alt.Y:
    """An axis of names, of two lines, above what is drawn of each `LOWER`: beside it they would leave it no room."""
    split = "split(datum.value, '\\n')"
    place: dict[str, Any] = {
        "labelAlign": "left",
        "labelBaseline": "line-bottom",
        "labelPadding": -4,
        "labelOffset": -ABOVE,
    }
    axis = alt.Axis(**place, labelExpr=split, labelLineHeight=LINE, grid=False, ticks=False, domain=False, zindex=1)
    return alt.Y(f"{field}:N", title=None, sort=None, axis=axis)


# -- the charts -------------------------------------------------------------------------------------------------------


NO_GAIN, OWN_GAIN = "no gain", "min_gain, of each pair"
UPRIGHT = "M0,-0.5L0,0.5"
"""A short line from top to bottom, as a shape."""


def forest(found: Found) -> Any:
    """The paired differences with their intervals, beside no gain (solid) and the smallest worth having (dashed), which
    each pair has its own of where it follows from prices."""
    rows = [
        {
            "pair": f"{named(one['arm'], found)}\nagainst {named(one['against'], found)}",
            "arm": named(one["arm"], found),
            "gain": one["difference"],
            "low": one["interval"][0],
            "high": one["interval"][1],
            "least": one["min_gain"],
        }
        for one in found["differences"]
        if one["difference"] is not None and one["interval"] is not None
    ]
    if not rows:
        return None
    own = [{"pair": row["pair"], "at": row["least"], "what": OWN_GAIN} for row in rows if row["least"] is not None]
    least = {mark["at"] for mark in own}
    of_all = [{"at": at, "what": f"min_gain {at:.3g}"} for at in least] if len(least) == 1 else []
    marks = [{"at": 0.0, "what": NO_GAIN}, *of_all]
    said = [*(mark["what"] for mark in marks), *([OWN_GAIN] if len(least) > 1 else [])]
    dash = alt.StrokeDash("what:N", title=None, scale=alt.Scale(domain=said, range=[[1, 0], [5, 4]][: len(said)]))
    lines = alt.Chart(data(marks)).mark_rule(color=INK, opacity=0.6).encode(x="at:Q", strokeDash=dash)
    base = alt.Chart(data(rows)).encode(y=names("pair"), color=colour(found, rows).legend(None))
    title = f"gain (share of tasks), with its {percent(found['differences'][0]['error'])} interval"
    span = base.mark_rule(strokeWidth=2, **LOWER).encode(
        x=alt.X("low:Q", title=title, axis=alt.Axis(tickCount=TICKS)), x2="high:Q"
    )
    point = base.mark_point(filled=True, size=70, opacity=1, **LOWER).encode(x="gain:Q")
    mark = alt.Chart(data(own)).mark_point(shape=UPRIGHT, size=300, color=INK, opacity=0.8, strokeWidth=2, **LOWER)
    each = [mark.encode(x="at:Q", y=names("pair"), strokeDash=dash)] if len(least) > 1 else []
    return alt.layer(lines, *each, span, point).properties(width=WIDTH, height=NAMED)


SPEND = {"usd": "US dollars per run", "tokens": "tokens per run", "latency": "seconds per run (median)"}


def accuracy_and_cost(found: Found) -> Any:
    """Accuracy with its interval against cost; filled are those of the Pareto set. Without one there is no chart."""
    title = SPEND[what := spend(found)]
    best = {one["arm"] for one in found["pareto"] if not one["dominated_by"]}
    shown = [arm for arm in found["arms"] if arm["accuracy"]["interval"] is not None and found["pareto"]]
    rows = [
        {"arm": named(arm["arm"], found), "cost": cost, **share(arm["accuracy"]), "best": arm["arm"] in best}
        for arm in shown
        if (cost := arm["latency"]["p50"] if what == "latency" else arm[what]["mean"]) is not None
    ]
    if not rows:
        return None
    if what == "latency" and max(row["cost"] for row in rows) < 1:
        rows = [{**row, "cost": 1000 * max(row["cost"], LEAST_SECONDS)} for row in rows]
        title = f"milli{title}"
    if len(rows) < len(shown):
        title += f", unknown of {counted(len(shown) - len(rows), 'arm')}"
    axis, scale = alt.Axis(tickCount=TICKS), alt.Scale(zero=True, nice=True)
    low, high = (end(row["cost"] for row in rows) for end in (min, max))
    if high > FAR * low > 0:
        axis, scale = alt.Axis(values=decades(low, high)), alt.Scale(type="log", padding=20, nice=False)
        title += " (log scale)"
    axis.format = ",d" if what == "tokens" else "~g"
    x = alt.X("cost:Q", title=title, scale=scale, axis=axis)
    base = alt.Chart(data(rows)).encode(x=x, color=colour(found, rows))
    span = base.mark_rule(strokeWidth=2, opacity=0.7).encode(y=share_axis("low:Q"), y2="high:Q")
    fill = alt.condition("datum.best", colour(found, rows), alt.value("transparent"))
    point = base.mark_point(size=110, strokeWidth=2, opacity=1).encode(y="share:Q", fill=fill)
    return (span + point).properties(width=WIDTH, height=240)


def share(accuracy: Found) -> dict[str, float]:
    low, high = accuracy["interval"]
    return {"share": accuracy["share"], "low": low, "high": high}


def share_axis(field: str) -> alt.Y:
    title, scale = "right, with its 95 % interval", alt.Scale(domain=[0, 1])
    return alt.Y(field, title=title, scale=scale, axis=alt.Axis(format="%"))


def decay(found: Found) -> Any:
    """Accuracy by level, with its interval."""
    some = first_levels(found)
    known = levels([one["level"] for one in some])
    rows = [
        {"arm": named(one["arm"], found), "level": known[one["level"]], **share(one["accuracy"])}
        for one in some
        if one["accuracy"]["interval"] is not None
    ]
    if len({row["level"] for row in rows}) < 2:
        return None
    numbers = all(isinstance(row["level"], float) for row in rows)
    title = cut(found["group_by"])
    x = alt.X("level:O", title=title, sort=None, axis=None if numbers else words(rows))
    if numbers:
        at = sorted({float(row["level"]) for row in rows})
        wide = logarithmic(at)
        axis = alt.Axis(format=EXACT, values=at if len(at) <= MOST_TICKS else alt.Undefined)
        scale = alt.Scale(type="log" if wide else "linear", zero=False, nice=not wide, padding=20)
        x = alt.X("level:Q", title=f"{title} (log scale)" if wide else title, axis=axis, scale=scale)
        rows = aside(rows, "level", found, at, wide)
    base = alt.Chart(data(rows)).encode(x=x, color=colour(found, rows))
    offset = alt.Undefined if numbers else alt.XOffset("arm:N")
    span = base.mark_rule(strokeWidth=2, opacity=0.6).encode(y=share_axis("low:Q"), y2="high:Q", xOffset=offset)
    point = base.mark_point(filled=True, size=60, opacity=1).encode(y="share:Q", xOffset=offset)
    line = [base.mark_line(strokeWidth=1).encode(y="share:Q")] if numbers else []
    return alt.layer(span, *line, point).properties(width=WIDTH, height=240)


def words(rows: Rows) -> alt.Axis:
    """An axis of words, which lie flat where there is room for that."""
    every = {str(row["level"]) for row in rows}
    if sum(map(width, every)) < WIDTH:
        return alt.Axis(labelAngle=0)
    crowded: Any = "greedy" if len(every) * SLANTED > WIDTH else False  # what overlaps are their boxes, which lie askew
    return alt.Axis(labelAngle=-40, minExtent=max(map(width, every)) * 0.7 + 10, labelOverlap=crowded)


def logarithmic(at: Sequence[float]) -> bool:
    """Whether numbers that a line would put into one place are better told apart by their logarithms."""
    return at[0] > 0 and closest(at) < CLOSE and closest([log(one) for one in at]) > closest(at)


def closest(at: Sequence[float]) -> float:
    """How far apart the closest two of some places are, as a share of what all of them span."""
    return min(high - low for low, high in pairwise(at)) / (at[-1] - at[0])


def aside(rows: Rows, field: str, found: Found, at: Sequence[float], wide: bool = False) -> Rows:
    """The arms a little beside one another at each place, so that none covers another."""
    names = [named(arm["arm"], found) for arm in found["arms"]]
    places = [log(one) for one in at] if wide else at
    apart = (places[-1] - places[0]) * min(BESIDE, 0.6 * closest(places) / len(names))
    aside = {name: apart * (k - (len(names) - 1) / 2) for k, name in enumerate(names)}
    moved = (row[field] * exp(aside[row["arm"]]) if wide else row[field] + aside[row["arm"]] for row in rows)
    return [{**row, field: place} for row, place in zip(rows, moved, strict=True)]


def levels(texts: Sequence[str]) -> Mapping[str, float | str]:
    """Each level's number, if all are numbers; else their texts as a chart shows them."""
    try:
        numbers = {text: float(text) for text in texts}
    except ValueError:
        numbers = {}
    return numbers if numbers and all(map(isfinite, numbers.values())) else labels(texts)


KINDS = {"right": "#1b9068", "wrong": "#c2455a", "counted apart": "#888888"}


def ends(found: Found) -> Any:
    """How many runs of each arm ended how, and were right, wrong, or counted apart."""
    rows = [
        {"end": f"{named(one['arm'], found)}\n{cut(one['exit'])}", "was": was, "order": place, "runs": n}
        for one in found["ends"]
        for place, (was, n) in enumerate(parts(one))
        if n
    ]
    if not rows:
        return None
    most = max(one["runs"] for one in found["ends"])
    shown = [was for was in KINDS if any(row["was"] == was for row in rows)]
    kinds = alt.Scale(domain=shown, range=[KINDS[was] for was in shown])
    chart = alt.Chart(data(rows)).mark_bar(stroke=INK, strokeWidth=0.5, size=2 * ABOVE - 4, **LOWER)
    return chart.encode(
        x=alt.X("runs:Q", title="runs", axis=alt.Axis(values=whole(0, most), format=",d")),
        y=names("end"),
        color=alt.Color("was:N", title=None, scale=kinds, legend=alt.Legend(symbolStrokeWidth=0.5)),
        order="order:Q",
    ).properties(width=WIDTH, height=NAMED)


def parts(end: Found) -> Iterable[tuple[str, int]]:
    apart = end["runs"] - end["right"] - end["wrong"]
    return ("right", end["right"]), ("wrong", end["wrong"]), ("counted apart", apart)


def growth(found: Found) -> Any:
    """What each step took, in order."""
    dollars = any(one["usd"] for one in found["steps"])
    field, title = ("usd", "US dollars at this step") if dollars else ("tokens", "tokens at this step")
    places = dict[str, int]()
    rows = Rows()
    for one in found["steps"]:
        places[one["arm"]] = places.get(one["arm"], 0) + 1
        if one[field] is not None:
            rows.append({"arm": named(one["arm"], found), "step": places[one["arm"]], "cost": one[field]})
    if not any(row["cost"] for row in rows):
        return None
    last = max(row["step"] for row in rows)
    rows = aside(rows, "step", found, range(1, last + 1)) if last > 1 else rows
    axis = alt.Axis(values=whole(1, last), format="d", grid=False)
    x = alt.X("step:Q", title="step, or turn of a loop", axis=axis, scale=alt.Scale(zero=False, padding=20))
    chart = alt.Chart(data(rows)).encode(x=x, y=alt.Y("cost:Q", title=title), color=colour(found, rows))
    return (chart.mark_line() + chart.mark_point(filled=True, size=60, opacity=1)).properties(width=WIDTH, height=220)


def whole(first: int, last: int) -> list[int]:
    """Ticks at whole numbers, the same step apart, not too many."""
    steps = (k * 10**n for n in count() for k in (1, 2, 5))
    return list(range(first, last + 1, next(step for step in steps if step * TICKS >= last - first)))


MOST_STEPS = 100
"""Steps of a distribution that a chart shows."""


def latencies(found: Found) -> Any:
    """The share of runs that took at most so long."""
    rows = list(spread(found))
    if not rows:
        return None
    least, most = min(row["seconds"] for row in rows), max(row["seconds"] for row in rows)
    unit, times = ("seconds", 1) if most >= 1 else ("milliseconds", 1000)
    rows = [{**row, "time": row["seconds"] * times} for row in rows]
    x = alt.X("time:Q", title=unit, scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=TICKS))
    if most > FAR * least:
        scale = alt.Scale(type="log", domain=[least * times, most * times], nice=False)
        axis = alt.Axis(values=decades(least * times, most * times), format="~g")
        x = alt.X("time:Q", title=f"{unit} (log scale)", scale=scale, axis=axis)
    y = alt.Y("share:Q", title="runs", axis=alt.Axis(format="%"))
    base = alt.Chart(data(rows)).encode(x=x, y=y, color=colour(found, rows))
    return base.mark_line(interpolate="step-after", strokeWidth=2).properties(width=WIDTH, height=220)


def decades(low: float, high: float) -> list[float]:
    """Ticks of a logarithmic scale: 1, 2 and 5 of each power of ten, or the powers alone where these are many."""
    powers = range(floor(log10(low)), floor(log10(high)) + 1)
    fine = [k * 10.0**n for n in powers for k in (1, 2, 5)]
    found = [at for at in fine if low <= at <= high]
    return found if len(found) <= MOST_TICKS else [at for at in (10.0**n for n in powers) if low <= at <= high]


def spread(found: Found) -> Iterator[dict[str, Any]]:
    seconds: Mapping[str, list[float]] = {arm["arm"]: [] for arm in found["arms"]}
    for trial in latest(found).values():
        if trial["right"] is not None and trial["arm"] in seconds:
            seconds[trial["arm"]].append(max(trial["latency"], LEAST_SECONDS))
    for arm, some in seconds.items():
        some.sort()
        steps = min(len(some), MOST_STEPS)
        came = [0, *(ceil(k * len(some) / steps) for k in range(1, steps + 1))] if some else []
        for runs in came:
            yield {"arm": named(arm, found), "share": runs / len(some), "seconds": some[max(runs - 1, 0)]}
