"""Which names a text may read, and what is known of each: judged on the author's templates and expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from jinja2 import nodes

from loopworth.workflows.faults import Fault, suggestion
from loopworth.workflows.form import Spotted
from loopworth.workflows.guards import shown
from loopworth.workflows.spec import ChatMessage, FileText
from loopworth.workflows.template_data import TemplateFault
from loopworth.workflows.templates import Template, expression, parsed, template

Schema = Mapping[str, Any]
ANYTHING: Schema = {}

ELSEWHERE = {
    "item": "`item` is known under `for_each`",
    "index": "`index` is known under `for_each`",
    "last": "`last` is known under `repeat`",
    "args": "`args` is known in a gate",
    "answer": "`answer` is known in the workflow's `check`",
    "calls": "`calls` is known in the workflow's `check`",
    "observations": "`observations` is known in the workflow's `check`",
    "null": "write `none`",
    "input": "an input is read by its own name",
    "inputs": "an input is read by its own name",
    "steps": "a step's value is read by the step's `id`",
}


@dataclass(frozen=True)
class Gap:
    """A step that may be skipped: as a whole, or some items of its list; `unless` is the condition it runs under."""

    items: bool
    unless: str | None


@dataclass(frozen=True)
class Scope:
    """The names a text may read, each with its JSON schema (empty: anything), and the ids that stand further down.

    An `open` scope is not all there is: a name that it does not know may be another workflow's.
    """

    known: Mapping[str, Schema]
    below: frozenset[str] = frozenset()
    gaps: Mapping[str, Gap] = field(default_factory=dict)
    reader: str = ""
    open: bool = False

    def plus(self, **names: Schema) -> Scope:
        return replace(self, known={**self.known, **names})

    def gap(self, name: str, gap: Gap) -> Scope:
        return replace(self, gaps={**self.gaps, name: gap})

    def called(self, reader: str) -> Scope:
        return replace(self, reader=reader)

    def when(self, condition: Any) -> Scope:
        """The scope of what runs only where a condition holds: what the condition shows to be there is no gap."""
        if not isinstance(condition, str):
            return self
        sure = certain(condition)
        left = {name: gap for name, gap in self.gaps.items() if name not in sure and gap.unless != condition.strip()}
        return replace(self, gaps=left)


def certain(condition: str) -> frozenset[str]:
    try:
        body = parsed("{{ " + condition + " }}").body
    except Exception:  # a faulty condition is reported where it stands
        return frozenset()
    match body:
        case [nodes.Output(nodes=[node])]:
            return shown(node, True)
    return frozenset()


def templates(value: Any, spot: Spotted, scope: Scope) -> Iterator[Fault]:
    """The faults of every template in the leaves of a value, or in a prompt."""
    if isinstance(value, FileText):
        if value._document is not None:
            yield from judged(value.text, Spotted(value._document, ()), scope, template)
    elif isinstance(value, ChatMessage):
        yield from templates(value.content, value.at("content"), scope)
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from templates(part, spot.below(key), scope)
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from templates(part, spot.below(index), scope)
    elif isinstance(value, str):
        yield from judged(value, spot, scope, template)


def condition(value: Any, spot: Spotted, scope: Scope) -> Iterator[Fault]:
    """The faults of a bare expression."""
    if isinstance(value, str):
        yield from judged(value, spot, scope, expression)


def judged(text: str, spot: Spotted, scope: Scope, compiled: Callable[[str], Template]) -> Iterator[Fault]:
    try:
        made = compiled(text)
    except TemplateFault as fault:
        line, column = spot.document.line(spot.path, fault.line)
        masked = spot.document.masked
        yield Fault(spot.file, line, column, masked(fault.what), masked(fault.instead))
        return
    for name in sorted(made.reads - scope.known.keys()) if not scope.open else ():
        yield unknown(name, spot, scope)
    for name in sorted(made.reads & scope.gaps.keys()):
        yield from unguarded(name, made, spot, scope)
    if made.reads:
        yield from attributes(text if compiled is template else "{{ " + text + " }}", spot, scope)


def unknown(name: str, spot: Spotted, scope: Scope) -> Fault:
    if name in scope.below:
        what = f"{scope.reader} reads {name!r}, which stands below it"
        return spot.fault_in(name, what, f"move {name!r} up: a step reads only steps above it")
    instead = ELSEWHERE.get(name) or suggestion(name, scope.known, "names here")
    return spot.fault_in(name, f"{scope.reader} reads {name!r}, which is no input and no step above", instead)


def unguarded(name: str, made: Template, spot: Spotted, scope: Scope) -> Iterator[Fault]:
    if scope.gaps[name].items and name not in made.guarded_items:
        what = f"{scope.reader} reads all of {name!r}, some items of which may be skipped"
        yield spot.fault_in(name, what, f"write `{name} | select('defined')`")
    if not scope.gaps[name].items and name not in made.guarded:
        why = "which the first round does not have" if name == "last" else "which may be skipped"
        what = f"{scope.reader} reads {name!r}, {why}"
        yield spot.fault_in(name, what, f"write `{name} | default(…)`, `{name} or …`, or `if: {name} is defined`")


def attributes(source: str, spot: Spotted, scope: Scope) -> Iterator[Fault]:
    """The faults of `x.y` where it is known what `x` holds, and `y` is none of it."""
    tree = parsed(source)
    bound = {name.name for name in tree.find_all(nodes.Name) if name.ctx == "store"}
    for node in tree.find_all((nodes.Getattr, nodes.Getitem)):
        path = dotted(node)
        if path is None or path[0] in bound or path[0] not in scope.known:
            continue
        schema = held(scope.known[path[0]], path[1:-1])
        fields = schema.get("properties")
        if isinstance(fields, Mapping) and schema.get("additionalProperties") is False and path[-1] not in fields:
            what = f"{scope.reader} reads {path[-1]!r} of {'.'.join(path[:-1])!r}, which has no such field"
            yield spot.fault_in(".".join(path), what, suggestion(path[-1], fields, "fields"))


def dotted(node: nodes.Node) -> tuple[str, ...] | None:
    """The names of `a.b.c` (or `a['b']`), or None for anything else."""
    match node:
        case nodes.Name(name=name):
            return (name,)
        case nodes.Getattr(node=inner, attr=attribute) if (path := dotted(inner)) is not None:
            return (*path, attribute)
        case nodes.Getitem(node=inner, arg=nodes.Const(value=str(key))) if (path := dotted(inner)) is not None:
            return (*path, key)
    return None


def held(schema: Schema, path: tuple[str, ...]) -> Schema:
    for part in path:
        fields = schema.get("properties")
        inner = fields.get(part) if isinstance(fields, Mapping) else None
        schema = inner if isinstance(inner, Mapping) else ANYTHING
    return schema
