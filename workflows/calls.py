"""What is passed from one thing to another: a call's arguments against the tool's schema, `with` against inputs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from loopworth.runs.spelling import nearest
from loopworth.tools.allow import Allow
from loopworth.tools.arguments import ArgumentFault
from loopworth.tools.tool import Tool
from loopworth.workflows import json_schema
from loopworth.workflows.document import BROKEN, leaves, plain
from loopworth.workflows.faults import Fault, suggestion
from loopworth.workflows.form import Form, Spotted
from loopworth.workflows.template_data import TemplateFault
from loopworth.workflows.templates import template


def passed(
    form: Form,
    verb: str,
    given: Mapping[str, Any],
    schema: Mapping[str, Any],
    whose: str,
    under: str = "with",
    bound: Collection[str] = (),
) -> Iterator[Fault]:
    """The faults of what stands `under` a key: the arguments, or the fields of an answer, that `schema` describes.

    `bound` are arguments that are given already and can be given by nobody else.
    """
    fields: Mapping[str, Any] = schema.get("properties", {})
    meant, kind = set(given), "fields" if under == "answer" else "arguments"
    for name, value in given.items():
        spot = form.at(under, name)
        if name in fields:
            yield from ill_typed(value, fields[name], spot, name)
        elif name in bound:
            yield spot.fault(f"{name!r} of {whose} is bound in its catalogue", "leave it out here", key=True)
        elif schema.get("additionalProperties") is False:
            free = [field for field in fields if field not in meant]
            meant.add(nearest(name, free) or name)
            yield spot.fault(f"{whose} has no {name!r}", suggestion(name, free or fields, kind), key=True)
    for name in schema.get("required", []):
        if name not in meant:
            place = form.at(under) if under in form.given else form.at(verb)
            yield place.fault(f"{whose} needs {name!r}", f"add `{name}: …` under `{under}`", key=under in form.given)


def ill_typed(value: Any, schema: Mapping[str, Any], spot: Spotted, name: str) -> Iterator[Fault]:
    """The fault of a value without templates that the schema does not take."""
    if not constant(value):
        return
    lines = list(json_schema.faults(dict(schema), plain(value, schema), name))
    if lines:
        yield spot.fault("; ".join(lines))


def forbidden(form: Form, tool: Tool, given: Mapping[str, Any]) -> Iterator[Fault]:
    """The faults of constants that the tool's allow-list refuses."""
    for name, value in given.items():
        schema, rule = tool.parameters.get("properties", {}).get(name), tool.allow.rules.get(name)
        if schema is None or rule is None or not constant(value):
            continue
        try:
            Allow({name: rule}).check({name: plain(value, schema)})
        except ArgumentFault as fault:
            yield form.at("with", name).fault(str(fault))


def constant(value: Any) -> bool:
    """Whether no template is in a value, and it could be read."""
    if any(leaf is BROKEN for _, leaf in leaves(value)):
        return False
    try:
        return template(value).constant
    except (TemplateFault, ValueError):
        return False
