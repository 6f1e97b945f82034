"""The router: at most one decision of a model, then a fixed path."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from loopworth.router.decision import Decision, decide
from loopworth.router.similarity import Similarity
from loopworth.runs.budget import Limits
from loopworth.runs.effects import Effects
from loopworth.runs.events import RouteTaken
from loopworth.runs.executor import Executor
from loopworth.runs.message import Message
from loopworth.runs.outcome import Outcome, Stop

Names: TypeAlias = Mapping[str, Any]
OTHERWISE = "otherwise"


@dataclass(frozen=True, slots=True)
class Route:
    """A path: what runs, on what input, and when.

    `when` takes it without a model. `description` is what the model is told of it. `arguments` makes the input of
    `executor` from the router's.
    """

    executor: Executor
    when: Callable[[Names], bool] | None = None
    description: str | None = None
    limits: Limits | None = None
    arguments: Callable[[Names], dict[str, Any]] = dict

    @property
    def offered(self) -> bool:
        """Whether the model may choose it: a route with `when` only where it has a description too."""
        return self.when is None or self.description is not None


@dataclass(frozen=True, slots=True)
class Router:
    """Routes with `when` are tried first, in order; then the model chooses, or `similarity` does among its own labels.

    Ends as its route ends. Raises `Stop("no_route")` where nothing fits; `otherwise` says that something runs then, so
    that this is a route too.
    """

    routes: Mapping[str, Route]
    prompt: Callable[[Names], list[Message]]
    model: str
    otherwise: bool = False
    constrained: bool = False
    max_tokens: int | None = None
    similarity: Similarity | None = None

    async def run(self, input: dict[str, Any], fx: Effects) -> Outcome:
        label, rule, said = await self.chosen(input, fx)
        if label is not None or self.otherwise:
            fx.emit(RouteTaken(fx.id, label or OTHERWISE, rule, said or ""))
        if label is None:
            what = "no `if` was true" if said is None else f"{self.source} {said[:200]!r}"
            end = "" if self.otherwise else ", and there is no `otherwise`"
            raise Stop("no_route", None, f"none of {', '.join(self.routes)}: {what}{end}")
        route = self.routes[label]
        return await route.executor.run(route.arguments(input), fx.at(label, route.limits))

    async def chosen(self, input: dict[str, Any], fx: Effects) -> tuple[str | None, str, str | None]:
        """The label, the rule that found it, and what the model said; None where it was not asked."""
        for label, route in self.routes.items():
            if route.when is not None and route.when(input):
                return label, "if", ""
        decision = await self.decision(self.prompt(input), fx)
        if decision is None or decision.label is None:
            return None, OTHERWISE, decision.said if decision is not None else None
        return decision.label, "model" if self.similarity is None else "similarity", decision.said

    async def decision(self, messages: list[Message], fx: Effects) -> Decision | None:
        """What is decided where no `when` was true; None where nothing is left to decide."""
        if self.similarity is not None:
            return await self.similarity.decide(fx, messages)
        labels = {label: route.description for label, route in self.routes.items() if route.offered}
        if not labels:
            return None
        how: dict[str, Any] = {"constrained": self.constrained, "max_tokens": self.max_tokens}
        return await decide(fx, messages, labels, model=self.model, **how)

    @property
    def source(self) -> str:
        return "the model said" if self.similarity is None else "the most similar was"
