"""Figures of runs in words."""

from __future__ import annotations

import msgspec
import pytest

from loopworth.runs.figures import NOT_BILLED, dollars, mean_dollars, rounded, spent
from loopworth.runs.kept import Kept
from loopworth.runs.usage import Usage


@pytest.mark.parametrize(
    ("usd", "said"),
    [(None, "unknown"), (0.0, NOT_BILLED), (0.5, "$0.5"), (0.0000123, "$0.000012"), (1e-9, "< $0.000001")],
)
def test_a_cost_is_in_the_same_words_everywhere(usd: float | None, said: str) -> None:
    """Unknown is not nothing, nothing is not billed, and what is little is not nothing."""
    assert dollars(usd) == said
    assert usd or mean_dollars(usd) == said


def test_of_a_run_under_way_that_cost_nothing_yet_no_cost_is_told() -> None:
    """It may come to be billed."""
    done = Kept("1", "run", "a", "a.yaml", "2026-01-01", state="done")
    assert spent(done) == NOT_BILLED
    assert spent(msgspec.structs.replace(done, state="unfinished")) == "-"
    assert spent(msgspec.structs.replace(done, state="unfinished", usage=Usage(1, 1, usd=0.25))) == "$0.25"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.958333, "0.958"), (0.00008884, "0.0000888"), (0.0000099999, "0.00001"), (999.6, "1,000"), (1234.5, "1,230"),
        (1_590_000.0, "1,590,000"), (-1_590_000.0, "-1,590,000"), (0.0, "0"), (1e300, "1e+300"), (1e-300, "1e-300"),
    ],
)  # fmt: skip
def test_a_figure_is_written_out(value: float, said: str) -> None:
    """No reader has to count powers of ten, where that takes no more than twelve places."""
    assert rounded(value) == said


def test_what_a_run_costs_is_written_out() -> None:
    """A small model's too."""
    assert [mean_dollars(usd) for usd in (0.0000086801, 13.8, 1234.56)] == ["$0.00000868", "$13.8", "$1,235"]
