"""What a file says about a model."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import msgspec

from loopworth.models.makers import served, sold
from loopworth.models.providers import ELSEWHERE, OWN, PROVIDERS, Provider
from loopworth.models.weights import CHAT, WEIGHTS
from loopworth.runs.spelling import nearest
from loopworth.runs.usage import Value

SPOKEN = ("openai", "ollama", "anthropic")
"""The wire formats, as `dialect` names them."""
ENCODER = msgspec.json.Encoder(enc_hook=str, order="sorted")


class Price(Value, frozen=True):
    """US dollars per million tokens, from the day `since` on (ISO 8601, UTC). None is unknown, but for `cached_input`,
    which is then the price of `input`."""

    input: float | None = None
    output: float | None = None
    cached_input: float | None = None
    since: str | None = None


class ModelSpec(Value, frozen=True):
    """A model as the language's `model:` block names it; None leaves a thing to the provider.

    `name` is `provider/model`. `api_key` names an environment variable. `timeout` is in seconds for one attempt,
    `retries` counts further attempts. `extra` is added to every request's body. `file` is a GGUF for `local/custom`,
    `replies` are those of a scripted model, `labels` those that an embedding model chooses from, each with its texts.
    """

    name: str
    base_url: str | None = None
    api_key: str | None = None
    temperature: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    timeout: float | None = None
    retries: int | None = None
    price: Price | tuple[Price, ...] | None = None
    extra: dict[str, Any] = {}
    file: str | None = None
    dialect: str | None = None
    concurrency: int | None = None
    replies: Any = None
    labels: dict[str, tuple[str, ...]] | None = None
    requests_per_minute: int | None = None

    @property
    def key(self) -> str:
        """The same for equal specs: the name, with a digest where anything else is set."""
        if self == ModelSpec(self.name):
            return self.name
        return f"{self.name}@{blake2b(ENCODER.encode(self), digest_size=6).hexdigest()}"

    @property
    def provider(self) -> str:
        """The provider's name; empty for a server that is known by its `base_url` only."""
        head = self.name.partition("/")[0]
        return head if head in PROVIDERS else ""

    @property
    def model(self) -> str:
        """The name the endpoint knows the model by."""
        return (self.name.partition("/")[2] or self.name) if self.provider else self.name

    @property
    def speaks(self) -> str:
        """The name of the wire format: the file's, else the provider's own."""
        return self.dialect or self.traits.dialect

    @property
    def traits(self) -> Provider:
        return PROVIDERS.get(self.provider, ELSEWHERE)


Fault = tuple[str, str, str]
"""The key it is about, what is wrong, and what to write instead (may be empty)."""


def spec_faults(spec: ModelSpec) -> list[Fault]:
    """All that can be wrong with a spec before anything is asked."""
    return [*name_faults(spec), *key_faults(spec)]


def name_faults(spec: ModelSpec) -> list[Fault]:
    head, _, tail = spec.name.partition("/")
    if not spec.provider:
        return [] if spec.base_url else [unknown(spec.name, head)]
    if spec.traits.later:
        return [("name", f"the provider {head!r} is not in this version", "")]
    if not tail and head != "scripted":
        return [("name", f"{spec.name!r} names no model", f"write {head}/ and the model's name")]
    if head == "local" and tail not in (*WEIGHTS, "custom"):
        return [("name", f"no embedded model {tail!r}", f"there are {', '.join(CHAT)} and, with `file`, custom")]
    if head == "local" and tail not in (*CHAT, "custom") and spec.labels is None:
        return [("name", f"{spec.name} compares texts and cannot be asked", "write `by: similarity` beside `choose`")]
    return []


def unknown(name: str, head: str) -> Fault:
    known = [head for head, provider in PROVIDERS.items() if not provider.later]
    near = nearest(head, known)
    if "/" not in name and name:
        example = f"{near}/{name}" if near else served(name) or f"ollama/{name}"
        return ("name", f"the model {name!r} names no provider", f"write provider/model, such as {example}")
    other = sold(name) if name else None
    instead = f"write {other}, or give" if other else f"one of {', '.join(known)}, or give"
    instead = f"did you mean {near!r}?" if near else f"{instead} `base_url`"
    return ("name", f"unknown provider {head!r}", instead)


def key_faults(spec: ModelSpec) -> list[Fault]:
    """Keys that do not fit the provider."""
    found: list[Fault] = []
    if spec.dialect is not None and spec.dialect not in SPOKEN:
        found.append(("dialect", f"unknown dialect {spec.dialect!r}", f"one of {', '.join(SPOKEN)}"))
    elif spec.dialect is not None and spec.provider in OWN:
        found.append(("dialect", f"{spec.provider} has no `dialect`", "a server of your own: llamacpp/<model>"))
    if spec.provider == "azure" and not spec.base_url:
        found.append(("base_url", "azure needs `base_url`", "https://<resource>.openai.azure.com/openai/v1"))
    if spec.name == "local/custom" and not spec.file:
        found.append(("file", "local/custom needs `file`, the path of a GGUF file", ""))
    if spec.file and spec.name != "local/custom":
        found.append(("file", f"`file` belongs to local/custom, not to {spec.name}", ""))
    if spec.provider in OWN and spec.base_url:
        found.append(("base_url", f"{spec.provider} has no `base_url`", "a server of your own: llamacpp/<model>"))
    if spec.requests_per_minute is not None and spec.provider in OWN:
        found.append(("requests_per_minute", f"{spec.provider} has no `requests_per_minute`", "leave it out"))
    if spec.replies is not None and spec.provider != "scripted":
        found.append(("replies", f"`replies` belong to a scripted model, not to {spec.name}", ""))
    if spec.provider == "scripted" and spec.replies is None:
        found.append(("replies", "a scripted model needs `replies`", "a list of replies, or one per step id"))
    return found
