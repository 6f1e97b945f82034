"""Pipelines over a few tools and a scripted model, and the runs of them."""

import asyncio

from loopworth.models import ScriptedModel
from loopworth.runs.budget import Budget, Limits
from loopworth.runs.effects import Effects
from loopworth.runs.executor import execute
from loopworth.runs.message import user
from loopworth.runs.world import Live
from loopworth.tools.python import python_tool
from loopworth.tools.toolbox import Toolbox
from loopworth.workflows import verbs
from loopworth.workflows.pipeline import Pipeline, Step
from loopworth.workflows.templates import expression, template

CHAT = verbs.Chat("m")


def prompt(text):
    made = template(text)
    return lambda names: [user(made(names))]


def ask(id, text, output=None, **how):
    return step(id, verbs.ask(prompt(text), CHAT, output), template(text), **how)


def call(id, tool, arguments, **how):
    made = template(arguments)
    return step(id, verbs.call(tool, made), made, **how)


def assign(id, value, **how):
    made = template(value)
    return step(id, verbs.assign(made), made, **how)


def check(id, condition, words, **how):
    made = template(words)
    return step(id, verbs.check(expression(condition).holds, made), made, barrier=True, **how)


def step(id, act, *templates, when=None, each=None, **how):
    """A step as the compiler makes it: its reads are those of all its templates."""
    condition = expression(when) if when else None
    items = template(each) if each else None
    reads = frozenset().union(*(t.reads for t in (*templates, condition, items) if t is not None))
    return Step(id, act, reads, condition and condition.holds, items, **how)


def tools(**functions):
    """Reads, but for those whose name begins with `write`; all run on the event loop."""
    made = {}
    for name, function in functions.items():
        effect = "write" if name.startswith("write") else "read"
        made[name] = python_tool(name, function, effect=effect, inline=True)
    return Toolbox(made)


def run(executor, input=None, replies=(), limits=None, box=None, journal=None, gate=None, world=None):
    """The outcome of a run, and the scripted model."""
    model = replies if hasattr(replies, "reply") else ScriptedModel(replies)
    fx = Effects(world or Live({"m": model}, gate), journal, Budget(limits or Limits()), box)
    fx.input = input or {}
    return asyncio.run(execute(executor, input or {}, fx)), model


def pipeline(*steps, answer="{{ answer }}"):
    return Pipeline(list(steps), template(answer))


def states(outcome):
    """How each step ended."""
    return {event.at: event.state for event in outcome.events if type(event).__name__ == "StepDone"}
