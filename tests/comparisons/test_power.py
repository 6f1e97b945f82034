"""Sample sizes and the gain gate."""

from __future__ import annotations

import pytest

from loopworth.comparisons.power import gain_gate, n_fixed


@pytest.mark.parametrize(
    ("gain", "discordance", "n"),
    [(0.0, 0.05, 56), (0.0, 0.2, 134), (0.2, 0.3, 162), (0.3, 0.3, 34), (0.4, 0.4, 21), (0.4, 0.5, 29)],
)
def test_the_published_sizes_come_out(gain: float, discordance: float, n: int) -> None:
    """80 % power at a smallest gain of 0.10, within one task."""
    assert n_fixed(gain, discordance, 0.1) == pytest.approx(n, abs=1)


def test_a_gain_takes_at_least_as_much_discordance() -> None:
    """A gain of .3 with arms that differ on .2 of the tasks cannot be; an equal gain is never told apart."""
    with pytest.raises(ValueError, match="takes a discordance"):
        n_fixed(0.3, 0.2, 0.1)
    assert n_fixed(0.1, 0.2, 0.1) is None


def test_the_gate_closes_only_from_44_tasks() -> None:
    """At a level of .01 and a gain of .10: none at 43, 0 failures at 44, 3 at 100."""
    assert [gain_gate(n, 0.1, 0.01) for n in (43, 44, 100)] == [-1, 0, 3]
