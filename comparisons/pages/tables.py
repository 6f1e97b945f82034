"""The figures of a comparison as tables of words, for every kind of page, from the JSON of `comparisons.export`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from loopworth.comparisons.contrast import Contrast
from loopworth.comparisons.curve import chance
from loopworth.comparisons.figures import (
    ALONE,
    MOST_LEVELS,
    UNDER,
    accept_words,
    batching_words,
    control_words,
    curve_words,
    dearer,
    duration,
    extents,
    judge_words,
    no_verdict,
    number,
    pareto_words,
    seen_words,
    span,
    spared_words,
    sure,
    tail,
    times,
    tokens,
    usd_amount,
)
from loopworth.comparisons.figures import right as right_of
from loopworth.comparisons.figures import rows as rows_of
from loopworth.comparisons.measures import Accuracy, Amount
from loopworth.comparisons.pareto import Standing
from loopworth.comparisons.report import ArmFigures, Judging
from loopworth.comparisons.result import Spared
from loopworth.comparisons.sentences import counted, grouped, percent
from loopworth.comparisons.spending import Batching, Seen
from loopworth.comparisons.verdict import ArmVerdict, Verdict
from loopworth.runs.figures import NOT_BILLED, mean_dollars
from loopworth.runs.usage import Value
from loopworth.workflows.variant import Difference

Found: TypeAlias = Mapping[str, Any]
"""A comparison as one JSON document, or a part of it."""


class Table(Value, frozen=True):
    """A table: its first `left` columns hold words, the others figures; `words` are sentences that belong to it.

    `name` is that of its chart and its place in a page.
    """

    name: str
    title: str
    head: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    left: int = 1
    words: tuple[str, ...] = ()


def tables(found: Found) -> Iterator[Table]:
    """All of a comparison's but its tasks; what it has nothing of is left out."""
    every = (
        *(arms, judge, differences, sureness, ablation, accuracy_and_cost, levels, ends, steps, latencies, contrasts),
        *(controls, recoveries),
    )
    yield from (table for make in every if (table := make(found)) is not None)
    yield from routes(found)


# -- the verdict ------------------------------------------------------------------------------------------------------


DIFFERENCES = "differences"
PLACE = (
    "The place is that of the arm to choose: the first arm holds it, and keeps it unless a later one earns it, by a "
    "gain that is shown or by being no worse, cheaper and faster."
)
"""What the sentence of a verdict speaks of."""


def verdict(found: Found) -> tuple[str, str]:
    """The verdict in a few words, and its sentence."""
    if (said := found["verdict"]) is not None:
        return msgspec.convert(said, Verdict).title, said["words"]
    return "none", no_verdict(found["stopped"], found["interrupted"])


def meaning(found: Found) -> str:
    """What a reader must know to read the verdict; nothing where there is none, or nothing was compared."""
    return PLACE if found["differences"] else ""


def differences(found: Found) -> Table | None:
    """Each challenger against the arm that held the place."""
    if not (judged := found["differences"]):
        return None
    head = ("arm", "against", "verdict", "gain", f"{percent(judged[0]['error'])} interval", "n", "won", "lost")
    rows = tuple(
        (one["arm"], one["against"], who(one), gain(one), limits(one), str(one["n"]), str(one["b"]), str(one["c"]))
        for one in judged
    )
    title = "Paired differences: tasks won and lost against the arm that held the place"
    return Table(DIFFERENCES, title, head, rows, 3, tuple(one["words"] for one in judged))


def who(one: Found) -> str:
    return msgspec.convert(one, ArmVerdict).title


def ablation(found: Found) -> Table | None:
    """What the changes of each arm were worth, beside the arm that has none of them."""
    if not (parts := found.get("ablation")):
        return None
    level = f"{percent(parts[0]['error'])} interval"
    head = ("arm", "base", "changed", "n", "won", "lost", "gain", level, "cost")
    rows = tuple(
        (
            *(one["arm"], one["base"], "; ".join(map(difference, one["changed"]))),
            *(str(one["n"]), str(one["b"]), str(one["c"]), gain(one), limits(one), dearer(one["usd"])),
        )
        for one in parts
    )
    title = "What each change was worth, task by task: descriptive, all parts of an arm together"
    return Table("ablation", title, head, rows, 3)


def difference(part: Found) -> str:
    return str(Difference(part["key"], part["before"], part["after"]))


def judge(found: Found) -> Table | None:
    """Whose word `right` is, where it is an LLM's."""
    if not (one := found.get("judge")):
        return None
    title = "The judge: `right` is the word of an LLM judge, whose calls are in no arm's figures"
    words = (sentence(line, one["model"]) for line in judge_words(msgspec.convert(one, Judging)))
    return Table("judge", title, words=(*words, f"Rubric: {one['rubric']}"))


