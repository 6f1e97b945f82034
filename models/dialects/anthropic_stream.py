"""The events of a streamed Anthropic message, put together again.

https://platform.claude.com/docs/en/build-with-claude/streaming
"""

from __future__ import annotations

from typing import Any

from loopworth.runs.message import json_of

GROWING = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
}
"""The deltas that are texts: the key under which each holds its piece."""


class Blocks:
    """Blocks by index, each of which grows by its deltas.

    What a message begins with counts its input; the output is counted at its end only, so until then it is unknown.
    """

    def __init__(self) -> None:
        self.top: dict[str, Any] = {}
        self.usage: dict[str, Any] = {}
        self.blocks: dict[Any, Block] = {}
        self.error: Any = None
        self.spoke = self.stopped = False

    @property
    def done(self) -> bool:
        return self.stopped or bool(self.top.get("stop_reason"))

    def add(self, event: dict[str, Any]) -> str:
        match event.get("type"):
            case "message_start":
                self.begin(event.get("message"))
            case "content_block_start":
                return self.block(event).begin(event.get("content_block"))
            case "content_block_delta":
                return self.block(event).grow(event.get("delta"))
            case "message_delta":
                self.end(event)
            case "message_stop":
                self.stopped = self.spoke
            case kind if (kind == "error" or event.get("error")) and not self.done:
                self.error = event.get("error") or event
        return ""

    def begin(self, message: Any) -> None:
        message = message if isinstance(message, dict) else {}
        self.spoke = True
        self.top |= {key: value for key, value in message.items() if key not in ("content", "usage", "type")}
        usage = message.get("usage")
        self.count({**usage, "output_tokens": None} if isinstance(usage, dict) else None)

    def end(self, event: dict[str, Any]) -> None:
        delta = event.get("delta")
        self.top |= {key: value for key, value in delta.items() if value is not None} if isinstance(delta, dict) else {}
        self.count(event.get("usage"))

    def count(self, usage: Any) -> None:
        """The counts as far as they are known: they are totals, so the last one counts."""
        if isinstance(usage, dict):
            self.usage |= {key: value for key, value in usage.items() if value is not None}

    def block(self, event: dict[str, Any]) -> Block:
        index = event.get("index")
        self.spoke = True
        return self.blocks.setdefault(index if isinstance(index, int) else len(self.blocks), Block())

    def body(self) -> dict[str, Any]:
        if not self.spoke:
            return {"error": self.error} if self.error else {}
        content = [self.blocks[index].whole() for index in sorted(self.blocks)]
        body = {**self.top, "type": "message", "content": content}
        return body | {key: value for key in ("usage", "error") if (value := getattr(self, key))}


class Block:
    """One block in the making."""

    def __init__(self) -> None:
        self.start: dict[str, Any] = {}
        self.pieces: dict[str, list[str]] = {}
        self.citations: list[Any] = []

    def begin(self, block: Any) -> str:
        self.start = block if isinstance(block, dict) else {}
        text = self.start.get("text")
        return text if isinstance(text, str) else ""

    def grow(self, delta: Any) -> str:
        delta = delta if isinstance(delta, dict) else {}
        key = GROWING.get(str(delta.get("type")), "")
        piece = delta.get(key)
        if isinstance(piece, str):
            self.pieces.setdefault(key, []).append(piece)
        elif delta.get("type") == "citations_delta":
            self.citations.append(delta.get("citation"))
        return piece if key == "text" and isinstance(piece, str) else ""

    def whole(self) -> dict[str, Any]:
        block = dict(self.start)
        for key, pieces in self.pieces.items():
            grown = "".join(pieces)
            if key == "partial_json":
                block["input"] = parsed(grown) if grown.strip() else block.get("input", {})
            else:
                begun = block.get(key)
                block[key] = (begun if isinstance(begun, str) else "") + grown
        block.setdefault("type", "text" if "text" in block else "tool_use" if "input" in block else "")
        return block | ({"citations": self.citations} if self.citations else {})


def parsed(text: str) -> Any:
    """The arguments of a call; the text itself where it is no JSON, so that the model is told where it broke."""
    try:
        return json_of(text)
    except ValueError:
        return text
