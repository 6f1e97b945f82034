"""A comparison, checked and ready to run."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from msgspec import structs

from loopworth.comparisons import spec, tasks
from loopworth.comparisons.agreement import of_rows
from loopworth.comparisons.arms import Arm, Control, build_arms, standing
from loopworth.comparisons.executable import absent
from loopworth.comparisons.faults import Injected, injected
from loopworth.comparisons.judge import RUBRIC, Judge
from loopworth.comparisons.language import Loaded
from loopworth.comparisons.language import load as load_files
from loopworth.comparisons.named_scores import JUDGE, scorer
from loopworth.comparisons.own_score import OwnScore
from loopworth.comparisons.ruling import ruling_in, without_judge
from loopworth.comparisons.scores import Bounded, Not, Score, Scorer
from loopworth.comparisons.spec import judge_form
from loopworth.comparisons.tasks import Task
from loopworth.comparisons.trace import Trace, traced
from loopworth.comparisons.trial import by_route
from loopworth.comparisons.verdict import Rule
from loopworth.models import ModelSpec, prices
from loopworth.runs.budget import Limits
from loopworth.runs.outcome import Outcome
from loopworth.workflows.chat_model import model_spec
from loopworth.workflows.compile import Compiled
from loopworth.workflows.contract import told
from loopworth.workflows.document import plain
from loopworth.workflows.faults import Fault, WorkflowFault
from loopworth.workflows.form import Spotted
from loopworth.workflows.keys import keyed, place
from loopworth.workflows.origin import by_path
from loopworth.workflows.python_name import code as code_by_name
from loopworth.workflows.reach import unpriced
from loopworth.workflows.spec import Tool
from loopworth.workflows.template_data import Skipped, TemplateFault
from loopworth.workflows.templates import Template, expression


@dataclass(frozen=True)
class Comparison:
    """The arms in order of complexity, the tasks they all meet, and the rule that decides.

    `limits` are the comparison's own: no run is started past them. Where it is to `stop_early`, it may be extended: the
    last tasks were added later, so many at each time. Where `controls` is None none is run, whatever the verdict.
    `harm` is over `answer`, `calls` and `task`, and `faults` are put into the calls of these tools. `spec` is the
    file's content as it was written, `files` the SHA-256 of every file that was read, by path. `given_models` are the
    names of what a program gave in the place of models, by their keys.
    """

    name: str
    file: str
    arms: tuple[Arm, ...]
    tasks: tuple[Task, ...]
    scorer: Scorer
    rule: Rule = Rule()
    seed: int = 0
    repeats: int = 1
    approvals: Literal["approve", "reject"] | None = None
    group_by: str | None = None
    cluster: str | None = None
    accept: float | None = None
    harm: Template | None = None
    faults: Mapping[str, Injected] = field(default_factory=dict)
    limits: Limits = Limits()
    stop_early: bool = False
    extended: tuple[int, ...] = ()
    named: Mapping[str, Spotted] = field(default_factory=dict)
    controls: tuple[Control, ...] | None = ()
    spec: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    given_models: Mapping[str, str] = field(default_factory=dict)

    @property
    def models(self) -> dict[str, ModelSpec]:
        """All models that its arms and its judge ask, by key."""
        found = {key: spec for arm in self.arms for key, spec in arm.workflow.models.items()}
        return found if self.panel is None else {**found, self.panel.model.key: self.panel.model}

    def asking(self, specs: Mapping[str, ModelSpec]) -> Comparison:
        """The comparison with these models in the place of its own, its judge's too, by the keys that they have."""
        arms = tuple(standing(arm, specs) for arm in self.arms)
        panel = self.panel
        if panel is None or panel.model.key not in specs:
            return dataclasses.replace(self, arms=arms)
        return dataclasses.replace(self, arms=arms, scorer=structs.replace(panel, model=specs[panel.model.key]))

    @property
    def of_workers(self) -> frozenset[str]:
        """The keys of the models that a fleet's workers alone ask: whoever sends it asks the judge about labelled rows,
        and makes the controls that are named."""
        own = set() if self.panel is None else {self.panel.model.key}
        return frozenset() if self.controls else frozenset(self.models) - own

    def at_hand(self, given: Collection[str] = (), commands: bool = True) -> None:
        """Hold its models, but for those that are `given`, to having their keys, and its `commands` to being there,
        before any run is entered. Raises WorkflowFault."""
        spots = [arm.command for arm in self.arms if arm.command is not None and commands]
        if lacking := [fault for spot in spots for fault in absent(spot)]:
            raise WorkflowFault(lacking)
        places = {key: spot for arm in reversed(self.arms) for key, spot in arm.workflow.named.items()}
        keyed({key: spec for key, spec in self.models.items() if spec.key not in given}, {**self.named, **places})

    @property
    def early(self) -> bool:
        """Whether it stops as soon as it is settled; one arm alone settles nothing."""
        return self.stop_early and len(self.arms) > 1

    @property
    def own_score(self) -> OwnScore | None:
        """The user's function that says what is right; None where a score of ours does."""
        return self.scorer.own if isinstance(self.scorer, Bounded) else None

    @property
    def panel(self) -> Judge | None:
        """The LLM judge, where it is one that scores."""
        return self.scorer if isinstance(self.scorer, Judge) else None

    def judged(self, workflow: Compiled, task: Task) -> Compiled:
        """What is run on a task: the workflow, and then the judge where there is one."""
        return workflow if self.panel is None else self.panel.over(workflow, task.fields, task.expected)

    @property
    def stages(self) -> tuple[tuple[str, ...], ...]:
        """The ids of the tasks that were chosen at first, then of those added each time."""
        ids, found = [task.id for task in self.tasks], []
        for n in (len(ids) - sum(self.extended), *self.extended):
            found.append(tuple(ids[:n]))
            del ids[:n]
        return tuple(found)

    @cached_property
    def logged(self) -> frozenset[str]:
        """The arms that are logs: their runs were made, and paid, elsewhere."""
        return frozenset(arm.name for arm in self.arms if arm.log is not None)

    @cached_property
    def clusters(self) -> dict[str, str] | None:
        """Each task's template, where tasks of one template count as one."""
        if self.cluster is None:
            return None
        return {task.id: str(task.fields[self.cluster]) for task in self.tasks}

    def judge(self, task: Task, outcome: Outcome) -> Score:
        """The answer against `expected`; where a task has only an `expected_route`, the route against that."""
        if task.expected is None and task.expected_route is not None:
            return by_route(outcome, task.expected_route)
        if self.panel is not None:
            return ruling_in(outcome).score
        return self.scorer(outcome.answer, task.expected)

    def trace(self, task: Task, outcome: Outcome) -> Trace:
        """What the run's events come to; the answer is looked for in observations by a score of ours alone."""
        scorer, right = self.scorer, None
        plain_score = isinstance(scorer, Bounded) and scorer.own is None and not isinstance(scorer.score, Not)
        if task.expected is not None and plain_score:
            right = lambda value: bool(scorer(value, task.expected).right)
        return traced(without_judge(outcome), right)

    def harmful(self, task: Task, outcome: Outcome) -> bool | None:
        """Whether the run did harm; None where nothing says what harm is. A condition that fails counts as harm."""
        if self.harm is None:
            return None
        answer = outcome.answer if outcome.answered else Skipped("the run left no answer")
        names = {"answer": answer, "calls": [told(one) for one in outcome.calls], "task": task.fields}
        try:
            return self.harm.holds(names)
        except TemplateFault:
            return True


