"""Type expressions of a file as types: Python's own grammar, read with `ast` and never evaluated.

str int float bool date · list[str] · dict[str, int] · str | None · Literal[billing, how-to]
Annotated[float, "what a model is told"] · int = 5 · module:Model · {field: type} · [type] · {json_schema: {…}}
"""

from __future__ import annotations

import ast
import datetime
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Optional, TypeAlias

from pydantic import (
    AfterValidator,
    AllowInfNan,
    BaseModel,
    BeforeValidator,
    Field,
    PlainValidator,
    Strict,
    WithJsonSchema,
    create_model,
)
from pydantic_core import PydanticCustomError

from loopworth.runs.spelling import nearest
from loopworth.workflows import json_schema, python_name
from loopworth.workflows.python_name import PythonNameFault, load
from loopworth.workflows.types import OBJECT, Type, is_model

Place: TypeAlias = tuple[str | int, ...]


class TypeFault(ValueError):
    """What is wrong with a type expression: `path` leads to the part inside it, `instead` is what to write."""

    def __init__(self, path: Place, what: str, instead: str = "") -> None:
        super().__init__(path, what, instead)
        self.path, self.what, self.instead = path, what, instead

    def __str__(self) -> str:
        return f"{self.what}; {self.instead}" if self.instead else self.what


def parse_type(expr: Any, base: Path | None = None) -> Type:
    """The type that an expression from a YAML file stands for. `base` is that file's folder, for `module:Model`.

    Raises TypeFault.
    """
    annotation, default = parsed(expr, base, ())
    if default is not NONE:
        raise TypeFault((), "only a field of an object can have a default", "drop the ` = …`")
    return Type(
        shown(expr), annotation, frozenset(path for name in named(expr) for path in python_name.code(name, base))
    )


def named(expr: Any) -> Iterator[str]:
    """The pydantic models that a type names."""
    if isinstance(expr, str):
        yield from filter(None, (match[3] for match in SPECIAL.finditer(" ".join(expr.split()))))
    elif isinstance(expr, Mapping) and set(expr) != {"json_schema"}:
        yield from (name for part in expr.values() for name in named(part))
    elif isinstance(expr, list):
        yield from (name for part in expr for name in named(part))


NONE: Any = object()


def parsed(expr: Any, base: Path | None, path: Place) -> tuple[Any, Any]:
    """The annotation for an expression, and its default or NONE."""
    if isinstance(expr, str):
        return Text(expr, base, path).parsed()
    if isinstance(expr, Mapping):
        return (foreign if set(expr) == {"json_schema"} else fields)(expr, base, path), NONE
    if isinstance(expr, list):
        if len(expr) != 1:
            raise TypeFault(path, "a list as a type has exactly one element", "write `[str]` or `list[str]`")
        item, default = parsed(expr[0], base, (*path, 0))
        if default is not NONE:
            raise TypeFault((*path, 0), "only a field of an object can have a default", "drop the ` = …`")
        return Annotated[list[item], Strict()], NONE  # type: ignore[valid-type]
    what = "a type is missing here" if expr is None else f"{json.dumps(expr)} is not a type"
    raise TypeFault(path, what, "write one, such as `str` or `list[int]`")


def fields(expr: Mapping[str, Any], base: Path | None, path: Place) -> type[BaseModel]:
    """An object. Its fields stand behind aliases, so that any name is allowed (`json`, `model_x`, `_id`)."""
    made: dict[str, Any] = {}
    for n, (name, part) in enumerate(expr.items()):
        annotation, default = parsed(part, base, (*path, name))
        default = ... if default is NONE else checked_default(annotation, default, (*path, name))
        made[f"field_{n}"] = (annotation, Field(default, alias=str(name)))
    return create_model("Object", __config__=OBJECT, **made)


def checked_default(annotation: Any, default: Any, path: Place) -> Any:
    try:
        return Type("", annotation).check(default)
    except ValueError as error:
        raise TypeFault(path, f"the default {json.dumps(default)} does not fit: {error}") from None


def foreign(expr: Mapping[str, Any], base: Path | None, path: Place) -> Any:  # noqa: ARG001 - one shape with `fields`
    """A full JSON schema, checked by our own rules for its keywords."""
    path = (*path, "json_schema")
    if not isinstance(schema := expr["json_schema"], Mapping):
        raise TypeFault(path, "json_schema is a mapping", "write `json_schema: {type: object, properties: {…}}`")
    try:
        schema = json_schema.inlined(schema)
        if what := json_schema.unreadable(schema):
            raise ValueError(what)
    except ValueError as error:
        raise TypeFault(path, f"not a JSON schema that can be checked: {error}") from None

    def check(value: Any) -> Any:
        if lines := list(json_schema.faults(schema, value)):
            raise PydanticCustomError("json_schema", "{lines}", {"lines": "; ".join(lines)})
        return value

    return Annotated[Any, PlainValidator(check), WithJsonSchema(dict(schema))]


