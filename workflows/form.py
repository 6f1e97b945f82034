"""Forms: pydantic models of the YAML's mappings whose parts know their place.

pydantic says what a form holds and writes its JSON schema; `builder` fills it from a document.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler, PrivateAttr

from loopworth.runs.spelling import misspelt
from loopworth.workflows.document import BROKEN, Document, Place
from loopworth.workflows.faults import Fault
from loopworth.workflows.vocabulary import places


@dataclass(frozen=True)
class Kind:
    """What the author's text in a field is; an unquoted one that ` #` cuts short is a fault."""

    name: Literal["template", "expression", "prose", "prompt", "type", "arguments"]


@dataclass(frozen=True)
class Words:
    """How a message names what a field takes; `spelled`: it is read from the text that was written."""

    text: str
    spelled: bool = False


class Unfit(ValueError):
    """A value that a key does not take: what is wrong with it, and what to write instead."""

    def __init__(self, what: str, instead: str = "") -> None:
        super().__init__(what)
        self.instead = instead


@dataclass(frozen=True)
class Spoken:
    """A text that is there to be read: a blank one is a fault, for `check` and for an editor."""

    def __get_pydantic_json_schema__(self, core: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {**handler(core), "pattern": r"\S"}


@dataclass(frozen=True)
class ToldElsewhere:
    """A required key whose absence is told where it is known what to write for it."""


@dataclass(frozen=True)
class Later:
    """A key that the language has and this version does not: it loads, its use is a fault, and nothing suggests it."""


@dataclass(frozen=True)
class Unset:
    """What holds where a key is left out, in words."""

    text: str


@dataclass(frozen=True)
class Spotted:
    """Where one field of a form stands: a document, and the path in it."""

    document: Document
    path: Place

    def below(self, *keys: str | int) -> Spotted:
        return Spotted(self.document, (*self.path, *keys))

    def fault(self, what: str, instead: str = "", key: bool = False) -> Fault:
        return self.document.fault(self.path, what, instead, key)

    def fault_in(self, word: str, what: str, instead: str = "") -> Fault:
        return self.document.fault_in(self.path, word, what, instead)

    @property
    def value(self) -> Any:
        """What was written there; BROKEN where that is nothing."""
        value = self.document.value
        for key in self.path:
            try:
                value = value[key]
            except (LookupError, TypeError):
                return BROKEN
        return value

    @property
    def file(self) -> str:
        """The file that it was written in."""
        return self.document.home(self.path)[0].file

    @property
    def base(self) -> Path:
        """The folder of the file: what paths in it are relative to."""
        return Path(self.file).parent


NOWHERE = Spotted(Document("", None, []), ())


class Form(BaseModel):
    """A mapping of the language. Unknown keys are faults; `at(key)` says where a key's value stands."""

    model_config = ConfigDict(
        extra="forbid",
        populate_by_name=True,
        protected_namespaces=(),
        use_attribute_docstrings=True,
        defer_build=True,  # of a hundred forms a command uses few
    )
    title: ClassVar[str] = "here"
    misplaced: ClassVar[Mapping[str, str]] = {}
    """What to write instead of a key that belongs somewhere else."""
    instead: ClassVar[str] = ""

    _spot: Spotted = PrivateAttr(default=NOWHERE)
    _spots: dict[str, Spotted] = PrivateAttr(default_factory=dict)
    _broken: set[str] = PrivateAttr(default_factory=set)

    def at(self, key: str, *below: str | int) -> Spotted:
        """The place of the value of `key` (as it is written in YAML), or of a part below it; else of the form."""
        spot = self._spots.get(key)
        return self._spot if spot is None else spot.below(*below)

    @property
    def spot(self) -> Spotted:
        return self._spot

    @property
    def given(self) -> frozenset[str]:
        """The keys that the file holds, as they are written in YAML, faulty ones too."""
        return frozenset(self._spots)

    def given_in_order(self) -> list[str]:
        """The same, as they stand in the file."""
        return sorted(self._spots, key=lambda key: self._spots[key].document.where(self._spots[key].path, key=True))

    def sound(self, key: str) -> bool:
        """Whether the value of `key` could be read."""
        return key not in self._broken

    def path(self, key: str, *below: str | int) -> Path:
        """The file that the text at `key` names, relative to the file it stands in."""
        value: Any = self[key]
        for part in below:
            value = value[part]
        return beside(self.at(key).base, str(value))

    def __getitem__(self, key: str) -> Any:
        """The value of a key as it is written in YAML (`if`, `from`)."""
        return getattr(self, names_of(type(self))[key])

    def rules(self) -> Iterator[Fault]:
        """The faults that only several keys together show."""
        return iter(())

    def forms(self) -> Iterator[Form]:
        """This form and every form below it."""
        yield self
        for name in type(self).model_fields:
            yield from below(getattr(self, name, None))


def beside(base: Path, name: str) -> Path:
    """A path written in a file of the folder `base`."""
    return Path(os.path.normpath(base / name))


def below(value: Any) -> Iterator[Form]:
    if isinstance(value, Form):
        yield from value.forms()
    elif isinstance(value, dict):
        for part in value.values():
            yield from below(part)
    elif isinstance(value, list):
        for part in value:
            yield from below(part)


@cache
def names_of(form: type[Form]) -> dict[str, str]:
    """YAML key → Python attribute."""
    return {info.alias or name: name for name, info in form.model_fields.items()}


@cache
def later_keys(form: type[Form]) -> tuple[str, ...]:
    """The keys of a form that this version does not have, as they are written in YAML."""
    marked = ((info.alias or name, info.metadata) for name, info in form.model_fields.items())
    return tuple(key for key, marks in marked if any(isinstance(mark, Later) for mark in marks))


def usable(form: type[Form]) -> list[str]:
    """The keys of a form that this version has."""
    return [key for key in names_of(form) if key not in later_keys(form)]


def foreign(key: str, form: type[Form]) -> list[tuple[str, ...]]:
    """Where in a form that may stand which other tools call `key`, the nearest place first."""
    return sorted((path for path in places(key) if leads(path, form)), key=len)


def leads(path: tuple[str, ...], form: type[Form]) -> bool:
    """Whether a path of keys may stand in a form."""
    if path[0] not in usable(form):
        return False
    return len(path) == 1 or any(leads(path[1:], one) for one in inner(form, path[0]))


def inner(form: type[Form], key: str) -> list[type[Form]]:
    """The forms that the value of a key may be."""
    options = map(unwrapped, members(form.model_fields[names_of(form)[key]].annotation))
    return [one for one in options if isinstance(one, type) and issubclass(one, Form)]


def alone(place: tuple[str, ...], form: type[Form]) -> bool:
    """Whether the form below a key needs no other key than the one that the place ends in."""
    needed = [
        {info.alias or name for name, info in one.model_fields.items() if info.is_required()}
        for one in inner(form, place[0])
    ]
    return any(keys <= {place[1]} for keys in needed)


def home_of(key: str) -> str:
    """Where a key stands that another form has; a misspelt one too, but none that is only like it."""
    homes: dict[str, list[str]] = {}
    for form in set(all_forms(Form)) - unborn():
        for known in usable(form):
            if names_of(form)[known] in form.__annotations__:
                homes.setdefault(known, []).append(form.title)
    if (meant := misspelt(key, homes)) is None:
        return ""
    where = ", ".join(sorted(set(homes[meant]))[:4])
    return f"it stands {where}" if meant == key else f"did you mean {meant!r}? it stands {where}"


def unborn() -> set[Any]:
    """The forms that only keys of a later version hold."""
    return {
        unwrapped(option)
        for form in all_forms(Form)
        for key in later_keys(form)
        for option in members(form.model_fields[names_of(form)[key]].annotation)
    }


def all_forms(form: type[Form]) -> Iterator[type[Form]]:
    for child in form.__subclasses__():
        yield child
        yield from all_forms(child)


def metadata(annotation: Any) -> tuple[Any, ...]:
    return tuple(getattr(annotation, "__metadata__", ()))


def unwrapped(annotation: Any) -> Any:
    """A type without its annotations."""
    return unwrapped(get_args(annotation)[0]) if get_origin(annotation) is Annotated else annotation


def members(annotation: Any) -> Iterator[Any]:
    """The alternatives of a union, without None."""
    if get_origin(unwrapped(annotation)) in (Union, UnionType):
        for option in get_args(unwrapped(annotation)):
            yield from members(option)
    elif annotation is not NoneType:
        yield annotation
