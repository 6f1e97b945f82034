"""What a function would get of a value, and the canonical arguments would not tell: secrets, and fields left out."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, get_args, get_origin, get_type_hints

from pydantic import Secret, SecretBytes, SecretStr
from pydantic.fields import FieldInfo

SECRETS = (Secret, SecretBytes, SecretStr)


def unseen(hint: Any, above: frozenset[Any] = frozenset()) -> Iterator[str]:
    """What a type hint holds of these, in words; `above` are the classes that it stands in."""
    for part in get_args(hint):
        yield from unseen(part, above)
    if left_out(hint):
        yield "a value with `exclude`"
    kind = get_origin(hint) or hint
    if not isinstance(kind, type) or kind in above:
        return
    if issubclass(kind, SECRETS):
        yield f"a {kind.__name__}"
    for name, field in fields(kind).items():
        if left_out(field):
            yield f"the field {name!r} with `exclude`"
        yield from unseen(field.annotation if isinstance(field, FieldInfo) else field, above | {kind})


def left_out(field: Any) -> bool:
    return isinstance(field, FieldInfo) and bool(field.exclude or getattr(field, "exclude_if", None))


def fields(kind: type) -> Mapping[str, Any]:
    """The fields of a class by name: what pydantic knows of them, or the hints of a dataclass, a typed dictionary or a
    named tuple; none of another class, or where a hint leads nowhere, which is another fault."""
    if (known := getattr(kind, "__pydantic_fields__", None)) is not None:
        return dict(known)
    if dataclasses.is_dataclass(kind) or issubclass(kind, dict | tuple):
        with suppress(NameError):
            return get_type_hints(kind, include_extras=True)
    return {}
