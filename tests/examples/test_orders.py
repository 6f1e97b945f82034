"""The orders example: its tasks, what each arm can find, and the policy in the model's place."""

from __future__ import annotations

import collections
import json
import pathlib

from tests.cli.kit import command
from tests.endpoint import FakeEndpoint
from tests.examples.kit import EXAMPLES, copied, lines, policy, regenerated, scripted

ORDERS = EXAMPLES / "orders"
TASKS = lines(ORDERS / "tasks.jsonl")
SYSTEMS = json.loads((ORDERS / "systems.json").read_text("utf-8"))


def test_the_generator_writes_the_shipped_files(tmp_path: pathlib.Path) -> None:
    """Same seed, same bytes; what the prompt was tuned on shares no question with what is scored."""
    for name in ("systems.json", "tasks.jsonl"):
        assert regenerated(tmp_path / "same", "orders", name) == (ORDERS / name).read_text("utf-8")
    other = regenerated(tmp_path / "other", "orders", "tasks.jsonl", "--seed", "1").splitlines()
    assert not {json.loads(line)["question"] for line in other} & {task["question"] for task in TASKS}


def test_a_cause_stands_in_one_system_of_one_order() -> None:
    """40 questions; every order that a system names is held, and only the last one of a chain names the cause."""
    assert collections.Counter(task["orders"] for task in TASKS) == {1: 20, 2: 12, 3: 8}
    for task in TASKS:
        chain = [SYSTEMS[str(task["order"])]]
        while linked := [record["order"] for record in chain[-1].values() if "order" in record]:
            assert task["expected"] not in [record["state"] for record in chain[-1].values()]
            chain.append(SYSTEMS[str(linked[0])])
        assert len(chain) == task["orders"]
        assert [record["state"] for record in chain[-1].values()].count(task["expected"]) == 1


def test_no_prompt_names_an_order_that_exists() -> None:
    """An example in the prompt gives nothing of a task away."""
    text = (ORDERS / "agent.yaml").read_text("utf-8")
    assert not [number for number in SYSTEMS if number in text]


def test_the_fixed_arms_end_where_the_order_does_and_a_policy_goes_on() -> None:
    """The router finds what the visible state shows, the pipeline what the order's own systems hold, the policy all."""
    result = scripted("orders")
    right = collections.defaultdict(set)
    for trial in result.final:
        right[trial.arm] |= {trial.task} if trial.right else set()
    assert right["router"] == {task["id"] for task in TASKS if task["kind"] == "shown"}
    assert right["pipeline"] == {task["id"] for task in TASKS if task["orders"] == 1}
    assert right["agent"] == {task["id"] for task in TASKS}
    assert result.verdict is not None
    assert result.verdict.token == "earns"
    most = max(trial.model_calls for trial in result.final)
    assert most == 7, "the budget's turns are this and a margin of two"


def test_the_comparison_runs_over_http(tmp_path: pathlib.Path) -> None:
    """The same through an endpoint on loopback: the loop asks for what it needs, and no more."""
    with FakeEndpoint(last=policy("orders")) as fake:
        done = command("compare", copied(tmp_path, "orders", fake.base_url) / "comparison.yaml", "--json")
    assert done.exit_code == 0, done.stderr
    result = json.loads(done.stdout)
    trials = collections.Counter(trial["arm"] for trial in result["trials"] if trial["right"])
    assert trials == {"router": 10, "pipeline": 20, "agent": 40}
    assert result["verdict"]["holder"] == "agent"
    assert all(trial["tool_calls"] == 5 for trial in result["trials"] if trial["arm"] == "pipeline")
    assert 40 * 2 < sum(trial["model_calls"] for trial in result["trials"]) < 40 * 6
