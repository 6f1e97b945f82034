"""What a comparison file may hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, GetJsonSchemaHandler

from loopworth.comparisons.named_scores import JUDGE, NAMES, schemas
from loopworth.workflows.builder import Builder
from loopworth.workflows.faults import Fault
from loopworth.workflows.form import Form, Kind, Unset, Words
from loopworth.workflows.spec import (
    VERSION,
    Catalogue,
    Count,
    Duration,
    Expression,
    ModelSpec,
    Name,
    Number,
    Prose,
    Text,
    ToolName,
    Verbatim,
)

Share = Annotated[float, Field(ge=0, le=1)]


class EveryScore:
    """The JSON Schema of a score: the name of one that needs no options, or one with its options."""

    @classmethod
    def __get_pydantic_json_schema__(cls, _: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        options = {**schemas(), JUDGE: handler(Judge.__pydantic_core_schema__)}
        alone = [name for name in NAMES if "anyOf" not in options[name]]
        one = {"type": "object", "properties": options, "additionalProperties": False}
        return {"anyOf": [{"enum": alone}, {**one, "minProperties": 1, "maxProperties": 1}]}


ScoreText = Annotated[dict[str, Any] | Text, Words("the name of a score, or {name: {options}}"), EveryScore]
Changes = Annotated[dict[str, Any], Kind("arguments"), Words("a mapping of dotted paths")]
"""Dotted path → what stands there instead; null removes."""


class Tasks(Form):
    """Where the tasks are, and which of them count."""

    title: ClassVar[str] = "in `tasks`"
    file: Text
    """JSONL, CSV or YAML, beside this file."""
    rename: dict[str, Text] = Field(default_factory=dict)
    """A column of the file: what it is here."""
    where: Annotated[Expression | None, Unset("all")] = None
    """An expression over the columns: which tasks count."""
    limit: Annotated[Count | None, Unset("all")] = None
    """The first so many of those."""


class Arm(Form):
    """One contender: a workflow, a program of one's own, a log of runs, or a control."""

    title: ClassVar[str] = "in an arm"
    workflow: Text | None = None
    """A workflow's file."""
    python: Text | None = None
    """`module:function` of your own; it gets the columns of the task that its parameters name."""
    command: list[Verbatim] | None = None
    """A program of your own and its arguments; the task comes as JSON on its standard input."""
    log: Text | None = None
    """A log of runs that were made elsewhere."""
    control: Literal["pasted", "no_tools", "shuffled", "retry"] | None = None
    """A control made of another arm; it never wins."""
    of: Text | None = None
    """With `control`: the arm that it is made of."""
    timeout: Annotated[Duration | None, Unset("300s")] = None
    """With `python` and `command`: for one run."""
    change: Changes = Field(default_factory=dict)
    """Keys of the workflow by dotted path, each with what stands there instead; null removes."""

    SOURCES: ClassVar[tuple[str, ...]] = ("workflow", "python", "command", "log", "control")

    def rules(self) -> Iterator[Fault]:
        sources = [key for key in self.given_in_order() if key in self.SOURCES]
        if not sources:
            yield self.spot.fault("an arm without a contender", f"one of {', '.join(self.SOURCES)}", key=True)
        for key in sources[1:]:
            what = f"two contenders in one arm: {sources[0]!r} and {key!r}"
            yield self.at(key).fault(what, "make two arms", key=True)
        if "control" in sources and "of" not in self.given:
            yield self.at("control").fault("a control needs `of`, the arm it is made from", "of: <arm>", key=True)
        if "of" in self.given and "control" not in sources:
            yield self.at("of").fault("`of` belongs to `control`", key=True)
        if "timeout" in self.given and not {"python", "command"} & set(sources):
            yield self.at("timeout").fault("`timeout` belongs to `python` or `command`", key=True)
        if "change" in self.given and not {"workflow", "control"} & set(sources) and sources:
            yield self.at("change").fault("`change` is for keys of a workflow", key=True)


class Judge(Form):
    """An LLM judge as the score: what `score: {judge: …}` holds."""

    title: ClassVar[str] = "in `judge`"
    model: ModelSpec
    """The model that judges."""
    rubric: Annotated[Prose | None, Unset("the same meaning passes")] = None
    """What makes an answer right."""
    labels: Text | None = None
    """Rows whose verdict a person gave; the judge is held against them."""


