"""`loopworth rescore`: another score, price or rule for runs that are kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loopworth.cli.comparisons import Required, tell
from loopworth.cli.interruption import finish
from loopworth.cli.status import UserFault
from loopworth.cli.store import Place, found_run, open_store
from loopworth.cli.terminal import complain
from loopworth.runs.database import StoreFault

if TYPE_CHECKING:
    from loopworth.comparisons.result import Result


def rescore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A comparison file.", show_default=False)],
    id: Annotated[
        str | None,
        typer.Argument(metavar="ID", help="The kept comparison; else the last of FILE.", show_default=False),
    ] = None,
    require: Annotated[
        Required | None, typer.Option(help="Exit with 1 unless the challenger earns, or the holder keeps, its place.")
    ] = None,
    store: Place = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Judge kept runs by the score, the prices and the rule that the comparison has now. No model is called, save a
    judge about the rows that it could not be reached for."""
    # Imported here: `loopworth run` and `loopworth check` load nothing of comparisons.
    from loopworth.cli.keeping import as_run, beside
    from loopworth.comparisons.basis import latest
    from loopworth.comparisons.comparison import load
    from loopworth.comparisons.rehearing import reheard, unheard
    from loopworth.comparisons.rescoring import RescoreFault, judged, rescored
    from loopworth.comparisons.sentences import counted
    from loopworth.runs.shelf import Shelf

    comparison, shelf = load(file), Shelf(store)
    before = latest(shelf, comparison) if id is None else found_run(shelf, id)
    if before is None or before.kind != "comparison":
        near = beside(shelf, comparison) if before is None else ""
        none = f"no comparison of {file} is kept in" if id is None else f"{id}: no such comparison is kept in"
        other = ", and its id after FILE names one of another file" if id is None else ""
        raise UserFault(f"{none} {shelf.home}: `loopworth runs` lists those that are{other}{near}")
    of_then, kept = as_run(comparison, before), before

    async def anew() -> Result:
        usd = 0.0
        if due := unheard(of_then, shelf, kept):
            judged(of_then, shelf, kept)  # or nothing is paid
            try:
                with open_store(store) as open:
                    heard = await reheard(of_then, open, kept, due)
                    usd = heard.used.usd or 0.0
                    complain(heard.words)
            except StoreFault as why:
                rows = counted(len(due), "row")
                complain(f"the judge is to be asked again about {rows}, and nothing can be kept of it: {why}")
        return rescored(of_then, shelf, kept).but(reheard_usd=usd)

    try:
        finish(anew(), lambda result: tell(result, require, as_json))
    except RescoreFault as why:
        raise UserFault(str(why)) from None
    finally:
        if comparison.own_score is not None:
            comparison.own_score.close()
