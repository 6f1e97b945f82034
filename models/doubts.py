"""Which endpoints are not known to hand tools on to their model: some drop them in silence, and answer all the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loopworth.models.chat import ChatModel

SERVED: set[tuple[str, str]] = set()
"""The models that have called a tool in this process, each by its endpoint's address and its name there."""


class Doubts:
    """The doubts about the models of one run or comparison, by key. A provider that always serves tools leaves none."""

    def __init__(self, models: Mapping[str, Any]) -> None:
        self.models = models

    def about(self, key: str) -> bool:
        model = self.models.get(key)
        return isinstance(model, ChatModel) and not known(model) and name(model) not in SERVED

    def clear(self, key: str) -> None:
        """The model has called a tool."""
        model = self.models.get(key)
        if isinstance(model, ChatModel):
            SERVED.add(name(model))


def name(model: ChatModel) -> tuple[str, str]:
    return model.endpoint, model.spec.model


def known(model: ChatModel) -> bool:
    """Whether it is at the address of a provider that serves tools or says that it does not."""
    provider = model.spec.traits
    return provider.tools and provider.base_url in (None, model.endpoint)
