"""Functions that the YAML files beside this one name."""

from pathlib import Path
from typing import Literal


def lookup(code: str, field: Literal["budget", "staff", "duration"], database: Path) -> dict[str, object]:
    """One figure of a project.

    Args:
        code: The project's code, such as AB-12.
        field: Which figure.
    """
    return {"code": code, "field": field, "value": 1, "unit": database.name}


def refund(order: str, amount: float, token: str) -> str:
    """Pay an amount back."""
    return f"{order} {amount} {token}"
