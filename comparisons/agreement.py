"""How far a judge can be believed: the rows that people labelled, and how often it says the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from loopworth.comparisons.intervals import Interval, wilson
from loopworth.comparisons.ruling import told_of
from loopworth.runs.usage import Value

LABELS = "labels of the judge"
"""What the runs on its labelled rows are kept under; no arm's name has a space."""
LEAST = 20
"""Labelled rows that its agreement has to be known on."""


class Label(Value, frozen=True):
    """A row whose verdict a person gave; `fields` are what its task has beside."""

    answer: Any
    expected: Any
    right: bool
    fields: Mapping[str, Any] = {}

    @property
    def asks(self) -> str:
        """What the judge is asked about it; the same for equal rows."""
        return told_of({"task": self.fields, "expected": self.expected, "answer": self.answer})


class Agreement(Value, frozen=True):
    """How often the judge and the labels said the same, on `n` rows that it judged: the share and Cohen's kappa, each
    with a 95 % interval (Wilson's; kappa's is the same, at the agreement that chance gives). `unjudged` rows got no
    verdict; `passes` and `labelled_right` are how often each side said that an answer is right.
    """

    n: int
    agreed: int
    unjudged: int = 0
    passes: int = 0
    labelled_right: int = 0

    @property
    def share(self) -> float | None:
        return self.agreed / self.n if self.n else None

    @property
    def interval(self) -> Interval | None:
        return wilson(self.agreed, self.n)

    @property
    def chance(self) -> float:
        """The agreement that two who say `right` as often would have by chance."""
        a, b = (count / self.n if self.n else 0.0 for count in (self.passes, self.labelled_right))
        return a * b + (1 - a) * (1 - b)

    @property
    def kappa(self) -> float | None:
        """None where there is nothing to tell apart."""
        return None if self.share is None or self.chance == 1 else above(self.share, self.chance)

    @property
    def kappa_interval(self) -> Interval | None:
        if self.kappa is None or self.interval is None:
            return None
        return above(self.interval[0], self.chance), above(self.interval[1], self.chance)

    @property
    def doubt(self) -> str:
        """Why no verdict may rest on this judge, and what to do; "" where one may."""
        if self.n < LEAST <= self.n + self.unjudged:
            return (
                f"the judge gave a verdict on only {self.n} of {self.n + self.unjudged} labelled rows, and it takes "
                f"{LEAST}: read what it replied, then mend its rubric or take another model"
            )
        if self.n < LEAST:
            have = f"it is known on {self.n} labelled rows" if self.n else "it is not known on any labelled row"
            return (
                f"an LLM judge counts in a verdict only with its agreement with at least {LEAST} labelled rows, and "
                f"{have}: write `labels: labelled.jsonl` under `judge`, with an answer, what was expected and "
                "`right: true` or `false` on each line"
            )
        if not 0 < self.labelled_right < self.n:
            return "the labelled rows are all right or all wrong, which shows nothing: add some of the other kind"
        if self.kappa_interval is None or self.kappa_interval[0] <= 0:
            return "the judge is not shown to agree with the labels better than chance: mend its rubric, or label more"
        return ""


def above(share: float, chance: float) -> float:
    return (share - chance) / (1 - chance)


def agreement(said: Iterable[tuple[bool | None, bool]]) -> Agreement:
    """Of pairs (the judge's word, None where it gave none; the label)."""
    pairs = list(said)
    both = [(judge, label) for judge, label in pairs if judge is not None]
    same = sum(judge == label for judge, label in both)
    return Agreement(len(both), same, len(pairs) - len(both), sum(j for j, _ in both), sum(label for _, label in both))


def of_rows(rows: Iterable[Mapping[str, Any]]) -> tuple[Label, ...]:
    """Labels out of a file's rows. Raises LookupError with the number of a row (from 0) that is none."""
    found = []
    for k, row in enumerate(rows):
        right = SIDES.get(str(row.get("right")).strip().lower())
        if right is None or row.get("answer") is None or row.get("expected") is None:
            raise LookupError(k)
        fields = {name: value for name, value in row.items() if name not in RESERVED}
        found.append(Label(row["answer"], row["expected"], right, fields))
    return tuple(found)


SIDES = {"true": True, "pass": True, "false": False, "fail": False}
RESERVED = ("id", "answer", "expected", "right")
