"""What a run of a workflow is likely to cost, and may cost at most, told from its files before any is made.

A loop of t turns sends its transcript t times: 1 + 2 + … + t parts. What the files do not say is assumed: the sizes of
replies and results below, 4 characters to a token, and half of the turns that a loop (or of the rounds that a `repeat`
with `until`) may take.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from math import ceil, inf
from typing import Literal

from loopworth.models import prices
from loopworth.models.local import MOST_OUTPUT as MOST_EMBEDDED
from loopworth.models.providers import OWN
from loopworth.models.spec import ModelSpec
from loopworth.runs.effects import MOST_OUTPUT
from loopworth.runs.usage import Usage, Value
from loopworth.workflows import chat_model, reach, spec
from loopworth.workflows.files import Files

CHARACTERS, FRAME, SCHEMA = 4, 30, 80
"""Characters of a token; tokens around a prompt, and of a tool's schema."""
REPLY, RESULT, ITEMS, TURNS = 100, 60, 3, 4
"""What is assumed where the files say nothing: tokens of a reply and of a tool's result, items of a `for_each`, turns
of a loop without a limit on them."""
MAX_CHARS = 20_000
Mode = Literal["expected", "worst"]


class Load(Value, frozen=True):
    """Model calls, tokens and US dollars of one run. `inf` is no limit; dollars are None where a price is unknown."""

    calls: float = 0.0
    tokens: float = 0.0
    usd: float | None = 0.0

    def __add__(self, other: Load) -> Load:
        usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        return Load(self.calls + other.calls, self.tokens + other.tokens, usd)

    def times(self, n: float) -> Load:
        if not self.calls:
            return self
        return Load(self.calls * n, self.tokens * n, None if self.usd is None else self.usd and self.usd * n)


class Estimate(Value, frozen=True):
    """What a run is expected to take, and what it may take at most."""

    expected: Load
    worst: Load


def estimate(workflow: spec.Workflow, files: Files) -> Estimate:
    return Estimate(load(workflow, files, "expected"), load(workflow, files, "worst"))


def load(workflow: spec.Workflow, files: Files, mode: Mode) -> Load:
    """The calls of a workflow and of those that it runs, within its own limits."""
    match workflow:
        case spec.Loop():
            found = loop(workflow, files, mode)
        case spec.Router():
            found = chosen(workflow, workflow, mode)
            routes = [body(route, workflow, files, mode) for route in workflow.from_.values()]
            found += dearest(routes) if mode == "worst" else mean(routes)
        case _:
            found = total(body(step, workflow, files, mode) for step in getattr(workflow, "steps", ()))
    found = within(found, workflow.budget)
    if mode == "worst" and workflow.otherwise is not None:
        found += body(workflow.otherwise, workflow, files, mode)
    return found


def body(form: spec.Body, workflow: spec.Workflow, files: Files, mode: Mode) -> Load:
    """A step, a route or an `otherwise`, as often as it may be done."""
    one = Load() if form.ask is None else asked(form, workflow, form.ask, mode)
    one += Load() if form.choose is None else chosen(form, workflow, mode)
    part = reach.inner(form, files)
    one += load(part, files, mode) if part is not None else Load()
    tool = files.tools(workflow).get(form.call or "")
    run = reach.inner(tool, files) if tool is not None else None
    one += load(run, files, mode) if run is not None else Load()
    if mode == "worst" and form.retry is not None:
        one = one.times(form.retry.attempts)
    if form.repeat is not None:
        short = mode == "expected" and form.repeat.until is not None
        one = one.times(ceil(form.repeat.times / 2) if short else form.repeat.times)
    each = isinstance(form, spec.Step) and form.for_each is not None
    return one.times(inf if mode == "worst" else ITEMS) if each else one


