"""Texts in which a name was meant, and that are passed on as they stand: no fault, and seldom meant.

with: {id: code}           the text `code`, and not the value of the step `code` (unless `code` is one of the words that
                           `id` takes)
prompt: "About {ticket}"   braces of another language: nothing is filled in
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import Any

from loopworth.tools.allow import Values
from loopworth.workflows import spec
from loopworth.workflows.catalogue import built
from loopworth.workflows.document import leaves
from loopworth.workflows.faults import Fault
from loopworth.workflows.files import Files
from loopworth.workflows.form import Form, Spotted
from loopworth.workflows.reach import inner
from loopworth.workflows.type_expression import TypeFault

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
                    known = {*names, *rounds}
                    written = known.intersection(text for _, text in leaves(form[key]) if isinstance(text, str))
                    alone = known.difference(choices(form, key, workflow, files) if written else ())
                    yield from told(form[key], form.at(key), known, alone)


def choices(form: Form, key: str, workflow: spec.Workflow, files: Files) -> Iterator[str]:
    """The words that a tool, another workflow or the answer's type takes in what stands under a key."""
    with suppress(TypeFault):
        if key == "answer" and isinstance(form, spec.Workflow) and form.output is not None:
            yield from listed(spec.output_type(form).schema)
        if key != "with" or not isinstance(form, spec.Body):
            return
        entry = files.tools(workflow).get(str(form.call))
        if entry is not None and entry.run is None and (tool := built(str(form.call), entry)[0]) is not None:
            yield from listed(tool.parameters)
            rules = [rule for rule in tool.allow.rules.values() if isinstance(rule, Values)]
            yield from (str(value) for rule in rules for value in rule.values)
        if (part := inner(form if entry is None else entry, files)) is not None:
            yield from listed(spec.input_type(part).schema)


def listed(schema: Any) -> Iterator[str]:
    """The words of every closed set in a schema."""
    return (str(value) for path, value in leaves(schema) if {"enum", "const"}.intersection(path))


def told(value: Any, spot: Spotted, names: Collection[str], alone: Collection[str]) -> Iterator[Fault]:
    """The notes on every text of a value: of `names` in braces, and of those that stand `alone`."""
    if isinstance(value, spec.FileText) and value._document is not None:
        yield from of_text(value.text, Spotted(value._document, ()), names, alone)
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from told(part, spot.below(key), names, alone)
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from told(part, spot.below(index), names, alone)
    elif isinstance(value, str):
        yield from of_text(value, spot, names, alone)


def of_text(text: str, spot: Spotted, names: Collection[str], alone: Collection[str]) -> Iterator[Fault]:
    if (match := PATH.fullmatch(text)) and match[1] in alone:
        yield spot.fault(f"{text!r} is a text here, and not the value of {match[1]!r}", f'write "{{{{ {text} }}}}"')
    for match in BRACED.finditer(text):
        if match[2] in names:
            what = f"`{match[0]}` is a text here: nothing is filled in"
            yield spot.fault_in(match[0], what, f"write `{{{{ {match[1]} }}}}`")
