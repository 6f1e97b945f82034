"""The built-in tools by name, and a catalogue entry made into one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from loopworth.tools import http, today
from loopworth.tools.ask_human import ask_human
from loopworth.tools.calculator import calculator
from loopworth.tools.fault import ToolFault
from loopworth.tools.files import files
from loopworth.tools.made import Made
from loopworth.tools.python import bind, python_tool
from loopworth.tools.signature import NONE, Parameter, parameters
from loopworth.tools.sqlite import sqlite
from loopworth.tools.tool import TIMEOUT, Effect, Tool

Maker = Callable[..., Made]
"""Makes a built-in from the keys of its `with`, which are its keyword-only parameters. One named `timeout` is no such
key: it gets the tool's own."""

MAKERS: Mapping[str, Maker] = MappingProxyType(
    {
        "ask_human": ask_human,
        "calculator": calculator,
        "files": files,
        "http": http.by(http.resolve),
        "sqlite": sqlite,
        "today": today.by(today.now),
    }
)


def builtin_tool(
    name: str,
    builtin: str,
    *,
    effect: Effect,
    description: str | None = None,
    bound: Mapping[str, Any] | None = None,
    timeout: float = TIMEOUT,
    makers: Mapping[str, Maker] = MAKERS,
    **rules: Any,
) -> Tool:
    """A built-in as a tool; `bound` is what its `with` says, `rules` are those of `python_tool`.

    `description` is told before the tool's own words. Raises `ToolFault`.
    """
    maker = makers[builtin]
    given = bind(maker, options(maker), bound or {})
    for each in options(maker).values():
        if each.default is NONE and each.name not in given:
            raise ToolFault(
                f"a built-in {builtin} needs `{each.name}`", f"add `with: {{{each.name}: …}}`", "with", each.name
            )
    for key, value in given.items():
        if isinstance(value, int) and value < 0:
            raise ToolFault(f"`{key}` is {value}", "write 0 or more", "with", key)
    made = maker(**given, **({"timeout": timeout} if timed(maker) else {}))
    if made.writes is not None and effect == "read":
        what = f"`{made.writes}` makes this tool write, and its `effect` is read"
        raise ToolFault(what, "write `effect: write` or `effect: irreversible`", "with", made.writes)
    rules = {"inline": made.inline, "repeatable": made.repeatable, **rules}
    tool = python_tool(name, made.function, effect=effect, timeout=timeout, **rules)
    said = "\n\n".join(filter(None, (description, tool.description)))
    return replace(tool, description=said, asks=made.asks)


def options(maker: Maker) -> dict[str, Parameter]:
    """The keys that `with` may have, by name."""
    taken, _ = parameters(maker)
    return {name: each for name, each in taken.items() if name != "timeout"}


def timed(maker: Maker) -> bool:
    return "timeout" in parameters(maker)[0]
