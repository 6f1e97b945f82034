"""What fills the forms: it walks a document beside them, so that one mistake is one fault at its own line and column, a
misspelt key is taken for the nearest right one, and the rest is still read."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

from pydantic import TypeAdapter, ValidationError

from loopworth.runs.spelling import nearest
from loopworth.workflows.document import BROKEN, Document, Place, leaves, plain, spelled
from loopworth.workflows.faults import Fault, suggestion
from loopworth.workflows.form import (
    Form,
    Kind,
    Spoken,
    Spotted,
    ToldElsewhere,
    Unfit,
    Unset,
    Words,
    alone,
    foreign,
    home_of,
    members,
    metadata,
    names_of,
    unwrapped,
    usable,
)
from loopworth.workflows.vocabulary import meant

F = TypeVar("F", bound=Form)
MISSING = object()
YES, NO = ("true", "yes", "on"), ("false", "no", "off")
"""Texts that say what `true` and `false` do."""
LEFT_OUT = ", or leave the key out"
"""What may be done with a key that nothing stands under, unless it has to be there."""


@dataclass
class Builder:
    """Fills forms from one document, collecting faults; what is faulty is left at its default."""

    document: Document
    faults: list[Fault] = field(default_factory=list)

    def fault(self, path: Place, what: str, instead: str = "", key: bool = False) -> Any:
        self.faults.append(self.document.fault(path, what, instead, key))
        return MISSING

    def form(self, form: type[F], value: Any, path: Place = ()) -> F:
        """`value`, a mapping that stands at `path`, as a form."""
        names = names_of(form)
        spots, values, broken = {}, {}, set()
        for key, (raw, written) in self.keys(form, value, path).items():
            spots[key] = Spotted(self.document, (*path, written))
            built = self.value(form.model_fields[names[key]], raw, (*path, written))
            if built is MISSING:
                broken.add(key)
            else:
                values[names[key]] = built
        self.required(form, spots, path)
        blanks = {name: blank(info.annotation) for name, info in form.model_fields.items() if info.is_required()}
        made = form.model_construct(**{**blanks, **values})
        made._spot, made._spots, made._broken = Spotted(self.document, path), spots, broken
        self.faults += made.rules()
        return made

    def keys(self, form: type[Form], value: Mapping[str, Any], path: Place) -> dict[str, tuple[Any, str]]:
        """key → (value, key as written); an unknown key is a fault, and stands for the nearest one that is absent."""
        names = names_of(form)
        known = {key: (part, key) for key, part in value.items() if key in names}
        for key in value:
            if key in names:
                continue
            place, advice = self.meant(form, key, value, known)
            self.fault((*path, key), f"unknown key {key!r} {form.title}", advice, key=True)
            if place:
                known[place[0]] = ({place[1]: value[key]} if len(place) > 1 else value[key], key)
        return known

    def meant(
        self, form: type[Form], key: str, value: Mapping[str, Any], known: Collection[str]
    ) -> tuple[tuple[str, ...], str]:
        """The absent key that an unknown one stands for (or one below it), if any, and what to write instead of it."""
        if key in form.misplaced:
            return (), form.misplaced[key]
        free = [name for name in usable(form) if name not in known]
        for place in foreign(key, form):
            if len(place) > 1:
                return place if place[0] in free and alone(place, form) else (), nested(
                    place, value[key], place[0] in free
                )
            if place[0] in free:
                return place, f"did you mean {place[0]!r}?"
        if near := nearest(key, free):
            return (near,), f"did you mean {near!r}?"
        return (), home_of(key) or suggestion(key, usable(form), "keys")

    def required(self, form: type[Form], given: Mapping[str, Any], path: Place) -> None:
        for name, info in form.model_fields.items():
            key = info.alias or name
            if info.is_required() and key not in given and not any(isinstance(m, ToldElsewhere) for m in info.metadata):
                self.fault(path, f"{key!r} is missing {form.title}", (info.description or ""), key=True)

    def value(self, info: Any, raw: Any, path: Place) -> Any:
        """One field's value, or MISSING with a fault."""
        annotation = Annotated[(info.annotation, *info.metadata)] if info.metadata else info.annotation
        return self.typed(annotation, raw, path, "" if info.is_required() else left_out(info))

    def typed(self, annotation: Any, raw: Any, path: Place, spare: str = "") -> Any:
        """`raw` as a value of `annotation`; `spare` is what may be done instead of giving one."""
        if raw is BROKEN:
            return MISSING
        if blanks := [place for option in members(annotation) for place in silent(option, raw, path)]:
            self.faults += [self.silence(annotation, place, spare) for place in blanks]
            return MISSING
        meta = metadata(annotation)
        for mark in meta:
            if isinstance(mark, Kind):
                return self.marked(mark, annotation, raw, path)
        options = list(members(annotation))
        if len(options) == 1 and options[0] is not annotation:
            return self.typed(options[0], raw, path, spare)
        if raw is None:
            return self.fault(path, f"{named(path)} has no value", f"write {wanted(annotation)}{spare}", key=True)
        chosen = [option for option in options if fits(option, raw)]
        words = [option for option in chosen if get_origin(unwrapped(option)) is Literal]
        near = any(meant(str(raw), map(str, get_args(option))) for option in words)
        if not chosen or (words == chosen != options and spelled(raw) not in get_args(words[0]) and not near):
            advice = next((one.instead for one in map(unwrapped, options) if hasattr(one, "instead")), "")
            advice = advice or meant_by(options, raw) or reshaped(options, raw)
            return self.fault(path, f"{named(path)} must be {wanted(annotation)}, and this is {said(raw)}", advice)
        if isinstance(raw, dict):
            return self.mapping(chosen[0], raw, path)
        if isinstance(raw, list):
            return self.listing(chosen[0], raw, path, meta)
        return self.leaf(chosen, annotation if len(options) == 1 else None, raw, path)

    def marked(self, mark: Kind, annotation: Any, raw: Any, path: Place) -> Any:
        """A text of the author's that is read later: any value for a template or a type, else a text."""
        value = raw if mark.name in ("template", "type", "arguments") else spelled(raw)
        if mark.name == "arguments" and not isinstance(raw, dict):
            what = f"{named(path)} must be {wanted(annotation)}, and this is {said(raw)}"
            return self.fault(path, what, "write `name: value` in it")
        if mark.name in ("expression", "prose", "prompt") and not isinstance(value, str):
            return self.fault(path, f"{named(path)} must be a text, and this is {said(raw)}")
        self.prose(raw, path)
        return value

    def silence(self, annotation: Any, path: Place, spare: str) -> Fault:
        """The fault of a text that is to be read, and says nothing."""
        what = f"{named(path)} must be {wanted(annotation)}, and this is blank"
        return self.document.fault(path, what, f"write one{spare}")

    def prose(self, raw: Any, path: Place) -> None:
        """Reports each unquoted text below that ` #` cuts short."""
        if isinstance(raw, dict):
            for key, part in raw.items():
                self.prose(part, (*path, key))
        elif isinstance(raw, list):
            for index, part in enumerate(raw):
                self.prose(part, (*path, index))
        elif isinstance(raw, str) and self.document.cut(path):
            self.fault(path, "the text ends at #", "put it in quotes")

    def mapping(self, option: Any, raw: dict[str, Any], path: Place) -> Any:
        bare = unwrapped(option)
        if isinstance(bare, type) and issubclass(bare, Form):
            return self.form(bare, raw, path)
        if bare is Any or not get_args(bare):
            return raw
        key_type, value_type = get_args(bare)
        made = {}
        for key, part in raw.items():
            self.leaf([key_type], key_type, key, (*path, key), key=True)
            built = self.typed(value_type, part, (*path, key), LEFT_OUT)
            if built is not MISSING:
                made[key] = built
        return made

    def listing(self, option: Any, raw: list[Any], path: Place, meta: tuple[Any, ...]) -> Any:
        bare = unwrapped(option)
        if bare is Any or not get_args(bare):
            return raw
        if not raw and any(getattr(mark, "min_length", 0) for mark in limits((*meta, *metadata(option)))):
            return self.fault(path, f"{named(path)} is empty")
        built = [self.typed(get_args(bare)[0], part, (*path, index)) for index, part in enumerate(raw)]
        sound = [part for part in built if part is not MISSING]
        return sound if sound or not raw else MISSING

    def leaf(self, chosen: list[Any], annotation: Any, raw: Any, path: Place, key: bool = False) -> Any:
        """A scalar, validated by pydantic; words are compared first, so that a misspelt one gets its nearest."""
        words = [word for option in chosen if get_origin(unwrapped(option)) is Literal for word in get_args(option)]
        text = spelled(raw)
        if words and text in words:
            return text
        others = [option for option in chosen if get_origin(unwrapped(option)) is not Literal]
        if not others:
            return self.fault(
                path,
                f"{named(path)} cannot be {text!r}",
                suggestion(str(text), map(str, words), "it is one of", meant(str(text), words)),
                key=key,
            )
        option = annotation if annotation is not None else others[0]
        if any(isinstance(mark, Kind) for mark in metadata(option)):
            self.prose(raw, path)
        try:
            return adapter(option).validate_python(text if takes_text(option) else plain(raw), strict=True)
        except ValidationError as error:
            what, instead = told(error.errors(include_url=False)[0], raw, path, option)
            if words and isinstance(raw, str) and (word := meant(raw, words)):
                instead = f"did you mean {word!r}?"
            return self.fault(path, what, instead, key=key)


