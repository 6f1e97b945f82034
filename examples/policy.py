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
import runpy
from collections.abc import Callable
from typing import Any, NamedTuple

from rich.console import Console

import loopworth

LABEL = "scripted: shows the mechanism, says nothing about models"
MODEL = "local/smollm2-135m"
"""The model that the examples name, in whose place the policy is."""
FOLDER = pathlib.Path(__file__).parent


class Seen(NamedTuple):
    """One observation: the call, and what the tool said."""

    tool: str
    arguments: dict[str, Any]
    result: Any


Policy = Callable[[str, list[Seen]], dict[str, Any]]


class PolicyModel:
    """A policy as a model. It speaks the loop's JSON: `{"tool": …, "arguments": …}` or `{"answer": …}`."""

    name = "scripted"

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    async def reply(self, request: loopworth.Request, seconds: float | None) -> loopworth.Reply:  # noqa: ARG002
        text = json.dumps(self.policy(*read(request.messages)))
        return loopworth.Reply({"role": "assistant", "content": text}, text=text)


def read(messages: list[dict[str, Any]]) -> tuple[str, list[Seen]]:
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


def run(example: pathlib.Path) -> loopworth.Result:
    """The example's comparison, with its policy wherever an arm asks a model.

    Controls are left out: they ask a model in another form, which no policy reads.
    """
    policy: Policy = runpy.run_path(str(example / "policy.py"))["policy"]
    result = asyncio.run(loopworth.compare(example / "comparison.yaml", models={MODEL: PolicyModel(policy)}))
    return dataclasses.replace(result, controls=(), controls_stopped="")


def main() -> None:
    """Print the report between two lines that say what it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("example", help="a folder beside this file that has a policy.py, such as orders")
    console = Console(soft_wrap=False)
    example = FOLDER / parser.parse_args().example
    console.print(LABEL, markup=False)
    console.print(loopworth.render(run(example)))
    console.print(LABEL, markup=False)


if __name__ == "__main__":
    main()