def spelling(value: Any) -> Any:
    """A number of a YAML file that lands in a text is the text that was written (`3.10`)."""
    return getattr(value, "text", value) if isinstance(value, int | float) else value


def day(value: Any) -> Any:
    return value.isoformat() if type(value) is datetime.date else value


def is_day(value: str) -> str:
    try:
        if re.fullmatch(r"\d{4}-\d\d-\d\d", value):
            return datetime.date.fromisoformat(value).isoformat()
    except ValueError:
        pass
    raise PydanticCustomError("date", "must be a date such as 2024-03-31")


DATE = {"type": "string", "format": "date"}
LEAVES: dict[str, Any] = {
    "str": Annotated[str, Strict(), BeforeValidator(spelling)],
    "int": Annotated[int, Strict()],
    "float": Annotated[float, Strict(), AllowInfNan(False)],
    "bool": Annotated[bool, Strict()],
    "date": Annotated[str, Strict(), BeforeValidator(day), AfterValidator(is_day), WithJsonSchema(DATE)],
}
HINTS = {
    "string": "write `str`",
    "text": "write `str`",
    "integer": "write `int`",
    "number": "write `float`, or `int` for whole numbers",
    "boolean": "write `bool`",
    "array": "write `list[str]`, with the type of its items",
    "object": "write a mapping of field: type, or `dict[str, int]`",
    "list": "say what is in it: `list[str]`",
    "dict": "say what is in it: `dict[str, int]`, or write a mapping of field: type",
    "List": "write `list[str]`",
    "Dict": "write `dict[str, int]`",
    "tuple": "write `list[str]`",
    "set": "write `list[str]`",
    "Optional": "write `str | None`",
    "Union": "write `str | None`; other unions are `json_schema: {anyOf: [{…}, {…}]}`",
    "datetime": "write `date` or `str`",
    "null": "write `str | None`",
    "enum": "write `Literal[a, b]`",
    "Enum": "write `Literal[a, b]`",
    "any": "write `json_schema: {}` for any JSON",
    "Any": "write `json_schema: {}` for any JSON",
}


def literal(words: list[Any]) -> Any:
    """Exactly one of some words (or whole numbers); pydantic's own would take true for 1."""

    def check(value: Any) -> Any:
        for word in words:
            if word == value and isinstance(value, type(word)) and not isinstance(value, bool):
                return word
        if (text := spelling(value)) in words and isinstance(text, str):
            return text
        raise PydanticCustomError("choice", "must be one of {words}", {"words": ", ".join(map(str, words))})

    kinds = {type(word) for word in words}
    schema: dict[str, Any] = {"enum": words}
    if len(kinds) == 1:
        schema = {"type": "string" if kinds == {str} else "integer", **schema}
    return Annotated[Any, PlainValidator(check), WithJsonSchema(schema)]


QUOTED = r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'"""
SPECIAL = re.compile(rf"({QUOTED})|\bLiteral\s*\[((?:{QUOTED}|[^\[\]\"'])*)\]|(?<![\w.])([A-Za-z_][\w.]*:[A-Za-z_]\w*)")
COMMA = re.compile(rf",(?=(?:{QUOTED}|[^\"'])*$)")
WHOLE = re.compile(r"-?(0|[1-9]\d*)")


