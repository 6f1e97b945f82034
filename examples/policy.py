"""Run an example's comparison with a policy in the model's place: `python policy.py orders`.

A policy is a function in the example's own `policy.py`. It is given the question and what the tools said so far, and
chooses the next call or the answer: there is no list of replies for each task. It shows what a loop can do that the
other arms cannot, when the one who chooses is competent. It is no model and says nothing about one.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json
import pathlib
from collections.abc import Callable
from typing import Any, NamedTuple

from rich.console import Console

from loopworth.comparisons.comparison import Comparison, load
from loopworth.comparisons.execution import compare
from loopworth.comparisons.result import Result
from loopworth.comparisons.table import render
from loopworth.models import ModelSpec
from loopworth.runs.message import Message, Reply, Request
from loopworth.runs.usage import Usage
from loopworth.workflows.python_name import load as named

LABEL = "scripted: shows the mechanism, says nothing about models"
FOLDER = pathlib.Path(__file__).parent


class Seen(NamedTuple):
    """One observation: the call, and what the tool said."""

    tool: str
    arguments: dict[str, Any]
    result: Any


Policy = Callable[[str, list[Seen]], dict[str, Any]]


class PolicyModel:
    """A policy as a model. It speaks the loop's JSON: `{"tool": …, "arguments": …}` or `{"answer": …}`."""

    endpoint, concurrency = "scripted", 4

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    async def reply(self, request: Request, seconds: float | None) -> Reply:  # noqa: ARG002
        text = json.dumps(self.policy(*read(request.messages)))
        return Reply({"role": "assistant", "content": text}, text=text, usage=Usage(usd=0.0))

    async def close(self) -> None:
        """Nothing is open."""


def read(messages: list[Message]) -> tuple[str, list[Seen]]:
    """The question that is asked last, and what was seen since, oldest first."""
    seen: list[Seen] = []
    left = list(messages)
    while len(left) > 2 and left[-2]["role"] == "assistant":
        said, told = json.loads(left[-2]["content"]), left[-1]["content"]
        if not told.startswith(f"{said.get('tool')}: "):
            break
        seen.insert(0, Seen(said["tool"], said["arguments"], value(told.partition(": ")[2])))
        left = left[:-2]
    return left[-1]["content"], seen


def value(text: str) -> Any:
    """An observation as data where it is JSON, else as the text that it is."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def scripted(comparison: Comparison) -> Comparison:
    """The same arms, whose report says that no model answered."""
    arms = []
    for arm in comparison.arms:
        models = {key: ModelSpec("scripted", replies=[]) for key in arm.workflow.models}
        arms.append(dataclasses.replace(arm, workflow=dataclasses.replace(arm.workflow, models=models)))
    return dataclasses.replace(comparison, arms=tuple(arms))


def run(example: pathlib.Path) -> Result:
    """The example's comparison, with its policy wherever an arm asks a model."""
    policy: Policy = named("policy:policy", example)
    comparison = scripted(load(example / "comparison.yaml"))
    return asyncio.run(compare(comparison, open=lambda spec: PolicyModel(policy)))  # noqa: ARG005


def main() -> None:
    """Print the report between two lines that say what it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("example", help="a folder beside this file that has a policy.py, such as orders")
    console = Console(soft_wrap=False)
    example = FOLDER / parser.parse_args().example
    console.print(LABEL, markup=False)
    console.print(render(run(example)))
    console.print(LABEL, markup=False)


if __name__ == "__main__":
    main()