def limits(marks: Iterable[Any]) -> Iterator[Any]:
    """The marks of a field, and what pydantic's own among them hold."""
    for mark in marks:
        yield from (mark, *getattr(mark, "metadata", ()))


def left_out(info: Any) -> str:
    """What may be done instead of giving a key a value, and what holds then."""
    return LEFT_OUT + "".join(f" (then: {mark.text})" for mark in info.metadata if isinstance(mark, Unset))


def nested(place: tuple[str, ...], value: Any, free: bool) -> str:
    """How to write a value at a place below a key, which may be there already."""
    part = f"{place[1]}: {spelled(value) if isinstance(value, str | int | float) else '…'}"
    return f"write `{place[0]}: {{{part}}}`" if free else f"write `{part}` under `{place[0]}`"


def silent(option: Any, raw: Any, path: Place) -> Iterator[Place]:
    """Where a value of an option that is to be read says nothing; of one that may be more than a text, also below."""
    if any(isinstance(mark, Spoken) for mark in metadata(option)):
        several = isinstance(raw, list | dict) and unwrapped(option) is Any
        yield from (
            place for place, text in leaves(raw, path) if several and isinstance(text, str) and not text.strip()
        )
        if (isinstance(raw, str) and not raw.strip()) or (unwrapped(option) is Any and raw in (None, [], {})):
            yield path


