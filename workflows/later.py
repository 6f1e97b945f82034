"""What the language has and this version does not: it loads, it is checked, and using it is a fault."""

from __future__ import annotations

from collections.abc import Iterator

from loopworth.workflows.faults import Fault
from loopworth.workflows.form import Form
from loopworth.workflows.spec import LATER, Tool

KEYS: tuple[tuple[type[Form], tuple[str, ...]], ...] = (
    (Tool, ("mcp",)),
)
"""Keys whose use is a fault, whatever they hold."""


def faults(form: Form) -> Iterator[Fault]:
    """The uses of later work in a form and in all below it."""
    for part in form.forms():
        for sort, keys in KEYS:
            if isinstance(part, sort):
                for key in part.given.intersection(keys):
                    yield part.at(key).fault(f"`{key}` {LATER}", key=True)
