"""OpenAI's chat completions, which most servers speak.

https://platform.openai.com/docs/api-reference/chat
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loopworth.models.dialects.history import settings
from loopworth.models.dialects.openai_stream import Chunks
from loopworth.models.dialects.unread import unread
from loopworth.models.errors import Trouble, trouble
from loopworth.models.reading import read
from loopworth.models.spec import ModelSpec
from loopworth.runs.message import Reply, Request


class OpenAI:
    """The transcript's own shape, sent as it is."""

    name = "openai"

    def url(self, base_url: str) -> str:
        return f"{base_url.rstrip('/')}/chat/completions"

    def headers(self, base_url: str, key: str) -> dict[str, str | None]:  # noqa: ARG002 - the client sends the key
        return {}

    def body(self, spec: ModelSpec, request: Request, most: int | None) -> dict[str, Any]:
        body = settings(model=spec.model, temperature=spec.temperature, seed=spec.seed) | spec.extra
        body = settings(**body)
        body["messages"] = request.messages
        if most is not None:
            body[limit_name(spec)] = most
        if request.seed is not None:
            body["seed"] = request.seed
        if request.stop:
            body.setdefault("stop", request.stop)
        if request.tools:
            body["tools"] = request.tools
            if request.tool_choice != "auto":
                body["tool_choice"] = request.tool_choice
        if request.schema is not None:
            form = {"name": "answer", "schema": request.schema, "strict": strict(request.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        return body

    def streamed(self, body: dict[str, Any]) -> dict[str, Any]:
        return {**body, "stream": True, "stream_options": {"include_usage": True}}

    def gather(self) -> Chunks:
        return Chunks()

    def read(self, body: dict[str, Any], limit: int | None, turn: int) -> Reply:
        written = unread(body)
        said = body if written is None else {"choices": [{"message": written}], "usage": body.get("usage")}
        return read(said, limit, turn)

    def trouble(self, status: int, body: Any, headers: Mapping[str, str], now: float) -> Trouble | None:
        return None if unread(body) else trouble(status, body, headers, now)


def limit_name(spec: ModelSpec) -> str:
    """The request's word for the most output: the provider's own at its own address, else the one most servers know."""
    return spec.traits.limit if spec.base_url is None else "max_tokens"


def strict(schema: Any) -> bool:
    """Whether a schema is closed enough for OpenAI's strict mode: every object names and requires all it may hold."""
    if isinstance(schema, list):
        return all(map(strict, schema))
    if not isinstance(schema, dict):
        return True
    if "properties" in schema or schema.get("type") == "object":
        closed = schema.get("additionalProperties") is False
        if not closed or set(schema.get("required", ())) != set(schema.get("properties", ())):
            return False
    return all(map(strict, schema.values()))