def loop(workflow: spec.Loop, files: Files, mode: Mode) -> Load:
    """Each turn sends what the turns before it left."""
    tools, most = reach.usable(workflow, files), workflow.budget and workflow.budget.turns
    limit = float(most) if isinstance(most, int) else inf
    base = opening(workflow.instructions, workflow.prompt) + SCHEMA * len(tools)
    if mode == "expected":
        turns, result = float(min(limit, max(2, ceil(limit / 2)) if limit < inf else TURNS)), float(RESULT)
    else:
        shown = (t.returns.max_chars if t.returns is not None else None for t in tools.values())
        turns, result = limit, max((most or MAX_CHARS for most in shown), default=0) / CHARACTERS
    reply = replied(workflow, workflow, mode)
    turns += mode == "worst" and workflow.on_limit == "answer"
    if turns == inf:
        return Load(inf, inf, priced(workflow, workflow, inf, inf))
    sent = turns * base + turns * (turns - 1) / 2 * (reply + result)
    inner = total(load(part, files, mode).times(turns) for t in tools.values() if (part := reach.inner(t, files)))
    return Load(turns, sent + turns * reply, priced(workflow, workflow, sent, turns * reply)) + inner


def chosen(form: spec.Body | spec.Router, workflow: spec.Workflow, mode: Mode) -> Load:
    """One label of several: by similarity one call to the embedded model, which is not billed and generates nothing;
    none where rules alone choose."""
    if not spec.texts(form):
        return Load()
    if form.by is not None:
        return Load(1, opening(form.choose), 0.0)
    return asked(form, workflow, form.choose, mode)


def asked(form: spec.Body | spec.Router, workflow: spec.Workflow, said: spec.Prompt | None, mode: Mode) -> Load:
    """One question to a model, and its reply; at most two, where a reply that cannot be read is asked for again."""
    again = isinstance(form, spec.Router) or form.verb == "choose" or form.output is not None
    calls = 2 if again and mode == "worst" else 1
    reply = replied(form, workflow, mode)
    sent = calls * opening(workflow.instructions, said) + (calls - 1) * reply
    return Load(calls, sent + calls * reply, priced(form, workflow, sent, calls * reply))


def opening(*said: spec.Prompt | None) -> int:
    """Tokens of prompts as they stand in the files."""
    return FRAME + sum(len(str(spec.prompt(text))) for text in said if text is not None) // CHARACTERS


def model_of(form: spec.Workflow | spec.Body, workflow: spec.Workflow) -> ModelSpec:
    written = form.model if form.model is not None else workflow.model
    return chat_model.model_spec(written if written is not None else "")


def replied(form: spec.Workflow | spec.Body, workflow: spec.Workflow, mode: Mode) -> int:
    model = model_of(form, workflow)
    most = model.max_tokens or (MOST_EMBEDDED if model.provider == "local" else MOST_OUTPUT)
    return min(most, REPLY) if mode == "expected" else most


def priced(form: spec.Workflow | spec.Body, workflow: spec.Workflow, sent: float, reply: float) -> float | None:
    """US dollars of so many tokens; None without a price."""
    model = model_of(form, workflow)
    if not model.name or model.provider in OWN:
        return 0.0
    if sent == inf or reply == inf:
        return inf if prices.known(model) else None
    return prices.usd(model, Usage(ceil(sent), ceil(reply)))


def within(found: Load, budget: spec.Budget | None) -> Load:
    """The most that a workflow's own limits let it take."""
    if budget is None:
        return found
    tokens = min(found.tokens, budget.tokens if budget.tokens is not None else inf)
    usd = found.usd
    if found.usd is not None and found.tokens and tokens < inf and found.tokens < inf:
        usd = found.usd * tokens / found.tokens
    if budget.usd is not None:
        usd = budget.usd if usd is None else min(usd, budget.usd)
    return Load(found.calls, tokens, usd)


def total(loads: Iterable[Load]) -> Load:
    return reduce(Load.__add__, loads, Load())


def mean(loads: list[Load]) -> Load:
    return total(loads).times(1 / len(loads)) if loads else Load()


def dearest(loads: list[Load]) -> Load:
    """The most of each figure over several ways."""
    known = [one.usd for one in loads if one.usd is not None]
    usd = None if len(known) < len(loads) else max(known, default=0.0)
    return Load(max((x.calls for x in loads), default=0.0), max((x.tokens for x in loads), default=0.0), usd)


def dearer(mine: Estimate, other: Estimate, times: float) -> bool:
    """Whether a run is expected to cost at least so many times as much as one of the other: in dollars where both cost
    any, else in tokens."""
    a, b = mine.expected, other.expected
    if not a.calls or not b.calls:
        return a.calls > 0
    if a.usd and b.usd:
        return a.usd >= times * b.usd
    if a.usd != b.usd:
        return b.usd == 0.0 and a.usd is not None
    return a.tokens >= times * b.tokens
