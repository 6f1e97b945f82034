"""The rules of a spec as the values that hold them: gates, guards, checks, limits."""

from __future__ import annotations

from collections.abc import Callable

from loopworth.agents.repetition import Repetition
from loopworth.runs.budget import Limits
from loopworth.tools.gate import DEFAULT, Gate
from loopworth.tools.guard import Guard
from loopworth.workflows import spec
from loopworth.workflows.contract import Condition
from loopworth.workflows.document import plain
from loopworth.workflows.template_data import text
from loopworth.workflows.templates import expression, template
from loopworth.workflows.verbs import Names


def gate(said: spec.GateSpec) -> Gate:
    if not isinstance(said, spec.Gate):
        return Gate()
    ask = None if said.ask is None else template(said.ask)
    return Gate(
        None if said.if_ is None else expression(said.if_).holds,
        None if ask is None else lambda names: text(ask(names)),
        tuple(said.choices) if said.choices else DEFAULT,
        said.remember == "run",
        said.timeout,
        said.on_timeout,
    )


def guard(said: spec.Guard) -> Guard:
    words, _ = otherwise_words(said)
    return Guard(said.on, expression(said.if_).holds, words)


def condition(workflow: spec.Workflow) -> Condition | None:
    if workflow.check is None:
        return None
    words, _ = otherwise_words(workflow)
    return Condition(expression(workflow.check).holds, words)


def otherwise_words(form: spec.Body | spec.Workflow | spec.Guard) -> tuple[Callable[[Names], str], frozenset[str]]:
    """What `else` says where a check does not hold, or a guard trips, and the names that it reads."""
    if form.else_ is None:
        said = f"`{form.if_}` holds" if isinstance(form, spec.Guard) else f"`{form.check}` does not hold"
        return lambda names: said, frozenset()  # noqa: ARG005
    made = template(plain(form.else_))
    return lambda names: text(made(names)), made.reads


def limits(budget: spec.Budget | None) -> Limits:
    if budget is None:
        return Limits()
    turns = None if budget.turns == "none" else budget.turns
    return Limits(turns, budget.tool_calls, budget.tokens, budget.usd, budget.time)


def repetition(rule: spec.OnRepeat | None) -> Repetition:
    if rule is None:
        return Repetition()
    tell, stop = (None if times == "never" else times for times in (rule.tell, rule.stop))
    return Repetition(tell, stop)
