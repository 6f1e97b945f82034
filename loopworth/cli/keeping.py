"""How `loopworth compare` keeps its runs, goes on with a comparison, or replays one."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TypeAlias

from loopworth.cli.status import UserFault
from loopworth.cli.store import found_run, one_comparison, tell_changed
from loopworth.cli.terminal import complain
from loopworth.comparisons.basis import changed, counted, latest, obstacle, with_given
from loopworth.comparisons.comparison import Comparison, load
from loopworth.comparisons.extension import ExtensionFault, extended, staged
from loopworth.comparisons.extension import taken_up as with_extensions
from loopworth.comparisons.keeper import Keeper, Replayer, StoreKeeper
from loopworth.runs.kept import Kept
from loopworth.runs.recording import Recording
from loopworth.runs.shelf import Shelf, elsewhere
from loopworth.runs.store import Store

Taken: TypeAlias = tuple[Comparison, Keeper]
"""A comparison with all its tasks, and who makes its runs."""


def keeper_of(
    comparison: Comparison, store: Store, resume: bool, id: str | None, keep: bool, narrowed: bool = False
) -> Taken:
    """Keeps the runs in the store, anew or after those that an earlier part of the comparison made.

    One that was extended goes on with all its tasks: it cannot be `narrowed` to some.
    """
    shelf = store.shelf()
    if id is not None:
        before: Kept | None = found_run(shelf, id)
        if before is None or before.kind != "comparison":
            raise UserFault(f"--resume {id}: this is no comparison")
    else:
        before = latest(shelf, comparison)
    if not resume:
        if before is not None and before.state != "done" and not changed(before.input, comparison):
            complain(f"an unfinished comparison of the same files is kept as {before.id}: --resume goes on with it")
        return comparison, StoreKeeper.anew(store, comparison)
    if before is None:
        if near := beside(shelf, comparison):
            raise UserFault(f"--resume: no comparison of {comparison.file} is kept in {shelf.home}{near}")
        complain(f"no comparison of {comparison.file} is kept in {shelf.home}: this one begins anew")
        return comparison, StoreKeeper.anew(store, comparison)
    if narrowed and len(before.input["stages"]) > 1:
        raise UserFault(f"{before.id} was extended, and goes on with all its tasks: leave out --task and --limit")
    comparison = taken_up(comparison, before)
    why, instead = obstacle(before, comparison)
    if why:
        raise UserFault(f"{why}\n    {instead}")
    return comparison, StoreKeeper.going_on(store, comparison, before.id, keep)


def beside(shelf: Shelf, comparison: Comparison) -> str:
    """The advice to name another store that keeps this comparison, such as one beside its file; "" where none does."""
    return elsewhere(shelf.home, lambda other: latest(other, comparison), Path(comparison.file).parent)


def taken_up(comparison: Comparison, before: Kept, strict: bool = True) -> Comparison:
    """The comparison with the tasks that were added to it since it began; unless it is `strict`, its files may have
    changed otherwise."""
    try:
        return with_extensions(comparison, partial(load, comparison.file, whole=True), before.input or {}, strict)
    except ExtensionFault as fault:
        raise UserFault(f"{before.id} cannot be taken up: {fault}") from None


def as_run(comparison: Comparison, before: Kept) -> Comparison:
    """The comparison on those tasks that it was run on, whatever its files are now."""
    stages = (before.input or {}).get("stages", ())
    try:
        return staged(load(comparison.file, whole=True), before.input, stages, strict=False) if stages else comparison
    except ExtensionFault as fault:
        raise UserFault(f"{before.id} cannot be taken up: {fault}") from None


def extension(comparison: Comparison, store: Store, more: int, keep: bool) -> Taken:
    """The last comparison of this file, with so many more tasks."""
    before = latest(store.shelf(), comparison)
    if before is None:
        near = beside(store.shelf(), comparison) or ": run it first"
        raise UserFault(f"--extend {more}: no comparison of {comparison.file} is kept in {store.home}{near}")
    if before.state != "done":
        raise UserFault(f"--extend {more}: {before.id} is unfinished: --resume goes on with it")
    try:
        longer = extended(load(comparison.file, whole=True), before.input, more)
    except ExtensionFault as fault:
        raise UserFault(f"--extend {more}: {fault}") from None
    return longer, StoreKeeper.extending(store, longer, before.id, keep)


def replayer(comparison: Comparison, found: list[Recording], name: str, narrowed: bool = False) -> Taken:
    """Makes the runs of the recorded comparison, as they were recorded; of one that is `narrowed` to some tasks, those
    on these."""
    recorded, trials = one_comparison(found, name, comparison.name)
    again = with_given(comparison if narrowed else taken_up(comparison, recorded.kept, strict=False), recorded.kept)
    made_of = recorded.kept.input or {}
    tell_changed(recorded.kept.id, made_of.get("files"), counted(made_of, again))
    return again, Replayer(recorded, trials, comparison.stop_early)
