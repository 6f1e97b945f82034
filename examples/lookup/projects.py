"""The tools of the lookup example: invented projects that nothing but `lookup` can know about."""

from __future__ import annotations

import functools
import json
import pathlib
import re
from typing import Any, Literal, get_args

Field = Literal["budget", "staff", "duration"]
UNITS: dict[str, str] = {"budget": "thousand euros", "staff": "people", "duration": "months"}
CODE = re.compile(r"\b[A-Z]{3}-[0-9]{2}\b")
FIELD = re.compile(rf"\b({'|'.join(get_args(Field))})\b", re.IGNORECASE)


@functools.cache
def projects() -> dict[str, dict[str, int]]:
    """Every project by its code: its budget, staff and duration."""
    file = pathlib.Path(__file__).with_name("projects.json")
    found: dict[str, dict[str, int]] = json.loads(file.read_text("utf-8"))
    return found


def lookup(code: str, field: Field) -> dict[str, Any]:
    """Look up one figure of one project.

    Args:
        code: The code of the project, like ZRG-14.
        field: Which figure.
    """
    if code not in projects():
        raise LookupError(f"there is no project {code}")
    return {"code": code, "field": field, "value": projects()[code][field], "unit": UNITS[field]}


def add(values: list[int]) -> int:
    """Add figures up.

    Args:
        values: The figures that were looked up.
    """
    return sum(values)


def parse(question: str) -> dict[str, Any]:
    """Read the project codes and the field out of a question with two regular expressions.

    Args:
        question: The question as it was asked.
    """
    field = FIELD.search(question)
    if field is None:
        raise ValueError("the question names none of budget, staff, duration")
    return {"codes": CODE.findall(question), "field": field[1].lower()}
