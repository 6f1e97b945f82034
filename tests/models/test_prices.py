"""What a call costs, and when that is unknown."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

from loopworth.models import ModelSpec, Price
from loopworth.models.prices import known, most_usd, tariff, usd
from loopworth.runs.usage import Usage

MILLION = 1_000_000


def test_a_price_of_the_file_counts_each_token_once() -> None:
    """CT-06: reasoning is part of the output and cached input part of the input."""
    spec = ModelSpec("vllm/x", price=Price(2.0, 10.0, cached_input=0.5))
    assert usd(spec, Usage(0, 500, reasoning=400)) == pytest.approx(0.005)
    assert usd(spec, Usage(MILLION, 0, cached=400_000)) == pytest.approx(0.6 * 2 + 0.4 * 0.5)


def test_cached_input_without_a_price_costs_as_input() -> None:
    """No price for it is no gift."""
    assert usd(ModelSpec("vllm/x", price=Price(2.0, 10.0)), Usage(MILLION, 0, cached=MILLION)) == 2.0


@pytest.mark.parametrize("usage", [Usage(None, 5), Usage(5, None), Usage(None, None)])
def test_unknown_tokens_have_an_unknown_price(usage: Usage) -> None:
    """Never 0."""
    assert usd(ModelSpec("vllm/x", price=Price(2.0, 10.0)), usage) is None


@pytest.mark.parametrize(
    "spec",
    [
        ModelSpec("openai/no-such-model"),
        ModelSpec("ollama/llama3"),
        ModelSpec("openai/gpt-4o", base_url="http://127.0.0.1:9/v1"),
        ModelSpec("m1", base_url="https://models.example.org/v1"),
    ],
)
def test_a_model_without_a_price_is_unknown(spec: ModelSpec) -> None:
    """CT-02: also a known name at an unknown address, which need not be what it is called."""
    assert usd(spec, Usage(1000, 1000)) is None
    assert not known(spec)


def test_a_listed_model_has_the_price_of_the_table() -> None:
    """The offline table knows the large providers' models."""
    cost = usd(ModelSpec("openai/gpt-4o"), Usage(MILLION, 0))
    assert cost is not None
    assert 0.1 < cost < 100
    assert known(ModelSpec("openai/gpt-4o"))


@pytest.mark.parametrize("name", ["local/smollm2-135m", "scripted"])
def test_what_is_not_billed_costs_nothing(name: str) -> None:
    """Even where the tokens are unknown."""
    assert usd(ModelSpec(name), Usage(None, None)) == 0.0
    assert known(ModelSpec(name))


@pytest.mark.parametrize(("input", "output"), [(None, None), (Decimal(1), None), (None, Decimal(1))])
def test_half_a_price_is_unknown(input: Any, output: Any) -> None:
    """CT-04: an entry without a price is no price."""
    assert tariff(SimpleNamespace(input_mtok=input, output_mtok=output)) is None


def test_a_price_in_steps_is_left_to_the_table() -> None:
    """Some models cost more above a prompt length."""
    cost = usd(ModelSpec("openai/gpt-4o"), Usage(1, 1))
    steps = SimpleNamespace(
        input_mtok=object(), output_mtok=Decimal(1), calc_price=lambda _: {"total_price": Decimal("0.5")}
    )
    rate = tariff(steps)
    assert rate is not None
    assert (rate(10, 0, 0, 10), cost is None) == (0.5, False)


def on(day: str) -> float:
    """Noon of a day, in seconds."""
    return datetime.fromisoformat(f"{day}T12:00:00").replace(tzinfo=UTC).timestamp()


DATED = ModelSpec("vllm/x", price=(Price(output=12.0, since="2026-01-01"), Price(output=9.0, since="2026-06-15")))


@pytest.mark.parametrize(
    ("day", "cost"), [("2025-12-31", None), ("2026-01-01", 12.0), ("2026-06-14", 12.0), ("2026-06-15", 9.0)]
)
def test_a_price_holds_from_its_day_on(day: str, cost: float | None) -> None:
    """CT-08: by the date of the call; before the first it is unknown."""
    assert usd(DATED, Usage(0, MILLION), on(day)) == cost


def test_the_table_has_prices_by_date() -> None:
    """A model that became cheaper costs what it did on the day of the call."""
    before, after = (usd(ModelSpec("openai/o3"), Usage(MILLION, 0), on(day)) for day in ("2025-06-09", "2025-06-10"))
    assert (before, after) == (10.0, 2.0)


def test_the_table_has_prices_by_the_hour() -> None:
    """Some models are cheaper at night, so a day is not enough to know a price."""
    night, day = datetime(2026, 6, 1, 20, tzinfo=UTC), datetime(2026, 6, 1, 12, tzinfo=UTC)
    spec = ModelSpec("deepseek-chat", base_url="https://api.deepseek.com")
    assert usd(spec, Usage(MILLION, 0), night.timestamp()) != usd(spec, Usage(MILLION, 0), day.timestamp())


def test_what_has_no_price_is_unknown_only_where_it_is_used() -> None:
    """An entry may name the price of output alone: input is then unknown, unless there was none."""
    spec = ModelSpec("vllm/x", price=Price(output=10.0))
    assert (usd(spec, Usage(0, 500)), usd(spec, Usage(1, 500)), known(spec)) == (0.005, None, False)


def test_input_written_to_a_cache_has_its_own_price() -> None:
    """Anthropic bills it above plain input, and it is counted once."""
    spec = ModelSpec("anthropic/claude-opus-4-5")
    plain, written, read = (
        usd(spec, Usage(MILLION, 0, **kind)) or 0.0 for kind in ({}, {"cache_written": MILLION}, {"cached": MILLION})
    )
    assert (written / plain, read / plain) == (pytest.approx(1.25), pytest.approx(0.1))


@pytest.mark.parametrize("name", ["anthropic/claude-opus-4-5", "openai/gpt-4o", "anthropic/claude-sonnet-4-5"])
@pytest.mark.parametrize("cached", [0, 300, 1000])
@pytest.mark.parametrize("written", [0, 500])
def test_no_call_costs_more_than_it_may(name: str, cached: int, written: int) -> None:
    """What a budget holds for a call is an upper limit, however its input is cached."""
    spec, used = ModelSpec(name), Usage(1000, 40, cached=cached, cache_written=written)
    assert (usd(spec, used) or 0.0) <= (most_usd(spec, 1000, 40) or 0.0)


@pytest.mark.parametrize(("spec", "most"), [(ModelSpec("local/smollm2-135m"), 0.0), (ModelSpec("ollama/llama3"), None)])
def test_the_most_is_unknown_without_a_price(spec: ModelSpec, most: float | None) -> None:
    """And nothing where nothing is billed."""
    assert most_usd(spec, 1000, 1000) == most


def test_a_fee_per_call_is_part_of_the_cost() -> None:
    """Some providers bill the request beside its tokens."""
    spec = ModelSpec("sonar", base_url="https://api.perplexity.ai")
    assert usd(spec, Usage(MILLION, MILLION)) == pytest.approx(2.0 + 0.012)
