"""Catalogue entries made into tools: the same function serves `check`, which reads schemas, and `compile`."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from loopworth.runs.secrets import NAMED, learn
from loopworth.runs.spelling import nearest
from loopworth.tools.fault import ToolFault
from loopworth.tools.tool import Tool
from loopworth.workflows import python_name, spec
from loopworth.workflows.document import plain, spelled
from loopworth.workflows.faults import Fault, WorkflowFault
from loopworth.workflows.form import Spotted, beside
from loopworth.workflows.literals import NAME, unset
from loopworth.workflows.python_name import PythonNameFault, load
from loopworth.workflows.python_name import module as load_module

UNREAD = "(secret)"


def tool(name: str, entry: spec.Tool, environ: Mapping[str, str] | None = None) -> Tool:
    """The tool of a catalogue entry, without its gates. Without `environ` secrets are not read (`check`).

    Raises WorkflowFault with all that is wrong, each at the key that is to blame.
    """
    made, faults = built(name, entry, environ)
    if made is None or faults:
        raise WorkflowFault(faults)
    return made


def built(name: str, entry: spec.Tool, environ: Mapping[str, str] | None = None) -> tuple[Tool | None, list[Fault]]:
    """The tool, as far as it can be made, and what is wrong with its entry."""
    if entry.builtin is not None:
        return built_in(name, entry.builtin, entry, environ)
    if entry.python is None:
        return None, [entry.spot.fault(f"the tool {name!r} has no `python`", key=True)]
    function, faults = named(entry.python, entry.at("python"))
    if function is None:
        return None, faults
    bound, unread = values(function, entry, environ)
    # pydantic's models of functions are slow to import: only where a file names tools.
    from loopworth.tools.python import python_tool

    taken = parameters(function)
    made, more = attempted(partial(python_tool, name, function), {"with": taken, "allow": taken}, entry, bound)
    return made, faults + unread + more


def built_in(
    name: str, builtin: str, entry: spec.Tool, environ: Mapping[str, str] | None
) -> tuple[Tool | None, list[Fault]]:
    # As above.
    from loopworth.tools.builtin import MAKERS, builtin_tool, options

    bound, unread = values(MAKERS[builtin], entry, environ)
    taken = {"with": frozenset(options(MAKERS[builtin]))}
    made, faults = attempted(partial(builtin_tool, name, builtin), taken, entry, bound)
    return made, unread + faults


def named(written: str | Callable[..., Any], where: Spotted) -> tuple[Callable[..., Any] | None, list[Fault]]:
    """The function of that name; with a fault for one that is not there, the nearest, so that the rest is checked.

    A program gives the function itself.
    """
    if not isinstance(written, str):
        return written, []
    try:
        return load(written, where.base), []
    except PythonNameFault as fault:
        faults = [where.fault(fault.what, fault.instead)]
    module, _, attribute = written.partition(":")
    near = nearest(module, (path.stem for path in where.base.glob("*.py")))
    try:
        holder = vars(load_module(near or module, where.base))
        return holder.get(nearest(attribute, holder) or ""), faults
    except PythonNameFault:
        return None, faults


def code(entry: spec.Tool) -> frozenset[Path]:
    """The Python files that a tool is made of. Raises PythonNameFault."""
    if isinstance(entry.python, str):
        return python_name.code(entry.python, entry.at("python").base)
    return frozenset() if entry.python is None else python_name.code_of(entry.python)


def attempted(
    make: Callable[..., Tool], taken: Mapping[str, frozenset[str]], entry: spec.Tool, bound: dict[str, Any]
) -> tuple[Tool | None, list[Fault]]:
    """The tool, without the arguments of `with` and `allow` that do not fit; a misspelt one counts as the nearest.

    `taken`: the names that each of these keys may hold, where they are known.
    """
    keys = said(entry)
    parts: dict[str, dict[str, Any]] = {"with": bound, "allow": keys.pop("allow", {})}
    faults: list[Fault] = []
    gone: set[str] = set()
    while True:
        try:
            return make(bound=parts["with"], allow=parts["allow"], **keys), faults
        except ToolFault as fault:
            known = taken.get(fault.key, frozenset())
            part = parts.get(fault.key, {})
            misspelt = fault.name in known and fault.name not in part and not gone <= known
            if fault.name in gone or misspelt:  # missing only because it was taken out above
                return None, faults
            faults.append(blamed(entry, fault, fault.name in known))
            if fault.name not in part:
                return None, faults
            value = part.pop(fault.name)
            gone.add(fault.name)
            near = nearest(fault.name, known)
            if fault.name not in known and near is not None and near not in part:
                part[near] = value


def parameters(function: Callable[..., Any]) -> frozenset[str]:
    try:
        return frozenset(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # not a function: reported where the schema is made
        return frozenset()


def said(entry: spec.Tool) -> dict[str, Any]:
    """The keys of an entry that are the tool's own, under the names `python_tool` has for them."""
    returns = entry.returns
    given: dict[str, Any] = {
        "effect": entry.effect or "read",
        "description": entry.description,
        "allow": {name: allowed(rule) for name, rule in entry.allow.items() if sound(rule)},
        "keep": tuple(returns.keep) if returns is not None and returns.keep else None,
        "max_chars": returns.max_chars if returns is not None else None,
        "timeout": entry.timeout,
        "max_failures": entry.max_failures,
        "repeatable": entry.repeatable,
        "idempotent": entry.idempotent,
        "inline": entry.inline,
    }
    return {key: value for key, value in given.items() if value is not None}


