"""A comparison under way: a bar with the spend so far on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from loopworth.cli.terminal import notices, shown
from loopworth.comparisons.progress import Progress
from loopworth.runs.characters import safe

REFRESH, LINE = 0.1, 10.0
"""Seconds between two pictures of the bar, and between two lines where there is no terminal."""


@contextmanager
def followed() -> Iterator[Callable[[Progress], None]]:
    """What a comparison tells its progress to."""
    console = notices()
    if not console.is_terminal:
        yield Lines(console)
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[spend]}", markup=False),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}", markup=False),
    )
    with Bar(*columns, console=console, transient=True, auto_refresh=False, disable=False) as bar:
        yield Picture(bar)


class Lines:
    """Progress in a log: what is being prepared, then a line every ten seconds."""

    def __init__(self, console: Console) -> None:
        self.console, self.noted, self.last = console, "", time.monotonic()

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if progress.phase == "preparing" and progress.note != self.noted:
            self.noted = progress.note
            self.console.print(shown(progress.note, lines=False), soft_wrap=True)
        elif progress.phase != "preparing" and now - self.last >= LINE:
            self.last = now
            text = f"{progress.phase}: {sum(progress.done.values())} of {planned(progress)} runs, {spend(progress)}"
            self.console.print(shown(", ".join(filter(None, (text, left(progress))))), soft_wrap=True)


class Picture:
    """Progress on a terminal. The bar starts with the first run, so that it never meets the bar of a download."""

    def __init__(self, bar: Bar) -> None:
        self.bar, self.last = bar, 0.0
        self.task = bar.add_task("", total=None, visible=False, spend="", left="")

    def __call__(self, progress: Progress) -> None:
        now, done = time.monotonic(), sum(progress.done.values())
        if progress.phase == "preparing" or (now - self.last < REFRESH and done < planned(progress)):
            return
        self.last = now
        self.bar.update(
            self.task,
            visible=True,
            description=safe(progress.phase),
            completed=done,
            total=planned(progress),
            spend=spend(progress),
            left=left(progress),
        )
        self.bar.refresh()


def planned(progress: Progress) -> int:
    return progress.total * max(1, len(progress.done))


def spend(progress: Progress) -> str:
    """The US dollars so far, and how many runs have an unknown price."""
    runs = "run" if progress.unpriced == 1 else "runs"
    unknown = f"{progress.unpriced} {runs} of unknown cost" if progress.unpriced else ""
    known = f"${progress.usd:.4f}" if progress.usd else ""
    return " + ".join(filter(None, (known, unknown))) or "nothing spent"


def left(progress: Progress) -> str:
    return "" if progress.eta is None else f"about {progress.eta:.0f} s left"
