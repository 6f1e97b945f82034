"""What a run store holds of one run."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from loopworth.runs.exit import Exit
from loopworth.runs.usage import Usage, Value

Kind = Literal["run", "comparison", "trial"]
State = Literal["unfinished", "done"]


class Kept(Value, frozen=True):
    """One run, one trial of a comparison, or a comparison itself, whose trials have it as their `parent`.

    `name` is the workflow's, or the comparison's. `began` is UTC (ISO 8601). An `unfinished` run was killed, cancelled,
    or is still under way. `input` is what it was given; of a comparison, the digests of its files. `seconds` is the
    run's active time. Only a trial has an arm, a task, a repeat and an attempt; `right` is its score, None where it was
    not scored. `source` says what a durable run is made of, so that another process can go on with it.
    """

    id: str
    kind: Kind
    name: str
    file: str
    began: str
    parent: str | None = None
    input: Any = None
    state: State = "unfinished"
    exit: Exit | None = None
    note: str = ""
    model_calls: int = 0
    tool_calls: int = 0
    usage: Usage = Usage()
    seconds: float = 0.0
    epoch: int = 1
    arm: str | None = None
    task: str | None = None
    repeat: int | None = None
    attempt: int | None = None
    right: bool | None = None
    source: Any = None


class Score(Value, frozen=True):
    """What a store holds of a trial beside its run. `began` is in seconds since the comparison began."""

    right: bool | None = None
    harmful: bool | None = None
    remark: str = ""
    route: str | None = None
    latency: float = 0.0
    began: float = 0.0


class Query(Value, frozen=True):
    """Which runs are wanted; None takes all. `since` is UTC (ISO 8601). `comparison` is its id or its name."""

    workflow: str | None = None
    exit: str | None = None
    comparison: str | None = None
    arm: str | None = None
    task: str | None = None
    since: str | None = None
    kinds: tuple[Kind, ...] = ("run", "comparison")
    most: int | None = None


usage_of = msgspec.json.Decoder(Usage).decode