def allowed(rule: list[Any] | spec.AllowPattern) -> Any:
    return {"pattern": rule.pattern} if isinstance(rule, spec.AllowPattern) else rule


def sound(rule: list[Any] | spec.AllowPattern) -> bool:
    """Whether a rule can be used; a pattern that cannot was reported when it was read."""
    return isinstance(rule, list) or not list(rule.rules())


def values(
    function: Callable[..., Any], entry: spec.Tool, environ: Mapping[str, str] | None
) -> tuple[dict[str, Any], list[Fault]]:
    """What `with` binds: secrets read, and a path beside the YAML where the function's hint is `Path`."""
    hints, faults = hints_of(function), []
    made: dict[str, Any] = {}
    for name, written in entry.with_.items():
        spot, hint = entry.at("with", name), hints.get(name if name in hints else nearest(name, hints) or "")
        try:
            value = revealed(written, spot, environ)
        except WorkflowFault as fault:
            faults += fault.faults
            value = UNREAD
        value = spelled(value) if hint is str and isinstance(value, int | float) else value
        made[name] = beside(spot.base.absolute(), value) if hint is Path and isinstance(value, str) else plain(value)
    return made, faults


def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function)
    except Exception:  # hints that cannot be read are reported where the schema is made
        return {}


def revealed(value: Any, spot: Spotted, environ: Mapping[str, str] | None) -> Any:
    """`value` with each `{env: NAME}` in it read."""
    if isinstance(value, list):
        return [revealed(part, spot.below(index), environ) for index, part in enumerate(value)]
    if not isinstance(value, dict):
        return value
    if set(value) == {"env"}:
        return secret(str(value["env"]), spot, environ)
    for key, name in value.items():
        if len(value) == 1 and nearest(key, ["env"]) and re.fullmatch("[A-Z][A-Z0-9_]*", str(name)):
            where = spot.below(key)
            raise WorkflowFault([where.fault(f"unknown key {key!r} in a secret", "did you mean 'env'?", key=True)])
    return {key: revealed(part, spot.below(key), environ) for key, part in value.items()}


def secret(name: str, spot: Spotted, environ: Mapping[str, str] | None) -> str:
    if environ is None and NAME.fullmatch(name):
        return UNREAD
    if environ is None or name not in environ:
        raise WorkflowFault([spot.below("env").fault(*unset(name))])
    learn(environ[name], least=NAMED)
    return environ[name]


def blamed(entry: spec.Tool, fault: Any, known: bool) -> Fault:
    """A tool's fault at the catalogue's key, and at the argument below it if it names one."""
    spot = entry.at(fault.key if fault.key in entry.given else "builtin")
    if fault.name is None or fault.key not in entry.given or fault.key == "python":
        return spot.fault(fault.what, fault.instead)
    if fault.name not in spot.value:
        return spot.fault(fault.what, fault.instead)
    return spot.below(fault.name).fault(fault.what, fault.instead, key=not known)
