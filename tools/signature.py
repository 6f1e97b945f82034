"""What a function can be called with, as its author wrote it."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable
from typing import Any, NamedTuple

from loopworth.tools.fault import ToolFault

NONE = inspect.Parameter.empty
"""No hint, or no default."""
KEY = "key"
"""The keyword-only parameter by which a function asks for the idempotency key of its call."""


class Parameter(NamedTuple):
    name: str
    hint: Any
    default: Any = NONE


def parameters(function: Callable[..., Any]) -> tuple[dict[str, Parameter], bool]:
    """The parameters by name, and whether the function asks for `key`. Raises `ToolFault` where a model could not call
    it by name."""
    called = title(function)
    if not callable(function):
        raise ToolFault(f"{function!r} is no function")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise ToolFault(f"{called} is a generator", "return a list")
    try:
        found = inspect.signature(function).parameters
    except (ValueError, TypeError):
        raise ToolFault(f"{called} has no signature", "wrap it in a function with type hints") from None
    hints = hints_of(function)
    keyed = KEY in found and found[KEY].kind is inspect.Parameter.KEYWORD_ONLY
    named = {name: parameter(called, each, hints) for name, each in found.items() if not (keyed and name == KEY)}
    return named, keyed


def parameter(called: str, written: inspect.Parameter, hints: dict[str, Any]) -> Parameter:
    if written.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
        raise ToolFault(f"{called} takes `{written}`", "write each argument as a parameter with a type hint")
    if written.kind is inspect.Parameter.POSITIONAL_ONLY:
        raise ToolFault(f"{called} takes `{written.name}` by position only", "take the `/` out of its parameters")
    return Parameter(written.name, hints.get(written.name, NONE), written.default)


def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The type hints, with their annotations; of a class its constructor's, of an object its `__call__`'s."""
    while isinstance(function, functools.partial):
        function = function.func
    target: Any = function
    if inspect.isclass(function):
        target = function.__init__
    elif not inspect.isroutine(function):
        target = type(function).__call__
    try:
        return typing.get_type_hints(target, include_extras=True)
    except (NameError, TypeError, SyntaxError, AttributeError) as error:
        raise ToolFault(f"the type hints of {title(function)} cannot be read: {error}") from None


def title(function: Any) -> str:
    """The function as a fault names it."""
    return f"{getattr(function, '__name__', type(function).__name__)}()"
