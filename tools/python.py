"""Python functions as tools: the schema comes from type hints, the descriptions from the docstring."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ConfigDict, Field, ValidationError, create_model

from loopworth.runs.spelling import nearest
from loopworth.tools.allow import Allow
from loopworth.tools.docstring import described
from loopworth.tools.fault import ToolFault
from loopworth.tools.gate import Gate
from loopworth.tools.mismatch import mismatches
from loopworth.tools.names import listed
from loopworth.tools.schema import Schema
from loopworth.tools.signature import NONE, Parameter, parameters, title
from loopworth.tools.tool import MOST_CHARACTERS, TIMEOUT, Effect, Tool

LENIENT = ConfigDict(arbitrary_types_allowed=True, allow_inf_nan=False)


def python_tool(
    name: str,
    function: Callable[..., Any],
    *,
    effect: Effect,
    description: str | None = None,
    bound: Mapping[str, Any] | None = None,
    allow: Mapping[str, Any] | None = None,
    gates: tuple[Gate, ...] = (),
    keep: tuple[str, ...] = (),
    max_chars: int = MOST_CHARACTERS,
    timeout: float = TIMEOUT,
    max_failures: int | None = 3,
    repeatable: bool = False,
    idempotent: bool = False,
    inline: bool = False,
) -> Tool:
    """A tool from a function. `bound` are arguments given in advance, hidden from the model.

    A keyword-only parameter `key` is hidden too: it gets the call's idempotency key, the same in every attempt. Raises
    `ToolFault` where no schema can be made of the function, or where `bound` or `allow` does not fit it.
    """
    taken, keyed = parameters(function)
    doc = described(function.__doc__)
    given = bind(function, taken, bound or {})
    schema = Schema(function, [each for each in taken.values() if each.name not in given], doc.arguments, given)
    return Tool(
        name,
        doc.text if description is None else description,
        schema.parameters,
        function,
        schema.accept,
        effect=effect,
        allow=Allow.of(allow or {}, schema.parameters),
        keep=tuple(keep),
        max_chars=max_chars,
        timeout=timeout,
        max_failures=max_failures,
        repeatable=repeatable,
        idempotent=idempotent,
        inline=inline,
        keyed=keyed,
        gates=gates,
    )


def bind(function: Callable[..., Any], taken: Mapping[str, Parameter], bound: Mapping[str, Any]) -> dict[str, Any]:
    """The values of `with:`, each of its parameter's type. Raises `ToolFault`."""
    for name in bound:
        if name not in taken:
            near = nearest(name, taken)
            hint = f"did you mean {near!r}?" if near else f"its arguments are {listed(taken) or 'none'}"
            raise ToolFault(f"`with` binds {name!r}, which {title(function)} does not take", hint, "with", name)
    return {name: fitted(taken[name], value) for name, value in bound.items()}


def fitted(taken: Parameter, value: Any) -> Any:
    """A bound value as its parameter wants it: a number for a text keeps the spelling it has in the file."""
    hint = Any if taken.hint is NONE else taken.hint
    model: Any = create_model("Bound", __config__=LENIENT, a0=(hint, Field(alias=taken.name)))
    spellings = [value, *([value.text] if hasattr(value, "text") else [])]
    for spelling in spellings:
        try:
            return model.model_validate({taken.name: spelling}).a0
        except ValidationError as error:
            why = mismatches(error.errors(include_url=False), {taken.name: value}, (taken.name,))
    raise ToolFault(f"`with`: {why}", key="with", name=taken.name)
