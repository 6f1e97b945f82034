"""The kb example: retrieve and answer, and search again where the first search was not enough."""

from __future__ import annotations

import collections
import json
import pathlib

from loopworth.workflows.python_name import load
from tests.cli.kit import command
from tests.endpoint import FakeEndpoint
from tests.examples.kit import EXAMPLES, copied, lines, policy, regenerated, scripted

KB = EXAMPLES / "kb"
TASKS = lines(KB / "tasks.jsonl")
ARTICLES = (KB / "articles.txt").read_text("utf-8").splitlines()


def test_the_generator_writes_the_shipped_files(tmp_path: pathlib.Path) -> None:
    """Same seed, same bytes; with another seed the answers are others."""
    for name in ("articles.txt", "tasks.jsonl"):
        assert regenerated(tmp_path / "same", "kb", name) == (KB / name).read_text("utf-8")
    answers = {(task["question"], task["expected"]) for task in TASKS}
    other = regenerated(tmp_path / "other", "kb", "tasks.jsonl", "--seed", "1").splitlines()
    tuned = {(task["question"], task["expected"]) for task in map(json.loads, other)}
    assert len(answers & tuned) <= 2


def test_the_first_article_answers_half_of_the_questions() -> None:
    """The search always finds the article about the plan; it holds the number, or names the contract that does."""
    search = load("search:search", KB)
    assert collections.Counter(task["searches"] for task in TASKS) == {1: 20, 2: 20}
    for task in TASKS:
        topic, plan = task["question"].removeprefix("What is the ").removesuffix(" plan?").split(" of the ")
        article = search(task["question"])
        assert article.startswith(f"The {topic} of the {plan} plan")
        assert (f" {task['expected']} " in article) == (task["searches"] == 1)
        if task["searches"] == 2:
            contract = article.rstrip(".").split()[-1]
            assert f" {task['expected']} " in search(f"{topic} contract {contract}")


def test_no_prompt_names_what_exists() -> None:
    """An example in a prompt gives nothing of a task away."""
    plans = {task["question"].split()[-2] for task in TASKS}
    for name in ("pipeline.yaml", "agent.yaml"):
        assert not [plan for plan in plans if plan in (KB / name).read_text("utf-8")]


def test_one_search_answers_half_and_a_second_one_the_rest() -> None:
    """The same policy reads in both arms: what differs is that one of them may search again."""
    result = scripted("kb")
    for trial in result.final:
        assert trial.right == (trial.arm == "agent" or trial.task.startswith("direct"))
        assert trial.tool_calls == (2 if trial.arm == "agent" and trial.task.startswith("pointed") else 1)
    assert result.verdict is not None
    assert result.verdict.token == "earns"


def test_the_comparison_runs_over_http(tmp_path: pathlib.Path) -> None:
    """The same through an endpoint on loopback."""
    with FakeEndpoint(last=policy("kb")) as fake:
        done = command("compare", copied(tmp_path, "kb", fake.base_url) / "comparison.yaml", "--json")
    assert done.exit_code == 0, done.stderr
    result = json.loads(done.stdout)
    right = collections.Counter(trial["arm"] for trial in result["trials"] if trial["right"])
    assert right == {"pipeline": 20, "agent": 40}
    asked = sum(trial["model_calls"] for trial in result["trials"])
    assert asked == 40 + 20 * 2 + 20 * 3
    assert len(fake.requests) > asked  # the agent would earn its place, so the controls were run
