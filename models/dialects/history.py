"""What dialects share in turning the history of a run into their own shape."""

from __future__ import annotations

from typing import Any

from loopworth.runs.message import Message, json_of

SYSTEM = ("system", "developer")
"""The roles of who sets a conversation up."""


def settings(**said: Any) -> dict[str, Any]:
    """What is set: null leaves a key out of the request altogether."""
    return {key: value for key, value in said.items() if value is not None}


def arguments_of(call: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call in the history as an object; empty where its text holds none."""
    try:
        found = json_of(call["function"]["arguments"])
    except (ValueError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}


def names_by_call(messages: list[Message]) -> dict[str, str]:
    """The tool's name by call id, the newest where endpoints use one again."""
    calls = (call for message in messages for call in message.get("tool_calls", ()))
    return {call["id"]: call["function"]["name"] for call in calls}


def tools_called(messages: list[Message]) -> list[dict[str, Any]]:
    """A tool for every name that the history calls, of which no more is known."""
    names = dict.fromkeys(names_by_call(messages).values())
    return [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in names]
