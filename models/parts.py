"""The parts of a message's content: texts, and what is no text, such as an image."""

from __future__ import annotations

import re
from typing import Any

TEXTS = ("text", "output_text")
DATA = re.compile(r"data:([\w.+-]+/[\w.+-]+)[^,]*;base64,", re.I)


def parts(content: Any) -> list[Any]:
    """The content as parts; an empty text is none."""
    if isinstance(content, list):
        return content
    return [] if content is None or content == "" else [{"type": "text", "text": str(content)}]


def spoken(part: Any) -> bool:
    """Whether a part is a text."""
    return not isinstance(part, dict) or part.get("type", "text") in TEXTS


def silent(content: Any) -> list[dict[str, Any]]:
    """The parts that are no text."""
    return [part for part in content if not spoken(part)] if isinstance(content, list) else []


def picture(part: dict[str, Any]) -> tuple[str, str] | None:
    """The image in a part as OpenAI writes one: its media type and its base 64; no type and its address where it is
    somewhere else. None where it is no image."""
    image = part.get("image_url") if part.get("type") == "image_url" else None
    url = image.get("url") if isinstance(image, dict) else image
    if not isinstance(url, str):
        return None
    found = DATA.match(url)
    return ("", url) if found is None else (found[1], url[found.end() :])
