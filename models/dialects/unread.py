"""What a model wrote and its own server could not read: the model's fault, which it is told like any other.

https://console.groq.com/docs/tool-use (`tool_use_failed`), https://console.groq.com/docs/structured-outputs
(`json_validate_failed`), https://github.com/ollama/ollama/issues/17638,
https://github.com/pydantic/pydantic-ai/issues/631 (`MALFORMED_FUNCTION_CALL`)
"""

from __future__ import annotations

import re
from typing import Any

from loopworth.models.reading import content_text
from loopworth.runs.message import Message

RAW = re.compile(r"error parsing tool call: raw='(.*)', err=", re.DOTALL)


MALFORMED = re.compile(r"malformed_function_call|unexpected_tool_call", re.I)
"""Gemini's finish reasons for a call that it could not read, as they come through its relatives: behind a colon, or
beside the finish reason as `native_finish_reason`."""


def unread(body: Any) -> Message | None:
    """The reply in an error, or beside a finish reason, that says so: a call without a name, whose arguments are what
    was written, or a text."""
    if (written := malformed(body)) is not None:
        return called(written)
    error = body.get("error") if isinstance(body, dict) else None
    error = error if isinstance(error, dict) else {"message": error}
    written = error.get("failed_generation")
    if error.get("code") == "json_validate_failed" and isinstance(written, str) and written.strip():
        return {"role": "assistant", "content": written}
    if error.get("code") == "tool_use_failed":
        return called(written)
    match = RAW.search(error["message"]) if isinstance(error.get("message"), str) else None
    return None if match is None else called(match[1])


def malformed(body: Any) -> str | None:
    """What was written where the first choice ended in a call that could not be read."""
    choices = body.get("choices") if isinstance(body, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(first, dict) or not any(MALFORMED.search(str(first.get(key) or "")) for key in ENDS):
        return None
    message = first.get("message")
    return content_text(message.get("content")) if isinstance(message, dict) else ""


ENDS = ("finish_reason", "native_finish_reason")


def called(written: Any) -> Message:
    return {"role": "assistant", "tool_calls": [{"function": {"name": "", "arguments": written}}]}
