"""The models of a comparison: opened once, before any clock starts, and shared by all its runs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Literal

import msgspec

from loopworth.comparisons.arms import Arm
from loopworth.comparisons.faults import Faults
from loopworth.comparisons.repeats import Repeated
from loopworth.models import Model, ModelSpec, ScriptedModel, prepare
from loopworth.models.given import Opened
from loopworth.runs.decision import Decision, Question
from loopworth.runs.journal import Record
from loopworth.runs.world import Ask

CLOSING = 0.5
"""Seconds that models get to close."""
WITHOUT_MODEL = 4
"""Runs under way at once among the arms that call no model."""

Open = Callable[[ModelSpec], Model]
decode = msgspec.json.Decoder().decode


class Endpoints:
    """All models of all arms by their key, and the seconds that each took to make ready."""

    def __init__(self, open: Open, specs: Mapping[str, ModelSpec]) -> None:
        self.open, self.specs = open, specs
        self.models: dict[str, Model] = {}
        self.prepared: dict[str, float] = {}

    async def prepare(self, tell: Callable[[str], None]) -> None:
        """Open all models; weights are installed and servers started here, before any run."""
        for key, spec in self.specs.items():
            if spec.provider != "scripted":  # there is nothing to wait for
                tell(spec.name)
            began = time.monotonic()
            self.models[key] = self.open(spec)
            await prepare(self.models[key])
            self.prepared[key] = time.monotonic() - began

    async def close(self) -> None:
        """Close all models; what does not close in time is left alone."""
        closing = [asyncio.ensure_future(model.close()) for model in self.models.values()]
        if closing:
            _, late = await asyncio.wait(closing, timeout=CLOSING)
            for task in late:
                task.cancel()

    def of(self, arm: Arm) -> tuple[str, ...]:
        """The endpoints that an arm reaches."""
        return tuple(sorted({self.models[key].endpoint for key in arm.workflow.models}))

    def slots(self, endpoints: tuple[str, ...]) -> int:
        """How many runs of these may be under way."""
        widths = [model.concurrency for model in self.models.values() if model.endpoint in endpoints]
        return max(1, min(widths, default=WITHOUT_MODEL))

    def world(
        self,
        arm: Arm,
        choice: Literal["approve", "reject"] | None,
        repeat: int,
        records: Mapping[str, Record],
        faults: Faults | None = None,
    ) -> Repeated:
        """The live world of a run, whose gates are always answered the same.

        A scripted model is opened for each run: its replies begin anew, whatever runs beside it, after those that the
        run already had.
        """
        specs = arm.workflow.models
        scripts = {key: self.open(spec) for key, spec in specs.items() if spec.provider == "scripted"}
        for key, script in scripts.items():
            pass_over(script, key, records)
        mine = Opened({key: scripts.get(key) or self.models[key] for key in specs})
        return Repeated(mine, decided(choice), specs, repeat, faults)


def decided(choice: Literal["approve", "reject"] | None) -> Ask | None:
    """A reviewer that always says the same, and no where that is not offered."""
    if choice is None:
        return None

    async def ask(question: Question, id: str) -> Decision:  # noqa: ARG001
        return Decision(choice if choice in question.choices else "reject", by="comparison")

    return ask


def pass_over(script: Model, key: str, records: Mapping[str, Record]) -> None:
    """Let a scripted model go on after the replies that a run already had."""
    if isinstance(script, ScriptedModel):
        for id, record in records.items():
            if record.kind == "model" and decode(record.request)["model"] == key:
                script.next(id)
