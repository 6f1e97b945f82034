"""A kept comparison told twice: by what was said in its runs, and by the figures that are kept with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from loopworth.comparisons.pages.html import html
from loopworth.comparisons.retelling import told
from loopworth.runs.kept import Kept, Query
from loopworth.runs.outcome import Outcome
from loopworth.runs.shelf import Shelf

SAID = ("transcript", "events", "calls")


class Frugal(Shelf):
    """A shelf that says which transcripts were read."""

    def __init__(self) -> None:
        super().__init__()
        self.read = list[str]()

    def outcomes(self, ids: Iterable[str]) -> Iterator[tuple[str, Outcome]]:
        for id, outcome in super().outcomes(ids):
            self.read.append(id)
            yield id, outcome


def newest() -> Kept:
    [kept] = Shelf().runs(Query(kinds=("comparison",), most=1))
    return kept


def unsaid(found: dict[str, Any]) -> dict[str, Any]:
    """A comparison's JSON without what was said."""
    trials = [{key: value for key, value in one.items() if key not in SAID} for one in found["trials"]]
    return {**found, "trials": trials}


def held(labelled: int = 0) -> None:
    """The newest comparison is told alike both ways, also on a page; of its runs the labelled rows alone are read."""
    shelf, kept = Frugal(), newest()
    whole, brief = told(Shelf(), kept)[1], told(shelf, kept, pairs=0)[1]
    assert unsaid(brief) == unsaid(whole)
    assert all(one[name] is None for one in brief["trials"] for name in SAID)
    assert len(shelf.read) == labelled
    for pairs in (0, 1, 200):
        assert html(told(Shelf(), kept, pairs=pairs)[1], pairs) == html(whole, pairs)
