"""A mistake in a file its author can mend: where it is, what is wrong, and what to write instead."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

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
    ranked = sorted((distance(word.lower(), known.lower()), -likeness(word, known), known) for known in set(words))
    if not ranked:
        return None
    steps, unlike, best = ranked[0]
    return best if steps <= max(1, len(word) // 3) or -unlike >= 0.7 else None


def misspelt(word: str, words: Iterable[str]) -> str | None:
    """The one of `words` that is `word` but for a slip or two of the hand; None where it is none of them."""
    most = max(1, len(word) // 4)
    near = {known for known in words if abs(len(known) - len(word)) <= most}  # no slip makes another into it
    steps, best = min(((distance(word.lower(), known.lower()), known) for known in near), default=(0, None))
    return best if steps <= most else None


def likeness(a: str, b: str) -> float:
    return SequenceMatcher(None, a.lower(), b.lower()).ratio()


def distance(a: str, b: str) -> int:
    """How many letters to add, drop, change or swap with their neighbour to make `a` into `b`."""
    before, row = [0] * (len(b) + 1), list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        earlier, before, row = before, row, [i]
        for j, y in enumerate(b, 1):
            steps = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                steps = min(steps, earlier[j - 2] + 1)
            row.append(steps)
    return row[-1]


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
