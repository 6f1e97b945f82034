"""A run says which protocol its loop really spoke: on the terminal, in JSON, in the store, in a comparison."""

from __future__ import annotations

import json
import pathlib

import pytest

from loopworth.models.doubts import SERVED
from tests.cli.kit import command, written
from tests.endpoint import FakeEndpoint, said

REPLIES = {
    "native": "[{calls: [{tool: refund, arguments: {who: Ann, amount: 1}}]}, done]",
    "json": """['{"tool": "refund", "arguments": {"who": "Ann", "amount": 1}}', '{"answer": "done"}']""",
    "react": """['Action: refund {"who": "Ann", "amount": 1}', 'Answer: done']""",
}
LOOP = """\
workflow: paying
shape: open_loop
input: {{case: str}}
model: {{name: scripted, replies: {replies}}}
tools: {{refund: {{python: "shop:refund", effect: write}}}}
prompt: "{{{{ case }}}}"
protocol: {protocol}
budget: {{turns: 5}}
check: calls | selectattr('status', 'equalto', 'ok') | map(attribute='args') | list == [{{'who':'Ann','amount':1}}]
else: "{{{{ answer }}}} without paying Ann 1: {{{{ calls }}}}"
"""
COMPARISON = """\
comparison: spoken
tasks: tasks.jsonl
score: equals
writes: allowed
arms:
  native: {workflow: native.yaml}
  react: {workflow: react.yaml}
"""


@pytest.fixture
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    monkeypatch.chdir(tmp_path)
    SERVED.clear()  # a port may come again
    loops = {name: LOOP.format(protocol=name, replies=replies) for name, replies in REPLIES.items()}
    return written(tmp_path, **loops, comparison=COMPARISON)


@pytest.mark.parametrize("protocol", REPLIES)
def test_a_run_tells_the_protocol_that_it_spoke(folder: pathlib.Path, protocol: str) -> None:
    """In its facts, its JSON and its kept steps; and a check reads the call log alike in each."""
    done = command("run", folder / f"{protocol}.yaml", "-i", "case=x", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert (found["answer"], found["protocols"]) == ("done", [protocol])
    assert f"protocol {protocol}" in " ".join(
        command("run", folder / f"{protocol}.yaml", "-i", "case=x").stdout.split()
    )
    assert f"the loop spoke the protocol {protocol}" in command("runs", "show", found["id"]).stdout


@pytest.mark.parametrize("protocol", REPLIES)
def test_a_check_of_the_answer_reads_the_call_log(folder: pathlib.Path, protocol: str) -> None:
    """An answer that says what was not done is `check_failed`, whatever the protocol."""
    lied = {"native": "[done]", "json": """['{"answer": "done"}']"""}.get(protocol, "['Answer: done']")
    (folder / "lied.yaml").write_text(LOOP.format(protocol=protocol, replies=lied), "utf-8")
    found = json.loads(command("run", folder / "lied.yaml", "-i", "case=x", "--json").stdout)
    assert (found["exit"], found["answer"]) == ("check_failed", None)
    assert found["note"] == "done without paying Ann 1: []"


def test_a_comparison_tells_the_protocol_of_each_arm(folder: pathlib.Path) -> None:
    """Beside the shape; an arm that spoke none has none."""
    (folder / "tasks.jsonl").write_text('{"case": "x", "expected": "done"}\n', "utf-8")
    done = command("compare", folder / "comparison.yaml", "--json")
    assert done.exit_code == 0, done.output
    assert [arm["protocols"] for arm in json.loads(done.stdout)["arms"]] == [["native"], ["react"]]
    table = command("compare", folder / "comparison.yaml").stdout
    assert " ".join(next(line for line in table.splitlines() if "protocol" in line).split()) == "protocol native react"


NATIVE = """\
workflow: asking
shape: open_loop
input: {{case: str}}
model: {{name: vllm/fake, base_url: "{url}"}}
tools: {{refund: {{python: "shop:refund", effect: write}}}}
prompt: "{{{{ case }}}}"
budget: {{turns: 5}}
"""
ARMS = """\
comparison: dropped
tasks: tasks.jsonl
score: equals
writes: allowed
arms:
  native: {workflow: asking.yaml}
"""


def test_a_run_over_dropped_tools_is_a_fault_of_the_world_outside(folder: pathlib.Path) -> None:
    """Exit status 3: the file is in order and the endpoint is not; the words say what to write instead."""
    with FakeEndpoint(last=said("done")) as fake:
        (folder / "asking.yaml").write_text(NATIVE.format(url=fake.base_url), "utf-8")
        done = command("run", folder / "asking.yaml", "-i", "case=x")
    assert done.exit_code == 3
    assert "vllm/fake: the endpoint drops tools in silence: 10 prompt tokens with a tool, 10 without" in done.stdout
    assert "write `protocol: json`" in done.stdout


@pytest.mark.parametrize("tasks", [1, 9])
def test_a_comparison_over_dropped_tools_scores_nothing(folder: pathlib.Path, tasks: int) -> None:
    """Its arm has not answered wrongly, it was never asked; the fault is told, and few runs are paid for it."""
    (folder / "tasks.jsonl").write_text('{"case": "x", "expected": "done"}\n' * tasks, "utf-8")
    with FakeEndpoint(last=said("wrong")) as fake:
        (folder / "asking.yaml").write_text(NATIVE.format(url=fake.base_url), "utf-8")
        (folder / "comparison.yaml").write_text(ARMS, "utf-8")
        done = command("compare", folder / "comparison.yaml", "--json")
        assert len(fake.requests) <= 3 * 5 * (8 if tasks > 1 else 1)
    found = json.loads(done.stdout)
    assert done.exit_code == 3
    assert all(trial["right"] is None for trial in found["trials"])
    assert "write `protocol: json`" in json.dumps(found)


def test_a_file_s_tool_choice_holds(folder: pathlib.Path) -> None:
    """An answer before the first call is told once, and then ends the run."""
    early = LOOP.format(protocol="json", replies="""['{"answer": "done"}', '{"answer": "done"}']""")
    (folder / "early.yaml").write_text(early + "tool_choice: required_first\n", "utf-8")
    found = json.loads(command("run", folder / "early.yaml", "-i", "case=x", "--json").stdout)
    assert (found["exit"], found["note"]) == ("unparsable", "Call one of the tools before you give the answer.")


def test_replies_that_ignored_the_choice_are_counted(folder: pathlib.Path) -> None:
    """In the steps of the kept run: the loop held the rule, and the endpoint did not."""
    paid = "{calls: [{tool: refund, arguments: {who: Ann, amount: 1}}]}"
    replies = f"[done, {paid}, {{calls: [{{tool: submit, arguments: {{answer: done}}}}]}}]"
    more = "tool_choice: required\nfinish: submit\n"
    (folder / "must.yaml").write_text(LOOP.format(protocol="native", replies=replies) + more, "utf-8")
    found = json.loads(command("run", folder / "must.yaml", "-i", "case=x", "--json").stdout)
    assert found["exit"] == "success"
    steps = " ".join(command("runs", "show", found["id"]).stdout.split())
    assert "the loop spoke the protocol native; 1 of the replies ignored tool_choice" in steps
