"""The lines of a streamed Ollama reply, put together again.

https://docs.ollama.com/api/chat, https://docs.ollama.com/api/streaming
"""

from __future__ import annotations

from typing import Any

LISTED = ("tool_calls", "images")
LOADED = ("load", "unload")
"""Done reasons of an answer that says nothing but that a model was loaded, or no longer is."""


class Parts:
    """Every line holds a part of the message; the one that is `done` holds the counts."""

    def __init__(self) -> None:
        self.top: dict[str, Any] = {}
        self.said: dict[str, list[str]] = {}
        self.listed: dict[str, list[Any]] = {}
        self.spoke = False

    @property
    def done(self) -> bool:
        return self.top.get("done") is True and self.top.get("done_reason") not in LOADED

    def add(self, event: dict[str, Any]) -> str:
        done = self.done
        self.top |= {
            key: value
            for key, value in event.items()
            if value is not None and key != "message" and not (done and key == "error")
        }
        message = event.get("message")
        if not isinstance(message, dict) or event.get("done_reason") in LOADED:
            return ""
        self.spoke = True
        for key, value in message.items():
            if key in LISTED:
                self.listed.setdefault(key, []).extend(value if isinstance(value, list) else [value] if value else [])
            elif isinstance(value, str):
                self.said.setdefault(key, []).append(value)
        content = message.get("content")
        return content if isinstance(content, str) else ""

    def body(self) -> dict[str, Any]:
        texts = {key: "".join(pieces) for key, pieces in self.said.items()}
        lists = {key: listed for key, listed in self.listed.items() if listed}
        message = {"content": ""} | texts | lists | {"role": "assistant"}
        return {**self.top, "message": message} if self.spoke else self.top
