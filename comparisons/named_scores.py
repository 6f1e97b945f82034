"""The scores by name, each made of the options that a file gives it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from loopworth.comparisons.own_score import OwnScore
from loopworth.comparisons.scores import (
    Bounded,
    Contains,
    Date,
    Equals,
    Icontains,
    Json,
    Not,
    Numeric,
    Own,
    Python,
    Regex,
    ScoreFault,
    Scorer,
    Set,
    cause,
)
from loopworth.runs.spelling import nearest
from loopworth.workflows.document import plain
from loopworth.workflows.faults import suggestion
from loopworth.workflows.form import Unfit
from loopworth.workflows.vocabulary import ours

JUDGE = "judge"
"""The score that a model gives; it is no pure function, and `comparisons.judge` makes it."""
KINDS: dict[str, Callable[..., Scorer]] = {
    "equals": Equals,
    "contains": Contains,
    "icontains": Icontains,
    "regex": Regex,
    "number": Numeric,
    "date": Date,
    "set": Set,
    "json": Json,
}
NAMES: tuple[str, ...] = tuple(form + name for form in ("", "not-") for name in (*KINDS, "python"))


def scorer(name: str, options: Mapping[str, Any] | str | None = None, base: Path | None = None) -> Bounded:
    """The score of this name with these options; raises ScoreFault for an unknown name, option or value.

    For `python` a text is the name of the function, whose file may stand in the folder `base`.
    """
    bare = name.removeprefix("not-")
    if name not in NAMES:
        raise ScoreFault(None, f"there is no score {name!r}", other_than(name))
    score: Any
    own: OwnScore | None = None
    if bare == "python":
        score = called(name, options or {}, base)
        own = score.score
    else:
        score = configured(name, KINDS[bare], {} if options is None or isinstance(options, str) else options)
    return Bounded(Not(score) if name.startswith("not-") else score, own)


def other_than(name: str) -> str:
    """What to write in place of a score that there is not: the one that was meant, or which there are."""
    bare, words = name.removeprefix("not-"), (*KINDS, "python", JUDGE)
    known = ours(bare, words)
    near = name.replace(bare, known) if known is not None else nearest(name, (*NAMES, JUDGE))
    instead = suggestion(name, words, "scores", near)
    return instead if near else f"{instead}; `not-…` is the opposite of each but {JUDGE}"


def schemas() -> dict[str, Any]:
    """The JSON Schema of the options of each score, written from what reads them."""
    found = {}
    for name in NAMES:
        kind = KINDS.get(bare := name.removeprefix("not-"), Python)
        _, parts = msgspec.json.schema_components([kind])
        [options] = parts.values()
        keys = {key: several(part) for key, part in options["properties"].items()}
        described = {**options, "properties": keys}
        found[name] = described if bare in KINDS else {"anyOf": [{"type": "string"}, described]}
    return found


def several(part: dict[str, Any]) -> dict[str, Any]:
    """The schema of an option; where it takes several texts, one alone will do (`listed`)."""
    return {"anyOf": [part, {"type": "string"}]} if part.get("type") == "array" else part


def called(name: str, options: Mapping[str, Any] | str, base: Path | None) -> Own:
    """The score that a user's function is."""
    options = {"function": options} if isinstance(options, str) else options
    if "function" not in options:
        raise ScoreFault(None, f"{name!r} needs a function", f'{name}: "module:name", a file beside the YAML')
    made: Python = configured(name, Python, options)
    return made.loaded(base)


def configured(name: str, kind: Callable[..., Any], options: Mapping[str, Any]) -> Any:
    known = getattr(kind, "__struct_fields__", ())
    for option in options:
        if option not in known:
            raise ScoreFault(
                str(option), f"{name!r} has no option {option!r}", suggestion(str(option), known, "options")
            )
    values = {option: listed(kind, option, value) for option, value in plain(dict(options)).items()}
    for option, value in values.items():
        try:
            msgspec.convert({**needed(kind, values), option: value}, kind)
        except msgspec.ValidationError as error:
            hint = get_type_hints(kind)[option]
            choices = get_args(hint) if get_origin(hint) is Literal else ()
            why = error.__cause__
            instead = why.instead if isinstance(why, Unfit) else " or ".join(map(str, choices))
            raise ScoreFault(option, f"{option}: {cause(error)}", instead) from None
    return msgspec.convert(values, kind)


def listed(kind: Callable[..., Any], option: str, value: Any) -> Any:
    """One text where an option takes several is the only one."""
    return [value] if isinstance(value, str) and get_type_hints(kind)[option] == tuple[str, ...] else value


def needed(kind: Callable[..., Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that a score cannot be made without."""
    return {"function": values["function"]} if kind is Python else {}
