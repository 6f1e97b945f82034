"""What a comparison has spent so far, held against its own limits."""

from __future__ import annotations

from loopworth.runs.budget import Limits
from loopworth.runs.usage import Usage


class Outlay:
    """US dollars that are known to be spent, runs of unknown cost, and tokens."""

    def __init__(self) -> None:
        self.usd, self.unpriced, self.tokens = 0.0, 0, 0

    def add(self, spent: Usage) -> None:
        self.usd += spent.usd or 0.0
        self.unpriced += spent.usd is None
        self.tokens += spent.counted

    def over(self, most: Limits, seconds: float) -> str:
        """Which limit is reached, after so many seconds; "" where none is."""
        spent = [
            (self.usd, most.usd, f"${most.usd} are spent"),
            (self.tokens, most.tokens, f"{most.tokens} tokens are spent"),
            (seconds, most.time, f"{most.time} s are over"),
        ]
        hit = [words for used, limit, words in spent if limit is not None and used >= limit]
        return f"the comparison's budget is used up: {hit[-1]}" if hit else ""
