"""A call that comes as text: a model wrote it, and its server did not take it for one.

It is never run, since text about a call is not a call; it is no answer either. Only what cannot well be anything else
is taken for one: the markup of a chat template from the beginning of a line to the end of the reply, or nothing but the
JSON of calls, with the name of a tool that was offered.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from loopworth.runs.message import json_of, unfenced

OPENERS = (
    *("<tool_call>", "<tool_calls>", "<|tool_call|>", "<|tool_call>", "<function=", "<function_call>", "[TOOL_CALLS]"),
    *("<|python_tag|>", "<|tool_calls_section_begin|>", "<\uff5ctool▁calls▁begin\uff5c>", "<|action_start|>"),
)
OPENER = re.compile(rf"^[ \t]*(?:{'|'.join(map(re.escape, OPENERS))})|<\|channel\|>\s*commentary\s+to=", re.M)
"""How templates open a call: Qwen's, Hermes', Mistral's, Llama's, Kimi's, DeepSeek's, InternLM's and gpt-oss'."""
ENDS = (">", "}", "]", ")")
"""How markup and JSON end."""
NEAR = 200
"""Characters after the opening in which the tool is named."""
KEYS = ({"name", "arguments"}, {"name", "parameters"})


def called(text: str, names: Collection[str]) -> str | None:
    """The first of these tools that a reply calls in its text; None where it calls none."""
    text = text.strip()
    if not text.endswith((*ENDS, "```")):
        return None
    opened = OPENER.search(text)
    if opened is None:
        return alone(unfenced(text), names)
    start = text[opened.end() : opened.end() + NEAR]
    places = ((re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", start), name) for name in names)
    return min(((found.start(), name) for found, name in places if found), default=(0, None))[1]


def alone(text: str, names: Collection[str]) -> str | None:
    """The first of these tools in a text that is nothing but the JSON of a call, or of a list of calls."""
    try:
        value: Any = json_of(text)
    except ValueError:
        return None
    calls = value if isinstance(value, list) else [value]
    known = [call["name"] for call in calls if isinstance(call, dict) and call.keys() - {"type"} in KEYS]
    return known[0] if known and len(known) == len(calls) and all(name in names for name in known) else None
