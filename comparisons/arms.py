"""The arms of a comparison: compiled workflows, of any shape."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Literal

from loopworth.comparisons import cells, program, spec
from loopworth.comparisons.estimate import Estimate, dearer, estimate
from loopworth.comparisons.logged import Log, log
from loopworth.comparisons.tasks import Task, columns
from loopworth.models.spec import ModelSpec
from loopworth.runs.budget import Limits
from loopworth.runs.usage import Value
from loopworth.tools.toolbox import Toolbox
from loopworth.workflows.compile import Compiled, build
from loopworth.workflows.document import plain
from loopworth.workflows.faults import Fault, WorkflowFault
from loopworth.workflows.files import Files
from loopworth.workflows.form import Spotted
from loopworth.workflows.given import SHAPE as EXECUTOR
from loopworth.workflows.overrides import loosened, stand_in
from loopworth.workflows.python_name import load as load_python
from loopworth.workflows.reach import reached
from loopworth.workflows.spec import Tool, Workflow, input_type
from loopworth.workflows.type_expression import parse_type
from loopworth.workflows.variant import Difference


@dataclass(frozen=True)
class Arm:
    """One contender. A pipeline that calls no model (a regular expression, say) is an arm like any other.

    `estimate` is what a run is expected to take by its files, where that can be told. `differences` are those from its
    `file`, where the comparison changes something. `log` holds the runs of an arm that were made before. `origin` is
    what it is of: the comparison's file, a program that gave it, or the store alone, which keeps what a program gave
    then (`kept_arm`): such an arm is not run. `command` is where the file has what is started, in an arm that is one.
    """

    name: str
    workflow: Compiled
    estimate: Estimate | None = None
    log: Log | None = None
    differences: tuple[Difference, ...] = ()
    file: str = ""
    origin: Literal["file", "program", "store"] = "file"
    command: Spotted | None = None

    @property
    def inputs(self) -> tuple[str, ...]:
        """The task columns that the workflow takes."""
        return tuple(self.workflow.input.schema.get("properties", {}))

    def given(self, task: Task) -> dict[str, Any]:
        """What the workflow is given of a task; a program of one's own gets each column as it is."""
        if self.foreign:
            return {name: plain(task.fields[name]) for name in self.inputs if name in task.fields}
        return cells.given(task, self.workflow.input)

    @property
    def foreign(self) -> bool:
        """Whether it is a program of the user's own, which takes any column."""
        return self.workflow.shape in (*FOREIGN, EXECUTOR)

    @property
    def models(self) -> tuple[str, ...]:
        """The models it may call, as the files name them."""
        return tuple(sorted({spec.name for spec in self.workflow.models.values()}))

    @property
    def answering(self) -> tuple[str, ...]:
        """Who answers in it: the models it may call, and a program of the user's own, or a log of one, which asks whom
        it likes."""
        own = (f"{self.name} ({self.workflow.shape})",) if self.foreign or self.log is not None else ()
        return (*self.models, *own)

    @property
    def most(self) -> tuple[float, float]:
        """The US dollars and the seconds that a run may take by its own caps; `inf` where there is none."""
        limits = self.workflow.limits
        told = inf if self.estimate is None or self.estimate.worst.usd is None else self.estimate.worst.usd
        return min(told, inf if limits.usd is None else limits.usd), inf if limits.time is None else limits.time

    def dearer(self, other: Arm, times: float) -> bool:
        """Whether its runs are expected to cost at least so many times as much; False where that cannot be told."""
        if self.estimate is None or other.estimate is None:
            return False
        return dearer(self.estimate, other.estimate, times)


def standing(arm: Arm, specs: Mapping[str, ModelSpec]) -> Arm:
    """The arm with these models in the place of its own, by the keys that it has."""
    models = {key: specs.get(key, spec) for key, spec in arm.workflow.models.items()}
    return dataclasses.replace(arm, workflow=dataclasses.replace(arm.workflow, models=models))


Kind = Literal["pasted", "no_tools", "shuffled", "retry"]


class Control(Value, frozen=True):
    """A control of the arm `of`: no arm itself, and outside the verdict."""

    name: str
    kind: Kind
    of: str

    @property
    def key(self) -> str:
        """What its runs are kept under: no arm has this name (see `logged.of_control`), nor another control."""
        return f"{self.name} of {self.of}" if self.name == self.kind else f"{self.name} ({self.kind}) of {self.of}"


FOREIGN = ("python", "command")


def build_arms(form: spec.Comparison, files: Files, tasks: Sequence[Task]) -> tuple[Arm, ...]:
    """The arms of a comparison whose files were checked, their tools replaced where the file names fakes.

    Raises WorkflowFault with the faults of all arms.
    """
    fakes, arms, faults = stand_ins(form, files), list[Arm](), list[Fault]()
    workflows = [files.workflow_at(arm, "workflow") for arm in form.arms.values() if arm.workflow is not None]
    given = program.program_inputs(map(input_type, workflows), columns(tasks))
    for name, arm in form.arms.items():
        if arm.control is not None:
            continue
        if arm.workflow is None:
            arms.append(outside(name, arm, given, tasks, form.repeats))
            continue
        workflow = files.workflow_at(arm, "workflow")
        faults += faked(workflow, files, fakes)
        try:
            changed = files.differences.get(id(arm), ())
            file = str(files.key(arm.path("workflow")))
            arms.append(Arm(name, build(workflow, files), estimate(workflow, files), differences=changed, file=file))
        except WorkflowFault as fault:
            faults += fault.faults
    if faults:
        raise WorkflowFault(faults)
    return tuple(arms)


def outside(name: str, arm: spec.Arm, given: Sequence[str], tasks: Sequence[Task], repeats: int) -> Arm:
    """An arm that is no workflow of ours."""
    if arm.log is not None:
        nothing = Compiled(name, "log", program.Program("log"), Limits(), Toolbox({}), {}, parse_type({}))
        return Arm(name, nothing, log=log(arm.path("log"), tasks, name, repeats))
    if arm.python is not None:
        taken, function = program.fitted(load_python(arm.python, arm.at("python").base), given)
        return Arm(name, program.compiled(name, "python", function, taken, arm.timeout))
    spot = arm.at("command")
    run = program.command(arm.command or [], spot.base)
    return Arm(name, program.compiled(name, "command", run, given, arm.timeout), command=spot)


def stand_ins(form: spec.Comparison, files: Files) -> Mapping[str, Tool]:
    """The fakes that `tools` names, or holds, but for those in whose place a program gave its own."""
    found = files.catalogues[form.path("tools").resolve()].tools if isinstance(form.tools, str) else form.tools or {}
    return {name: tool for name, tool in found.items() if name not in files.given}


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
