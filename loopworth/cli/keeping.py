"""How `loopworth compare` keeps its runs, goes on with a comparison, or replays one."""

from __future__ import annotations

from loopworth.cli.status import UserFault
from loopworth.cli.store import found_run, one_comparison
from loopworth.cli.terminal import complain
from loopworth.comparisons.comparison import Comparison
from loopworth.comparisons.keeper import Keeper, Replayer, StoreKeeper, changed, latest
from loopworth.runs.kept import Kept
from loopworth.runs.recording import Recording
from loopworth.runs.store import Store


def keeper_of(comparison: Comparison, store: Store | None, resume: bool, id: str | None, keep: bool) -> Keeper:
    """Keeps the runs in the store, anew or after those that an earlier part of the comparison made."""
    if store is None:
        return Keeper()
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
        return StoreKeeper.anew(store, comparison)
    if before is None:
        complain(f"no comparison of {comparison.file} is kept: this one begins anew")
        return StoreKeeper.anew(store, comparison)
    if other := changed(before.input, comparison):
        raise UserFault(
            f"{before.id} cannot be resumed: {', '.join(other)} changed since it began\n"
            "    without --resume a comparison begins anew"
        )
    return StoreKeeper.going_on(store, comparison, before.id, keep)


def replayer(comparison: Comparison, found: list[Recording], name: str) -> Keeper:
    """Makes the runs of the recorded comparison, as they were recorded."""
    return Replayer(*one_comparison(found, name, comparison.name))
