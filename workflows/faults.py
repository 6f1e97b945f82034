"""A mistake in a file its author can mend: where it is, what is wrong, and what to write instead."""

from __future__ import annotations

from collections.abc import Iterable

from loopworth.runs.spelling import nearest
from loopworth.runs.usage import Value


class Fault(Value, frozen=True):
    """One mistake at one place. `line` and `column` are counted from 1; `instead` is empty where there is no advice."""

    file: str
    line: int
    column: int
    what: str
    instead: str = ""

    def __str__(self) -> str:
        head = f"{self.file}:{self.line}:{self.column}  {self.what}"
        return f"{head}\n    {self.instead}" if self.instead else head


class WorkflowFault(Exception):
    """The files are faulty: every fault of every file, in the order a reader meets them."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = in_order(faults)
        super().__init__("\n".join(map(str, self.faults)))


def in_order(faults: Iterable[Fault]) -> list[Fault]:
    """Each fault once, by file, line and column."""
    return sorted(set(faults), key=lambda fault: (fault.file, fault.line, fault.column, fault.what))


LONGEST_LIST = 300
"""Up to how many letters a list of words is shown whole."""


def suggestion(word: str, words: Iterable[str], kind: str = "known", near: str | None = None) -> str:
    """The advice for a word that is not one of `words`: the one that was meant, else all of them, if they are not many.

    `kind` is what they are, in the plural; `near` the one that was meant, where that is known without looking.
    """
    known = sorted(set(words))
    if near := near or nearest(word, known):
        return f"did you mean {near!r}?"
    return f"{kind}: {listed(known)}" if known else f"there are no {kind}"


def listed(words: Iterable[str]) -> str:
    """Words with commas between them, up to LONGEST_LIST letters of them."""
    shown, left = "", list(words)
    while left and len(shown) + len(left[0]) <= LONGEST_LIST:
        shown += (", " if shown else "") + left.pop(0)
    return f"{shown}, …" if left else shown
