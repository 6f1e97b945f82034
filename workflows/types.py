"""The types of the language as values: one checks plain data, reads a model's text, and shows a model its schema.

Checking is strict: a bool is no int, a text is no number, infinities and nan are no numbers; an int is a float. A date
is the text `YYYY-MM-DD`. What comes out of a check is plain data.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, create_model

from loopworth.runs.message import json_of, unfenced
from loopworth.tools.schema import Definitions
from loopworth.workflows import json_schema

OBJECT = ConfigDict(extra="forbid")


class Type:
    """One type of the language: checks plain data, reads a model's text, and shows a model its schema.

    `code` are the Python files of the pydantic models in it.
    """

    def __init__(self, text: str, annotation: Any, code: frozenset[Path] = frozenset()) -> None:
        self.text, self.annotation, self.code = text, annotation, code

    def __repr__(self) -> str:
        return f"Type({self.text})"

    @cached_property
    def adapter(self) -> TypeAdapter[Any]:
        return TypeAdapter(self.annotation)

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON schema, without titles and with references put in place (unless a model holds itself)."""
        return clean(self.adapter.json_schema(by_alias=True, schema_generator=Definitions))

    @cached_property
    def fields(self) -> dict[str, Type]:
        """The types of an object's fields, by name; none of any other type."""
        if not is_model(self.annotation):
            return {}
        found = {field.alias or name: field for name, field in self.annotation.model_fields.items()}
        return {name: Type(name, annotated(field.annotation, field.metadata)) for name, field in found.items()}

    @cached_property
    def model(self) -> type[BaseModel]:
        """A pydantic model for libraries that want one; a type that is no object stands in its field `answer`."""
        if is_model(self.annotation):
            return self.annotation  # type: ignore[no-any-return]
        return create_model("Answer", __config__=OBJECT, answer=(self.annotation, ...))

    @cached_property
    def asked(self) -> dict[str, Any]:
        """The JSON schema of `model`: always an object."""
        return clean(self.model.model_json_schema(by_alias=True, schema_generator=Definitions))

    def plain(self, instance: BaseModel) -> Any:
        """The plain value inside an instance of `model`."""
        value = instance.model_dump(mode="json", by_alias=True)
        return value if is_model(self.annotation) else value["answer"]

    def check(self, value: Any) -> Any:
        """The value as plain data, with defaults filled in; ValueError with one line that names the field."""
        try:
            return self.adapter.dump_python(self.adapter.validate_python(value), mode="json", by_alias=True)
        except ValidationError as error:
            raise ValueError(said(error)) from None

    def read(self, text: str) -> Any:
        """The value that a model's plain text stands for: the text itself, JSON (fenced or not), or a bare word."""
        if self.schema.get("type") == "string" and self.schema.keys() <= {"type", "description"}:
            return text
        bare = unfenced(text)
        try:
            return self.check(json_of(bare, parse_constant=no_number))
        except ValueError as error:
            try:
                return self.check(bare)
            except ValueError as other:
                raise (other if isinstance(error, json.JSONDecodeError) else error) from None


def no_number(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


def annotated(annotation: Any, metadata: Iterable[Any]) -> Any:
    """An annotation with what pydantic has taken off it."""
    return Annotated[(annotation, *parts)] if (parts := tuple(metadata)) else annotation


def is_model(found: Any) -> bool:
    return isinstance(found, type) and issubclass(found, BaseModel)


def clean(schema: dict[str, Any]) -> dict[str, Any]:
    with contextlib.suppress(ValueError):  # a model that holds itself keeps its references
        schema = json_schema.inlined(schema)
    return untitled(schema)  # type: ignore[no-any-return]


def untitled(schema: Any, names: bool = False) -> Any:
    """The schema without pydantic's titles; `names` says that the keys are names of fields, not keywords."""
    if isinstance(schema, list):
        return [untitled(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {k: v for k, v in schema.items() if names or k != "title" or not isinstance(v, str)}
    return {k: v if k in DATA and not names else untitled(v, not names and k in NAMED) for k, v in kept.items()}


NAMED = ("properties", "$defs")
DATA = ("enum", "const", "default", "examples")

SAID: dict[str, str] = {
    "string_type": "must be a text",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    "list_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "missing": "is missing",
    "extra_forbidden": "is not a field",
}


def said(error: ValidationError) -> str:
    """All that a check found, on one line."""
    return "; ".join(line(e["loc"], SAID.get(e["type"], e["msg"]), e["type"], e["input"]) for e in error.errors())


def line(loc: Iterable[str | int], words: str, kind: str, value: Any) -> str:
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc).lstrip(".")
    got = "" if kind in ("missing", "extra_forbidden", "json_schema") else f", got {short(value)}"
    separator = " " if kind != "json_schema" else ": "
    return f"{place}{separator}{words}{got}" if place else words + got


def short(value: Any) -> str:
    """A value as JSON, cut to a glance."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = f"something that is not plain data ({type(value).__name__})"
    return text if len(text) <= 60 else text[:57] + "…"
