"""The schema of a function's arguments: what a model is told, and what is checked on every call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from pydantic.json_schema import CoreModeRef, CoreRef, DefsRef, GenerateJsonSchema
from pydantic_core import PydanticSerializationError, to_jsonable_python

from loopworth.runs.journal import encode
from loopworth.tools.arguments import ArgumentFault, parse
from loopworth.tools.fault import ToolFault
from loopworth.tools.mismatch import mismatches
from loopworth.tools.module_name import public
from loopworth.tools.signature import NONE, Parameter, title
from loopworth.tools.tool import Accepted
from loopworth.tools.unseen import unseen

STRICT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class Definitions(GenerateJsonSchema):
    """Names two classes of one name by their modules, as the author calls these: a request is the same wherever the
    files stand, and whatever else is in them."""

    def get_defs_ref(self, core_mode_ref: CoreModeRef) -> DefsRef:
        ref, mode = core_mode_ref
        return super().get_defs_ref((CoreRef(public(ref)), mode))


class Schema:
    """The arguments that a model gives, compiled once. `bound` are added to what the function gets."""

    def __init__(
        self,
        function: Callable[..., Any],
        taken: list[Parameter],
        descriptions: Mapping[str, str],
        bound: Mapping[str, Any],
    ) -> None:
        self.names, self.bound = tuple(each.name for each in taken), dict(bound)
        fields = {f"a{k}": checked(function, each, descriptions.get(each.name)) for k, each in enumerate(taken)}
        self.pairs = tuple(zip(self.names, fields, strict=True))
        model, self.parameters = modelled(function, taken, fields)
        self._validate = model.__pydantic_validator__.validate_json
        self._dump = model.__pydantic_serializer__.to_python
        self._extra: Literal["forbid"] | None = None if opened(self.parameters) else "forbid"

    def accept(self, arguments: dict[str, Any]) -> Accepted:
        """Strictly: a text is no number, a truth value no integer. The canonical arguments are what the function will
        see, read back as JSON, so that an allow-list or a gate judges nothing else."""
        try:
            made = self._validate(encode(arguments), strict=True, extra=self._extra)
        except ValidationError as error:
            why = mismatches(error.errors(include_url=False), arguments, self.names)
            raise ArgumentFault(why) from None
        values = made.__dict__
        kwargs = {name: values[field] for name, field in self.pairs}
        return Accepted(self._dump(made, mode="json", by_alias=True, warnings=False), kwargs | self.bound)


def modelled(
    function: Callable[..., Any], taken: list[Parameter], fields: Mapping[str, Any]
) -> tuple[type[BaseModel], dict[str, Any]]:
    """The pydantic model and its JSON schema. A hint that JSON cannot carry is the author's fault, by parameter."""
    try:
        model = create_model("Arguments", __config__=STRICT, **fields)
        return model, untitled(model.model_json_schema(schema_generator=Definitions))
    except (PydanticUserError, NameError) as error:
        for each, field in zip(taken, fields.values(), strict=True) if len(taken) > 1 else ():
            modelled(function, [each], {"a0": field})
        name, hint = taken[0].name, getattr(taken[0].hint, "__qualname__", taken[0].hint)
        what = f"argument {name!r} of {title(function)} has the type {hint}, which JSON cannot carry"
        raise ToolFault(what, advice(error), name=name) from None


def advice(error: Exception) -> str:
    """pydantic's own advice where it is one; else what always works."""
    said = str(error).splitlines()[0]
    return said if said.startswith("Please use") else "bind it under `with:`, or use a plain type"


def checked(function: Callable[..., Any], taken: Parameter, description: str | None) -> tuple[Any, Any]:
    """A parameter as a field of the model. Its own name is an alias, because a model has names of its own."""
    if taken.hint is NONE:
        what = f"argument {taken.name!r} of {title(function)} has no type hint"
        raise ToolFault(what, f"write {taken.name}: str, or bind it under `with:`", name=taken.name)
    hint, default, said = taken.hint, taken.default, {}
    if (part := next(unseen(hint), None)) is not None:
        what = f"argument {taken.name!r} of {title(function)} holds {part}, which no gate and no allow-list would see"
        raise ToolFault(what, "use a plain field, or bind the argument under `with:`", name=taken.name)
    if (own := annotation(hint)) is not None:
        description = own
    if isinstance(default, FieldInfo):
        hint, default = Annotated[hint, default], NONE
    elif default is not NONE:
        plain_default(function, taken)
        said["default"] = default
    if description:
        said["description"] = description
    return hint, Field(alias=taken.name, **said)


def annotation(hint: Any) -> str | None:
    """The description in `Annotated[float, "the price of one piece"]`; "" where a `Field` in it has its own."""
    extras = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    if any(isinstance(extra, FieldInfo) and extra.description for extra in extras):
        return ""
    return next((extra for extra in extras if isinstance(extra, str)), None)


def plain_default(function: Callable[..., Any], taken: Parameter) -> None:
    """A default is an argument like any other: gates and allow-lists see it, so it must be plain data."""
    try:
        parse({taken.name: to_jsonable_python(taken.default)})
    except (PydanticSerializationError, ArgumentFault):
        what = (
            f"argument {taken.name!r} of {title(function)} has the default {taken.default!r}, which JSON cannot carry"
        )
        raise ToolFault(what, "bind it under `with:`, or use a plain default", name=taken.name) from None


VALUES = ("default", "const", "enum", "examples")
"""The words of a schema whose parts are data."""


def untitled(schema: Any, names: bool = False) -> Any:
    """The schema without the titles that pydantic makes up; `names`: its keys are names, not words of the schema."""
    if isinstance(schema, list):
        return [untitled(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    parts = schema.items() if names else [(word, part) for word, part in schema.items() if word != "title"]
    return {
        word: part if word in VALUES and not names else untitled(part, not names and word in ("properties", "$defs"))
        for word, part in parts
    }


def opened(schema: Any) -> bool:
    """Whether some object in the schema takes keys that it does not name."""
    if isinstance(schema, dict):
        return schema.get("additionalProperties") is True or any(map(opened, schema.values()))
    return isinstance(schema, list) and any(map(opened, schema))