def sentence(line: str, name: str) -> str:
    """A remark of the terminal, as a sentence; a name at its beginning stays as it is."""
    return f"{line}." if line.startswith(name) else f"{capital(line)}."


def gain(one: Found) -> str:
    return "-" if one["difference"] is None else f"{one['difference']:+.2f}"


def limits(one: Found) -> str:
    return "-" if one["interval"] is None else "{:+.2f} to {:+.2f}".format(*one["interval"])


# -- the arms ---------------------------------------------------------------------------------------------------------


def arms(found: Found) -> Table:
    """One row for each arm, with what the terminal shows of it but how its runs ended, which `ends` does; where all
    figures are from the same source a sentence says so."""
    figures = tuple(map(arm_figures, found["arms"]))
    said = {name: cells for name, cells in rows_of(figures) if name != "ended"}
    alike = said.pop(ORIGIN)[0] if len(set(said.get(ORIGIN, "ab"))) == 1 else ""
    columns = list(said.items())
    cells = zip(*(cells for _, cells in columns), strict=True)
    rows = tuple((one.arm, *map(one_line, row)) for one, row in zip(figures, cells, strict=True))
    left = 1 + sum(name in WORDS for name, _ in columns)
    means = "Calls, tokens and cost are means per run; latency is without queueing and rate-limit pauses."
    means += f" All figures are {one_line(alike)}." if alike else ""
    changed = tuple(f"{arm['arm']}: {difference(one)}" for arm in found["arms"] for one in arm["changed"])
    return Table(
        "arms", "The arms", ("arm", *(name for name, _ in columns)), rows, left, (found["words"], means, *changed)
    )


def sureness(found: Found) -> Table | None:
    """In which limits the means of each arm lie, and its p95."""
    figures = tuple(map(arm_figures, found["arms"]))
    columns = dict(extents(figures))
    rows = tuple((arm.arm, *cells) for arm, *cells in zip(figures, *columns.values(), strict=True))
    return (
        Table("intervals", capital(sure(columns)), ("arm", *columns), rows, 1, (f"{capital(ALONE)}.",))
        if columns
        else None
    )


def capital(words: str) -> str:
    """As a sentence begins."""
    return f"{words[:1].upper()}{words[1:]}"


WORDS = ("shape", "protocol")
"""Columns of words."""
ORIGIN = "figures are"


def one_line(cell: str) -> str:
    return cell.replace("\n", ", ")


def arm_figures(arm: Found) -> ArmFigures:
    """An arm's figures, out of what `export` writes of them."""
    harm, origin = arm.get("harm"), arm.get("provenance", {})
    named = {"counts": "answered", "tokens": "tokens", "price": "usd"}
    more = {
        "figures": arm,
        "routes": (),
        "harm": harm and (harm["harmful"], harm["runs"]),
        "sources": {name: origin.get(key, "measured") for name, key in named.items()},
    }
    return msgspec.convert({**arm, **more}, ArmFigures)


def figures(of: Found, arm: Found) -> tuple[str, ...]:
    """What some runs of an arm came to: accuracy with its interval, calls, tokens, cost."""
    share = "selected tasks" if arm["selected"] else right(of["accuracy"])
    return (
        share,
        span(of["accuracy"]["interval"]),
        *calls(of),
        tokens(msgspec.convert(of["tokens"], Amount)),
        cost(of["usd"], arm),
    )


def calls(of: Found) -> tuple[str, str]:
    return number(of["model_calls"]), number(of["tool_calls"])


def right(accuracy: Found) -> str:
    return right_of(msgspec.convert(accuracy, Accuracy))


def cost(usd: Found, arm: Found) -> str:
    """US dollars per run."""
    return usd_amount(msgspec.convert(usd, Amount)) if arm["billed"] else NOT_BILLED


def taken(of: Found, arms: Mapping[str, Found]) -> tuple[str, str]:
    """Tokens and US dollars of some runs of an arm."""
    usd, arm = of["usd"], arms[of["arm"]]
    return whole(of["tokens"]), mean_dollars(usd) if arm["billed"] else NOT_BILLED


def whole(tokens: float | None) -> str:
    return "unknown" if tokens is None else f"{tokens:,.0f}"


def by_name(found: Found) -> dict[str, Found]:
    return {arm["arm"]: arm for arm in found["arms"]}


# -- what it cost, and how it ended -----------------------------------------------------------------------------------


def accuracy_and_cost(found: Found) -> Table | None:
    """Which arms no other is shown to beat, and by which the others are."""
    if not found["pareto"]:
        return None
    first, *others = pareto_words([msgspec.convert(one, Standing) for one in found["pareto"]])
    words = (f"{capital(first)}.", BEATEN, *(f"{line}." for line in others))
    return Table("pareto", f"Accuracy against {SPENT[spend(found)]}", words=words)


