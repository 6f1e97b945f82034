"""Scores: whether an answer is the expected one. Each is a pure function and takes bounded time.

`not-…` is the opposite of its score; no answer at all is wrong under both. A truth value is never a number: `true` is
not 1. A text and a value of another type are equal where the text spells the value, as in a CSV file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, ClassVar, Literal, Protocol, get_args, get_type_hints

import msgspec
from pydantic_core import SchemaError, SchemaValidator, core_schema

from loopworth.comparisons.numerals import Notation, Number, number_in
from loopworth.runs.usage import Value
from loopworth.workflows.document import plain
from loopworth.workflows.faults import suggestion

LONGEST = 1_000_000
"""The most characters of an answer or an expected value that are compared; more is wrong, and says so."""
LATER = ("date", "set", "python", "judge")
Care = Literal["exact", "ignore"]


class Score(Value, frozen=True):
    """Whether an answer is right; `note` says why not, or what could not be read."""

    right: bool
    note: str = ""


class ScoreFault(ValueError):
    """A score that cannot be made: `option` is the key at fault, None for the score's name."""

    def __init__(self, option: str | None, what: str, instead: str = "") -> None:
        super().__init__(f"{what}; {instead}" if instead else what)
        self.option, self.what, self.instead = option, what, instead


class Scorer(Protocol):
    """A score with its options."""

    def __call__(self, answer: Any, expected: Any) -> Score: ...

    def unfit(self, expected: Any) -> str | None:
        """Why this expected value could never be met, in words; None where it can."""
        ...


class Option(Value, frozen=True, forbid_unknown_fields=True):
    """The root of the scores: fields are options."""

    def unfit(self, expected: Any) -> str | None:
        return "there is no expected value" if expected is None else None


class Equals(Option, frozen=True):
    """The answer is the expected value. `case: ignore` and `space: ignore` (at the ends, and how much within)."""

    case: Care = "exact"
    space: Care = "exact"

    def __call__(self, answer: Any, expected: Any) -> Score:
        if isinstance(answer, str) and isinstance(expected, str):
            right = self.folded(answer) == self.folded(expected)
        elif isinstance(answer, str) or isinstance(expected, str):
            right = spells(*(answer, expected) if isinstance(answer, str) else (expected, answer))
        else:
            right = same(answer, expected)
        return Score(right, "" if right else f"expected {shown(expected)}, got {shown(answer)}")

    def folded(self, text: str) -> str:
        text = text.casefold() if self.case == "ignore" else text
        return " ".join(text.split()) if self.space == "ignore" else text


class Contains(Option, frozen=True):
    """The expected text stands in the answer; a number not as a part of a longer number: 25 is not in 325."""

    ignoring_case: ClassVar[bool] = False

    def __call__(self, answer: Any, expected: Any) -> Score:
        whole, part = written(answer), written(expected)
        if self.ignoring_case:
            whole, part = whole.casefold(), part.casefold()
        right = part in whole and within(part).search(whole) is not None
        return Score(right, "" if right else f"{shown(expected)} is not in {shown(answer)}")

    def unfit(self, expected: Any) -> str | None:
        return Option.unfit(self, expected) or (None if written(expected) else "an empty text is in every answer")


class Icontains(Contains, frozen=True):
    """The same, whatever the case."""

    ignoring_case: ClassVar[bool] = True


class Regex(Option, frozen=True):
    """The expected value is a pattern that is found somewhere in the answer.

    Patterns run on an engine that takes linear time, so there is no look-around and no back-reference.
    """

    case: Care = "exact"

    def __call__(self, answer: Any, expected: Any) -> Score:
        if fault := self.unfit(expected):
            return Score(False, fault)
        right = found(self.pattern(expected), written(answer))
        return Score(right, "" if right else f"{shown(expected)} is not found in {shown(answer)}")

    def unfit(self, expected: Any) -> str | None:
        if expected is None:
            return Option.unfit(self, expected)
        try:
            searcher(self.pattern(expected))
        except SchemaError as error:
            return f"{shown(expected)} is not a pattern: {cause(error)} (look-around and back-references do not exist)"
        return None

    def pattern(self, expected: Any) -> str:
        return ("(?i)" if self.case == "ignore" else "") + written(expected)


