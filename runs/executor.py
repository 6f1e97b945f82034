"""What runs: all five shapes are executors, and `execute` makes an outcome of whatever ends one."""

from __future__ import annotations

import asyncio
import traceback
from typing import Any, Protocol

import msgspec

from loopworth.runs.effects import Effects
from loopworth.runs.outcome import Diverged, Failed, Fenced, Outcome, Stop, Waiting
from loopworth.runs.secrets import hide


class Executor(Protocol):
    """Anything that runs: all five shapes. Raises `Stop`, `Waiting` or `Failed`; `execute` makes them outcomes."""

    async def run(self, input: dict[str, Any], fx: Effects) -> Outcome: ...


async def execute(executor: Executor, input: dict[str, Any], fx: Effects) -> Outcome:
    """Run an executor to its end and make that end an `Outcome`, with all events and messages.

    A cancelled run returns `cancelled` instead of raising, so that what was paid is kept. A bug of ours becomes
    `harness_error` with its traceback. Only `Diverged` and `Fenced` are raised: the run is not ours to finish then.
    """
    try:
        outcome = await executor.run(input, fx)
    except Stop as stop:
        outcome = Outcome(None, stop.exit, stop.note)
    except Waiting as waiting:
        why = f": {waiting.note}" if waiting.note else ""
        outcome = Outcome(None, "waiting", f"waits for a decision at {', '.join(waiting.gates)}{why}", waiting.gates)
    except Failed as failed:
        outcome = Outcome(None, "step_failed", str(failed), cause=failed.cause)
    except asyncio.CancelledError:
        outcome = Outcome(None, "cancelled")
    except (Diverged, Fenced):
        raise
    except Exception as bug:
        outcome = Outcome(None, "harness_error", f"{type(bug).__name__}: {bug}", traceback=traceback.format_exc())
    outcome = hide(outcome)
    return msgspec.structs.replace(
        outcome, events=fx.trace(), transcript=fx.transcript(), calls=fx.observations(), seconds=fx.clock()
    )
