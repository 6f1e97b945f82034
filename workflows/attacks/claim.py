"""What an attack claims of a gate, and what every attack does to come to that."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeAlias

from loopworth.runs.approvals import Approval, Refused
from loopworth.runs.wall_clock import moment
from loopworth.workflows.attacks.stage import Run, Stage

MOST_ACTIVATIONS = 12
"""Activations after which a run that still waits is left."""


class NotHeld(Exception):
    """What happened that must not."""


class DoesNotApply(Exception):
    """Why an attack has nothing to attack here."""


Attack: TypeAlias = Callable[[Stage], str]
"""Returns what was seen; raises NotHeld, DoesNotApply."""


def claim(holds: bool, otherwise: str) -> None:
    if not holds:
        raise NotHeld(otherwise)


def parked(stage: Stage, *turns: Any, wall: Callable[[], datetime] = moment, **how: Any) -> tuple[Run, Approval]:
    """A run that waits at its first call, and the question; nothing was called for it."""
    run = stage.begin(*(turns or (stage.calls[0],)), **how)
    outcome = run.go_on(wall)
    one = waits(run, f"the run ended {outcome.exit} {outcome.note}".strip())
    claim(run.called == [], f"the call was made while the question waited: {run.called}")
    return run, one


def waits(run: Run, otherwise: str) -> Approval:
    """The question that the run waits with, which shows the exact arguments of a call in the script."""
    found = run.waiting()
    claim(bool(found), f"nobody was asked: {otherwise}")
    asked = [call for turn in run.turns for call in (turn if isinstance(turn, list) else [turn])]
    claim(
        all(one.question.arguments in asked for one in found),
        f"the question shows other arguments: {found[0].question}",
    )
    return found[0]


def two(stage: Stage) -> tuple[dict[str, Any], dict[str, Any]]:
    """Two calls that differ."""
    if len(stage.calls) < 2:
        raise DoesNotApply("only one call reaches the gate, and none can be told from it: give others with --call")
    return stage.calls[0], stage.calls[1]


def ended(run: Run, yes: dict[str, Any]) -> None:
    """Approve the call with these arguments and reject any other, until the run ends."""
    for _ in range(MOST_ACTIVATIONS):
        if run.go_on().exit != "waiting":
            return
        for one in run.waiting():
            run.decide(one, "approve" if one.question.arguments == yes else "reject")
    raise NotHeld(f"the run still waits after {MOST_ACTIVATIONS} activations although all is decided")


def only(run: Run, *calls: dict[str, Any], after: str) -> None:
    """Claim that just these calls were made."""
    claim(
        run.called == list(calls),
        f"after {after} the calls made were {run.called or 'none'}, not {list(calls) or 'none'}",
    )


def refused(decide: Callable[[], Any], otherwise: str) -> None:
    try:
        decide()
    except Refused:
        return
    raise NotHeld(otherwise)
