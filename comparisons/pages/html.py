"""A comparison as one HTML file that asks for nothing: no script, no font, no image, no link to elsewhere.

Whatever stands in it is data: markup is escaped, known secrets are hidden, and characters that would be obeyed or would
hide are spelled out. The file's own policy (CSP) says the same to the browser.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping
from hashlib import sha256
from importlib.resources import files
from itertools import islice
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from loopworth.comparisons.figures import duration
from loopworth.comparisons.pages.disagreements import (
    TRANSCRIPTS,
    Disagreement,
    Line,
    Sides,
    disagreements,
    final,
    in_order,
    nth,
    said,
    sides,
    tasks,
)
from loopworth.comparisons.pages.tables import Found, meaning, origin, tables, verdict
from loopworth.comparisons.uncollected import uncollected
from loopworth.runs.characters import safe, safe_json
from loopworth.runs.figures import mean_dollars
from loopworth.runs.secrets import hide
from loopworth.runs.usage import Value

ROOM, MOST_ROOM = 4_000_000, 12_000
"""Bytes of HTML for all transcripts, and for one side of one."""
MOST_FILE = 20_000
"""Characters of one file."""
CAPTIONS = {
    "differences": "A dot is the gain, its line the interval. Right of the solid line is better than the other arm.",
    "pareto": "Filled: not shown to be beaten. A line is a 95 % interval; an arm of unknown cost is not drawn.",
    "levels": "A line up and down is a 95 % interval. The arms stand a little beside each level, so that all are seen.",
    "steps": "Means of the runs that came to a step: where few do, they are of few. The arms stand a little beside it.",
    "latency": "How many of an arm's runs took at most so long.",
}
"""How to read a chart, by the name of its table."""
MOST_ON_TOP = 4
"""Challengers whose sentences stand under the verdict; those of more stand with their differences."""
MARKS = {"right": "✓", "wrong": "✗", "apart": "\u2013"}
"""How a run came out, as a sign that is copied along with its answer."""
CUT, CUT_ID, CUT_WHY = 60, 120, 80
"""Characters of an answer, of an id or an input, and of a reason, in the table of all tasks."""
BESIDE = "expected "
"""How a score's remark begins that says no more than what stands beside it."""


class Cell(Value, frozen=True):
    """What one run came to, in the table of all tasks: `mark` is right, wrong or apart; `show` the run to look at."""

    mark: str
    answer: str
    facts: str
    show: str = ""


class Row(Value, frozen=True):
    task: str
    asked: str
    expected: str
    cells: tuple[Cell | None, ...]


class Pair(Value, frozen=True):
    """A disagreement with both transcripts: `heads` tell the two runs, `shows` their ids."""

    task: str
    heads: tuple[str, str]
    shows: tuple[str, str]
    sides: Sides


@uncollected()
def html(found: Found, transcripts: int = TRANSCRIPTS, drawings: Mapping[str, str] | None = None) -> str:
    """The page; `drawings` are SVG of `charts.inline`, by the name of their table."""
    trials = final(found)
    every = disagreements(found, trials)
    chosen = list(islice(every, transcripts))
    others = list(every)
    token, words = verdict(found)
    return TEMPLATES.get_template("report.html").render(
        found=found,
        token=token,
        words=words,
        meaning=meaning(found),
        on_top=on_top(found),
        tables=list(tables(found)),
        origin=origin(found),
        drawings={name: Markup(text) for name, text in (drawings or {}).items()},  # Vega escaped its texts
        captions=CAPTIONS,
        marks=MARKS,
        arms=[arm["arm"] for arm in found["arms"]],
        rows=rows(found, trials, {id(run) for one in others for run in one.runs}),
        pairs=pairs(in_order(chosen)),
        others=len(others),
        files=[(name, shortened(text)) for name, text in found.get("texts", {}).items()],
        style=Markup(STYLE),
        policy=POLICY,
    )


@uncollected()
def drawings(found: Found) -> dict[str, str] | None:
    """The charts as SVG to stand in the page; None where Altair (extra `report`) is not installed."""
    try:
        from loopworth.comparisons.pages.charts import charts, inline  # loaded on use: it is an extra
    except ImportError:
        return None
    return {name: inline(chart, name) for name, chart in charts(found).items()}


def on_top(found: Found) -> list[Found]:
    """The challengers whose sentences stand under the verdict: of many, the one that earned the place."""
    every: list[Found] = found["differences"]
    return every if len(every) <= MOST_ON_TOP else [one for one in every if one["arm"] == found["verdict"]["holder"]]


# -- all tasks --------------------------------------------------------------------------------------------------------


