"""Scores: whether an answer is the expected one. Each is a pure function and takes bounded time.

`not-…` is the opposite of its score; no answer at all is wrong under both. A truth value is never a number: `true` is
not 1. A text and a value of another type are equal where the text spells the value, as in a CSV file. A score of the
user's own that fails, or takes too long, makes its row wrong, and the row's note says so.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Hashable
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol

import msgspec
from pydantic_core import SchemaError, SchemaValidator, core_schema

from loopworth.comparisons.dates import Order, date_in, names_a_day
from loopworth.comparisons.json_paths import Within, counted, frozen, part, steps
from loopworth.comparisons.likeness import parsed, same, shown, spelling, spells, written
from loopworth.comparisons.numerals import Notation, Number, number_in
from loopworth.comparisons.own_score import OwnScore, ScorerFailed
from loopworth.comparisons.wording import Care, Wording
from loopworth.runs.usage import Value
from loopworth.workflows.document import plain
from loopworth.workflows.python_name import PythonNameFault, load
from loopworth.workflows.spec import seconds

LONGEST = 1_000_000
"""The most characters of an answer or an expected value that are compared; more is wrong, and says so."""
FAILED = "the score failed: "
"""How the note of a row begins whose score failed."""


class Score(Value, frozen=True):
    """Whether an answer is right, None where that was to be judged and was not; `note` says why not, or what could not
    be read."""

    right: bool | None
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


class Equals(Wording, Option, frozen=True):
    """The answer is the expected value; `wording` says what two texts may differ in.

    A number that a YAML file spells out (3.10) is, against a text, that spelling.
    """

    def __call__(self, answer: Any, expected: Any) -> Score:
        if isinstance(answer, str) and isinstance(expected, str):
            right = self.folded(answer) == self.folded(expected)
            note = "" if right else self.looser(answer, expected)
        elif isinstance(answer, str) or isinstance(expected, str):
            right, note = spells(*(answer, expected) if isinstance(answer, str) else (expected, answer)), ""
        else:
            right, note = same(answer, expected), ""
        return Score(right, "" if right else f"expected {shown(expected)}, got {shown(answer)}{note}")

    def looser(self, answer: str, expected: str) -> str:
        """The one option under which the answer would be right, where there is one: it may not be seen."""
        for option, value in LOOSER if max(len(answer), len(expected)) < LONGEST_SHOWN else ():
            other = msgspec.structs.replace(self, **{option: value})
            if other.folded(answer) == other.folded(expected):
                return f" (right with {option}: {value})"
        return ""


LOOSER = (("space", "ignore"), ("case", "ignore"), ("unicode", "nfc"), ("punctuation", "end"))
LONGEST_SHOWN = 10_000
"""Up to how many characters a difference in wording is looked for."""


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

    A text is read as JSON, also from within one ``` fence. `at` is the path of the part of the answer that counts;
    `paths` are the only parts of both that are compared. `unordered` frees the order of lists, at every depth; `subset`
    lets objects have more keys than expected, and lists more items where they are unordered.
    """

    at: str = ""
    paths: tuple[str, ...] = ()
    unordered: bool = False
    subset: bool = False

    def __post_init__(self) -> None:
        for path in (*self.paths, *([self.at] if self.at else [])):
            steps(path)

    def __call__(self, answer: Any, expected: Any) -> Score:
        try:
            found, wanted = parsed(answer), parsed(expected)
        except ValueError as error:
            return Score(False, f"not JSON: {error}")
        missing = object()
        found = located(found, self.at, missing) if self.at else found
        if found is missing:
            return Score(False, f"there is nothing at {self.at} in {shown(answer)}")
        for path in self.paths or ("",):
            here, there = (located(value, path, missing) if path else value for value in (found, wanted))
            if here is missing or there is missing or not self.alike(here, there):
                got = "nothing" if here is missing else shown(here)
                return Score(False, f"{path and f'at {path}: '}expected {shown(there)}, got {got}")
        return Score(True)

    def alike(self, found: Any, wanted: Any) -> bool:
        if self.subset:
            return Within(self.unordered).holds(found, wanted)
        return frozen(found, self.unordered) == frozen(wanted, self.unordered)

    def unfit(self, expected: Any) -> str | None:
        try:
            wanted = parsed(expected)
        except ValueError as error:
            return f"{shown(expected)} is not JSON: {error}"
        for path in self.paths if expected is not None else ():
            if located(wanted, path, None) is None:
                return f"{shown(expected)} has nothing at {path}"
        return Option.unfit(self, expected)


def located(value: Any, path: str, otherwise: Any) -> Any:
    """What stands at the path, or `otherwise`."""
    try:
        return part(value, steps(path))
    except LookupError:
        return otherwise


