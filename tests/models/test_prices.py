"""What a call costs, and when that is unknown."""

from __future__ import annotations

from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

from loopworth.models import ModelSpec, Price
from loopworth.models.prices import known, tariff, usd
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
    assert (rate(10, 0, 10), cost is None) == (0.5, False)
