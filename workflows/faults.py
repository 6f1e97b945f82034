"""A mistake in a file its author can mend: where it is, what is wrong, and what to write instead."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

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


def nearest(word: str, words: Iterable[str]) -> str | None:
    """The one of `words` that `word` was most likely meant to be, or None where nothing is near."""
    known = sorted(set(words))
    if word.lower() in known:
        return word.lower()
    close = get_close_matches(word, known, n=1, cutoff=0.6)
    return close[0] if close else None


def suggestion(word: str, words: Iterable[str], kind: str = "") -> str:
    """The advice for a word that is not one of `words`: the nearest of them, else all of them (up to 12)."""
    known = sorted(set(words))
    if near := nearest(word, known):
        return f"did you mean {near!r}?"
    if not known:
        return f"there are no {kind}" if kind else ""
    shown = ", ".join(known[:12]) + (", …" if len(known) > 12 else "")
    return f"{kind or 'known'}: {shown}"
