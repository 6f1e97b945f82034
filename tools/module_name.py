"""What a module beside a YAML file is called: one name among Python's own modules, and another by its author."""

from __future__ import annotations

import re

PRIVATE = re.compile(r"\b_loopworth_(\w+?)(_[0-9a-f]{16})?\b")


def private(name: str, digest: str = "") -> str:
    """The name among Python's modules; without the digest of a content it is none that can be found."""
    return f"_loopworth_{name}_{digest}" if digest else f"_loopworth_{name}"


def public(text: str) -> str:
    """A text in which modules have the names that their author knows."""
    return PRIVATE.sub(r"\1", text)
