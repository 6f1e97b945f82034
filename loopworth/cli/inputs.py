"""A run's input from the command line: `name=value` pairs, a JSON object, or a file of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from loopworth.cli.status import UserFault
from loopworth.runs.message import json_of


def given(words: Sequence[str], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The input object that the `--input` options spell; a field that `schema` says is a text keeps its text.

    A pair may change a field of an object before it, and no field is named by two pairs.
    """
    found: dict[str, Any] = {}
    named = set[str]()
    for word in words:
        is_whole = word.lstrip().startswith(("{", "@"))
        part = whole(word) if is_whole else pair(word, schema)
        if twice := sorted(named & part.keys()):
            sample = f'for a list write it as JSON: {twice[0]}=\'["a", "b"]\''
            raise UserFault(f"--input {word}: {twice[0]!r} was given before\n    give it once; {sample}")
        named |= set() if is_whole else part.keys()
        found |= part
    return found


def whole(word: str) -> dict[str, Any]:
    """An object, in JSON or in the file named after an `@`."""
    text, where = word, "--input"
    if word.startswith("@"):
        where = word[1:]
        try:
            text = Path(where).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UserFault(f"--input @{where}: {getattr(error, 'strerror', None) or error}") from None
    try:
        value = json_of(text)
    except ValueError as error:
        raise UserFault(f'{where}: this is not JSON: {error}\n    write --input \'{{"name": "value"}}\'') from None
    if not isinstance(value, dict):
        raise UserFault(f"{where}: an input is a JSON object, with one key for each input of the workflow")
    return value


def pair(word: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    name, equals, text = word.partition("=")
    if not equals or not name:
        raise UserFault(f"--input {word}: write name=value, a JSON object, or @file.json")
    return {name: value(text, schema.get("properties", {}).get(name, {}))}


def value(text: str, field: Mapping[str, Any]) -> Any:
    """The value that a text spells for a field: itself where the field takes a text, else JSON where it is some."""
    if takes_text(field):
        return text
    try:
        return json_of(text)
    except ValueError:
        return text


def takes_text(field: Mapping[str, Any]) -> bool:
    """Whether a JSON schema admits a text."""
    kinds = field.get("type", [])
    if kinds == "string" or "string" in kinds:
        return True
    if any(isinstance(choice, str) for choice in (*field.get("enum", ()), field.get("const"))):
        return True
    return any(takes_text(part) for key in ("anyOf", "oneOf") for part in field.get(key, ()))
