"""Regular expressions over what models write: those of Python, behind a sieve that takes linear time.

Over a text that does not match, `re` may take for ever (`(a+)+b`), and nothing can stop it. So a text goes through an
engine first that cannot, and what that finds no match in is never given to `re`. Where the engine does not read a
pattern as `re` does (look-around, references, and what is named below), `re` stands alone. Only `$` is the engine's, as
in a JSON schema: the end of the text, and no line end before it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic_core import SchemaValidator

READ_OTHERWISE = re.compile(r"&&|--|~~|\\[<>]|\{[^}]*\s|\(\?[a-z-]*x")
"""What means something else to the engine: operations on sets, the ends of a word, blanks in a repetition, and in a set
where blanks do not count elsewhere."""
SET_IN_A_SET = re.compile(r"\[\^?\]?[^\]]*\[")
"""In a pattern without escapes: to Python it is a bracket."""


def compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Raises ValueError for what is no regular expression, in words."""
    try:
        return re.compile(pattern, flags)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(str(error)) from None


def allowing(pattern: str) -> re.Pattern[str]:
    """A pattern of an allow-list: its `\\d`, `\\w`, `\\s` and `(?i)` are those of ASCII, so that no sign of another
    script passes for one, unless it begins with `(?u)`. The sieve knows the others: none passes for `\\W` either.

    Raises ValueError.
    """
    return compiled(pattern, 0 if pattern.startswith("(?u)") else re.ASCII)


def is_whole(pattern: re.Pattern[str], text: str) -> bool:
    """Whether the whole text matches."""
    return possible(rf"\A(?:{pattern.pattern})\z", text) and pattern.fullmatch(text) is not None


def stands_in(pattern: re.Pattern[str], text: str) -> bool:
    """Whether some part of the text matches."""
    return possible(pattern.pattern, text) and pattern.search(text) is not None


def possible(pattern: str, text: str) -> bool:
    """False where no match is in the text, told in linear time; else True."""
    engine = sieve(pattern)
    return engine is None or engine.isinstance_python(text.encode("utf-8", "replace").decode())


@lru_cache(maxsize=512)
def sieve(pattern: str) -> SchemaValidator | None:
    if READ_OTHERWISE.search(pattern) or SET_IN_A_SET.search(re.sub(r"(?s)\\.", "_", pattern)):
        return None
    # Slow to import, and there already where a tool or a type was made.
    from pydantic_core import SchemaError, SchemaValidator, core_schema

    try:
        return SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))
    except SchemaError:
        return None
