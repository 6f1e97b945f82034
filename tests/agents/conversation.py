"""What every endpoint asks of a conversation, as the strictest of them does."""

import json
import re
from collections.abc import Sequence
from typing import Any

from loopworth.models import ScriptedModel
from loopworth.runs.message import Reply, Request


def faults(messages: Sequence[dict[str, Any]]) -> list[str]:
    """What a strict endpoint would refuse: results without their call, calls without their one result, roles out of
    place."""
    found, waiting = [], []
    for n, message in enumerate(messages):
        role = message.get("role")
        if role == "tool":
            if message.get("tool_call_id") not in waiting:
                found.append(f"{n}: a result without its call")
            else:
                waiting.remove(message["tool_call_id"])
            if not isinstance(message.get("content"), str):
                found.append(f"{n}: a result that is no text")
            continue
        if waiting:
            found.append(f"{n}: {waiting} had no result")
        waiting = []
        if role == "assistant":
            waiting = [call["id"] for call in message.get("tool_calls", [])]
            if len(set(waiting)) < len(waiting) or not all(isinstance(id, str) and id for id in waiting):
                found.append(f"{n}: call ids {waiting}")
            if "tool_calls" in message and not message["tool_calls"]:
                found.append(f"{n}: an empty list of calls")
        elif role == "system" and n:
            found.append(f"{n}: a system message behind others")
        elif role not in ("system", "user"):
            found.append(f"{n}: role {role!r}")
    if waiting:
        found.append(f"end: {waiting} had no result")
    first = next((message for message in messages if message.get("role") != "system"), {})
    return found if first.get("role") == "user" else [*found, "the first message after the system's is no user's"]


def refused(messages: Sequence[dict[str, Any]]) -> list[str]:
    """The same of what is sent, whose calls must have arguments that are a JSON object, too, and a name that fits."""
    calls = [call["function"] for message in messages for call in message.get("tool_calls", ())]
    return [*faults(messages), *(f"a call {function}" for function in calls if not sound(function))]


def sound(function: dict[str, Any]) -> bool:
    try:
        return isinstance(json.loads(function["arguments"]), dict) and bool(NAME.fullmatch(function["name"]))
    except ValueError:
        return False


NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


class Heard(ScriptedModel):
    """A scripted model that keeps every request's messages as they were when it was asked, and refuses what a strict
    endpoint would."""

    def __init__(self, replies: Sequence[Any]) -> None:
        super().__init__(list(replies))
        self.sent: list[list[dict[str, Any]]] = []

    async def reply(self, request: Request, seconds: float | None, id: str = "") -> Reply:
        self.sent.append(json.loads(json.dumps(request.messages)))
        assert refused(self.sent[-1]) == []
        return await super().reply(request, seconds, id)
