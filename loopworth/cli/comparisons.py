"""`loopworth compare`: several arms on the same tasks, and a verdict."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from loopworth.cli.interruption import finish
from loopworth.cli.reporting import HtmlFile, MarkdownFile, pages
from loopworth.cli.status import DONE, FAILED, OUTSIDE, UserFault
from loopworth.cli.store import Place, Replayed, Unkept, open_store, recordings
from loopworth.cli.terminal import complain, output, write_json

if TYPE_CHECKING:
    from loopworth.comparisons.result import Result

Required = Literal["earns", "keeps"]


def compare(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A comparison file.", show_default=False)],
    id: Annotated[
        str | None,
        typer.Argument(metavar="ID", help="With --resume: the comparison to go on with.", show_default=False),
    ] = None,
    task: Annotated[str | None, typer.Option(metavar="ID", help="Run only the task with this id.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Run only the first N tasks.")] = None,
    require: Annotated[
        Required | None, typer.Option(help="Exit with 1 unless the challenger earns, or the holder keeps, its place.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the last comparison of this file, or with ID.")
    ] = False,
    extend: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Go on with the last comparison of this file on N more of its tasks."),
    ] = None,
    fleet: Annotated[
        bool, typer.Option("--fleet", help="Have the workers of the store make the runs (`loopworth worker`).")
    ] = False,
    replay: Replayed = None,
    store: Place = None,
    no_store: Unkept = False,
    html: HtmlFile = None,
    markdown: MarkdownFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Run every arm on every task, interleaved, and print accuracy, cost, latency and the verdict side by side."""
    # Imported here: `loopworth run` and `loopworth check` load nothing of comparisons.
    from loopworth.cli.fleet import crew
    from loopworth.cli.keeping import extension, keeper_of, replayer
    from loopworth.cli.progress import followed
    from loopworth.comparisons.comparison import load
    from loopworth.comparisons.execution import compare as measure
    from loopworth.comparisons.keeper import Keeper

    if id is not None and not resume:
        raise UserFault(f"{id}: one comparison file is run at a time; write --resume {id} to go on with a kept one")
    if resume and (no_store or replay):
        raise UserFault("--resume goes on with what the run store holds: leave out --no-store and --replay")
    if fleet and (no_store or replay):
        raise UserFault("--fleet keeps its runs in the run store: leave out --no-store and --replay")
    if extend is not None and (no_store or replay or resume or task is not None or limit is not None):
        raise UserFault("--extend goes on with the last comparison of this file as it was: leave out the other words")
    try:
        comparison = load(file, task=task, limit=limit)
    except LookupError as error:
        raise UserFault(f"--task {task}: {error.args[0]}") from None
    if replay is None:
        comparison.at_hand(comparison.of_workers if fleet else (), commands=not fleet)
    trouble, narrowed = False, task is not None or limit is not None
    keep = as_json or html is not None or markdown is not None

    async def measured() -> Result:
        nonlocal trouble
        with nullcontext() if no_store or replay is not None else open_store(store) as kept:
            given, keeper = comparison, Keeper()
            if replay is not None:
                given, keeper = replayer(
                    comparison, recordings(replay, store, "comparison", comparison.name), replay, narrowed
                )
            elif extend is not None and kept is not None:
                given, keeper = extension(comparison, kept, extend, keep)
            elif kept is not None:
                given, keeper = keeper_of(comparison, kept, resume, id, keep, narrowed)
            with crew(given, keeper, fleet, keep) as others, followed() as watch:
                result = await measure(given, watch=watch, keep=keep, keeper=keeper, crew=others)
        trouble = kept is not None and kept.trouble is not None
        if result.id and not result.finished and not result.replayed:
            complain(f"kept as {result.id}: `loopworth compare {file} --resume` goes on with it")
        return result

    def ended(result: Result) -> int:
        pages(result, store, html, markdown)
        status = tell(result, require, as_json, trouble)
        if result.id and result.finished and not result.replayed:
            page = "" if html else "`loopworth report --html page.html` shows every answer, "
            complain(f"kept as {result.id}: {page}`loopworth diagnose {result.id}` what to mend")
        return status

    finish(measured(), ended)


def tell(result: Result, require: Required | None, as_json: bool, trouble: bool = False) -> int:
    """Print a result; returns the exit status."""
    from loopworth.comparisons.export import to_json
    from loopworth.comparisons.table import render

    if as_json:
        write_json(json.loads(to_json(result)))
    else:
        output().print(render(result))
    if trouble and not result.interrupted:
        return OUTSIDE
    if result.status != DONE or require is None:
        return result.status
    return DONE if met(result, require) else FAILED


def met(result: Result, require: Required) -> bool:
    """Whether the verdict is one of those that `--require` asks for."""
    return result.verdict is not None and result.verdict.meets(require)