class Set(Wording, Option, frozen=True):
    """The answer has the expected items, in any order; what an item may differ in is said as for `equals`.

    Items are those of a list or of a text that is a JSON list, else what stands between `separators`; a bullet or a
    number before an item, and space around it, do not count. With `duplicates: count` each is there as often.
    """

    separators: tuple[str, ...] = (",", ";", "\n")
    duplicates: Literal["ignore", "count"] = "ignore"

    def __post_init__(self) -> None:
        if not all(self.separators) or not self.separators:
            raise ValueError("`separators` are texts that are not empty")

    def __call__(self, answer: Any, expected: Any) -> Score:
        found, wanted = self.items(answer), self.items(expected)
        if not all(isinstance(item, str) for item in found):
            wanted = plain(wanted)  # a spelling counts against texts alone
        if self.counted(found) == self.counted(wanted):
            return Score(True)
        keys = {self.key(item) for item in found}
        missing = [item for item in wanted if self.key(item) not in keys]
        keys = {self.key(item) for item in wanted}
        extra = [item for item in found if self.key(item) not in keys]
        named = [f"{word} {shown(items)}" for word, items in (("missing", missing), ("too much", extra)) if items]
        return Score(False, "; ".join(named) or "an item is there too often, or not often enough")

    def counted(self, items: list[Any]) -> Hashable:
        keys = [self.key(item) for item in items]
        return counted(keys) if self.duplicates == "count" else frozenset(keys)

    def key(self, item: Any) -> str:
        """What makes two items one: their text, or the way JSON writes what they are."""
        return self.folded(item.strip()) if isinstance(item, str) else spelling(item)

    def items(self, value: Any) -> list[Any]:
        if isinstance(value, str):
            try:
                listed = parsed(value)
            except ValueError:
                listed = None
            if not isinstance(listed, list):
                return [bare for one in self.split(value) if (bare := BULLET.sub("", one).strip())]
            value = listed
        return list(value) if isinstance(value, list | tuple) else [value]

    def split(self, text: str) -> list[str]:
        text = text.replace("\r\n", "\n")
        first, *others = sorted(self.separators, key=len, reverse=True)
        return re.split("|".join(map(re.escape, (first, *others))), text)


BULLET = re.compile(r"^\s*(?:[-*\u2022]|[0-9]{1,3}[.)])\s+")


class Date(Option, frozen=True):
    """The answer is the expected day, however it is written; see `dates.date_in`.

    `order` says how 05/01/2024 is read, which nothing else can tell. `formats` are further forms, as `strptime` takes
    them.
    """

    order: Order = "none"
    formats: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for form in self.formats:
            if not names_a_day(form):
                raise ValueError(f"{form!r} does not name year, month and day; write one such as %d.%m.%Y")

    def __call__(self, answer: Any, expected: Any) -> Score:
        wanted, found = (date_in(value, self.order, self.formats) for value in (expected, answer))
        if wanted is None or found is None:
            return Score(False, f"there is not one date in {shown(expected if wanted is None else answer)}")
        return Score(found == wanted, "" if found == wanted else f"expected {wanted}, got {found}")

    def unfit(self, expected: Any) -> str | None:
        if date_in(expected, self.order, self.formats) is None:
            return Option.unfit(self, expected) or f"{shown(expected)} is not a date"
        return None


class Numeric(Option, frozen=True):
    """The answer is the expected number, or its last line ends in it; nothing is worked out.

    It may be off by `tolerance`, or by the share `relative` of the expected number, whichever is more. `thousands:
    accept` reads 1,234 and 1 234 as one number, `decimal: comma` reads 1.234,5; `currency: accept` allows $1,234.
    `percent: strict` takes 60 % for 60 % alone, `number` for 60 as well, `fraction` for 0.6 as well.
    """

    tolerance: float = 0.0
    relative: float = 0.0
    thousands: Literal["accept", "refuse"] = "accept"
    decimal: Literal["point", "comma"] = "point"
    currency: Literal["accept", "refuse"] = "accept"
    percent: Literal["strict", "number", "fraction"] = "strict"

    def __post_init__(self) -> None:
        for name in ("tolerance", "relative"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise ValueError(f"`{name}` is a number of 0 or more")

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
        return bool(abs(a - b) <= slack + max(number_of(self.tolerance), number_of(self.relative) * abs(b)))

    def unfit(self, expected: Any) -> str | None:
        if number_in(expected, self.notation) is None:
            return Option.unfit(self, expected) or f"{shown(expected)} is not a number"
        return None


class Python(Option, frozen=True):
    """What a function of the user's own says of `(answer, expected)`, within `timeout` for each row."""

    function: str
    timeout: str = "5s"

    def __post_init__(self) -> None:
        seconds(self.timeout)

    def loaded(self, base: Path | None) -> Own:
        """The score; raises ScoreFault where the name leads to no function."""
        try:
            function = load(self.function, base)
        except PythonNameFault as fault:
            raise ScoreFault("function", fault.what, fault.instead) from None
        if not callable(function) or inspect.iscoroutinefunction(function):
            what = f"{self.function!r} is not a function that can be called with an answer and what was expected"
            raise ScoreFault("function", what, "write `def name(answer, expected): …`, not `async`")
        return Own(OwnScore(self.function, base, seconds(self.timeout), function))


class Own(Value, frozen=True):
    """The score that a user's function is; it raises ScorerFailed where that gives none."""

    score: OwnScore

    def __call__(self, answer: Any, expected: Any) -> Score:
        right, note = self.score.judged(answer, plain(expected))
        return Score(right, note or ("" if right else f"expected {shown(expected)}, got {shown(answer)}"))

    def unfit(self, expected: Any) -> str | None:
        return Option().unfit(expected)


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
    """Any score, for any answer: none is wrong, an endless one is wrong, and nothing is raised.

    `own` is the user's function that it calls, which may take its time; None where it calls none.
    """

    score: Scorer
    own: OwnScore | None = None

    def __call__(self, answer: Any, expected: Any) -> Score:
        if answer is None:
            return Score(False, "no answer")
        if expected is None:
            return Score(False, "there is no expected value")
        if any(isinstance(value, str) and len(value) > LONGEST for value in (answer, expected)):
            return Score(False, f"longer than {LONGEST:,} characters")
        try:
            return self.score(answer, expected)
        except ScorerFailed as why:
            return Score(False, f"{FAILED}{why}")
        except RecursionError:
            return Score(False, "nested too deeply to be compared")
        except ValueError as error:
            return Score(False, f"cannot be compared: {cause(error)}")

    def unfit(self, expected: Any) -> str | None:
        try:
            return self.score.unfit(expected)
        except (RecursionError, ValueError):
            return "the expected value is too large or too deep to be compared"


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
