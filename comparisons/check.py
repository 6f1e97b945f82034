"""Whether a comparison hangs together: arms, tasks, score, writes, gates. None of its faults stops the search."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args, get_origin

from loopworth.comparisons.agreement import of_rows
from loopworth.comparisons.cells import misfits, typed
from loopworth.comparisons.choice import chosen
from loopworth.comparisons.fakes import uncallable
from loopworth.comparisons.judge import Judge
from loopworth.comparisons.logged import log
from loopworth.comparisons.named_scores import JUDGE, NAMES, scorer
from loopworth.comparisons.program import fitted, hinted, program_inputs
from loopworth.comparisons.scores import ScoreFault, Scorer
from loopworth.comparisons.spec import Arm, Comparison, Tasks, judge_form
from loopworth.comparisons.tasks import RESERVED, Task, columns, lacking, table_of
from loopworth.models.spec import ModelSpec
from loopworth.runs.recording import RecordingFault
from loopworth.runs.spelling import nearest
from loopworth.workflows import chat_model, entries
from loopworth.workflows.document import BROKEN
from loopworth.workflows.faults import Fault, suggestion
from loopworth.workflows.files import Files
from loopworth.workflows.form import Form, Spotted, foreign, members, names_of, unwrapped, usable
from loopworth.workflows.python_name import PythonNameFault
from loopworth.workflows.python_name import load as load_python
from loopworth.workflows.reach import gated, reached, written
from loopworth.workflows.scope import ANYTHING, Schema, Scope, condition
from loopworth.workflows.spec import LATER, Loop, ModelForm, Workflow, input_type
from loopworth.workflows.type_expression import TypeFault
from loopworth.workflows.types import Type

TAKES_A_TEXT = ("python", "not-python")
"""The scores that a text alone configures: what it names."""


def later(comparison: Comparison) -> Iterator[Fault]:
    """The uses of what this version does not have."""
    for arm in comparison.arms.values():
        if "control" in arm.given and "change" in arm.given:
            yield arm.at("change").fault(f"`change` of a control {LATER}", key=True)


class Checking:
    """One comparison, with its tasks (None where they could not be read) and the workflows of its arms.

    `tasks` are those that count, cells read as what they stand for; `every` are all of the file.
    """

    def __init__(self, comparison: Comparison, tasks: Sequence[Task] | None, files: Files) -> None:
        self.comparison, self.files, self.scorer = comparison, files, None
        self.types = dict(self.typed())
        self.hints = dict(self.hinted(columns(tasks or ())))
        inputs = [*self.types.values(), *self.hints.values()]
        self.every = None if tasks is None else tuple(typed(task, inputs) for task in tasks)
        self.tasks, self.unchosen = self.every, list[Fault]()
        if isinstance(comparison.tasks, Tasks) and self.every is not None:
            self.tasks, self.unchosen = chosen(comparison.tasks, self.every)

    scorer: Scorer | None

    def faults(self) -> list[Fault]:
        """What is wrong with the comparison."""
        return [
            *later(self.comparison),
            *self.unchosen,
            *self.score(),
            *self.controls(),
            *self.programs(),
            *self.columns(),
            *self.conditions(),
            *self.writes(),
            *self.fakes(),
            *self.approvals(),
            *self.injected(),
            *self.needed(),
        ]

    def typed(self) -> Iterator[tuple[str, Type]]:
        """What each arm takes in, where that can be told."""
        for name, workflow in self.workflows.items():
            try:
                yield name, input_type(workflow)
            except TypeFault:
                continue

    def hinted(self, tags: Iterable[str]) -> Iterator[tuple[str, Type]]:
        """What the hints of each arm that is a function say of the columns that it is given."""
        given = program_inputs(self.types.values(), tags)
        for name, arm in self.comparison.arms.items():
            if isinstance(arm.python, str):
                with suppress(PythonNameFault, ValueError):  # it is told where the programs are
                    function = load_python(arm.python, arm.at("python").base)
                    yield name, hinted(function, fitted(function, given)[0])

    @property
    def workflows(self) -> dict[str, Workflow]:
        """The arms whose workflow could be read."""
        found = {}
        for name, arm in self.comparison.arms.items():
            if isinstance(arm.workflow, str) and self.files.key(arm.path("workflow")) in self.files.workflows:
                found[name] = self.files.workflow_at(arm, "workflow")
        return found

    @property
    def tags(self) -> set[str]:
        """The columns of the tasks that are not reserved."""
        return columns(self.every or ())

    def score(self) -> Iterator[Fault]:
        comparison, spot = self.comparison, self.comparison.at("score")
        name: Any = comparison.score
        options: Any = {}
        inside: tuple[str, ...] = ()
        if "score" not in comparison.given or not comparison.sound("score"):
            return
        if isinstance(name, dict):
            if len(name) != 1:
                yield spot.fault("`score` is one score", "write {number: {tolerance: 0}}")
                return
            [(name, options)] = name.items()
            inside = (name,)
        if options is BROKEN:
            return
        if name == JUDGE:
            yield from self.judge(options)
            return
        if not isinstance(options, dict | None) and not (isinstance(options, str) and name in TAKES_A_TEXT):
            yield spot.below(*inside).fault(f"{name!r} takes a mapping of options", f"write {{{name}: {{}}}}")
            return
        options = {"function": options} if isinstance(options, str) else options or {}
        found, made = scored(name, options, spot.base)
        self.scorer = None if found else made
        for option, fault in found:
            where = spot.below(*inside, *([option] if option else []))
            where = where if where.value is not BROKEN else spot.below(*inside)
            yield where.fault(fault.what, fault.instead, key=bool(inside))

    def judge(self, options: Any) -> Iterator[Fault]:
        """The model, the rubric and the labelled rows of an LLM judge."""
        spot = self.comparison.at("score")
        if not isinstance(options, dict) or not options:
            yield spot.fault("`judge` needs a model", "judge: {model: provider/name, labels: labelled.jsonl}")
            return
        form, faults = judge_form(self.comparison)
        self.scorer = Judge(ModelSpec(""))
        yield from faults
        yield from chat_model.faults(form) if "model" in form.given and form.sound("model") else ()
        if form.labels is None or (there := self.files.present(form.path("labels"), form.at("labels"))) is None:
            return
        table = table_of(there, str(there))
        yield from table.faults
        lines = dict[str, tuple[int, bool]]()
        for row in table.rows:
            try:
                [label] = of_rows([row.values])
            except LookupError:
                what = "a labelled row has `answer`, `expected` and `right`: true or false"
                yield Fault(table.file, row.line, 1, what, '{"answer": "4 km", "expected": "4000 m", "right": true}')
                continue
            line, right = lines.setdefault(label.asks, (row.line, label.right))
            if right is not label.right:
                what = f"the same row is in line {line}, with another label"
                yield Fault(table.file, row.line, 1, what, "leave out the one that is wrong")

    def controls(self) -> Iterator[Fault]:
        arms = self.comparison.arms
        if "arms" in self.comparison.given and self.comparison.sound("arms") and not arms:
            yield self.comparison.at("arms").fault("`arms` is empty", "pipeline: {workflow: pipeline.yaml}", key=True)
        for name, arm in arms.items():
            if "control" in arm.given and isinstance(arm.of, str) and arm.of in arms and arm.of != name:
                yield from self.uncontrolled(arm)
            if "control" in arm.given and isinstance(arm.of, str) and (arm.of not in arms or arm.of == name):
                others = [other for other in arms if other != name]
                yield arm.at("of").fault(f"there is no arm {arm.of!r} to control", suggestion(arm.of, others, "arms"))
            if isinstance(arm.log, str) and not arm.path("log").is_file():
                yield arm.at("log").fault(f"there is no file {str(arm.path('log'))!r}")

    def uncontrolled(self, arm: Arm) -> Iterator[Fault]:
        """A control is made of an agent: a loop, whose tools can be taken away."""
        of, workflow = self.comparison.arms[str(arm.of)], self.workflows.get(str(arm.of))
        if of.control is not None or (arm.control != "retry" and of.workflow is None):
            yield arm.at("of").fault(f"{arm.of!r} is no workflow, so `{arm.control}` cannot be made of it")
        elif arm.control != "retry" and workflow is not None and not isinstance(workflow, Loop):
            what = f"{arm.of!r} is no loop, so it has no tools to go without"
            yield arm.at("of").fault(what, "a control is made of an agent")

    def programs(self) -> Iterator[Fault]:
        """Functions that can be called with what tasks have, commands that say something, logs that can be read."""
        given = program_inputs(self.types.values(), self.tags)
        for name, arm in self.comparison.arms.items():
            if isinstance(arm.python, str):
                try:
                    fitted(load_python(arm.python, arm.at("python").base), given)
                except PythonNameFault as fault:
                    yield arm.at("python").fault(fault.what, fault.instead)
                except ValueError as why:
                    yield arm.at("python").fault(f"{arm.python!r} {why}")
            if arm.command is not None and not "".join(arm.command[:1]).strip():
                yield arm.at("command").fault("`command` is empty", "command: [./agent, --json]", key=True)
            if isinstance(arm.log, str) and self.comparison.stop_early:
                what = "`stop_early: true` saves runs, and those of a log are made"
                yield arm.at("log").fault(what, "leave out `stop_early`", key=True)
            if isinstance(arm.log, str) and arm.path("log").is_file():
                try:
                    log(arm.path("log"), self.tasks or (), name, 1)
                except (RecordingFault, OSError) as why:
                    yield arm.at("log").fault(str(why))

    def columns(self) -> Iterator[Fault]:
        """`group_by` and `cluster` name a tag that every task has."""
        decide = self.comparison.decide
        for form, key in [(self.comparison, "group_by"), *([(decide, "cluster")] if decide is not None else [])]:
            name = form[key]
            if name is None or self.tasks is None:
                continue
            if name not in self.tags:
                near = suggestion(name, self.tags, "columns")
                yield form.at(key).fault(f"no task has a column {name!r}", near)
            else:
                yield from lacking(self.tasks, [name])

    def conditions(self) -> Iterator[Fault]:
        """`harm` over an answer."""
        comparison = self.comparison
        columns: dict[str, Schema] = dict.fromkeys((*self.tags, *RESERVED), ANYTHING)
        if comparison.decide is not None:
            task = {"type": "object", "properties": columns, "additionalProperties": self.tasks is None}
            names: dict[str, Schema] = {"answer": ANYTHING, "calls": ANYTHING, "task": task}
            yield from condition(comparison.decide.harm, comparison.decide.at("harm"), Scope(names, reader="`harm`"))

    def writes(self) -> Iterator[Fault]:
        """Arms do not write, unless that is allowed or all their writes are faked."""
        if self.comparison.writes == "allowed" or "tools" in self.comparison.given:
            return
        for name, workflow in self.workflows.items():
            if tools := sorted(written(workflow, self.files)):
                what = f"the arm {name!r} may write ({', '.join(tools)}), once for every task"
                advice = (
                    "write `tools: fakes.yaml`, a catalogue of the same names that does no harm, or `writes: allowed`"
                )
                yield self.arm(name).fault(what, advice, key=True)

    def fakes(self) -> Iterator[Fault]:
        """Fakes have the names and the arguments of tools that the arms have, and cover every write."""
        fakes, comparison = self.stand_ins(), self.comparison
        if fakes is None:
            return
        known = {name for workflow in self.workflows.values() for name in self.of_all(workflow)}
        for name, tool in fakes.items():
            if name not in known and known:
                yield tool.spot.fault(f"no arm has a tool {name!r}", suggestion(name, known, "tools"), key=True)
        if isinstance(comparison.tools, dict):
            yield from entries.faults(comparison.tools, self.files)
        yield from uncallable(self.workflows.values(), fakes, self.files)
        for name, workflow in self.workflows.items():
            left = sorted(written(workflow, self.files, fakes))
            if left and comparison.writes != "allowed":
                what = f"the arm {name!r} may write ({', '.join(left)}), and there is no fake for it"
                yield self.arm(name).fault(what, "add it to the fakes", key=True)

    def of_all(self, workflow: Workflow) -> set[str]:
        return {name for one in reached(workflow, self.files) for name in self.files.tools(one)}

    def stand_ins(self) -> Mapping[str, Any] | None:
        written = self.comparison.tools
        if isinstance(written, str):
            catalogue = self.files.catalogues.get(self.files.key(self.comparison.path("tools")))
            return catalogue.tools if catalogue is not None else None
        return written

    def approvals(self) -> Iterator[Fault]:
        """A gate needs an answer before anything runs."""
        if self.comparison.approvals is not None or self.tasks is None:
            return
        for name, workflow in self.workflows.items():
            tools = sorted(gated(workflow, self.files))
            unanswered = [task for task in self.tasks if task.approve is None]
            if tools and unanswered:
                what = f"the arm {name!r} may reach a gate ({', '.join(tools)}), and nothing says what to answer"
                advice = "write `approvals: approve` or `approvals: reject`, or give every task a column `approve`"
                yield self.arm(name).fault(what, advice, key=True)

    def injected(self) -> Iterator[Fault]:
        """Faults are put into calls of tools that an arm has; a delay in a workflow belongs to its steps."""
        known = {name for workflow in self.workflows.values() for name in self.of_all(workflow)}
        for name in self.comparison.faults:
            if name not in known and known:
                spot = self.comparison.at("faults", name)
                yield spot.fault(f"no arm has a tool {name!r}", suggestion(name, known, "tools"), key=True)
        for name in sorted({tool for workflow in self.workflows.values() for tool in self.running(workflow)}):
            fault = self.comparison.faults.get(name)
            if fault is not None and not {"error", "value"} & fault.given:
                what = f"{name!r} runs a workflow, which a mere `delay` cannot be put into"
                yield fault.spot.fault(what, "delay a tool that the workflow calls", key=True)

    def running(self, workflow: Workflow) -> Iterator[str]:
        """The tools that run a workflow."""
        for one in reached(workflow, self.files):
            yield from (name for name, tool in self.files.tools(one).items() if tool.run is not None)

    def needed(self) -> Iterator[Fault]:
        """Each task has what the arms take in, of the right type, and something to compare the answer with."""
        tasks = self.tasks or ()
        for type in self.types.values():
            yield from lacking(tasks, type.schema.get("required", ()))
        yield from misfits(tasks, self.types)
        yield from misfits([task for task in tasks if task.cells], self.hints)
        yield from lacking([task for task in tasks if task.expected_route is None], ["expected"])
        judged = next((task for task in tasks if task.expected is not None), None)
        if judged is not None and "score" not in self.comparison.given:
            what = f"no `score` says when an answer is right, and task {judged.id!r} has an `expected`"
            yield self.comparison.spot.fault(
                what, f"write `score: equals`, or one of {', '.join((*NAMES, JUDGE))}", key=True
            )
        for task in tasks:
            if self.scorer is not None and task.expected is not None and (why := self.scorer.unfit(task.expected)):
                yield Fault(task.file, task.line, 1, f"`expected` of task {task.id!r}: {why}")

    def arm(self, name: str) -> Spotted:
        return self.comparison.at("arms", name)


def scored(name: str, options: dict[str, Any], base: Path) -> tuple[list[tuple[str | None, ScoreFault]], Scorer | None]:
    """Every fault of a score and its options, with the option; and the score, if there is one without them."""
    found: list[tuple[str | None, ScoreFault]] = []
    left = dict(options)
    while True:
        try:
            return found, scorer(name, left, base)
        except ScoreFault as fault:
            found.append((fault.option, fault))
            if fault.option in left and fault.option != "function":
                del left[fault.option]
            elif (near := nearest(name, NAMES)) is None or near == name:
                return found, None
            else:
                name = near


def misplaced(workflow: Workflow, path: str, spot: Spotted) -> Iterator[Fault]:
    """The fault of a dotted path that leads to no key of a workflow."""
    forms: list[Any] = [type(workflow)]
    for part in path.split("."):
        known = {key for form in forms if is_form(form) for key in usable(form)}
        free = any(get_origin(form) in (dict, list) or form is Any for form in forms)
        if part not in known and not free:
            yield spot.fault(f"{path!r} leads to no key of the workflow", instead_of(part, known, forms), key=True)
            return
        forms = list(below(forms, part))


def instead_of(part: str, known: Iterable[str], forms: Iterable[Any]) -> str:
    """The path that was meant by a key that none of the forms has, or all that they have."""
    paths = [".".join(path) for form in forms if is_form(form) for path in foreign(part, form)]
    return suggestion(part, known, "keys", next(iter(paths), None))


def below(forms: Iterable[Any], part: str) -> Iterator[Any]:
    for form in forms:
        if is_form(form) and part in names_of(form):
            yield from kinds(form.model_fields[names_of(form)[part]].annotation)
        elif get_origin(form) in (dict, list):
            yield from kinds(get_args(form)[-1])
        elif form is Any:
            yield Any


def kinds(annotation: Any) -> Iterator[Any]:
    """The forms and mappings that a field may hold; the name of a model stands for the whole of it."""
    for option in members(annotation):
        bare = unwrapped(option)
        yield bare
        if bare is ModelForm:
            yield Any


def is_form(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Form)