def rows(found: Found, trials: Mapping[Any, Found], apart: set[int]) -> Iterator[Row]:
    """Each task and repeat, with what each arm did; the runs in `apart` are named, to be looked at."""
    names = [arm["arm"] for arm in found["arms"]]
    inputs = found.get("inputs", {})
    for task in tasks(trials):
        for repeat in range(found["repeats"]):
            runs = [trials.get((name, task, repeat)) for name in names]
            if any(runs):
                cells = tuple(None if run is None else cell(run, id(run) in apart) for run in runs)
                asked = cut(inputs.get(task, ""), CUT_ID)
                yield Row(cut(task, CUT_ID) + nth(repeat, found), asked, expected(runs), cells)


def expected(runs: list[Found | None]) -> str:
    run = next(run for run in runs if run is not None)
    return cut(answered(run["expected_route"] if run["expected"] is None else run["expected"]), CUT)


def answered(value: Any) -> str:
    """An answer, or that there is none."""
    return "-" if value is None else said(value)


def cell(run: Found, named: bool) -> Cell:
    calls = f"{run['model_calls']}+{run['tool_calls']} calls"
    usd = mean_dollars(run["usage"]["usd"]) if run["usage"]["usd"] else ""
    harm = "did harm" if run.get("harmful") else ""
    reason = ": ".join(filter(None, (unless_well(run), cut(why(run), CUT_WHY))))
    facts = ", ".join(filter(None, (reason, calls, duration(run["latency"]), usd, harm)))
    return Cell(mark(run), cut(answered(run["answer"]), CUT), facts, run.get("run", "") if named else "")


def unless_well(run: Found) -> str:
    """Why a run ended; nothing where it ended well, which is no word for whether it was right."""
    return "" if run["exit"] == "success" else str(run["exit"])


def why(run: Found) -> str:
    """What is known of why a run was not right, but for what it answered and what was expected."""
    if run["right"]:
        return ""
    if run["exit"] != "success":
        return str(run["note"])
    return "" if run["remark"].startswith(BESIDE) else str(run["remark"])


def mark(run: Found) -> str:
    return {True: "right", False: "wrong", None: "apart"}[run["right"]]


def cut(text: str, most: int) -> str:
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most and len(text) <= 4 * most else f"{line[:most]}…"


def shortened(text: str) -> str:
    """A file as it was read; of a long one the beginning."""
    more = len(text) - MOST_FILE
    return text if more <= 0 else f"{text[:MOST_FILE]}…\n({more:,} more characters)"


# -- disagreements ----------------------------------------------------------------------------------------------------


def pairs(chosen: list[Disagreement]) -> Iterator[Pair]:
    room = min(MOST_ROOM, ROOM // (2 * len(chosen) or 1))
    for one in chosen:
        both = sides(one)
        fitted = Sides(both.alike, fitting(both.left, room), fitting(both.right, room))
        shows = (one.runs[0].get("run", ""), one.runs[1].get("run", ""))
        yield Pair(cut(one.task, CUT_ID) + one.nth, heads(one), shows, fitted)


def heads(one: Disagreement) -> tuple[str, str]:
    told = (", ".join(filter(None, (mark(run), unless_well(run)))) for run in one.runs)
    mine, theirs = (f"{run['arm']}: {words}" for run, words in zip(one.runs, told, strict=True))
    return mine, theirs


def fitting(lines: tuple[Line, ...], room: int) -> tuple[Line, ...]:
    """As much of the lines as there is room for on a page, in bytes of HTML; what is left out is said."""
    found = list[Line]()
    for place, one in enumerate(lines):
        size = weight(one.text)
        if size > room:
            kept = int(len(one.text) * room / size)
            more = len(lines) - place - 1
            rest = f" and {more} more messages" if more else ""
            return (*found, Line(one.role, f"{one.text[:kept]}…\n({len(one.text) - kept:,} more characters{rest})"))
        room -= size
        found.append(one)
    return tuple(found)


def weight(text: str) -> int:
    return len(escape(legible(text)).encode()) + 80


# -- the template -----------------------------------------------------------------------------------------------------


def legible(value: Any) -> Any:
    """A value as it may stand in a page; what a template made is markup, and stays so."""
    return value if isinstance(value, Markup) else safe(hide(str(value)))


def exact(value: Any) -> str:
    """A value as JSON, whole, that reads back as the same value."""
    return safe_json(hide(value), indent=2)


def environment(package: str) -> Environment:
    """The templates of a package: what they are given is data, and made legible in one way."""
    templates = Environment(
        loader=PackageLoader(package),
        autoescape=True,
        finalize=legible,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters["exact"] = exact
    return templates


def policy(style: str) -> str:
    """What the browser is to hold the page to: nothing is loaded or run, and the one style is this one."""
    digest = b64encode(sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


STYLE = files("loopworth.comparisons.pages").joinpath("templates", "report.css").read_text("utf-8")
POLICY = policy(STYLE)
TEMPLATES = environment("loopworth.comparisons.pages")