BEATEN = (
    "An arm is beaten where another is shown better on at least one of these and no worse on the others: what is "
    "unclear takes no arm out of the set."
)
SPENT = {"usd": "cost", "tokens": "tokens", "latency": "time"}


def spend(found: Found) -> str:
    """What a run costs, as far as all arms' is known: US dollars where any is billed, else tokens, else time."""
    if any(arm["billed"] and arm["usd"]["mean"] for arm in found["arms"]):
        return "usd"
    return "tokens" if any(arm["tokens"]["mean"] for arm in found["arms"]) else "latency"


def levels(found: Found) -> Table | None:
    """The figures by `group_by`, and how they go with it."""
    if not found.get("levels"):
        return None
    group, known = found["group_by"], by_name(found)
    head = (group, "arm", "right", "95 % interval, %", "model calls", "tool calls", "tokens", "cost")
    some = first_levels(found)
    rows = tuple((one["level"], one["arm"], *figures(one, known[one["arm"]])) for one in some)
    least = ((found.get("spec") or {}).get("decide") or {}).get("accept") or 0
    words = tuple(curve_words((one["arm"], one["words"]) for one in found["curves"]))
    if len(found["levels"]) > len(some):
        every = len({one["level"] for one in found["levels"]})
        words = (f"The first {MOST_LEVELS} of {every:,} levels; the JSON has all.", *words)
    return Table("levels", f"By {group}", head, rows, 2, (*words, *accept_words(group, least, found["accepted"])))


def first_levels(found: Found) -> list[Found]:
    """The figures at as many levels as a reader can take in."""
    every = dict.fromkeys(one["level"] for one in found.get("levels", ()))
    some = set(islice(every, MOST_LEVELS))
    return [one for one in found.get("levels", ()) if one["level"] in some]


def ends(found: Found) -> Table | None:
    """Exit reasons, by whether the answer was right, and what the runs took in all."""
    if not found["ends"]:
        return None
    head, known = ("arm", "ended", "runs", "right", "wrong", "tokens", "cost"), by_name(found)
    rows = tuple(
        (one["arm"], one["exit"], *map(str, (one["runs"], one["right"], one["wrong"])), *taken(one, known))
        for one in found["ends"]
    )
    title = "How runs ended, whether they were right, and what they took in all"
    return Table("ends", title, head, rows, 2, tuple(saved(found)))


def saved(found: Found) -> Iterator[str]:
    """What stopping early saved."""
    for one in found.get("stopped_early") or ():
        if one["not_needed"]:
            planned = one["made"] + one["not_needed"]
            yield f"Saved: {spared_words(Spared(one['arm'], planned, one['made'], one['usd_saved']))}."


def steps(found: Found) -> Table | None:
    """What each step took, in the order of the steps."""
    if not found["steps"]:
        return None
    head, known = ("arm", "step", "runs", "model calls", "tool calls", "tokens", "cost"), by_name(found)
    rows = tuple((one["arm"], one["step"], str(one["runs"]), *calls(one), *taken(one, known)) for one in found["steps"])
    title = "By step, or turn of a loop: means of the runs that came to it"
    return Table("steps", title, head, rows, 2, tuple(spending(found)))


def spending(found: Found) -> Iterator[str]:
    """What came after the answer was seen, and what asking for several things at once is worth."""
    for one in found["answer_seen"]:
        if one["seen"] or one["capped"]:
            yield f"{one['arm']}: {seen_words(msgspec.convert(one, Seen))}."
    for one in found["batching"]:
        yield f"{one['arm']}: {batching_words(msgspec.convert(one, Batching))}."


def latencies(found: Found) -> Table:
    figures = list(map(arm_figures, found["arms"]))
    rows = tuple((arm.arm, duration(arm.latency.p50), duration(arm.latency.p95), tail(arm)) for arm in figures)
    notes = grouped((arm.arm, arm.latency.note) for arm in figures)
    words = tuple(f"{names}: {note}." for names, note in notes if note)
    return Table(
        "latency", "Latency, without queueing and rate-limit pauses", ("arm", "p50", "p95", UNDER), rows, 1, words
    )


# -- beside the verdict -----------------------------------------------------------------------------------------------


def contrasts(found: Found) -> Table | None:
    """Cost and time beside the arm that each was compared with."""
    head = ("arm", "against", "of", "times", "95 % interval", "median task")
    every = [msgspec.convert(one, Contrast) for one in found["contrasts"]]
    rows = tuple((one.arm, one.against, *cells) for one in every for cells in times(one))
    tested = [one for one in found["contrasts"] if one["holm"] is not None]
    pairs = ", ".join(f"{one['arm']} against {one['against']} p {chance(one['holm'])}" for one in tested)
    words = (f"Whether they are right alike, by McNemar's test, corrected by Holm: {pairs}.",) if tested else ()
    if (test := found["any_differ"]) is not None:
        asked = "Do any of the arms differ? Cochran's Q"
        words = (f"{asked} {test['statistic']:.2f}, {test['df']} df, p {chance(test['p'])}.", *words)
    title = "Cost and time beside the arm that held the place: descriptive"
    return Table("contrasts", title, head, rows, 3, words) if rows or words else None