def blank(annotation: Any) -> Any:
    """What stands in a spec for a required value that is missing or faulty."""
    return {list: [], dict: {}}.get(get_origin(unwrapped(annotation)))


@cache
def adapter(annotation: Any) -> TypeAdapter[Any]:
    return TypeAdapter(annotation)


def takes_text(option: Any) -> bool:
    return unwrapped(option) is str or any(isinstance(mark, Words) and mark.spelled for mark in metadata(option))


def fits(option: Any, raw: Any) -> bool:
    """Whether a value of this kind may be one of `option`."""
    bare = unwrapped(option)
    if bare is Any:
        return True
    if isinstance(raw, dict):
        return get_origin(bare) is dict or bare is dict or (isinstance(bare, type) and issubclass(bare, Form))
    if isinstance(raw, list):
        return get_origin(bare) is list or bare is list
    if isinstance(bare, type) and issubclass(bare, Form):
        return False
    if get_origin(bare) in (dict, list) or bare in (dict, list):
        return False
    if isinstance(raw, bool | int | float) and get_origin(bare) is Literal:
        return spelled(raw) in get_args(bare)
    if isinstance(raw, bool):
        return bare is bool or takes_text(option)
    if isinstance(raw, int | float):
        return bare in (int, float) or takes_text(option)
    return bare not in (int, float, bool) or takes_text(option)


