"""Mistakes of the one who writes a tool or its catalogue entry."""

from __future__ import annotations


class ToolFault(ValueError):
    """A tool cannot be built: what is wrong, and what to write instead.

    `key` is the catalogue's key to blame (`python`, `with`, `allow`) and `name` the argument under it, if there is one.
    """

    def __init__(self, what: str, instead: str = "", key: str = "python", name: str | None = None) -> None:
        super().__init__(f"{what}: {instead}" if instead else what)
        self.what, self.instead, self.key, self.name = what, instead, key, name
