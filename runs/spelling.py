"""What a misspelt word was meant to be: the one rule on what is near enough, for whoever asks "did you mean …?"."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher

ALIKE = 0.7
"""The share of letters in common, in order, from which a word is near another however many steps lie between."""
SHORTEST = 3
"""Letters of a beginning that says which word is meant."""
LONGEST = 200
"""Letters of a word that are compared."""
PARTS = re.compile(r"[\W_]+")


def nearest(word: str, words: Iterable[str]) -> str | None:
    """The one of `words` that `word` was most likely meant to be, or None where nothing is near; case, `-`, `_` and
    spaces do not count. A word that begins but one of them is near it: `read` means `read_file`."""
    said, known = folded(word), set(words)
    ranked = ((distance(said, folded(one)), -likeness(word, one), one) for one in known)
    steps, unlike, best = min(ranked, default=(0, 0.0, None))
    if said and (steps <= max(1, len(said) // 3) or -unlike >= ALIKE):
        return best
    begun = [one for one in known if len(said) >= SHORTEST and folded(PARTS.split(one)[0]) == said]
    return begun[0] if len(begun) == 1 else None


def misspelt(word: str, words: Iterable[str]) -> str | None:
    """The one of `words` that is `word` but for a slip or two of the hand: of many words, one is always near."""
    most = max(1, len(word) // 4)
    near = {known for known in words if abs(len(known) - len(word)) <= most}  # no slip makes another into it
    steps, best = min(((distance(word.lower(), known.lower()), known) for known in near), default=(0, None))
    return best if steps <= most else None


def folded(word: str) -> str:
    """A word however it is cased and joined: maxTurns, max-turns and Max Turns are one."""
    return re.sub(r"[\W_]", "", word[:LONGEST].casefold())


def likeness(a: str, b: str) -> float:
    return SequenceMatcher(None, a[:LONGEST].lower(), b[:LONGEST].lower()).ratio()


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
