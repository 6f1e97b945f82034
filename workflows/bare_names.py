"""Texts in which a name was meant, and that are passed on as they stand: no fault, and seldom meant.

with: {id: code}           the text `code`, and not the value of the step `code`
prompt: "About {ticket}"   braces of another language: nothing is filled in
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from loopworth.workflows import spec
from loopworth.workflows.faults import Fault
from loopworth.workflows.files import Files
from loopworth.workflows.form import Spotted

FILLED = ("prompt", "instructions", "ask", "choose", "content", "with", "set", "answer", "for_each", "else")
"""The keys below which templates are filled in."""
PATH = re.compile(r"([a-z_]\w*)(?:\.\w+|\[\w+\])*")
BRACED = re.compile(r"(?<![{$])\{\s*(([a-z_]\w*)(?:\.\w+|\[\w+\])*)\s*\}(?!\})")


def bare(files: Files) -> Iterator[Fault]:
    """One for each text that is a name alone, and for each name in single braces."""
    for workflow in files.workflows.values():
        forms = list(workflow.forms())
        ids = {form.id for form in forms if isinstance(form, spec.Step) and form.id is not None}
        names = {*(workflow.input or {}), *ids}
        for form in forms:
            if isinstance(form, spec.Workflow | spec.Body | spec.ChatMessage):
                rounds = ("item", "index") if "for_each" in form.given else ()
                for key in (key for key in FILLED if key in form.given):
                    yield from told(form[key], form.at(key), {*names, *rounds})


def told(value: Any, spot: Spotted, names: Collection[str]) -> Iterator[Fault]:
    """The notes on every text of a value."""
    if isinstance(value, spec.FileText) and value._document is not None:
        yield from of_text(value.text, Spotted(value._document, ()), names)
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from told(part, spot.below(key), names)
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from told(part, spot.below(index), names)
    elif isinstance(value, str):
        yield from of_text(value, spot, names)


def of_text(text: str, spot: Spotted, names: Collection[str]) -> Iterator[Fault]:
    if (match := PATH.fullmatch(text)) and match[1] in names:
        yield spot.fault(f"{text!r} is a text here, and not the value of {match[1]!r}", f'write "{{{{ {text} }}}}"')
    for match in BRACED.finditer(text):
        if match[2] in names:
            what = f"`{match[0]}` is a text here: nothing is filled in"
            yield spot.fault_in(match[0], what, f"write `{{{{ {match[1]} }}}}`")
