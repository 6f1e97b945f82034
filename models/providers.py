"""The named providers: where they are and what they need. Most speak the OpenAI chat format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loopworth.runs.usage import Value


class Provider(Value, frozen=True):
    """An endpoint known by name.

    `base_url` ends where `/chat/completions` begins; None means the file has to say it. `variables` name environment
    variables: `key` holds the API key, `url` an address that goes before `base_url`. `keyless` endpoints need no key.
    `limit` is the request's name for the most output tokens, `concurrency` the calls under way at once by default.
    `dialect` is its wire format, `prices` the provider's name in genai-prices. `tools`: it serves tool
    calls, or says that it does not. `later` marks one that this version does not have.
    """

    base_url: str | None = None
    key: str | None = None
    url: str | None = None
    keyless: bool = False
    limit: str = "max_tokens"
    dialect: str = "openai"
    concurrency: int = 8
    prices: str | None = None
    tools: bool = False
    later: bool = False


OWN = ("local", "scripted")
"""Providers that are no server of somebody's: each process has its own, and nobody bills for it."""
PROVIDERS: dict[str, Provider] = {
    "openai": Provider(
        "https://api.openai.com/v1",
        key="OPENAI_API_KEY",
        url="OPENAI_BASE_URL",
        limit="max_completion_tokens",
        prices="openai",
        tools=True,
    ),
    "azure": Provider(key="AZURE_OPENAI_API_KEY", prices="azure", tools=True),
    "anthropic": Provider(
        "https://api.anthropic.com/v1",
        key="ANTHROPIC_API_KEY",
        url="ANTHROPIC_BASE_URL",
        dialect="anthropic",
        prices="anthropic",
        tools=True,
    ),
    "openrouter": Provider("https://openrouter.ai/api/v1", key="OPENROUTER_API_KEY", prices="openrouter", tools=True),
    "ollama": Provider("http://127.0.0.1:11434/v1", keyless=True, concurrency=2),
    "vllm": Provider("http://127.0.0.1:8000/v1", keyless=True, concurrency=32),
    "llamacpp": Provider("http://127.0.0.1:8080/v1", keyless=True, concurrency=2),
    "local": Provider(keyless=True, concurrency=2),
    "scripted": Provider(keyless=True, concurrency=64),
    "replay": Provider(keyless=True, later=True),
}
ELSEWHERE = Provider(keyless=True)
"""A server that is known by its `base_url` only."""


def keys(environ: Mapping[str, str]) -> Iterator[str]:
    """The API keys that an environment holds under the variables of the providers."""
    named = (environ.get(provider.key) for provider in PROVIDERS.values() if provider.key is not None)
    return filter(None, named)
