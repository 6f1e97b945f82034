"""What the language has and this version does not: it loads, it is checked, and using it is a fault."""

from __future__ import annotations

from collections.abc import Iterator

from loopworth.workflows.faults import Fault
from loopworth.workflows.form import Form, later_keys
from loopworth.workflows.spec import LATER


def faults(form: Form) -> Iterator[Fault]:
    """The uses of later work in a form and in all below it."""
    for part in form.forms():
        for key in [key for key in later_keys(type(part)) if key in part.given][:1]:
            yield part.at(key).fault(f"`{key}` {LATER}", key=True)
