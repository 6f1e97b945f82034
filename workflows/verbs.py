"""What a step does: `call`, `ask`, `choose`, `set`, `check`, `run`, each as a closure made once, at compile time.

An act is `async act(names, fx) -> value`. It fails by `Failed` with a reason, or by `Stop`; the step that it belongs to
is named by whoever runs it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from loopworth.agents.speech import empty
from loopworth.router.decision import decide
from loopworth.router.similarity import Similarity
from loopworth.runs.budget import Limits
from loopworth.runs.effects import Effects
from loopworth.runs.executor import Executor
from loopworth.runs.message import Message, Request, ToolCall
from loopworth.runs.observation import Observation
from loopworth.runs.outcome import Failed, Outcome, Stop
from loopworth.runs.transcript import Transcript
from loopworth.tools.toolbox import Toolbox
from loopworth.workflows.typed_answer import typed_answer
from loopworth.workflows.types import Type

Names: TypeAlias = Mapping[str, Any]
Act: TypeAlias = Callable[[Names, Effects], Awaitable[Any]]
Prompt: TypeAlias = Callable[[Names], list[Message]]


@dataclass(frozen=True, slots=True)
class Chat:
    """The model that a step asks: its key in the world, its most output, and the seed it was given."""

    model: str
    max_tokens: int | None = None
    seed: int | None = None
    constrained: bool = False

    def seeded(self, fx: Effects) -> int | None:
        """The seed of one call, made of the model's and the place, so that five votes differ and a rerun does not."""
        if self.seed is None:
            return None
        made = hashlib.blake2b(f"{self.seed}/{fx.path}".encode(), digest_size=4).digest()
        return int.from_bytes(made) >> 1


class MayHaveHappened(Failed):
    """A write gave no answer in time: it must not be made again."""


def call(
    tool: str, arguments: Callable[[Names], dict[str, Any]], writes: bool = False, tools: Toolbox | None = None
) -> Act:
    """Call a tool; the value is what it returned. `tools` are used in place of the workflow's."""

    async def act(names: Names, fx: Effects) -> Any:
        place = fx.at("call")
        place.tools = tools or fx.tools
        seen = await place.call(ToolCall("", tool, arguments(names)))
        if seen.status == "timed_out" and writes:
            raise MayHaveHappened(f"{seen.tool} ({seen.status}): {seen.content}")
        return value_of(seen)

    return act


def value_of(seen: Observation) -> Any:
    """The value of a call that went well; a step has no use for any other."""
    match seen.status:
        case "ok":
            return seen.full
        case "not_run" if seen.limit is not None:
            raise Stop(seen.limit, seen.owner, seen.full or "")
        case "rejected":
            raise Stop("rejected", None, f"{seen.tool}: {seen.content}")
        case "timed_out" if seen.owner is not None:
            raise Stop("time_limit", seen.owner, seen.content)
    raise Failed(f"{seen.tool} ({seen.status}): {seen.content}")


def ask(prompt: Prompt, chat: Chat, output: Type | None = None) -> Act:
    """Ask a model once; the value is its text, or its answer of the type `output`."""

    async def act(names: Names, fx: Effects) -> Any:
        log = Transcript(fx)
        log.add(*prompt(names))
        request = Request(list(log.seen), chat.model, max_tokens=chat.max_tokens, seed=chat.seeded(fx))
        if output is not None:
            return await typed_answer(output, request, log, fx)
        reply = await fx.model("ask", request)
        if not reply.text.strip():
            raise Stop("empty", None, empty(reply))
        return reply.text

    return act


def choose(prompt: Prompt, labels: Mapping[str, str | None], chat: Chat) -> Act:
    """Let a model choose one of `labels` (label → description); the value is the label."""

    async def act(names: Names, fx: Effects) -> Any:
        decision = await decide(
            fx,
            prompt(names),
            labels,
            model=chat.model,
            constrained=chat.constrained,
            max_tokens=chat.max_tokens,
            seed=chat.seeded(fx),
        )
        if decision.label is None:
            raise Failed(f"the model chose none of {', '.join(labels)}: it said {decision.said[:200]!r}")
        return decision.label

    return act


def choose_similar(prompt: Prompt, similarity: Similarity) -> Act:
    """The label whose texts are the most similar; fails where none is similar enough."""

    async def act(names: Names, fx: Effects) -> Any:
        decision = await similarity.decide(fx, prompt(names))
        if decision.label is None:
            raise Failed(f"no label is similar enough: {decision.said}")
        return decision.label

    return act


def assign(value: Callable[[Names], Any]) -> Act:
    """`set`: a value made of the names."""

    async def act(names: Names, fx: Effects) -> Any:  # noqa: ARG001 - one shape for all verbs
        return value(names)

    return act


def check(holds: Callable[[Names], bool], words: Callable[[Names], Any]) -> Act:
    """`check` and `else`: fails with `words` where the condition does not hold."""

    async def act(names: Names, fx: Effects) -> Any:  # noqa: ARG001 - one shape for all verbs
        if not holds(names):
            raise Failed(str(words(names)))
        return True

    return act


def run(executor: Executor, arguments: Callable[[Names], dict[str, Any]], limits: Limits | None = None) -> Act:
    """Run another workflow, under limits of its own; the value is its answer, that of `on_limit` too. Any other end but
    success ends the step."""

    async def act(names: Names, fx: Effects) -> Any:
        outcome = await executor.run(arguments(names), fx.at("run", limits))
        if outcome.exit != "success" and not outcome.answered:
            raise Stop(outcome.exit, None, outcome.note)
        return outcome.answer

    return act


@dataclass(frozen=True, slots=True)
class Alone:
    """One act as an executor of its own: a route that is a step body."""

    act: Act

    async def run(self, input: dict[str, Any], fx: Effects) -> Outcome:
        return Outcome(await self.act(input, fx))