def meant_by(options: Sequence[Any], raw: Any) -> str:
    """What a value alone is most likely meant for: the one word for `true`, or the first key of a mapping that needs no
    other."""
    bare = list(map(unwrapped, options))
    words = [word for one in bare if get_origin(one) is Literal for word in get_args(one)]
    if raw is True and len(words) == 1 and int not in bare:  # beside a number the word says that there is none
        return f"write {words[0]}"
    for form in bare:
        if words or isinstance(raw, dict | list) or not (isinstance(form, type) and issubclass(form, Form)):
            continue
        (name, first), *others = form.model_fields.items()
        takes = any(fits(option, raw) for option in members(first.annotation))
        if takes and not any(info.is_required() for _, info in others):
            return f"write {{{first.alias or name}: {spelled(raw)}}}"
    return ""


def reshaped(options: Sequence[Any], raw: Any) -> str:
    """How a value of another kind is written as one of the options: as a number, in a list, or under a name."""
    bare = list(map(unwrapped, options))
    if isinstance(raw, str) and bool in bare and (word := raw.strip().lower()) in YES + NO:
        return f"write {'true' if word in YES else 'false'}"
    number = number_in(raw) if isinstance(raw, str) else None
    if number is not None and (float in bare or (int in bare and number.isdigit())):
        return f"write {number}"
    for kind in bare:
        parts = get_args(kind)
        if get_origin(kind) is list and not isinstance(raw, dict | list) and fits(parts[0], raw):
            return f"write [{spelled(raw)}]"
        if get_origin(kind) is list:
            return "begin each with `- `"
        if get_origin(kind) is dict and isinstance(raw, list):
            return "write `name: …` for each, without the `- `"
        if get_origin(kind) is dict:
            return f"write {{<name>: {spelled(raw) if fits(parts[1], raw) else '…'}}}"
    return ""


def number_in(text: str) -> str | None:
    """The number that a text spells in another way, as it is written here: `10%`, `"3"`, `.5`, `$5`, `1,000`."""
    bare = text.strip().removeprefix("$").replace("_", "")
    bare = re.sub(r"(?<=\d),(?=\d{3}\b)", "", bare)
    if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)\s*%?", bare):
        return None
    number = Decimal(bare.rstrip("% "))
    return f"{number.scaleb(-2) if bare.endswith('%') else number:f}"


def wanted(annotation: Any) -> str:
    """What a field takes, in words."""
    for mark in metadata(annotation):
        if isinstance(mark, Words):
            return mark.text
    parts = [words_for(option) for option in members(annotation)]
    return ", or ".join(dict.fromkeys(parts))


def words_for(option: Any) -> str:
    for mark in metadata(option):
        if isinstance(mark, Words):
            return mark.text
    bare = unwrapped(option)
    if get_origin(bare) is Literal:
        return " | ".join(map(str, get_args(bare)))
    if isinstance(bare, type) and issubclass(bare, Form):
        keys = list(names_of(bare))
        return "{" + ", ".join(f"{key}: …" for key in keys[:3]) + (", …}" if len(keys) > 3 else "}")
    return {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}.get(
        bare, "a list" if get_origin(bare) is list else "a mapping"
    )


def said(raw: Any) -> str:
    """A value as a message shows it."""
    if isinstance(raw, dict):
        return "a mapping"
    if isinstance(raw, list):
        return "a list"
    return "nothing" if raw is None else f"the text {raw!r}" if isinstance(raw, str) else str(spelled(raw))


def named(path: Place) -> str:
    """The field a path ends in, as messages name it."""
    for part in reversed(path):
        if isinstance(part, str):
            return f"`{part}`" if part is path[-1] else f"each of `{part}`"
    return "the file"


LIMITS = {
    "greater_than": ("more than", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than": ("less than", "lt"),
    "less_than_equal": ("at most", "le"),
}


def told(error: Mapping[str, Any], raw: Any, path: Place, option: Any) -> tuple[str, str]:
    """One of pydantic's errors in our words: what is wrong, what to write."""
    if error["type"] == "value_error":
        why: Unfit = error["ctx"]["error"]
        return str(why), why.instead
    if limit := LIMITS.get(error["type"]):
        return f"{named(path)} must be {limit[0]} {error['ctx'][limit[1]]:g}, and this is {said(raw)}", ""
    return f"{named(path)} must be {wanted(option)}, and this is {said(raw)}", ""
