"""Pages from templates. Whatever stands in one is data: markup is escaped, known secrets are hidden, and characters
that would be obeyed or would hide are spelled out, in one place for all of them."""

from __future__ import annotations

from typing import Any

from starlette.responses import HTMLResponse

from loopworth.comparisons.pages.html import environment
from loopworth.models.reading import thoughts
from loopworth.runs.figures import dollars, end, second, spent, tokens
from loopworth.runs.message import Message
from loopworth.runs.outcome import Said
from loopworth.runs.steps import content

LONGEST = 20_000
"""Characters shown of one message."""


def said(message: Message) -> str:
    """A message's text and calls, with what was thought before it."""
    thought = thoughts(message)
    text = "\n".join(filter(None, (f"({thought})" if thought else "", content(message))))
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…\n({len(text) - LONGEST:,} more characters)"


def when(moment: str) -> str:
    """A time of the store to the second."""
    return f"{second(moment)} UTC"


def is_said(step: Any) -> bool:
    return isinstance(step, Said)


TEMPLATES = environment("loopworth.web")
TEMPLATES.filters.update(said=said, when=when, dollars=dollars, spent=spent, tokens=tokens, end=end)
TEMPLATES.tests.update(said=is_said)


def page(name: str, status: int = 200, **data: Any) -> HTMLResponse:
    """The page of a template."""
    return HTMLResponse(TEMPLATES.get_template(f"{name}.html").render(data), status)
