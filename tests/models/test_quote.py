"""What a call may come to is known before it is made, as far as anybody can say."""

from __future__ import annotations

import pytest

from loopworth.models.quote import quote
from loopworth.models.spec import ModelSpec, Price
from loopworth.runs.message import Request, user
from loopworth.runs.usage import Quote

ASKED = Request([user("x" * 4000)], tools=({"type": "function", "function": {"name": "look"}},), max_tokens=100)


def test_a_prompt_is_estimated_and_priced_at_most() -> None:
    """Four bytes of JSON a token, tools included; input at the dearest it may be, cached or not."""
    found = quote(ModelSpec("vllm/m", base_url="http://x/v1", price=Price(2.0, 8.0, 0.5)), ASKED)
    assert 1000 < found.input < 1050
    assert found.usd == pytest.approx(found.input * 2 / 1_000_000)
    assert found.each == pytest.approx(8 / 1_000_000)


def test_what_has_no_price_is_still_counted_in_tokens() -> None:
    """Of unknown cost, or not billed: no dollars can be held, tokens can."""
    unknown = quote(ModelSpec("vllm/m", base_url="http://x/v1"), ASKED)
    free = quote(ModelSpec("local/smollm2-135m"), ASKED)
    assert unknown == free == Quote(unknown.input)
    assert unknown.input > quote(ModelSpec("vllm/m", base_url="http://x/v1"), Request(ASKED.messages)).input > 1000


def test_an_image_is_not_as_long_as_its_data() -> None:
    """A limit in tokens must not refuse one for its bytes."""
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{'A' * 90_000}"}}
    assert 1500 < quote(ModelSpec("vllm/m", base_url="http://x/v1"), Request([user([image])])).input < 1600
