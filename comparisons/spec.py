"""What a comparison file may hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, GetJsonSchemaHandler

from loopworth.comparisons.scores import JUDGE, NAMES, schemas
from loopworth.workflows.faults import Fault
from loopworth.workflows.form import Builder, Form, Kind, Words
from loopworth.workflows.spec import (
    VERSION,
    Catalogue,
    Count,
    Duration,
    Expression,
    ModelSpec,
    Name,
    Number,
    Text,
    ToolName,
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
    rename: dict[str, Text] = Field(default_factory=dict)
    where: Expression | None = None
    limit: Count | None = None


class Arm(Form):
    """One contender: a workflow, a program of one's own, a log of runs, or a control."""

    title: ClassVar[str] = "in an arm"
    workflow: Text | None = None
    python: Text | None = None
    command: list[Text] | None = None
    log: Text | None = None
    control: Literal["pasted", "no_tools", "shuffled", "retry"] | None = None
    of: Text | None = None
    timeout: Duration | None = None
    change: Changes = Field(default_factory=dict)

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
    model: ModelSpec = Field(description="model: provider/name")
    rubric: Text | None = None
    labels: Text | None = None


class Injected(Form):
    """A failure that is put into a tool's calls: seeded, at a rate or at the n-th call."""

    title: ClassVar[str] = "in `faults`"
    error: Text | None = None
    value: Any = None
    delay: Duration | None = None
    rate: Annotated[float, Field(gt=0, le=1)] | None = None
    at_: Count | None = Field(default=None, alias="at")

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
    min_gain: Annotated[float, Field(gt=0, lt=1)] | None = None
    error: Annotated[float, Field(gt=0, lt=0.5)] = 0.05
    not_worse_by: Annotated[float, Field(gt=0, lt=1)] | None = None
    correct_is_worth_usd: Number | None = None
    wrong_costs_usd: Number | None = None
    second_costs_usd: Number | None = None
    max_cost_ratio: Annotated[float, Field(gt=0)] | None = None
    max_p95: Duration | None = None
    harm: Expression | None = None
    max_harm: Share | None = None
    cluster: Text | None = None
    accept: Annotated[float, Field(gt=0, lt=1)] | None = None


class Spend(Form):
    """The comparison's own limits: `usd` in US dollars, `time` in seconds."""

    title: ClassVar[str] = "in the comparison's `budget`"
    usd: Annotated[float, Field(gt=0)] | None = None
    tokens: Count | None = None
    time: Duration | None = None


class Comparison(Form):
    """Arms on the same tasks, and what decides between them."""

    title: ClassVar[str] = "in a comparison"
    loopworth: int = VERSION
    comparison: Text
    tasks: Text | Tasks
    score: ScoreText = Field(default_factory=str)
    arms: Annotated[dict[Name, Arm], Words("a mapping of arm names")]
    change: Changes = Field(default_factory=dict)
    tools: Text | Catalogue | None = None
    writes: Literal["allowed"] | None = None
    approvals: Literal["approve", "reject"] | None = None
    group_by: Text | None = None
    repeats: Count = 1
    faults: dict[ToolName, Injected] = Field(default_factory=dict)
    decide: Decide | None = None
    stop_early: bool = False
    budget: Spend | None = None
    seed: int = 0


def judge_form(form: Comparison) -> tuple[Judge, list[Fault]]:
    """What is written under `score: {judge: …}`, a mapping, and what is wrong with it."""
    spot = form.at("score", JUDGE)
    builder = Builder(spot.document)
    return builder.form(Judge, spot.value, spot.path), builder.faults
