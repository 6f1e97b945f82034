"""What tokens cost. Unknown is None, never 0."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any

from loopworth.models.spec import ModelSpec, Price
from loopworth.runs.usage import Usage

Rate = Callable[[int, int, int], float]
"""US dollars for (input, cached, output) tokens."""
FREE = ("local", "scripted")
MILLION = 1_000_000


def usd(spec: ModelSpec, usage: Usage) -> float | None:
    """US dollars of one call; None where the price or a count is unknown. Embedded and scripted models cost 0."""
    if spec.provider in FREE:
        return 0.0
    if usage.input is None or usage.output is None:
        return None
    found = rate(spec.price, spec.traits.prices, spec.model, spec.base_url)
    return None if found is None else found(usage.input, min(usage.cached, usage.input), usage.output)


def known(spec: ModelSpec) -> bool:
    """Whether there is a price: a limit in dollars over an unknown one is a fault."""
    return spec.provider in FREE or rate(spec.price, spec.traits.prices, spec.model, spec.base_url) is not None


@lru_cache(maxsize=256)
def rate(price: Price | None, provider: str | None, model: str, base_url: str | None) -> Rate | None:
    """The price named in the file, else the one in genai-prices' table of today."""
    if price is not None:
        return flat(price)
    if provider is None and base_url is None:
        return None
    return listed(provider, model, base_url)


def flat(price: Price) -> Rate:
    reread = price.input if price.cached_input is None else price.cached_input

    def cost(input: int, cached: int, output: int) -> float:
        return ((input - cached) * price.input + cached * reread + output * price.output) / MILLION

    return cost


def listed(provider: str | None, model: str, base_url: str | None) -> Rate | None:
    """A server elsewhere has the price of its address, not that of the provider it imitates."""
    from genai_prices import data_snapshot  # imported before the first price is needed: its table is large

    by_address = base_url is not None and provider != "azure"
    try:
        _, found = data_snapshot.get_snapshot().find_provider_model(
            model, None, None if by_address else provider, base_url if by_address else None
        )
    except LookupError:
        return None
    return tariff(found.get_prices(datetime.now(UTC)))


def tariff(prices: Any) -> Rate | None:
    """A plain tariff is computed here; one with steps by genai-prices, which takes longer."""
    input, output, reread = (getattr(prices, f"{kind}_mtok", None) for kind in ("input", "output", "cache_read"))
    if input is None or output is None:
        return None
    if all(isinstance(part, Decimal | None) for part in (input, output, reread)):
        return flat(Price(float(input), float(output), None if reread is None else float(reread)))

    def cost(input: int, cached: int, output: int) -> float:
        from genai_prices import Usage as Tokens

        tokens = Tokens(input_tokens=input, cache_read_tokens=cached, output_tokens=output)
        return float(prices.calc_price(tokens)["total_price"])

    return cost
