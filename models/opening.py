"""From what a file says to a model that answers."""

from __future__ import annotations

import asyncio
import os
import random
import re
import time
from collections.abc import Callable, Iterator
from typing import Any, Protocol
from weakref import WeakValueDictionary

from loopworth.models.chat import ChatModel
from loopworth.models.embedding import EmbeddingModel
from loopworth.models.endpoint import Endpoint, Sleep
from loopworth.models.local import LocalModel
from loopworth.models.pace import Pace
from loopworth.models.providers import OWN, keys
from loopworth.models.scripted import ScriptedModel
from loopworth.models.spec import ModelSpec, spec_faults
from loopworth.runs import world
from loopworth.runs.message import Reply, Request
from loopworth.runs.outcome import Stop
from loopworth.runs.secrets import learn


class Model(world.Model, Protocol):
    """A model that was opened. `endpoint` is equal for models that share a server, `concurrency` the calls it takes at
    once."""

    @property
    def endpoint(self) -> str: ...

    @property
    def concurrency(self) -> int: ...

    async def close(self) -> None: ...


class KeylessModel:
    """A model whose key is not set: every call says so, and nothing is sent."""

    concurrency = 1

    def __init__(self, spec: ModelSpec, variable: str) -> None:
        self.endpoint, self.variable = spec.name, variable
        self.note = f"{spec.name} needs a key: set the environment variable {variable}"

    async def reply(self, request: Request, seconds: float | None) -> Reply:  # noqa: ARG002
        raise Stop("provider_error", None, self.note)

    async def close(self) -> None:
        """Nothing is open."""


ENDPOINTS: WeakValueDictionary[tuple[str, str], Endpoint] = WeakValueDictionary()
"""The endpoints in use by address and key: one client and one bound on concurrency for all models on a server."""


def open_model(
    spec: ModelSpec,
    *,
    client: Any = None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Sleep = asyncio.sleep,
    now: Callable[[], float] = time.time,
    jitter: random.Random | None = None,
    pace: Pace | None = None,
) -> Model:
    """A model ready to be asked; nothing is sent and no server started yet. Raises ValueError for a faulty spec.

    `client` is a user's own `AsyncOpenAI`, used as it is but for retries. `clock`, `sleep`, `now` (the wall clock) and
    `jitter` of pauses are for tests and for the cautious; `pace` holds pauses and rates beyond this process.
    """
    for _, what, instead in spec_faults(spec):
        raise ValueError(f"{what}: {instead}" if instead else what)
    if spec.provider == "scripted":
        return ScriptedModel(spec.replies, spec.name, sleep)
    learn(*keys(os.environ))
    seams: Any = {"clock": clock, "sleep": sleep, "now": now, "jitter": jitter}
    if spec.labels is not None:
        return EmbeddingModel(spec)
    if spec.provider == "local":
        return LocalModel(spec, **seams)
    seams["pace"] = pace
    base_url, key = address(spec), secret(spec)
    if client is not None:
        learn(*given_keys(client))
        return ChatModel(spec, Endpoint(str(client.base_url), client.api_key or "none", client=client, **seams))
    if key is None:
        return KeylessModel(spec, lacking(spec))
    seams["account"] = spec.api_key or spec.traits.key or ""
    return ChatModel(spec, shared_endpoint(base_url, key, spec.provider == "openai", seams))


def given_keys(client: Any) -> Iterator[str]:
    """What a user's own client sends with every request that may be a key."""
    yield from map(str, client._custom_query.values())
    headers = client._custom_headers.items()
    yield from (str(value) for name, value in headers if re.search("auth|key|token|secret", name, re.IGNORECASE))


def shared_endpoint(base_url: str, key: str, openai: bool, seams: dict[str, Any]) -> Endpoint:
    """The endpoint in use at this address with this key, else a new one."""
    endpoint = ENDPOINTS.get((base_url, key))
    own = (seams["clock"], seams["sleep"], seams["pace"])
    if endpoint is None or (endpoint.clock, endpoint.sleep, endpoint.shared) != own:
        endpoint = ENDPOINTS[base_url, key] = Endpoint(base_url, key, openai=openai, **seams)
    return endpoint


def address(spec: ModelSpec) -> str:
    """The base URL: the file's, the environment's, the provider's own."""
    named = os.environ.get(spec.traits.url) if spec.traits.url else None
    return (spec.base_url or named or spec.traits.base_url or "").rstrip("/")


def secret(spec: ModelSpec) -> str | None:
    """The API key; None where one is needed and its variable is not set.

    A provider's usual key is not sent to another address unless the file names it in `api_key`.
    """
    if spec.api_key is not None:
        return os.environ.get(spec.api_key) or None
    if spec.traits.keyless or (spec.base_url is not None and spec.provider != "azure"):
        return "none"
    return os.environ.get(spec.traits.key or "") or None


def lacking(spec: ModelSpec) -> str:
    """The variable of the key without which a model cannot be asked, where it is not set; "" where nothing lacks."""
    return "" if spec.provider in OWN or secret(spec) is not None else spec.api_key or spec.traits.key or ""


async def prepare(model: Model) -> None:
    """Do ahead what the first call would wait for: load the client, install weights, start a server.

    Runs on the event loop that will ask the model. Raises Unavailable.
    """
    if isinstance(model, LocalModel | EmbeddingModel):
        await model.prepare()
    elif isinstance(model, ChatModel):
        model.server.connect()
