"""`loopworth worker`, and comparisons whose runs workers make."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loopworth.cli.interruption import finish
from loopworth.cli.status import INTERRUPTED, UserFault
from loopworth.cli.store import Place
from loopworth.cli.terminal import complain, notices, shown
from loopworth.runs.database import Home
from loopworth.runs.home import is_address
from loopworth.runs.store import Store

if TYPE_CHECKING:
    from loopworth.comparisons.comparison import Comparison
    from loopworth.comparisons.crew import Crew
    from loopworth.comparisons.keeper import Keeper

EXTRA = "a fleet wants the extra `fleet`: pip install 'loopworth[fleet]'"


def worker(
    store: Place = None,
    concurrency: Annotated[int, typer.Option(min=1, metavar="N", help="Runs under way at once here.")] = 8,
    project: Annotated[
        Path, typer.Option(metavar="DIR", help="The folder from which comparisons were sent, as it is on this host.")
    ] = Path("."),
    patience: Annotated[
        float, typer.Option(min=2, metavar="SECONDS", help="A worker that is silent for so long counts as dead.")
    ] = 60,
) -> None:
    """Make the runs of comparisons that `loopworth compare --fleet` sends, until Ctrl-C."""
    kept = Store(store)
    with extra():
        from loopworth.comparisons.fleet.worker import serve

    def say(what: str) -> None:
        notices().print(shown(what), soft_wrap=True)

    def left(runs: int) -> int:
        kept.close()
        say(f"{runs} runs made; what was under way goes back to the queue")
        return INTERRUPTED

    finish(serve(kept, project, concurrency, say, patience), left)


@contextmanager
def extra() -> Iterator[None]:
    """A fleet without its libraries is the user's to put right."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if str(missing.name).partition(".")[0] == "loopworth":
            raise
        raise UserFault(EXTRA) from None


@contextmanager
def crew(comparison: Comparison, keeper: Keeper, wanted: bool, keep: bool) -> Iterator[Crew | None]:
    """The workers of the store that keeps a comparison, where they are `wanted`."""
    from loopworth.comparisons.keeper import StoreKeeper

    if not wanted or not isinstance(keeper, StoreKeeper):
        yield None
        return
    with extra():
        from loopworth.comparisons.fleet.engine import Queue
        from loopworth.comparisons.fleet.pace import Shared
        from loopworth.comparisons.fleet.submitter import Submitter
        from loopworth.models import open_model
    with closing(Queue(keeper.store.home)) as queue, closing(Shared(keeper.store.home, say=complain)) as pace:
        yield Submitter(comparison, keeper, queue, keep, complain, open=partial(open_model, pace=pace))


def migrate_queue(home: Home) -> str:
    """Make the tables of the queue on a server, where the extra is installed; a file's are made when they are used."""
    if not is_address(str(home)):
        return ""
    try:
        from loopworth.comparisons.fleet.engine import migrate
    except ModuleNotFoundError:
        return "no tables for a fleet: they want the extra `fleet`: pip install 'loopworth[fleet]'"
    migrate(home)
    return "the tables of a fleet's queue are up to date"
