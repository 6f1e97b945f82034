"""One call through the layer, at a place of a run."""

import asyncio
import dataclasses

from loopworth.runs.budget import Budget, Limits
from loopworth.runs.effects import Effects
from loopworth.runs.message import ToolCall
from loopworth.runs.world import Live
from loopworth.tools.python import python_tool
from loopworth.tools.toolbox import Toolbox


def place(*, limits=None, journal=None, ask=None, input=None, path="", run="r"):
    """The root of a run without models."""
    fx = Effects(Live({}, ask), journal, Budget(limits or Limits()), path=path, run=run)
    fx.input = input or {}
    return fx


def invoke(tool, arguments=None, *, fx=None, id="1/call[0]", note="", **changes):
    """The observation of one call of `tool`, which a function is made by default rules."""
    if not hasattr(tool, "accept"):
        tool = python_tool(tool.__name__, tool, effect="read", inline=True)
    box = Toolbox([dataclasses.replace(tool, **changes)])
    return asyncio.run(made(box, ToolCall("c1", tool.name, arguments, note), fx or place(), id))


async def made(box, call, fx, id):
    fx.tools = box
    return await fx.at(id).call(call)


def deciding(*decisions):
    """A person who decides in turn, and the questions they were asked: (ask, asked)."""
    left, asked = list(decisions), []

    async def ask(question, id):
        asked.append((id, question))
        return left.pop(0)

    return ask, asked
