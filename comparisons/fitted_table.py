"""A table on the terminal, as wide as that is."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from math import ceil

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Column, Table


class Fitted(Table):
    """A table that fits the terminal without cutting a word or a figure, as long as they have room side by side: long
    headers break between words first, then the columns move together, then cells break between words; and only what
    still has no room is cut. One that is `parted` has its columns in several rows then, beside the first of them."""

    parted = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        heads = [str(column.header) for column in self.columns]
        cells = [[line for cell in column.cells for line in str(cell).split("\n")] for column in self.columns]
        bodies = [longest([*head.split(), *lines]) for head, lines in zip(heads, cells, strict=True)]
        words = [longest(" ".join([head, *lines]).split()) for head, lines in zip(heads, cells, strict=True)]
        broken = [body if c.no_wrap else word for c, body, word in zip(self.columns, bodies, words, strict=True)]
        room = options.max_width - 2  # for its edges
        cut = [1] * len(words)
        ways = [(bodies, 3), (bodies, 2), (broken, 3), (broken, 2), (broken, 1), (words, 1), (cut, 1)]
        across = len(self.columns) - 1
        least, gap = next(((least, gap) for least, gap in ways if sum(least) + gap * across <= room), ways[-1])
        if self.parted and across > 1 and least is cut:
            each = beside(broken, room)
            yield from (self.of(self.columns[k : k + each]) for k in range(1, across + 1, each))
            return
        wanted = [longest([head, *lines]) for head, lines in zip(heads, cells, strict=True)]
        self.padding = (0, int(gap > 1), 0, int(gap > 2))
        for floor in (bodies, least):
            wanted = narrowed(wanted, floor, room - gap * across)
        for column, width, head, body in zip(self.columns, wanted, heads, bodies, strict=True):
            column.width, column.no_wrap = width, column.no_wrap and width >= max(body, cell_len(head))
        yield from super().__rich_console__(console, options)

    def of(self, columns: Sequence[Column]) -> Fitted:
        """The same table of the first column and some others."""
        made = copy(self)
        made.columns = [replace(column, _index=place) for place, column in enumerate((self.columns[0], *columns))]
        return made


def beside(widths: Sequence[int], room: int) -> int:
    """How many columns stand beside the first, so that all have room in the fewest rows of them."""
    first, *others = widths
    for rows in range(2, len(others)):
        each = ceil(len(others) / rows)
        if all(first + sum(others[k : k + each]) + each <= room for k in range(0, len(others), each)):
            return each
    return 1


def longest(texts: Sequence[str]) -> int:
    """The width of the longest."""
    return max(map(cell_len, texts), default=0)


def narrowed(widths: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """The widths, of which the widest are made less until they have room together, and none less than its `least`."""
    found = list(widths)
    while sum(found) > room and (can := [k for k, width in enumerate(found) if width > least[k]]):
        found[max(can, key=lambda k: found[k])] -= 1
    return found