class Json(Option, frozen=True):
    """The answer and the expected value are the same JSON: the order of keys is free, a truth value is not a number.

    A text is read as JSON, also from within one ``` fence.
    """

    def __call__(self, answer: Any, expected: Any) -> Score:
        try:
            found, wanted = parsed(answer), parsed(expected)
        except ValueError as error:
            return Score(False, f"not JSON: {error}")
        right = same(found, wanted)
        return Score(right, "" if right else f"expected {shown(wanted)}, got {shown(found)}")

    def unfit(self, expected: Any) -> str | None:
        try:
            parsed(expected)
        except ValueError as error:
            return f"{shown(expected)} is not JSON: {error}"
        return Option.unfit(self, expected)


class Numeric(Option, frozen=True):
    """The answer is the expected number, or its last line ends in it, within `tolerance`; nothing is worked out.

    `thousands: accept` reads 1,234 and 1 234 as one number, `decimal: comma` reads 1.234,5; `currency: accept` allows
    $1,234. `percent: strict` takes 60 % for 60 % alone, `number` for 60 as well, `fraction` for 0.6 as well.
    """

    tolerance: float = 0.0
    thousands: Literal["accept", "refuse"] = "accept"
    decimal: Literal["point", "comma"] = "point"
    currency: Literal["accept", "refuse"] = "accept"
    percent: Literal["strict", "number", "fraction"] = "strict"

    def __post_init__(self) -> None:
        if not 0 <= self.tolerance < float("inf"):
            raise ValueError("`tolerance` is a number of 0 or more")

    @property
    def notation(self) -> Notation:
        return Notation(self.thousands, self.decimal, self.currency)

    def __call__(self, answer: Any, expected: Any) -> Score:
        wanted, found = number_in(expected, self.notation), number_in(answer, self.notation)
        if wanted is None or found is None:
            return Score(False, f"there is no number in {shown(expected if wanted is None else answer)}")
        right = self.close(found, wanted)
        return Score(right, "" if right else f"expected {shown(expected)}, got {shown(answer)}")

    def close(self, found: Number, wanted: Number) -> bool:
        if self.percent == "strict" and found.percent != wanted.percent:
            return False
        a, b = (
            number.value / (100 if number.percent and self.percent == "fraction" else 1) for number in (found, wanted)
        )
        slack = max(abs(a), abs(b)) / 10**12 if found.rounded or wanted.rounded else 0
        return bool(abs(a - b) <= slack + number_of(self.tolerance))

    def unfit(self, expected: Any) -> str | None:
        if number_in(expected, self.notation) is None:
            return Option.unfit(self, expected) or f"{shown(expected)} is not a number"
        return None


class Not(Value, frozen=True):
    """The opposite of a score: right where it is wrong, but not without an answer or an expected value it can read."""

    score: Scorer

    def __call__(self, answer: Any, expected: Any) -> Score:
        if fault := self.unfit(expected):
            return Score(False, fault)
        found = self.score(answer, expected)
        return Score(not found.right, f"{shown(answer)} is what was not expected" if found.right else "")

    def unfit(self, expected: Any) -> str | None:
        return self.score.unfit(expected)


class Bounded(Value, frozen=True):
    """Any score, for any answer: none is wrong, an endless one is wrong, and nothing is raised."""

    score: Scorer

    def __call__(self, answer: Any, expected: Any) -> Score:
        if answer is None:
            return Score(False, "no answer")
        if expected is None:
            return Score(False, "there is no expected value")
        if any(isinstance(value, str) and len(value) > LONGEST for value in (answer, expected)):
            return Score(False, f"longer than {LONGEST:,} characters")
        try:
            return self.score(answer, expected)
        except RecursionError:
            return Score(False, "nested too deeply to be compared")
        except ValueError as error:
            return Score(False, f"cannot be compared: {cause(error)}")

    def unfit(self, expected: Any) -> str | None:
        try:
            return self.score.unfit(expected)
        except (RecursionError, ValueError):
            return "the expected value is too large or too deep to be compared"


