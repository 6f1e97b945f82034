"""How far a comparison has come, as it is told to whoever watches it."""

from __future__ import annotations

from typing import Literal

from loopworth.comparisons.trial import Trial
from loopworth.runs.usage import Value

Phase = Literal["preparing", "running", "rerunning", "controls"]


class Progress(Value, frozen=True):
    """How far a comparison has come. `total` is per arm; `usd` is what is known to be spent, `unpriced` counts the runs
    whose cost is unknown; `eta` is in seconds, None before the pace of each endpoint can be told. `done` counts the
    runs of each arm, and of the control that is under way in the phase `controls`."""

    phase: Phase
    done: dict[str, int]
    total: int
    usd: float = 0.0
    unpriced: int = 0
    seconds: float = 0.0
    eta: float | None = None
    last: Trial | None = None
    note: str = ""