class Text:
    """A type written as text. Bare words and `module:Model` are set aside first, the rest is Python's own grammar."""

    def __init__(self, text: str, base: Path | None, path: Place) -> None:
        self.text, self.base, self.path = " ".join(text.split()), base, path
        self.aside: dict[str, Any] = {}

    def fault(self, what: str, instead: str = "") -> TypeFault:
        return TypeFault(self.path, what, instead)

    def parsed(self) -> tuple[Any, Any]:
        if not self.text:
            raise self.fault("a type is missing here", "write one, such as `str` or `list[int]`")
        try:
            (node,) = ast.parse("_: " + SPECIAL.sub(self.set_aside, self.text)).body
            assert isinstance(node, ast.AnnAssign)
        except TypeFault:
            raise
        except (SyntaxError, ValueError, AssertionError, RecursionError, MemoryError):
            raise self.fault(f"`{self.text}` is not a type", hint(self.text)) from None
        annotation = self.annotation(node.annotation)
        return annotation, self.default(node.value) if node.value else NONE

    def set_aside(self, match: re.Match[str]) -> str:
        quoted, words, name = match.groups()
        if quoted:
            return str(quoted)
        key = f"aside_{len(self.aside)}"
        self.aside[key] = literal(self.words(words)) if words is not None else self.python(name)
        return key

    def words(self, text: str) -> list[Any]:
        words = [part.strip() for part in COMMA.split(text) if part.strip()]
        if not words:
            raise self.fault("Literal needs words", "write `Literal[yes, no]`")
        if "None" in words:
            raise self.fault("None is not a word of a Literal", "write `Literal[a, b] | None`")
        return [int(word) if WHOLE.fullmatch(word) else word.strip("\"'") for word in words]

    def python(self, name: str) -> Any:
        try:
            found = load(name, self.base)
        except PythonNameFault as error:
            raise self.fault(error.what, error.instead) from None
        if not is_model(found):
            raise self.fault(f"{name!r} is not a pydantic model", "name a class that derives from pydantic.BaseModel")
        return found

    def annotation(self, node: ast.expr) -> Any:
        match node:
            case ast.Name(id=name) if name in self.aside:
                return self.aside[name]
            case ast.Name(id=name) if name in LEAVES:
                return LEAVES[name]
            case ast.Name(id=name) | ast.Subscript(value=ast.Name(id=name)) if name in HINTS and not known(node):
                raise self.fault(f"{name!r} is not a type here", HINTS[name])
            case ast.Subscript(value=ast.Name(id=name), slice=part):
                return self.generic(name, part)
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return self.optional(left, right)
            case ast.Constant(value=None):
                raise self.fault("None alone is not a type", "write `str | None`")
        raise self.fault(f"{ast.unparse(node)!r} is not a type", hint(ast.unparse(node)))

    def generic(self, name: str, part: ast.expr) -> Any:
        parts = part.elts if isinstance(part, ast.Tuple) else [part]
        match name, parts:
            case "list", [item]:
                return Annotated[list[self.annotation(item)], Strict()]  # type: ignore[misc]
            case "dict", [ast.Name(id="str"), item]:
                return Annotated[dict[str, self.annotation(item)], Strict()]  # type: ignore[misc]
            case "dict", _:
                raise self.fault("a dict has text keys and one type of value", "write `dict[str, int]`")
            case "Annotated", [item, ast.Constant(value=str(description))]:
                return Annotated[self.annotation(item), Field(description=description)]
            case "Annotated", _:
                raise self.fault("Annotated needs a type and a quoted text", 'write `Annotated[float, "in euro"]`')
            case "Literal", _:
                raise self.fault("the words of this Literal cannot be read", "write `Literal[yes, no]`")
        raise self.fault(f"`{name}[…]` is not a type", hint(name))

    def optional(self, left: ast.expr, right: ast.expr) -> Any:
        sides = [side for side in (left, right) if not (isinstance(side, ast.Constant) and side.value is None)]
        if len(sides) != 1:
            raise self.fault("only `| None` is a union here", "write `json_schema: {anyOf: [{…}, {…}]}`")
        return Optional[self.annotation(sides[0])]  # noqa: UP045 - the annotation is a value, not a type

    def default(self, node: ast.expr) -> Any:
        try:
            return ast.literal_eval(node)
        except ValueError:
            word = self.text.rpartition("=")[2].strip()
            return {"true": True, "false": False, "null": None}.get(word, word)


def known(node: ast.expr) -> bool:
    return isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in ("list", "dict")


def hint(text: str) -> str:
    """The nearest right word to the one a wrong type begins with."""
    word = re.split(r"\W", text, maxsplit=1)[0]
    close = nearest(word, [*LEAVES, "list", "dict", "Literal", "Annotated"]) if word else None
    return f"did you mean `{close}`?" if close else "types: str int float bool date list[…] dict[str, …] Literal[…]"


def shown(expr: Any) -> str:
    """The expression on one line, as it would be written."""
    if isinstance(expr, Mapping):
        return "{" + ", ".join(f"{key}: {shown(part)}" for key, part in expr.items()) + "}"
    if isinstance(expr, list):
        return "[" + ", ".join(map(shown, expr)) + "]"
    return " ".join(expr.split()) if isinstance(expr, str) else json.dumps(expr)
