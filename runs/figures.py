"""A run's figures in words, the same wherever a person reads them: what is unknown is not 0."""

from __future__ import annotations

from loopworth.runs.kept import Kept
from loopworth.runs.usage import Usage


def dollars(usd: float | None) -> str:
    """US dollars, to a millionth."""
    return "unknown" if usd is None else f"${usd:.6f}".rstrip("0").rstrip(".")


def count(tokens: int | None) -> str:
    return "unknown" if tokens is None else f"{tokens:,}"


def tokens(usage: Usage) -> str:
    """Input and output together."""
    return count(usage.tokens)


def second(moment: str) -> str:
    """A time of the store, which is in UTC, to the second."""
    return moment[:19].replace("T", " ")


def end(one: Kept) -> str:
    """How a run ended; what can be gone on with is unfinished."""
    return one.exit or ("done" if one.state == "done" else "unfinished")
