"""Figures of runs in words."""

from __future__ import annotations

import msgspec
import pytest

from loopworth.runs.figures import NOT_BILLED, dollars, mean_dollars, spent
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
