"""`loopworth runs`: what the run store holds."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import typer
from rich.text import Text

from loopworth.cli.status import UserFault, alone, saving
from loopworth.cli.steps import steps
from loopworth.cli.store import Place, filed, found_run, gathered, open_store
from loopworth.cli.terminal import AsJson, complain, headed, output, results, shown, write_json
from loopworth.cli.usage import a_file
from loopworth.runs.characters import safe
from loopworth.runs.exit import Exit
from loopworth.runs.figures import dollars, end, second, spent, tokens
from loopworth.runs.home import home
from loopworth.runs.kept import Kept, Query
from loopworth.runs.orphans import Orphan, orphans
from loopworth.runs.recording import Recording
from loopworth.runs.recording import line as line_of
from loopworth.runs.shelf import Shelf, elsewhere
from loopworth.runs.spelling import nearest
from loopworth.workflows.faults import suggestion

app = typer.Typer(help="The runs that are kept: list them, show one step by step, export them.", rich_markup_mode=None)
SPAN = re.compile(r"(\d+)\s*(s|m|min|h|d|w)")
UNITS = {"s": "seconds", "m": "minutes", "min": "minutes", "h": "hours", "d": "days", "w": "weeks"}


@app.callback(invoke_without_command=True)
def runs(
    ctx: typer.Context,
    workflow: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only runs of this workflow (or comparison).")
    ] = None,
    exit: Annotated[
        str | None, typer.Option(metavar="REASON", help="Only runs that ended so, or `unfinished` or `killed` ones.")
    ] = None,
    comparison: Annotated[
        str | None, typer.Option(metavar="ID", help="The trials of this comparison: its id, file or name.")
    ] = None,
    arm: Annotated[str | None, typer.Option(metavar="NAME", help="Only trials of this arm.")] = None,
    task: Annotated[str | None, typer.Option(metavar="ID", help="Only trials on this task.")] = None,
    since: Annotated[str | None, typer.Option(metavar="WHEN", help="Only runs begun since: 2h, 3d, or a date.")] = None,
    most: Annotated[int, typer.Option("--most", "-n", min=1, metavar="N", help="The newest so many.")] = 50,
    store: Place = None,
    as_json: AsJson = False,
) -> None:
    """List the runs and comparisons that are kept, the newest first; trials with --comparison, --arm or --task."""
    if not alone(ctx):
        return
    if exit is not None and exit not in (known := (*get_args(Exit), "unfinished", "killed")):
        near = nearest(exit, known)
        instead = f"did you mean {near!r}?" if near else f"one of {', '.join(known)}"
        raise UserFault(f"--exit {exit}: no run ends so\n    {instead}")
    after = None if since is None else moment(since, datetime.now(UTC))
    killed = exit == "killed"
    state, number = ("unfinished", None) if killed else (exit, most)
    if comparison is not None and home(store).there():
        comparison = known_as(Shelf(store), comparison)
    query = Query(workflow, state, comparison, arm, task, after, most=number)
    found = shelved(Shelf(store), query) if home(store).there() else []
    gone = lost(store, found)
    found = [one for one in found if one.id in gone][:most] if killed else found
    if as_json:
        write_json([{**facts(one), "killed": one.id in gone} for one in found])
    elif not found:
        none = "no such runs are kept in" if home(store).there() else "nothing is kept yet: there is no run store at"
        near = elsewhere(home(store), lambda other: other.runs(query))
        output().print(shown(f"{none} {home(store)}{near}"), soft_wrap=True)
    else:
        for line in listed(found, gone):
            output().print(line, soft_wrap=True)
        if len(found) > 1:
            output().print(Text(summed(found, most), "dim"), soft_wrap=True)
        for one in gone.values():
            complain(f"{one.run}: {one.why}")


app.command("list", help="The same: list the runs and comparisons that are kept.")(runs)


def known_as(shelf: Shelf, comparison: str) -> str:
    """The id of a comparison that is named as any run is; else what was typed, which may be the name of several."""
    try:
        found = found_run(shelf, comparison)
    except UserFault:
        return comparison
    return found.id if found.kind == "comparison" else comparison


def lost(store: str | None, found: Iterable[Kept]) -> dict[str, Orphan]:
    """Those of these runs whose process is gone."""
    under_way = {one.id for one in found if one.kind == "run" and one.exit is None and one.state != "done"}
    return {one.run: one for one in orphans(Shelf(store)) if one.run in under_way} if under_way else {}


def shelved(shelf: Shelf, query: Query) -> list[Kept]:
    """The runs that are wanted; an arm or a task of which no trial is kept is a slip."""
    found = shelf.runs(query)
    wanted: list[tuple[Literal["arm", "task"], str | None]] = [("arm", query.arm), ("task", query.task)]
    for what, name in wanted:
        if found or name is None or name in (known := shelf.names(what)):
            continue
        there = suggestion(name, known, f"{what}s")
        raise UserFault(f"--{what} {name}: no trial of this {what} is kept\n    {there}")
    return found


def moment(text: str, now: datetime) -> str:
    """A time ago, or a date, as UTC."""
    if (span := SPAN.fullmatch(text.strip())) is not None:
        return (now - timedelta(**{UNITS[span[2]]: int(span[1])})).isoformat(timespec="milliseconds")
    try:
        return datetime.fromisoformat(text).astimezone(UTC).isoformat(timespec="milliseconds")
    except ValueError:
        raise UserFault(f"--since {text}: write 30m, 2h, 3d, or a date such as 2026-11-30") from None


def listed(found: list[Kept], gone: Container[str] = ()) -> Iterator[Text]:
    """One line a run, in columns; a name is shortened, a figure never."""
    trials = any(one.kind == "trial" for one in found)
    head = ["id", "began (UTC)", "name", *(("arm", "task", "right") if trials else ("what",)), *FIGURES]
    rows = [head, *([safe(text, lines=False) for text in row(one, trials, one.id in gone)] for one in found)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for k, cells in enumerate(rows):
        sides = zip(cells, widths, head, strict=True)
        padded = (text.rjust(width) if name in RIGHT else text.ljust(width) for text, width, name in sides)
        yield Text("  ".join(padded).rstrip(), "bold" if k == 0 else "")


def summed(found: list[Kept], most: int) -> str:
    """What the listed runs took together: a sum with unknown parts, or of a run that is not over, is at least what is
    known."""
    known = [one.usage.tokens for one in found if one.usage.tokens is not None]
    paid = [one.usage.usd for one in found if one.usage.usd is not None]
    over = all(one.state == "done" for one in found)
    took = f"{'at least ' * (not over or len(known) < len(found))}{sum(known):,} tokens"
    if over and len(paid) == len(found):
        cost = dollars(sum(paid))
    else:
        cost = f"at least {dollars(sum(paid))}" if sum(paid) else "at a cost that is unknown"
    newest = f"the newest {most}" if len(found) == most else f"{len(found)} in all"
    return f"{newest}: {took}, {cost}"


FIGURES = ("exit", "calls", "tokens", "cost", "seconds")
RIGHT = FIGURES[1:]


def row(one: Kept, trials: bool, killed: bool) -> list[str]:
    """What a person looks for in a list; calls are model calls + tool calls."""
    mine = [short(one.arm or ""), short(one.task or ""), right(one)] if trials else [one.kind]
    calls = f"{one.model_calls}+{one.tool_calls}" if one.kind != "comparison" else ""
    figures = [calls, tokens(one.usage), spent(one), f"{one.seconds:.1f}"]
    if one.kind != "comparison" and one.exit is None and one.state == "unfinished":  # they are counted at its end
        figures = ["-"] * len(figures)
    return [one.id, second(one.began), short(one.name), *mine, "killed" if killed else end(one), *figures]


def short(text: str) -> str:
    return text if len(text) <= 32 else f"{text[:31]}…"


def right(one: Kept) -> str:
    return {True: "right", False: "wrong", None: ""}[one.right]


def facts(one: Kept) -> dict[str, Any]:
    return {name: getattr(one, name) for name in one.__struct_fields__ if name != "epoch"}


@app.command("show", short_help="Show a run step by step.")
def show(
    id: Annotated[
        str,
        typer.Argument(
            metavar="RUN", help="Its id, the start of it, its file, `last`, or a .jsonl file.", show_default=False
        ),
    ],
    inside: Annotated[
        str | None, typer.Argument(metavar="ID", help="Of a .jsonl file: which run of it.", show_default=False)
    ] = None,
    store: Place = None,
    as_json: AsJson = False,
) -> None:
    """Show a run step by step: every message and call, what each step cost and how much it sent; of a comparison, its
    trials."""
    if inside is not None and not id.endswith(".jsonl"):
        raise UserFault(f"{inside}: one run is shown; a second word is the id of a run in a .jsonl file")
    if id.endswith(".jsonl"):
        recordings, gone = inside_of(id, inside), dict[str, Orphan]()
    else:
        shelf = Shelf(store)
        run = found_run(shelf, id)
        of_it = shelf.trials(run.id) if run.kind == "comparison" else []
        recordings = [Recording(run), *map(Recording, of_it)] if run.kind == "comparison" else gathered(shelf, run)
        gone = lost(store, [run])
    recording, *others = recordings
    run, trials = recording.kept, [one.kept for one in others]
    if run.kind == "comparison":
        if as_json:
            write_json({**facts(run), "trials": [facts(one) for one in trials]})
        else:
            heading(run)
            for line in listed(trials):
                output().print(line, soft_wrap=True)
        return
    if as_json:
        effects = [
            {"id": id, "kind": r.kind, "began": r.began, "ended": r.ended} for id, r in recording.records.items()
        ]
        write_json({**facts(run), "killed": run.id in gone, "outcome": recording.outcome, "effects": effects})
        return
    heading(run, gone.get(run.id))
    for step in steps(recording):
        output().print(step, soft_wrap=True)


def inside_of(file: str, id: str | None) -> list[Recording]:
    """A run of a file of recordings, and after a comparison its trials; without an id the comparison, or the one run,
    that is in it."""
    found = {one.kept.id: one for one in filed(file)}
    alone = [one for one in found.values() if one.kept.parent not in found]
    fitting = (
        alone
        if id is None
        else [one for one in found.values() if one.kept.id == id]
        or [one for one in alone if one.kept.id.startswith(id)]
    )
    if len(fitting) != 1:
        which = ", ".join(one.kept.id for one in (fitting or alone)[:5]) or "none"
        raise UserFault(f"{file}: name one run of it after it ({which}{', …' if len(fitting or alone) > 5 else ''})")
    return [*fitting, *(one for one in found.values() if one.kept.parent == fitting[0].kept.id)]


def heading(run: Kept, gone: Orphan | None = None) -> None:
    """What a run was, before its steps."""
    rows = {
        "run": run.id,
        "what": " ".join(filter(None, (run.kind, run.name, run.file))),
        "trial": f"{run.arm} on {run.task}, repeat {run.repeat}, {right(run) or 'not scored'}" if run.arm else "",
        "began": run.began,
        "input": "" if run.kind == "comparison" else run.input,
        "exit": end(run) if gone is None else "killed",
        "why": run.note if gone is None else gone.why,
        "calls": f"{run.model_calls} model, {run.tool_calls} tool" if run.kind != "comparison" else "",
        "tokens": tokens(run.usage),
        "cost": spent(run),
        "seconds": f"{run.seconds:.2f}",
    }
    for name, value in rows.items():
        if value not in ("", None):
            output().print(headed(name, shown(value, lines=False)), soft_wrap=True)
    output().print()


@app.command("cancel", short_help="End a run that waits or is under way.")
def cancel(
    id: Annotated[
        str, typer.Argument(metavar="ID", help="The run's id, the start of it, or `last`.", show_default=False)
    ],
    store: Place = None,
) -> None:
    """End a durable run for good: nothing of it is gone on with, and its questions cannot be decided any more."""
    with open_store(store) as kept:
        run = found_run(kept.shelf(), id)
        if run.kind != "run" or not kept.cancel(run.id):
            raise UserFault(f"{run.id}: {'it has ended' if run.kind == 'run' else 'this is no run'}: nothing to cancel")
        complain(f"{run.id} is cancelled")


@app.command("export", short_help="Write runs as JSON lines, to replay or to read.")
def export(
    ids: Annotated[list[str] | None, typer.Argument(metavar="ID", help="Runs and comparisons; all by default.")] = None,
    to: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", callback=a_file, help="The file to write (.jsonl).")
    ] = None,
    store: Place = None,
) -> None:
    """Write runs as JSONL, a run a line, with all they were asked and answered; `--replay FILE.jsonl` replays them."""
    shelf = Shelf(store)
    chosen = [found_run(shelf, id) for id in ids] if ids else shelf.runs(Query(most=None))
    recordings = (one for run in chosen for one in gathered(shelf, run))
    if to is None:
        for recording in recordings:
            results().buffer.write(line_of(recording))
        results().buffer.flush()
    else:
        count = written(to, recordings)
        complain(f"{count} run{'' if count == 1 else 's'} written to {to}")


def written(to: Path, recordings: Iterable[Recording]) -> int:
    """Write a file that is whole or not there."""
    half = to.with_name(f"{to.name}.part")
    with saving(to):
        with half.open("wb") as file:
            n = sum(file.write(line_of(recording)) > 0 for recording in recordings)
        half.replace(to)
    return n
