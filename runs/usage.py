"""What a model call used, in tokens and money."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec


class Value(msgspec.Struct, frozen=True, omit_defaults=True):
    """The root of loopworth's frozen values: cheap to make, compared by content, encoded as plain JSON objects."""


def both(a: Any, b: Any) -> Any:
    """`a + b`, where None means unknown: unknown plus anything is unknown."""
    return None if a is None or b is None else a + b


class Usage(Value, frozen=True):
    """Tokens and US dollars of one model call, or of several added up.

    `None` is *unknown*, never 0, and a sum with an unknown part is unknown. `cached` (read from the provider's cache)
    and `cache_written` are part of `input`, and `reasoning` is part of `output`; none is added again. `usd` is 0.0 only
    where nothing is billed (an embedded or a scripted model). `estimated` marks a call that was cut before it said what
    it used: the figures are then what was held for it, an upper bound.
    """

    input: int | None = 0
    output: int | None = 0
    cached: int = 0
    reasoning: int = 0
    usd: float | None = 0.0
    estimated: bool = False
    cache_written: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            both(self.input, other.input),
            both(self.output, other.output),
            self.cached + other.cached,
            self.reasoning + other.reasoning,
            both(self.usd, other.usd),
            self.estimated or other.estimated,
            self.cache_written + other.cache_written,
        )

    @property
    def tokens(self) -> int | None:
        """Input and output together; None where either is unknown."""
        return None if self.input is None or self.output is None else self.input + self.output

    @property
    def counted(self) -> int:
        """The tokens that are known."""
        return (self.input or 0) + (self.output or 0)


class Quote(Value, frozen=True):
    """What a model call may come to, before it is made: estimated tokens of input, US dollars for them, and for each
    token of output; at most, as far as anybody can say."""

    input: int = 0
    usd: float = 0.0
    each: float = 0.0


Metered: TypeAlias = Literal["token_limit", "cost_limit", "time_limit"]
"""The exit reasons of limits that can cut a reply."""


class Hold(Value, frozen=True):
    """What a budget holds for a model call until it says what it used. `output` is the most it may write.

    Where a limit left it less than it wanted, or cut it, `limit` is the exit reason of that limit, and `owner` the
    budget's path.
    """

    input: int = 0
    output: int = 0
    usd: float = 0.0
    limit: Metered | None = None
    owner: str = ""

    @property
    def tokens(self) -> int:
        return self.input + self.output
