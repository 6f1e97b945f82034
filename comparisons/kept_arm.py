"""An arm that a program gave, as the store holds it with its comparison; and the arm again, which nothing can run."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from loopworth.comparisons.arms import Arm
from loopworth.models.spec import ModelSpec
from loopworth.runs.budget import Limits
from loopworth.runs.effects import Effects
from loopworth.runs.outcome import Diverged, Outcome
from loopworth.runs.usage import Value
from loopworth.tools.toolbox import Toolbox
from loopworth.workflows.compile import Compiled
from loopworth.workflows.given import SHAPE as EXECUTOR
from loopworth.workflows.type_expression import parse_type


class KeptArm(Value, frozen=True):
    """What a report needs of it: its shape, the models by the keys of its requests, the task columns that it took, and
    its own limits. Of one that an older version kept only the name is known."""

    name: str
    shape: str = EXECUTOR
    models: dict[str, ModelSpec] = {}
    inputs: tuple[str, ...] = ()
    limits: Limits = Limits()


class Uncalled:
    """In the place of what a program gave: nothing calls it."""

    async def run(self, input: dict[str, Any], fx: Effects) -> Outcome:  # noqa: ARG002
        raise Diverged("what was given in Python is not called without its program")


def entry(arm: Arm) -> KeptArm:
    """What is kept of an arm; the replies that a scripted model would give are not."""
    models = {key: structs.replace(spec, replies=None) for key, spec in arm.workflow.models.items()}
    return KeptArm(arm.name, arm.workflow.shape, models, arm.inputs, arm.workflow.limits)


def arm_of(kept: KeptArm) -> Arm:
    """The arm again, whose runs are those that are kept."""
    columns = parse_type({column: {"json_schema": {}} for column in kept.inputs})
    made = Compiled(kept.name, kept.shape, Uncalled(), kept.limits, Toolbox({}), kept.models, columns)
    return Arm(kept.name, made, origin="store")