def controls(found: Found) -> Table | None:
    """Controls describe; they are no part of the verdict's tests."""
    if not found["controls"]:
        return None
    head = ("control", "of", "right", "95 % interval, %", "the agent", "model calls", "tokens")
    rows = tuple(map(control_row, (one for one in found["controls"] if one["figures"]["accuracy"]["runs"])))
    told = ((one, control_words(one["votes"], one["words"])) for one in found["controls"])
    words = tuple(f"{one['control']} of {one['of']}: {words}" for one, words in told if words)
    title = "Controls, on the tasks that the agent ran: descriptive, outside the verdict"
    return Table("controls", title, head, rows, 2, words)


def control_row(one: Found) -> tuple[str, ...]:
    mine, other = one["figures"], one["agent"]
    share = (right(mine["accuracy"]), span(mine["accuracy"]["interval"]), right(other["accuracy"]))
    return (
        one["control"],
        one["of"],
        *share,
        number(mine["model_calls"]),
        tokens(msgspec.convert(mine["tokens"], Amount)),
    )


def recoveries(found: Found) -> Table | None:
    """What became of the runs that a fault struck, beside those that it spared."""
    if not found["recoveries"]:
        return None
    head = ("arm", "fault", "recovered", "95 % interval, %", "without it", "95 % interval, %")
    rows = tuple((one["arm"], f"{one['tool']}: {one['fault']}", *rates(one)) for one in found["recoveries"])
    title = "Runs in which a fault struck and the answer was right all the same, beside the other runs"
    return Table("recoveries", title, head, rows, 2)


def rates(one: Found) -> Iterator[str]:
    for some in (one["struck"], one["others"]):
        yield right(some)
        yield span(some["interval"])


def routes(found: Found) -> Iterator[Table]:
    """How often each route was taken, by the one expected."""
    for place, arm in enumerate(found["arms"]):
        rows = tuple((one["expected"], one["taken"] or "(none)", str(one["n"])) for one in arm["routes"])
        if rows:
            yield Table(f"routes-{place}", f"Routes of {arm['arm']}", ("expected", "taken", "runs"), rows, 2)


# -- where it is from -------------------------------------------------------------------------------------------------


TOLD = "told again"


def origin(found: Found) -> tuple[Table, ...]:
    """What one needs to run it again: files, models, versions, seed."""
    was = found["provenance"]
    facts = {
        "file": Path(found["file"]).name,
        "began": was["began"],
        "seed": str(found["seed"]),
        "repeats": str(found["repeats"]),
        "seconds": f"{found['seconds']:.1f}",
        "cost": recorded_cost(found),
        "kept as": found["replayed"] or "",
        "versions": "those of this report: what it was run on is not kept" if was.get("environment") == TOLD else "",
        "Python": was["python"],
        "platform": was["platform"],
        **was["versions"],
    }
    known = tuple((name, text) for name, text in facts.items() if text)
    models = tuple((model["key"], settings(model)) for model in was["models"])
    every = (
        Table("origin", "Where it is from", ("", ""), known, 2),
        Table("models", "Models, and how they were asked", ("model", "settings"), models, 2),
        Table("files", "Files, by SHA-256", ("file", "SHA-256"), tuple(was["files"].items()), 2),
    )
    return tuple(table for table in every if table.rows)


def recorded_cost(found: Found) -> str:
    """What all runs cost when they were made, as far as it is known."""
    unknown = sum(one["usage"]["usd"] is None for one in found["trials"])
    known = mean_dollars(found["recorded_usd"]) if found["recorded_usd"] or not unknown else ""
    logs = [arm["arm"] for arm in found["arms"] if arm["shape"] == "log"]
    elsewhere = sum(one["usage"]["usd"] or 0.0 for one in found["trials"] if one["arm"] in logs)
    known += f", {mean_dollars(elsewhere)} of it for runs that were logged" if elsewhere else ""
    more = f"{counted(unknown, 'run')} of unknown cost" if unknown else ""
    again = " when it was run; nothing now" if found["replayed"] and (found["recorded_usd"] or unknown) else ""
    return ", and ".join(filter(None, (known, more))) + again


def settings(model: Found) -> str:
    """What a file says of a model, but for its key and the texts of a scripted one."""
    quiet = ("key", "name", "provenance", "prepared_seconds", "replies", "labels")
    return ", ".join(
        f"{name} {value}" for name, value in model.items() if value not in (None, {}) and name not in quiet
    )
