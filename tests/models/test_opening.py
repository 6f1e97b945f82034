"""From a spec to a model: addresses, keys, shared endpoints."""

from __future__ import annotations

import asyncio

import pytest

from loopworth.models import ModelSpec, ScriptedModel, open_model
from loopworth.models.opening import address, secret
from loopworth.runs.message import Request
from loopworth.runs.outcome import Stop


def test_a_faulty_spec_is_refused_with_its_first_fault() -> None:
    """A caller from Python gets the words that a file would get."""
    with pytest.raises(ValueError, match=r"unknown provider 'opnai': did you mean 'openai'\?"):
        open_model(ModelSpec("opnai/x"))


def test_a_missing_key_is_told_at_the_call_and_nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """The note names the variable to set."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    model = open_model(ModelSpec("openai/gpt-x"))
    with pytest.raises(Stop, match="openai/gpt-x needs a key: set the environment variable OPENAI_API_KEY"):
        asyncio.run(model.reply(Request([]), None))
    with pytest.raises(Stop, match="variable MY_KEY"):
        asyncio.run(open_model(ModelSpec("ollama/x", api_key="MY_KEY")).reply(Request([]), None))


def test_a_providers_key_goes_to_the_provider_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another address gets it only where the file says so."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    elsewhere = "http://127.0.0.1:1/v1"
    assert secret(ModelSpec("openai/x")) == "sk-1"
    assert secret(ModelSpec("openai/x", base_url=elsewhere)) == "none"
    assert secret(ModelSpec("openai/x", base_url=elsewhere, api_key="OPENAI_API_KEY")) == "sk-1"
    assert secret(ModelSpec("ollama/x")) == "none"


def test_the_address_is_the_files_then_the_environments_then_the_providers(monkeypatch: pytest.MonkeyPatch) -> None:
    """OPENAI_BASE_URL works as users of the client know it."""
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert address(ModelSpec("openai/x")) == "https://api.openai.com/v1"
    monkeypatch.setenv("OPENAI_BASE_URL", "https://proxy.example.org/v1/")
    assert address(ModelSpec("openai/x")) == "https://proxy.example.org/v1"
    assert address(ModelSpec("openai/x", base_url="https://mine.example.org")) == "https://mine.example.org"


def test_models_on_one_server_share_its_endpoint() -> None:
    """By address and key; another server is another endpoint."""
    first, second, third = (open_model(ModelSpec(name)) for name in ("ollama/a", "ollama/b", "vllm/a"))
    assert first.endpoint == second.endpoint != third.endpoint
    assert first.server is second.server  # type: ignore[attr-defined]


def test_a_scripted_model_is_opened_from_its_replies() -> None:
    """A mapping is asked by effect id."""
    model = open_model(ModelSpec("scripted", replies={"a": "hi"}))
    assert isinstance(model, ScriptedModel)
    assert model.by_id
    assert not open_model(ModelSpec("scripted/x", replies=["hi"])).by_id  # type: ignore[attr-defined]


def test_a_provider_has_a_dialect_of_its_own_and_the_file_may_name_another() -> None:
    """Anthropic's is its own; Ollama speaks OpenAI's unless told otherwise."""
    said = {name: ModelSpec(name).speaks for name in ("openai/x", "anthropic/x", "ollama/x", "llamacpp/x")}
    assert said == {"openai/x": "openai", "anthropic/x": "anthropic", "ollama/x": "openai", "llamacpp/x": "openai"}
    assert ModelSpec("ollama/x", dialect="ollama").speaks == "ollama"
    assert ModelSpec("anthropic/x", dialect="openai").speaks == "openai"
    assert ModelSpec("hosted", base_url="http://h", dialect="anthropic").speaks == "anthropic"
