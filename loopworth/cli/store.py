"""The run store as the command line opens it, and the recordings it takes up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from loopworth.cli.status import UserFault
from loopworth.cli.terminal import complain, output, shown
from loopworth.runs.database import VERSION
from loopworth.runs.home import home
from loopworth.runs.kept import Kept, Kind, Query
from loopworth.runs.recording import Recording, RecordingFault, read
from loopworth.runs.shelf import Shelf, elsewhere
from loopworth.runs.store import Store
from loopworth.workflows import origin

Place = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="FILE",
        envvar="LOOPWORTH_STORE",
        help="The run store: a file, or postgresql://…",
        show_default=".loopworth/runs.db",
    ),
]
Unkept = Annotated[bool, typer.Option("--no-store", help="Keep nothing of this in the run store.")]
Replayed = Annotated[
    str | None,
    typer.Option("--replay", metavar="RUN", help="Call nothing: replay what the store, or a .jsonl file, has of this."),
]


app = typer.Typer(help="The run store itself.", rich_markup_mode=None)


@app.callback()
def store() -> None:
    """The run store itself."""


@app.command("migrate", short_help="Make the tables of a store, or bring them up to date.")
def migrate(store: Place = None) -> None:
    """Make the tables of a store, or bring them up to date; several hosts may do so at once."""
    place = home(store)
    try:
        before = place.migrate()
    except (OSError, place.errors) as error:
        raise place.fault(error) from None
    # Imported here: it imports this module.
    from loopworth.cli.fleet import migrate_queue

    queue = migrate_queue(place)
    done = {0: "made", VERSION: "up to date already"}.get(before, f"brought up to date from version {before}")
    output().print(shown(f"{place}: the tables are {done} (version {VERSION})"), soft_wrap=True)
    if queue:
        output().print(queue, soft_wrap=True)


@contextmanager
def open_store(place: str | None) -> Iterator[Store]:
    """The store to keep runs in, closed at the end, when all is written. What could not be kept is said then."""
    store = Store(place)
    try:
        yield store
    finally:
        store.close()
        if store.trouble is not None:
            complain(f"what came last could not be kept\n    {store.trouble}")


def recordings(name: str, place: str | None, kind: Kind, of: str) -> list[Recording]:
    """What `--replay` names: all recordings of a file, or the run of the store with, for a comparison, its trials.

    `last` is the newest of this `kind` that is `of` a workflow or comparison, whatever came after it.
    """
    if name.endswith(".jsonl"):
        return list(filed(name, f"--replay {name}"))
    shelf = Shelf(place)
    newest = shelf.runs(Query(of, kinds=(kind,), most=1)) if name == "last" else []
    return gathered(shelf, newest[0] if newest else found_run(shelf, name))


def filed(name: str, typed: str = "") -> tuple[Recording, ...]:
    """The recordings of a file, with a notice of what was wrong in it; a fault names it as it was `typed`."""
    try:
        found = read(name)
    except RecordingFault as fault:
        raise UserFault(str(fault)) from None
    except FileNotFoundError:
        raise UserFault(f"{typed or name}: there is no such file") from None
    for note in found.notes:
        complain(note)
    return found.found


def tell_changed(id: str, before: Mapping[str, str] | None, now: Mapping[str, str]) -> None:
    """Say which files of a recording have changed: what a replay does not call may come out otherwise now."""
    if before is not None and (files := origin.changed(before, now)):
        complain(f"{', '.join(files)} changed since {id}: what was recorded counts, and no tool is called")


def found_run(shelf: Shelf, id: str) -> Kept:
    """A run by its id, the beginning of it, `last`, or its file, of which it is the newest."""
    if id.endswith((".yaml", ".yml")):
        return newest_of(shelf, id)
    try:
        return shelf.run(id)
    except LookupError as error:
        raise UserFault(error.args[0]) from None


def newest_of(shelf: Shelf, file: str) -> Kept:
    """The last run of a workflow's file, or the last comparison of a comparison's."""

    def newest(some: Shelf) -> Kept | None:
        path = Path(file).resolve()
        return next((one for one in some.runs(Query(most=None)) if Path(one.file).resolve() == path), None)

    if (found := newest(shelf)) is None:
        near = elsewhere(shelf.home, newest, Path(file).parent)
        raise UserFault(f"no run of {file} is kept in {shelf.home}: `loopworth runs` lists those that are{near}")
    return found


def gathered(shelf: Shelf, run: Kept) -> list[Recording]:
    """A run with all it was asked and answered; after a comparison its trials."""
    scores = shelf.scores(run.parent or run.id) if run.kind != "run" else {}
    runs = [run, *(shelf.trials(run.id) if run.kind == "comparison" else ())]
    records = dict(shelf.journals(one.id for one in runs))
    outcomes = dict(shelf.outcomes(one.id for one in runs))
    return [Recording(one, records[one.id], outcomes.get(one.id), scores.get(one.id)) for one in runs]


def one_run(found: list[Recording], name: str, workflow: str) -> Recording:
    """The one recording of a run of a workflow."""
    runs = [one for one in found if one.kept.kind != "comparison"]
    fitting = [one for one in runs if one.kept.name == workflow]
    if runs and not fitting:
        others = ", ".join(sorted({one.kept.name for one in runs}))
        raise UserFault(f"--replay {name}: it holds no run of {workflow!r}, but of {others}")
    if len(fitting) == 1:
        return fitting[0]
    which = ", ".join(one.kept.id for one in fitting[:5]) or "none"
    raise UserFault(f"--replay {name}: it holds {len(fitting)} runs ({which}), and one is replayed: name it by its id")


def one_comparison(found: list[Recording], name: str, comparison: str) -> tuple[Recording, list[Recording]]:
    """The one recording of a comparison, and its trials."""
    every = [one for one in found if one.kept.kind == "comparison"]
    fitting = [one for one in every if one.kept.name == comparison]
    if len(fitting) != 1:
        there = f", but {', '.join(f'{one.kept.id} {one.kept.name}' for one in every)}" if every else ""
        raise UserFault(f"--replay {name}: it holds no one comparison {comparison!r}{there}")
    return fitting[0], [one for one in found if one.kept.parent == fitting[0].kept.id]
