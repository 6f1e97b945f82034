"""`loopworth plan`: what a comparison can show, and what it may cost, before money is spent."""

from __future__ import annotations

import dataclasses
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loopworth.cli.interruption import finish
from loopworth.cli.status import DONE, INTERRUPTED
from loopworth.cli.terminal import output, shown, write_json
from loopworth.runs.figures import NOT_BILLED, mean_dollars, rounded

if TYPE_CHECKING:
    from loopworth.comparisons.comparison import Comparison
    from loopworth.comparisons.outlook import Cost, Outlook
    from loopworth.comparisons.result import Result


def plan(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A comparison file.", show_default=False)],
    gain: Annotated[
        float | None,
        typer.Option(min=-1, max=1, metavar="GAIN", help="How many tasks settle a true gain of this size."),
    ] = None,
    pilot: Annotated[
        int, typer.Option(min=0, metavar="N", help="Run every arm on the first N tasks, to see the costs.")
    ] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Say what this many tasks can show, how many a gain would take, and what the runs may cost; nothing is scored."""
    # Imported here: `loopworth run` and `loopworth check` load nothing of comparisons.
    from loopworth.comparisons.comparison import load
    from loopworth.comparisons.outlook import outlook

    comparison = load(file)
    if not pilot:
        tell(outlook(comparison, gain=gain), as_json)
        raise typer.Exit(DONE)

    comparison.at_hand()

    def show(result: Result) -> int:
        if result.interrupted:
            return INTERRUPTED
        tell(outlook(comparison, result.final, gain), as_json, result)
        return result.status

    finish(piloted(comparison, pilot), show)


async def piloted(comparison: Comparison, n: int) -> Result:
    """A few runs of every arm; what they score says nothing, and is not shown."""
    from loopworth.cli.progress import followed
    from loopworth.comparisons.execution import compare

    few = dataclasses.replace(comparison, tasks=comparison.tasks[:n], stop_early=False, repeats=1, controls=None)
    with followed() as watch:
        return await compare(few, watch=watch, keep=False)


def tell(found: Outlook, as_json: bool, pilot: Result | None = None) -> None:
    if as_json:
        write_json(found.document(None if pilot is None else pilot.usd))
        return
    console = output()
    for text in found.words:
        console.print(shown(text))
    console.print(tasks_table(found))
    console.print(costs_table(found))
    for note in found.notes:
        console.print(shown(note))
    if pilot is not None:
        console.print(shown(pilot_cost(pilot)))


def pilot_cost(pilot: Result) -> str:
    """What the runs of a pilot cost."""
    said, unknown = f"the pilot of {len(pilot.final)} runs", sum(one.spent.usd is None for one in pilot.runs)
    usd = f"${rounded(pilot.usd, 4)}" if pilot.usd else ""
    if unknown:
        return f"{said} cost {f'{usd}, and ' if usd else ''}what is unknown of {unknown} of them"
    return f"{said} cost {usd}" if usd else f"{said} was {NOT_BILLED}"


def tasks_table(found: Outlook) -> object:
    from rich.table import Table

    table = Table("true gain", "arms differ on", "tasks it takes", box=None)
    for one in found.needed:
        tasks = "cannot be settled" if one.tasks is None else f"{one.tasks:,}"
        table.add_row(*map(shown, (f"{one.gain:+.2f}", f"{one.differ:.0%} of tasks (assumed)", tasks)))
    return table


def costs_table(found: Outlook) -> object:
    from rich.table import Table

    table = Table("arm", "runs", "model calls", "tokens", "cost", "at most", "from", box=None)
    for one in found.costs:
        expected = (number(one.calls), number(one.tokens), dollars(one.usd))
        table.add_row(*map(shown, (one.arm, f"{one.runs:,}", *expected, most(one), one.source)))
    return table


def number(value: float | None) -> str:
    return "unknown" if value is None else "no limit" if value == inf else f"{value:,.0f}"


def dollars(usd: float | None) -> str:
    return "no limit" if usd == inf else mean_dollars(usd)


def most(one: Cost) -> str:
    """The worst case: dollars, or where nothing is billed the tokens."""
    if one.worst_usd:
        return dollars(one.worst_usd)
    return "unknown" if one.worst_tokens is None and one.source != "assumed" else f"{number(one.worst_tokens)} tokens"
