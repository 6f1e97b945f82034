"""What tokens cost, by model and date. Unknown is None, never 0."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any, TypeAlias

from loopworth.models.providers import OWN
from loopworth.models.spec import ModelSpec, Price
from loopworth.runs.usage import Usage, Value

Rate: TypeAlias = Callable[[int, int, int, int], float | None]
"""US dollars for tokens of input, those of it read from a cache and written to one, and of output."""
MILLION = 1_000_000
MINUTE = 60
"""Seconds for which a price is taken to hold: some models are cheaper at some hours."""


def usd(spec: ModelSpec, usage: Usage, now: float | None = None) -> float | None:
    """US dollars of one call, made at `now` (seconds since 1970); None where the price or a count is unknown.

    Embedded and scripted models cost 0.
    """
    if spec.provider in OWN:
        return 0.0
    if usage.input is None or usage.output is None:
        return None
    found = rate_of(spec, now)
    return None if found is None else found(*counted(usage.input, usage.cached, usage.cache_written), usage.output)


def counted(input: int, cached: int, written: int) -> tuple[int, int, int]:
    """Input, and the parts of it that were read from a cache and written to one: never more than there is of it."""
    cached = min(cached, input)
    return input, cached, min(written, input - cached)


def most_usd(spec: ModelSpec, input: int, output: int, now: float | None = None) -> float | None:
    """US dollars that a call of so many tokens may cost at most, however its input is cached; None without a price."""
    whole = Usage(input, output)
    ways = (whole, Usage(input, output, cached=input), Usage(input, output, cache_written=input))
    found = [usd(spec, way, now) for way in ways]
    known = [cost for cost in found if cost is not None]
    return max(known) if len(known) == len(found) else None


def known(spec: ModelSpec, now: float | None = None) -> bool:
    """Whether there is a price of input and output: a limit in dollars over an unknown one is a fault."""
    return usd(spec, Usage(1, 1), now) is not None


def rate_of(spec: ModelSpec, now: float | None) -> Rate | None:
    minute = int((time.time() if now is None else now) // MINUTE)
    return rate(spec.price, spec.traits.prices, spec.model, spec.base_url, minute)


@lru_cache(maxsize=256)
def rate(
    price: Price | tuple[Price, ...] | None, provider: str | None, model: str, base_url: str | None, minute: int
) -> Rate | None:
    """The price that the file names, else the one in genai-prices' table, as it was in that minute."""
    when = datetime.fromtimestamp(minute * MINUTE, UTC)
    if price is not None:
        found = dated((price,) if isinstance(price, Price) else price, when.date())
        return None if found is None else Tariff(found.input, found.output, found.cached_input).usd
    if provider is None and base_url is None:
        return None
    return listed(provider, model, base_url, when)


def dated(prices: tuple[Price, ...], day: date) -> Price | None:
    """The price of a day: the last that began by then."""
    begun = [price for price in prices if price.since is None or date.fromisoformat(price.since) <= day]
    return max(begun, key=lambda price: price.since or "", default=None)


class Tariff(Value, frozen=True):
    """US dollars per million tokens. Input that is read from a cache, or written to it, costs as input where no other
    price is known for it; what has no price has an unknown cost."""

    input: float | None
    output: float | None
    cached: float | None = None
    cache_written: float | None = None

    def usd(self, input: int, cached: int, written: int, output: int) -> float | None:
        """Every token counts once: cached and written ones are part of the input, reasoning is part of the output."""
        parts = (
            (input - cached - written, self.input),
            (cached, self.input if self.cached is None else self.cached),
            (written, self.input if self.cache_written is None else self.cache_written),
            (output, self.output),
        )
        if any(tokens and price is None for tokens, price in parts):
            return None
        return sum(tokens * (price or 0.0) for tokens, price in parts) / MILLION


def listed(provider: str | None, model: str, base_url: str | None, when: datetime) -> Rate | None:
    """A server elsewhere has the price of its address, not that of the provider it imitates."""
    from genai_prices import data_snapshot  # imported before the first price is needed: its table is large

    by_address = base_url is not None and provider != "azure"
    try:
        _, found = data_snapshot.get_snapshot().find_provider_model(
            model, None, None if by_address else provider, base_url if by_address else None
        )
    except LookupError:
        return None
    return tariff(found.get_prices(when))


KINDS = ("input", "output", "cache_read", "cache_write")


def tariff(prices: Any) -> Rate | None:
    """A plain tariff is computed here; one with steps, or a fee per call, by genai-prices, which takes longer."""
    parts = [getattr(prices, f"{kind}_mtok", None) for kind in KINDS]
    if parts[0] is None or parts[1] is None:
        return None
    if all(isinstance(part, Decimal | None) for part in parts) and not getattr(prices, "requests_kcount", None):
        return Tariff(*(None if part is None else float(part) for part in parts)).usd

    def cost(input: int, cached: int, written: int, output: int) -> float:
        from genai_prices import Usage as Tokens

        tokens = Tokens(input_tokens=input, cache_read_tokens=cached, cache_write_tokens=written, output_tokens=output)
        return float(prices.calc_price(tokens)["total_price"])

    return cost