def load(
    path: str | Path,
    task: str | None = None,
    limit: int | None = None,
    whole: bool = False,
    tools: Mapping[str, Tool] | None = None,
) -> Comparison:
    """Read a comparison with all its files and check it; nothing is run and no model opened.

    `task` keeps the task of that id alone, also past the file's own limit, `limit` the first so many; `whole` takes
    all. `tools` stand in for those of the arms. Raises WorkflowFault with every fault of every file, and LookupError,
    which names the nearest id, where there is no such task.
    """
    loaded = load_files(path, whole=whole, given=tools).sound()
    form = loaded.comparisons.get(Path(path).resolve())
    if form is None:
        raise WorkflowFault([Fault(str(path), 1, 1, "is not a comparison", "a comparison starts with `comparison: …`")])
    chosen = loaded.tasks[Path(path).resolve()]
    arms = build_arms(form, loaded.files, chosen)
    if faults := list(unmeasured(form, loaded)):
        raise WorkflowFault(faults)
    if task is not None:
        if not whole and all(one.id != task for one in chosen):
            return load(path, task, whole=True, tools=tools)
        chosen = (tasks.pick(chosen, task),)
    return built(form, arms, chosen[:limit], str(path), loaded)


def built(
    form: spec.Comparison, arms: tuple[Arm, ...], chosen: tuple[Task, ...], file: str, loaded: Loaded
) -> Comparison:
    decide, scorer = form.decide or spec.Decide(), scored_by(form)
    return Comparison(
        name=form.comparison,
        file=file,
        arms=arms,
        tasks=chosen,
        scorer=scorer,
        rule=Rule(**{name: getattr(decide, name) for name in Rule.__struct_fields__}),
        seed=form.seed,
        repeats=form.repeats,
        approvals=form.approvals,
        group_by=form.group_by,
        cluster=decide.cluster,
        accept=decide.accept,
        harm=None if decide.harm is None else expression(decide.harm),
        faults={tool: injected(one) for tool, one in form.faults.items()},
        limits=Limits() if form.budget is None else Limits(None, None, *map(form.budget.__getattribute__, SPEND)),
        stop_early=form.stop_early,
        named=named(form, scorer),
        controls=controls(form),
        spec=plain(loaded.files.documents[Path(file).resolve()].value),
        files=digests(form, loaded, Path(file), arms, scorer.own if isinstance(scorer, Bounded) else None),
    )


