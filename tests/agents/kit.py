"""A loop over a few tools and a scripted model, and the runs of it."""

import asyncio

from loopworth.agents.loop import Loop
from loopworth.agents.protocols import PROTOCOLS
from loopworth.models import ScriptedModel
from loopworth.runs.budget import Budget, Limits
from loopworth.runs.effects import Effects
from loopworth.runs.executor import execute
from loopworth.runs.message import user
from loopworth.runs.world import Live
from loopworth.tools.python import python_tool
from loopworth.tools.toolbox import Toolbox
from loopworth.workflows.type_expression import parse_type

DONE: list = []


def lookup(code: str) -> int:
    """Look a code up."""
    DONE.append(("lookup", code))
    return len(code)


def pay(amount: int) -> str:
    """Pay an amount."""
    DONE.append(("pay", amount))
    return f"paid {amount}"


def poll() -> str:
    """Say how far it is."""
    return "not yet"


TOOLS = {
    "lookup": python_tool("lookup", lookup, effect="read", inline=True),
    "pay": python_tool("pay", pay, effect="write", inline=True),
    "poll": python_tool("poll", poll, effect="read", inline=True, repeatable=True),
}


def make(output="str", finish="text", protocol="native", tools=TOOLS, **how):
    speech = PROTOCOLS[protocol](list(tools.values()), parse_type(output), finish)
    return Loop(lambda input: [user(input["q"])], "m", tools, speech, **how)


def run(loop, *replies, limits=None, ask=None, journal=None):
    """The outcome of a loop over scripted replies, and the model that gave them."""
    DONE.clear()
    model = replies[0] if len(replies) == 1 and hasattr(replies[0], "reply") else ScriptedModel(list(replies))
    fx = Effects(Live({"m": model}, ask), journal, Budget(limits or Limits(turns=20)), Toolbox(loop.tools))
    return asyncio.run(execute(loop, {"q": "hi"}, fx)), model


def calls(*wanted, text=None):
    """A reply that calls tools: `("lookup", {"code": "A"})`."""
    reply = {"calls": [{"tool": tool, "arguments": arguments} for tool, arguments in wanted]}
    return {**reply, "text": text} if text else reply


def results(outcome):
    """What the model was told of its calls, in order."""
    return [said.message["content"] for said in outcome.transcript if said.message["role"] == "tool"]
