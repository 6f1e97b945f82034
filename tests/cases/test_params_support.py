"""The handed cases of kind params-support: parameters that an endpoint does not know, or that nobody set."""

import json
import pathlib
from collections.abc import Callable
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.agents.kit import make
from tests.cases.wire import play
from tests.cli.kit import command
from tests.endpoint import Answer, FakeEndpoint, Received, said
from tests.workflows.played import pipeline

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("params-support.yaml"))["cases"]
EXPECTED: dict[str, Callable[[dict[str, Any], pathlib.Path], None]] = {}


def expected(line: str) -> Callable[..., Any]:
    return lambda check: EXPECTED.setdefault(line, check)


@expected(
    "The same request is not repeated until the step limit; either the other name is used or the exit reason is "
    "provider error naming max_tokens."
)
def other_name(given: dict[str, Any], _: pathlib.Path) -> None:
    refusal = Answer(given["http"]["status"], given["body"])

    def server(received: Received) -> Any:
        return refusal if "max_tokens" in received.body else said("done")

    found = play({}, make(), last=server)
    assert (found.outcome.exit, len(found.sent)) == ("success", 2)
    assert "max_completion_tokens" in found.sent[1]
    assert any("max_tokens" in warning for warning in found.outcome.warnings)
    stubborn = play({}, make(), last=refusal)
    assert (stubborn.outcome.exit, len(stubborn.sent)) == ("provider_error", 2)
    assert "max_tokens" in stubborn.outcome.note


@expected("The key is left out of the request altogether: neither true nor false nor null is sent.")
def left_out(given: dict[str, Any], folder: pathlib.Path) -> None:
    (folder / "as_given.yaml").write_text(f"workflow: w\nshape: pipeline\n{given['workflow_yaml']}", "utf-8")
    told = command("check", folder / "as_given.yaml").output
    assert "unknown key 'parallel_tool_calls' in `model`\n    write `extra: {parallel_tool_calls: …}`" in told
    model = YAML(typ="safe").load(given["workflow_yaml"])["model"]
    name = model.pop("name")
    assert model == {"parallel_tool_calls": None}
    with FakeEndpoint(said("done")) as fake:
        written = {"name": f"vllm/{name}", "base_url": fake.base_url, "extra": {**model, "top_k": 3}}
        (folder / "tools.yaml").write_text("tools: {}", "utf-8")
        text = pipeline("{id: a, ask: hi}", answer='"{{ a }}"', top=f"model: {json.dumps(written)}")
        (folder / "w.yaml").write_text(text, "utf-8")
        done = command("run", folder / "w.yaml", "--no-store", "--json")
    assert json.loads(done.stdout)["answer"] == "done", done.output
    assert fake.requests[0].body["top_k"] == 3
    assert "parallel_tool_calls" not in fake.requests[0].body


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_params_support(case: dict[str, Any], tmp_path: pathlib.Path) -> None:
    """What an endpoint does not know is left out or renamed once, and what is null is never sent."""
    for line in case["expect"]:
        EXPECTED[line](case["given"], tmp_path)
