"""What a built-in tool is made of, before the rules of its catalogue entry are added."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Made(NamedTuple):
    """A function, and what is so for it whatever the entry says.

    `writes` is the key of `with` that lets it change things, if it was so told: the entry's `effect` must say it too.
    `inline`, `repeatable`: the entry may say otherwise. `asks`: see `Tool.asks`.
    """

    function: Callable[..., Any]
    writes: str | None = None
    inline: bool = False
    repeatable: bool = False
    asks: bool = False
