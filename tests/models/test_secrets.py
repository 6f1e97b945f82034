"""What an endpoint says of a request, which holds a key."""

from __future__ import annotations

import asyncio

import pytest
from openai import AsyncOpenAI

from loopworth.models import ModelSpec, open_model
from loopworth.models.opening import given_keys
from loopworth.runs.message import Request, user
from loopworth.runs.outcome import Stop
from tests.endpoint import Answer, FakeEndpoint

KEY = "sk-models-Zx9wErt7"


def refused(monkeypatch: pytest.MonkeyPatch, said: str) -> Stop:
    """How a call ends that is refused in these words."""
    monkeypatch.setenv("MODELS_KEY", KEY)

    async def main(url: str) -> None:
        model = open_model(ModelSpec("vllm/m", base_url=f"{url}?token=in-the-address", api_key="MODELS_KEY"))
        try:
            await model.reply(Request([user("hi")]), None)
        finally:
            await model.close()

    with FakeEndpoint(last=Answer(422, {"error": {"message": said}})) as fake, pytest.raises(Stop) as end:
        asyncio.run(main(fake.base_url))
    return end.value


@pytest.mark.parametrize("before", [0, 587, 592, 597])
def test_words_are_cut_after_keys_are_masked(monkeypatch: pytest.MonkeyPatch, before: int) -> None:
    """A message is cut at 600 characters, and half a key is a hint."""
    end = refused(monkeypatch, "x" * before + KEY)
    shown = repr([end.note, end.attempts])
    assert KEY[:3] not in shown
    assert "***" in shown


def test_a_key_in_an_address_is_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The address stands in every complaint."""
    assert "in-the-address" not in refused(monkeypatch, "no").note


def test_what_a_client_of_ones_own_sends_is_known() -> None:
    """The query, and the headers whose name says that they hold a key."""
    headers = {"x-api-key": "a-header-key", "X-Trace": "not-a-secret"}
    client = AsyncOpenAI(
        api_key="k", base_url="http://h/v1", default_query={"key": "a-query-key"}, default_headers=headers
    )
    assert list(given_keys(client)) == ["a-query-key", "a-header-key"]
