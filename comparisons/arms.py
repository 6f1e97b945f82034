"""The arms of a comparison: compiled workflows, of any shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from loopworth.comparisons import cells, spec
from loopworth.comparisons.estimate import Estimate, dearer, estimate
from loopworth.comparisons.fakes import stand_in
from loopworth.comparisons.tasks import Task
from loopworth.workflows.compile import Compiled, build
from loopworth.workflows.faults import Fault, WorkflowFault
from loopworth.workflows.files import Files
from loopworth.workflows.overrides import loosened
from loopworth.workflows.reach import reached
from loopworth.workflows.spec import Tool, Workflow
from loopworth.workflows.variant import Difference


@dataclass(frozen=True)
class Arm:
    """One contender. A pipeline that calls no model (a regular expression, say) is an arm like any other.

    `estimate` is what a run is expected to take by its files, where that can be told. `differences` are those from its
    file, where the comparison changes something.
    """

    name: str
    workflow: Compiled
    estimate: Estimate | None = None
    differences: tuple[Difference, ...] = ()

    @property
    def inputs(self) -> tuple[str, ...]:
        """The task columns that the workflow takes."""
        return tuple(self.workflow.input.schema.get("properties", {}))

    def given(self, task: Task) -> dict[str, Any]:
        """What the workflow is given of a task."""
        return cells.given(task, self.workflow.input)

    @property
    def models(self) -> tuple[str, ...]:
        """The models it may call, as the files name them."""
        return tuple(sorted({spec.name for spec in self.workflow.models.values()}))

    def dearer(self, other: Arm, times: float) -> bool:
        """Whether its runs are expected to cost at least so many times as much; False where that cannot be told."""
        if self.estimate is None or other.estimate is None:
            return False
        return dearer(self.estimate, other.estimate, times)


def build_arms(form: spec.Comparison, files: Files) -> tuple[Arm, ...]:
    """The arms of a comparison whose files were checked, their tools replaced where the file names fakes.

    Raises WorkflowFault with the faults of all arms.
    """
    fakes, arms, faults = stand_ins(form, files), list[Arm](), list[Fault]()
    for name, arm in form.arms.items():
        workflow = files.workflow_at(arm, "workflow")
        faults += faked(workflow, files, fakes)
        try:
            changed = files.differences.get(id(arm), ())
            arms.append(Arm(name, build(workflow, files), estimate(workflow, files), differences=changed))
        except WorkflowFault as fault:
            faults += fault.faults
    if faults:
        raise WorkflowFault(faults)
    return tuple(arms)


def stand_ins(form: spec.Comparison, files: Files) -> Mapping[str, Tool]:
    """The fakes that `tools` names, or holds."""
    if isinstance(form.tools, str):
        return files.catalogues[form.path("tools").resolve()].tools
    return form.tools or {}


def faked(workflow: Workflow, files: Files, fakes: Mapping[str, Tool]) -> list[Fault]:
    """Put fakes in the place of tools of the same name, in a workflow and all that run in it.

    A fake brings its own implementation and bound arguments; what it does not say (gate, allow-list, limits) stays. It
    may not take a guard away: the faults are of those that do.
    """
    faults: list[Fault] = []
    for one in reached(workflow, files) if fakes else ():
        real = files.tools(one)
        for name in real.keys() & fakes.keys():
            faults += loosened(name, real[name], fakes[name])
        files.merged[id(one)] = {name: stand_in(tool, fakes.get(name)) for name, tool in real.items()}
    return faults
