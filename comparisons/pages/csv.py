"""The trials of a comparison as CSV, one a row, for a spreadsheet: numbers are numbers, and no text is a formula."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from math import isfinite
from typing import Any

from loopworth.comparisons.pages.tables import Found
from loopworth.runs.characters import safe

COLUMNS = (
    *("run", "arm", "task", "level", "repeat", "attempt", "exit", "right", "harmful"),
    *("answer", "expected", "route", "remark", "note"),
)
FIGURES = ("model_calls", "tool_calls", "latency", "seconds", "queued")
USED = ("input", "output", "cached", "reasoning", "tokens", "usd")
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What a spreadsheet may take for the start of a formula, full-width signs too."""


def table(found: Found) -> str:
    """RFC 4180, with a line of names; what is unknown is an empty cell."""
    made = io.StringIO(newline="")
    writer = csv.writer(made)
    writer.writerow((*COLUMNS, *FIGURES, *USED))
    writer.writerows(rows(found))
    return made.getvalue()


def rows(found: Found) -> Iterator[list[Any]]:
    for trial in found["trials"]:
        told = [trial.get(name) for name in (*COLUMNS, *FIGURES)]
        yield [cell(value) for value in (*told, *(trial["usage"][name] for name in USED))]


def cell(value: Any) -> Any:
    """A value as a cell: a number as itself, whether it came as one or as a text; any other text as text, with a quote
    before what would be a formula."""
    if value is None or isinstance(value, bool | int | float):
        return value
    text = safe(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
    return f"'{text}" if text.lstrip(" ").startswith(FORMULA) and not numeric(text) else text


def numeric(text: str) -> bool:
    """Whether a text is a plain number."""
    try:
        return isfinite(float(text)) and "_" not in text
    except ValueError:
        return False
