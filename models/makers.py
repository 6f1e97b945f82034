"""Whose model a bare name is: the provider of this version that most likely serves it."""

from __future__ import annotations

from loopworth.models.providers import PROVIDERS
from loopworth.models.weights import CHAT


def served(name: str) -> str | None:
    """A name as provider/model, where it is known who makes or sells the model; None where it is not.

    One of a maker that is no provider here is looked for at openrouter, which sells those of many.
    """
    if name in CHAT:
        return f"local/{name}"
    from genai_prices import data_snapshot  # imported where a name is at fault: its table is large

    table = data_snapshot.get_snapshot()
    try:
        maker = table.find_provider(name, None, None).id
    except LookupError:
        return f"ollama/{name}" if ":" in name else None
    if ours := next((ours for ours, provider in PROVIDERS.items() if provider.prices == maker), None):
        return f"{ours}/{name}"
    return sold(f"{maker}/{name}")


def sold(name: str) -> str | None:
    """A maker's model, `maker/model`, as openrouter names it; None where it does not sell it."""
    from genai_prices import data_snapshot  # as above

    try:
        data_snapshot.get_snapshot().find_provider_model(name, None, PROVIDERS["openrouter"].prices, None)
    except LookupError:
        return None
    return f"openrouter/{name}"
