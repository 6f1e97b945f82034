"""A run's figures in words, the same wherever a person reads them: what is unknown is not 0."""

from __future__ import annotations

from collections.abc import Callable

from loopworth.runs.kept import Kept
from loopworth.runs.usage import Usage

NOT_BILLED = "not billed"
"""What costs nothing: an embedded or a scripted model, or none. *Unknown* is another word, and no 0."""

MOST_PLACES = 12


def dollars(usd: float | None) -> str:
    """US dollars, to a millionth."""
    return cost(usd, lambda usd: f"${usd:.6f}".rstrip("0").rstrip(".") if usd >= 5e-7 else "< $0.000001")


def mean_dollars(usd: float | None) -> str:
    """US dollars, to four digits."""
    return cost(usd, lambda usd: f"${rounded(usd, 4)}")


def rounded(value: float, digits: int = 3) -> str:
    """A number to so many digits, written out (`0.0000888`, `1,590,000`) where that takes twelve places at most."""
    text = f"{value:,.{digits}g}"
    power = int(text.partition("e")[2] or 0)
    if not power or abs(power) > MOST_PLACES:
        return text
    return f"{float(text):,.0f}" if power > 0 else f"{float(text):.{digits - 1 - power}f}".rstrip("0")


def cost(usd: float | None, form: Callable[[float], str]) -> str:
    """A cost, which is in the same words everywhere where it is unknown, or nothing."""
    if usd is None:
        return "unknown"
    return form(usd) if usd else NOT_BILLED


def spent(one: Kept) -> str:
    """What a kept run cost; of one that is not over nothing is said before it cost anything."""
    return "-" if one.state != "done" and not one.usage.usd else dollars(one.usage.usd)


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
