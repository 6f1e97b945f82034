"""What the language has and this version does not: it loads, it is checked, and using it is a fault."""

from __future__ import annotations

from collections.abc import Iterator

from loopworth.workflows.faults import Fault
from loopworth.workflows.form import Form
from loopworth.workflows.spec import LATER, Body, Gate, Loop, Option, Route, Router, Step, Tool, Workflow

KEYS: tuple[tuple[type[Form], tuple[str, ...]], ...] = (
    (Tool, ("mcp", "run")),
    (Body, ("repeat", "retry", "timeout", "by", "at_least")),
    (Step, ("max_concurrency",)),
    (Route, ("examples",)),
    (Option, ("examples",)),
    (Router, ("by", "at_least")),
    (Workflow, ("guard",)),
    (Gate, ("timeout", "on_timeout")),
    (Loop, ("compact",)),
)
"""Keys whose use is a fault, whatever they hold."""

WORDS: tuple[tuple[type[Form], str, tuple[str, ...]], ...] = (
    (Body, "on_error", ("skip",)),
    (Workflow, "on_limit", ("answer", "partial")),
    (Gate, "remember", ("run",)),
    (Loop, "on_bad_call", ("rollback",)),
    (Loop, "protocol", ("text", "react")),
    (Loop, "tool_choice", ("required", "required_first")),
)
"""Words whose use at a key is a fault."""


def faults(form: Form) -> Iterator[Fault]:
    """The uses of later work in a form and in all below it."""
    for part in form.forms():
        for sort, keys in KEYS:
            if isinstance(part, sort):
                for key in part.given.intersection(keys):
                    yield part.at(key).fault(f"`{key}` {LATER}", key=True)
        for sort, key, words in WORDS:
            if isinstance(part, sort) and key in part.given and part[key] in words:
                yield part.at(key).fault(f"`{key}: {part[key]}` {LATER}")
        yield from special(part)


def special(part: Form) -> Iterator[Fault]:
    if isinstance(part, Workflow) and not isinstance(part, Router) and "otherwise" in part.given:
        yield part.at("otherwise").fault(f"`otherwise` of a {part.shape} {LATER}", key=True)
    if isinstance(part, Gate) and "edit" in (part.choices or ()):
        yield part.at("choices", (part.choices or []).index("edit")).fault(f"the choice `edit` {LATER}")
