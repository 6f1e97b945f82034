"""How deeply what others write may be nested: what lies deeper can be read, and neither kept, compared nor sent."""

from __future__ import annotations

from typing import Any

DEEPEST = 100
"""Levels of lists and mappings."""
TOO_DEEP = f"is nested too deeply: at most {DEEPEST} levels"


def nested(value: Any, most: int = DEEPEST) -> bool:
    """Whether a value has more levels than that, or holds itself. A loop, and not a recursion: a value may be deeper
    than Python's own calls. What stands in a level often is looked at once."""
    level = [value]
    for _ in range(most):
        inner = (part.values() if isinstance(part, dict) else part for part in level if isinstance(part, dict | list))
        level = list({id(part): part for parts in inner for part in parts}.values())
        if not level:
            return False
    return any(isinstance(part, dict | list) for part in level)
