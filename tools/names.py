"""Names and texts as a model writes them: nearly right, or not printable."""

from __future__ import annotations

from collections.abc import Iterable

from loopworth.runs.message import printable


def brief(text: str, most: int = 80) -> str:
    """`text` printable, and cut to `most` characters."""
    return printable(text if len(text) <= most else f"{text[: most - 1]}…")


def shown(text: str, most: int = 80) -> str:
    """The same in quotes."""
    return f"'{brief(text, most)}'"


def listed(names: Iterable[str], most: int = 50) -> str:
    """The names, with commas; of many only the first `most`, and how many there are."""
    known = list(names)
    return ", ".join(known[:most]) + (f", … ({len(known)} in all)" if len(known) > most else "")
