"""The JSON Schema of the language, for editors: written from the forms that load the files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic.json_schema import models_json_schema

from loopworth.workflows.form import Form

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema_of(kinds: Iterable[type[Form]]) -> dict[str, Any]:
    """One schema for files of several kinds: a file is one of them, and a key that starts with `x-` is free."""
    forms = list(kinds)
    refs, made = models_json_schema([(form, "validation") for form in forms], by_alias=True)
    definitions = {name: tidy(part) for name, part in made["$defs"].items()}
    names = [refs[form, "validation"]["$ref"] for form in forms]
    for name in names:
        definitions[name.removeprefix("#/$defs/")]["patternProperties"] = {"^x-": {}}
    return {"$schema": DIALECT, "title": "loopworth", "anyOf": [{"$ref": name} for name in names], "$defs": definitions}


def tidy(part: Any) -> Any:
    """A schema without pydantic's titles and without null: a key that has no value is left out, not written as null."""
    if isinstance(part, list):
        return [tidy(each) for each in part]
    if not isinstance(part, dict):
        return part
    kept = {key: tidy(value) for key, value in part.items() if not (key == "title" and isinstance(value, str))}
    options = kept.get("anyOf")
    if isinstance(options, list) and {"type": "null"} in options:
        left = [option for option in options if option != {"type": "null"}]
        rest = {key: value for key, value in kept.items() if key not in ("anyOf", "default")}
        return {**rest, "anyOf": left} if len(left) > 1 else {**rest, **left[0]}
    return kept