KINDS: dict[str, Callable[..., Scorer]] = {
    "equals": Equals,
    "contains": Contains,
    "icontains": Icontains,
    "regex": Regex,
    "number": Numeric,
    "json": Json,
}
NAMES: tuple[str, ...] = (*KINDS, *(f"not-{name}" for name in KINDS))


def scorer(name: str, options: Mapping[str, Any] | None = None) -> Scorer:
    """The score of this name with these options; raises ScoreFault for an unknown name, option or value."""
    kind = KINDS.get(name.removeprefix("not-"))
    if kind is None:
        if name.removeprefix("not-") in LATER:
            raise ScoreFault(None, f"the score {name!r} is not in this version")
        raise ScoreFault(None, f"there is no score {name!r}", suggestion(name, NAMES, "scores"))
    score = configured(name, kind, options or {})
    return Bounded(Not(score) if name.startswith("not-") else score)


def configured(name: str, kind: Callable[..., Scorer], options: Mapping[str, Any]) -> Scorer:
    known = getattr(kind, "__struct_fields__", ())
    for option in options:
        if option not in known:
            raise ScoreFault(
                str(option), f"{name!r} has no option {option!r}", suggestion(str(option), known, "options")
            )
    values = plain(dict(options))
    for option, value in values.items():
        try:
            msgspec.convert({option: value}, kind)
        except msgspec.ValidationError as error:
            choices = get_args(get_type_hints(kind)[option])
            raise ScoreFault(option, f"{option}: {cause(error)}", " or ".join(map(str, choices))) from None
    made: Scorer = msgspec.convert(values, kind)
    return made


def same(a: Any, b: Any) -> bool:
    """Whether two plain values are equal, where a truth value and a number never are."""
    if isinstance(a, bool) or isinstance(b, bool):
        return isinstance(a, bool) and isinstance(b, bool) and a == b
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


def spells(text: str, value: Any) -> bool:
    """Whether `text` is how JSON would write `value`; a number may be written with more digits than it needs."""
    try:
        return same(json.loads(text.strip(), parse_constant=refused), value)
    except ValueError:
        return False


def parsed(value: Any) -> Any:
    """A text read as JSON; any other value as it is. Raises ValueError."""
    if not isinstance(value, str):
        return value
    fenced = FENCE.fullmatch(value.strip())
    return json.loads(fenced[1] if fenced else value, parse_constant=refused)


FENCE = re.compile(r"```[a-z]*\n(.*)\n\s*```", re.DOTALL)


def refused(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def written(value: Any) -> str:
    """A text as it is, any other value as JSON writes it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def shown(value: Any) -> str:
    """A value as a note shows it: on one line, and not at length."""
    text = " ".join(repr(value[:200]).split()) if isinstance(value, str) else written(value)
    return text if len(text) <= 80 else f"{text[:77]}…"


@lru_cache(maxsize=512)
def within(part: str) -> re.Pattern[str]:
    """Finds `part`, but no digits of it inside a longer number."""
    before = r"(?<![0-9])(?<![0-9][.,])" if part[:1].isdecimal() else ""
    after = r"(?![0-9]|[.,][0-9])" if part[-1:].isdecimal() else ""
    return re.compile(before + re.escape(part) + after)


@lru_cache(maxsize=512)
def searcher(pattern: str) -> SchemaValidator:
    return SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))


def found(pattern: str, text: str) -> bool:
    """Whether the pattern stands somewhere in the text; half surrogate pairs are read as question marks."""
    return searcher(pattern).isinstance_python(text.encode("utf-8", "replace").decode())


def number_of(value: float) -> Any:
    """An option's number, exactly as it was written."""
    exact = number_in(value, Notation())
    return exact.value if exact else 0


def cause(error: Exception) -> str:
    """What a library found wrong, on one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    last = next((line.removeprefix("error:").strip() for line in reversed(lines) if line.startswith("error:")), None)
    return last or (lines[0].split(" - at ")[0] if lines else type(error).__name__)
