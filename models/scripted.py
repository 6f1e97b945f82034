"""A model whose replies are written down: for tests, examples and dry runs."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import msgspec

from loopworth.models.errors import trouble
from loopworth.models.reading import read
from loopworth.runs.message import Reply, Request
from loopworth.runs.outcome import Stop
from loopworth.runs.usage import Usage

KEYS = {"text", "calls", "message", "error", "finish", "finish_reason", "usage", "seconds", "note"}


class ScriptedModel:
    """Gives the replies of a list in order, or those under an effect's id where calls run concurrently.

    A key is an effect's id (`figures/3/ask`) or the start of one (`figures/3`, `figures`); the longest that fits
    counts. Under it stands a list, used in order, or one reply, given to every such call. A reply is a text, or a
    mapping with `text`, or `calls` (`[{tool, arguments}]`), or a wire `message`, or an `error` (`{status, message,
    code}`), and `finish`, `usage`, `seconds` (waited for). Without `usage` no tokens are counted; nothing costs
    anything. `requests` holds what was asked.
    """

    concurrency = 64

    def __init__(
        self, replies: Any, name: str = "scripted", sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self.by_id = isinstance(replies, dict)
        self.replies: dict[str, Any] = replies if isinstance(replies, dict) else {"": replies}
        self.name = self.endpoint = name
        self.sleep = sleep
        self.given: dict[str, int] = {}
        self.requests: list[Request] = []

    async def close(self) -> None:
        """Nothing is open."""

    async def reply(self, request: Request, seconds: float | None, id: str = "") -> Reply:
        self.requests.append(request)
        said = self.next(id)
        said = said if isinstance(said, dict) else {"text": said}
        if unknown := sorted(set(map(str, said)) - KEYS):
            raise self.stop(f"knows no {', '.join(unknown)} in a reply, only {', '.join(sorted(KEYS))}")
        takes = float(said.get("seconds") or 0.0)
        if takes:
            await self.sleep(takes if seconds is None else min(takes, seconds))
        if seconds is not None and takes > seconds:
            held = Usage(0, request.max_tokens or 0, estimated=True)
            return Reply({}, finish="time_limit", usage=held, seconds=seconds)
        return self.told(said, request, takes)

    def take_up(self, ids: Iterable[str]) -> None:
        """Go on after these effects, which have their replies."""
        self.given = dict(Counter(map(self.fitting, ids)))

    def next(self, id: str) -> Any:
        """The next reply for this effect."""
        key = self.fitting(id)
        replies = self.replies[key]
        if not isinstance(replies, list | tuple):
            return replies
        n = self.given.get(key, 0)
        if n >= len(replies):
            at = f" for {key!r}" if key else ""
            raise self.stop(f"has only {len(replies)} replies{at}, and {id or 'one more call'} wants another")
        self.given[key] = n + 1
        return replies[n]

    def fitting(self, id: str) -> str:
        """The longest key that is the effect's id or the start of it."""
        if not self.by_id:
            return ""
        path = id
        while path not in self.replies:
            path, slash, _ = path.rpartition("/")
            if not slash:
                raise self.stop(f"has no reply for {id!r}, only for {', '.join(map(str, self.replies))}")
        return path

    def told(self, said: dict[str, Any], request: Request, takes: float) -> Reply:
        """The reply, read as if it had come over the wire."""
        if "error" in said:
            return self.failed(said["error"])
        body = {"choices": [{"message": wire(said), "finish_reason": said.get("finish", said.get("finish_reason"))}]}
        reply = read(body | {"usage": tokens(said.get("usage"))}, request.max_tokens, len(request.messages))
        usage = msgspec.structs.replace(reply.usage, usd=0.0) if "usage" in said else Usage()
        return msgspec.structs.replace(reply, usage=usage, seconds=takes, note=said.get("note") or reply.note)

    def failed(self, error: Any) -> Reply:
        error = error if isinstance(error, dict) else {"message": str(error)}
        found = trouble(int(error.get("status") or 500), {"error": error}, {}, 0.0)
        if found is not None and found.kind in ("content_filter", "context_overflow"):
            return Reply({}, finish=found.kind, note=found.message or found.words)
        raise Stop("provider_error", None, f"{self.name}: {found.words if found else error}")

    def stop(self, what: str) -> Stop:
        return Stop("provider_error", None, f"the scripted model {self.name!r} {what}")


def wire(said: dict[str, Any]) -> Any:
    """The message of a reply, in wire shape."""
    if "message" in said:
        return said["message"]
    content = said.get("text")
    message: dict[str, Any] = {"role": "assistant", "content": content if content is None else str(content)}
    if "calls" in said:
        message["tool_calls"] = [
            {"id": call.get("id"), "function": {"name": call.get("tool"), "arguments": call.get("arguments")}}
            for call in said["calls"]
        ]
    return message


def tokens(usage: Any) -> Any:
    """Usage in wire words; `input`, `output`, `cached` and `reasoning` are understood as well."""
    if not isinstance(usage, dict) or not usage.keys() & {"input", "output"}:
        return usage
    return {
        "prompt_tokens": usage.get("input"),
        "completion_tokens": usage.get("output"),
        "prompt_tokens_details": {"cached_tokens": usage.get("cached")},
        "completion_tokens_details": {"reasoning_tokens": usage.get("reasoning")},
    }