SPEND = ("tokens", "usd", "time")


def scored_by(form: spec.Comparison) -> Scorer:
    """The score that the file names, with its options; `equals`, which judges nothing then, where it names none."""
    score: str | dict[str, Any] | None = form.score
    [(name, options)] = score.items() if isinstance(score, dict) else [(score or "equals", None)]
    if name == JUDGE:
        judge, _ = judge_form(form)
        labels = [row for path in labels_files(form) for row in tasks.table_of(path, str(path)).rows]
        labelled = of_rows(row.values for row in labels)
        return Judge.of(model_spec(judge.model), judge.rubric or RUBRIC, labelled, form.seed)
    return scorer(name, options if isinstance(options, str) else plain(options or {}), form.at("score").base)


def named(form: spec.Comparison, scorer: Scorer) -> dict[str, Spotted]:
    """Where the file names the model of an LLM judge."""
    if not isinstance(scorer, Judge):
        return {}
    judge, _ = judge_form(form)
    return {scorer.model.key: place(judge, judge.model)}


def labels_files(form: spec.Comparison) -> list[Path]:
    """The file with the labelled rows of an LLM judge, where there is one."""
    if not isinstance(form.score, dict) or JUDGE not in form.score:
        return []
    judge, _ = judge_form(form)
    return [] if judge.labels is None else [judge.path("labels")]


def unmeasured(form: spec.Comparison, loaded: Loaded) -> Iterator[Fault]:
    """The limits on what nothing tells: dollars of an unknown price, harm that is not defined."""
    if form.decide is not None and form.decide.max_harm is not None and form.decide.harm is None:
        yield form.decide.at("max_harm").fault(
            "`max_harm` without `harm`", "say what harm is: harm: answer > 1000", key=True
        )
    if form.budget is None or form.budget.usd is None:
        return
    scorer = scored_by(form)
    judges = [] if not isinstance(scorer, Judge) or prices.known(scorer.model) else [scorer.model.name]
    for model in sorted({*judges, *(n for arm in ours(form) for n in unpriced(loaded.arm(form, arm), loaded.files))}):
        yield form.budget.at("usd").fault(
            f"the price of {model!r} is not known", "give its `price:`, or no limit in `usd`"
        )


def controls(form: spec.Comparison) -> tuple[Control, ...]:
    """The controls that are named among the arms."""
    return tuple(Control(name, arm.control, str(arm.of)) for name, arm in form.arms.items() if arm.control is not None)


def ours(form: spec.Comparison) -> list[str]:
    """The arms that are workflows."""
    return [name for name, arm in form.arms.items() if arm.workflow is not None]


def digests(
    form: spec.Comparison, loaded: Loaded, file: Path, arms: Iterable[Arm], own: OwnScore | None
) -> dict[str, str]:
    """The SHA-256 of every file that was read, and of the code of tools and score, by its path from the comparison."""
    source = form.path("tasks") if isinstance(form.tasks, str) else form.tasks.path("file")
    named = [(arm.python, arm.at("python").base) for arm in form.arms.values() if arm.python is not None]
    code = {path for arm in arms for path in arm.workflow.code}
    code |= {path for name, base in named for path in code_by_name(name, base)}
    code |= code_by_name(own.name, own.base) if own is not None else set()
    logs = {arm.path("log").resolve() for arm in form.arms.values() if arm.log is not None}
    logs |= {path.resolve() for path in labels_files(form)}
    read = {*loaded.files.documents, *loaded.files.texts, *code, *logs, source.resolve()}
    return by_path(read, file.resolve().parent)
