"""`loopworth inbox sweep`: what has expired is decided, and runs that nobody goes on with go on."""

from __future__ import annotations

import signal
import threading
from contextlib import suppress
from typing import Annotated, Any

import typer

from loopworth.cli.durable import Durable, facts
from loopworth.cli.status import UserFault
from loopworth.cli.store import Place, open_store
from loopworth.cli.terminal import AsJson, complain, write_json
from loopworth.runs.due import due
from loopworth.runs.home import home
from loopworth.runs.orphans import Orphan
from loopworth.runs.outcome import Diverged, Fenced
from loopworth.runs.shelf import Shelf
from loopworth.workflows.faults import WorkflowFault
from loopworth.workflows.form import Unfit
from loopworth.workflows.spec import seconds

LEAST = 1.0
"""Seconds between two sweeps."""


def sweep(
    store: Place = None,
    every: Annotated[
        str | None,
        typer.Option(
            metavar="SPAN", help="Do so again and again, as every 30s or 5m, until Ctrl-C.", show_default=False
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Decide what has expired as its author said, and go on with every run that has a decision, or whose process was
    killed, and that no other process goes on with."""
    if every is not None:
        if as_json:
            raise UserFault("--every and --json: one of them; with --every each line is said as it happens")
        patrol(store, span(every))
        return
    with open_store(store) as kept:
        found = due(kept)
    for one in found.expired:
        complain(f"{one.name} has expired: {one.question.on_timeout}")
    reports = list[Any]()
    for run, epoch in found.runs.items():
        try:
            Durable(run, store, as_json=as_json, write=reports.append).go_on(run, epoch)
        except typer.Exit:
            complain(f"the run {run}: {Shelf(store).run(run).exit or 'under way'}")
        except (UserFault, WorkflowFault, Diverged, Fenced, OSError) as why:  # the others are gone on with
            if Shelf(store).run(run).state != "done":  # else somebody was quicker
                complain(f"{run}: {why}")
    for left in found.left:
        complain(f"{left.run}: {left.why}")
    if as_json:
        expired = [facts(one) for one in found.expired]
        write_json({"expired": expired, "runs": reports, "left": [left_alone(one) for one in found.left]})


def left_alone(one: Orphan) -> dict[str, Any]:
    return {"run": one.run, "workflow": one.workflow, "why": one.why}


def span(text: str) -> float:
    """So many seconds. Raises UserFault."""
    try:
        found = float(seconds(text))
    except Unfit as why:
        raise UserFault("\n    ".join(filter(None, (f"--every {text}: {why}", why.instead)))) from None
    if not LEAST <= found <= threading.TIMEOUT_MAX:
        raise UserFault(f"--every {text}: write {LEAST:g}s or more")
    return found


def patrol(place: str | None, seconds: float) -> None:
    """Sweep again and again, until the process is told to end."""
    # Imported here: no other command of the inbox needs them.
    import logging

    from loopworth.web.activations import LOG, Activations

    class Telling(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            complain(record.getMessage())

    with open_store(place):
        pass  # there is a store from now on
    where = home(place)
    LOG.setLevel(logging.INFO)
    LOG.addHandler(Telling())
    LOG.propagate = False
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    activations = Activations(where)
    activations.watch(seconds)
    complain(f"looking through {where} every {seconds:g} s; Ctrl-C ends it")
    with suppress(KeyboardInterrupt):  # Ctrl-C is how it ends
        ended.wait()
    activations.stop()
