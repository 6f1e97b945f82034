"""Progress of a comparison, where there is no terminal."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from loopworth.cli.progress import Lines
from loopworth.comparisons.progress import Progress


@pytest.mark.parametrize(
    ("usd", "eta", "said"),
    [
        (0.0, 88.0, "running: 5 of 24 runs, nothing spent, about 88 s left\n"),
        (0.0123, None, "running: 5 of 24 runs, $0.0123\n"),
    ],
)
def test_a_line_of_progress_reads_as_one_sentence(usd: float, eta: float | None, said: str) -> None:
    """What is done, what it cost and what is left stand apart; where nothing was spent there is no figure."""
    console = Console(file=io.StringIO(), width=200)
    lines = Lines(console)
    lines.last -= 60
    lines(Progress("running", {"one": 5, "two": 0}, 12, usd, eta=eta))
    assert console.file.getvalue() == said
