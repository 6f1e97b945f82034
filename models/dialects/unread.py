"""What a model wrote and its own server could not read: the model's fault, which it is told like any other.

https://console.groq.com/docs/tool-use (`tool_use_failed`), https://console.groq.com/docs/structured-outputs
(`json_validate_failed`), https://github.com/ollama/ollama/issues/17638
"""

from __future__ import annotations

import re
from typing import Any

from loopworth.runs.message import Message

RAW = re.compile(r"error parsing tool call: raw='(.*)', err=", re.DOTALL)


def unread(body: Any) -> Message | None:
    """The reply in an error that holds one: a call without a name, whose arguments are what was written, or a text."""
    error = body.get("error") if isinstance(body, dict) else None
    error = error if isinstance(error, dict) else {"message": error}
    written = error.get("failed_generation")
    if error.get("code") == "json_validate_failed" and isinstance(written, str) and written.strip():
        return {"role": "assistant", "content": written}
    if error.get("code") == "tool_use_failed":
        return called(written)
    match = RAW.search(error["message"]) if isinstance(error.get("message"), str) else None
    return None if match is None else called(match[1])


def called(written: Any) -> Message:
    return {"role": "assistant", "tool_calls": [{"function": {"name": "", "arguments": written}}]}