class Injected(Form):
    """A failure that is put into a tool's calls: seeded, at a rate or at the n-th call."""

    title: ClassVar[str] = "in `faults`"
    error: Verbatim | None = None
    """The call fails with this text."""
    value: Any = None
    """The call returns this value."""
    delay: Duration | None = None
    """The call takes so much longer."""
    rate: Annotated[Annotated[float, Field(gt=0, le=1)] | None, Unset("every call")] = None
    """The share of calls, drawn by the seed."""
    at_: Count | None = Field(default=None, alias="at")
    """The n-th call of the tool in a run, and no other."""

    def rules(self) -> Iterator[Fault]:
        if not {"error", "value", "delay"} & self.given:
            yield self.spot.fault("a fault that does nothing", "one of error, value, delay", key=True)
        if {"error", "value"} <= self.given:
            yield self.at("value").fault("a call ends in an `error` or a `value`, not in both", key=True)
        if {"rate", "at"} <= self.given:
            yield self.at("at").fault("`at` is one call, and `rate` a share of all", "leave out one of them", key=True)


class Decide(Form):
    """What an arm must show. Gains and rates are shares, money is in US dollars, `max_p95` in seconds."""

    title: ClassVar[str] = "in `decide`"
    min_gain: Annotated[Annotated[float, Field(gt=0, lt=1)] | None, Unset("from the prices below, else 0.10")] = None
    """The smallest gain in accuracy worth having."""
    error: Annotated[float, Field(gt=0, lt=0.5)] = 0.05
    """The chance of any wrong verdict in the comparison."""
    not_worse_by: Annotated[Annotated[float, Field(gt=0, lt=1)] | None, Unset("half of `min_gain`")] = None
    """How much worse still counts as not worse, where an arm is cheaper."""
    correct_is_worth_usd: Number | None = None
    """What a right answer is worth."""
    wrong_costs_usd: Number | None = None
    """What a wrong one costs."""
    second_costs_usd: Number | None = None
    """What a second of waiting costs."""
    max_cost_ratio: Annotated[Annotated[float, Field(gt=0)] | None, Unset("no limit")] = None
    """An arm may cost at most so many times the holder."""
    max_p95: Annotated[Duration | None, Unset("no limit")] = None
    """95 % of an arm's runs must be this fast."""
    harm: Expression | None = None
    """What counts as harm: an expression over `answer`, `calls` and `task`."""
    max_harm: Share | None = None
    """The share of harmful runs that an arm must be shown to stay under."""
    cluster: Text | None = None
    """A column: tasks of the same value are not independent."""
    accept: Annotated[float, Field(gt=0, lt=1)] | None = None
    """The report names the first level of `group_by` whose accuracy has a lower limit under this."""


class Spend(Form):
    """The comparison's own limits: `usd` in US dollars, `time` in seconds."""

    title: ClassVar[str] = "in the comparison's `budget`"
    usd: Annotated[Annotated[float, Field(gt=0)] | None, Unset("no limit")] = None
    """US dollars."""
    tokens: Annotated[Count | None, Unset("no limit")] = None
    """Input and output tokens."""
    time: Annotated[Duration | None, Unset("no limit")] = None
    """Time on the clock."""


class Comparison(Form):
    """Arms on the same tasks, and what decides between them."""

    title: ClassVar[str] = "in a comparison"
    loopworth: int = VERSION
    """The version of the language."""
    comparison: Text
    """The comparison's name."""
    tasks: Text | Tasks
    """The tasks' file, or the file and which of its tasks count."""
    score: ScoreText = Field(default_factory=str)
    """What makes an answer right: a [score](scores.md), or one with its options."""
    arms: Annotated[dict[Name, Arm], Words("a mapping of arm names")]
    """The contenders, the simplest first: the first holds the place."""
    change: Changes = Field(default_factory=dict)
    """As an arm's `change`, for every arm that has the key."""
    tools: Text | Catalogue | None = None
    """Stand-ins for tools that write: the same names, other implementations."""
    writes: Annotated[Literal["allowed"] | None, Unset("an arm that may write is a fault")] = None
    """`allowed`: arms may write, once for every task."""
    approvals: Annotated[Literal["approve", "reject"] | None, Unset("a gate that no task answers is a fault")] = None
    """How every gate is answered, where no task says."""
    group_by: Text | None = None
    """A column: the figures are shown for each of its levels."""
    repeats: Count = 1
    """Runs of each arm on each task."""
    faults: dict[ToolName, Injected] = Field(default_factory=dict)
    """For a tool, failures that are put into its calls."""
    decide: Decide | None = None
    """What an arm must show to win."""
    stop_early: bool = False
    """Stop once the verdict is certain, by a rule that allows for looking."""
    budget: Spend | None = None
    """The limits of the comparison as a whole."""
    seed: int = 0
    """Of the order, of every run, and of what is drawn."""


def judge_form(form: Comparison) -> tuple[Judge, list[Fault]]:
    """What is written under `score: {judge: …}`, a mapping, and what is wrong with it."""
    spot = form.at("score", JUDGE)
    builder = Builder(spot.document)
    return builder.form(Judge, spot.value, spot.path), builder.faults
