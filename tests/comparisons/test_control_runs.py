"""The runs of controls are runs like any other: kept, gone on with, replayed, judged anew; and they never decide."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from loopworth.runs.kept import Query
from loopworth.runs.shelf import Shelf
from tests.cli.kit import command
from tests.comparisons.test_controls import AGENT, COMPARISON, PIPELINE, TOOL
from tests.endpoint import Answer, FakeEndpoint, Received, called, said

ROOT = pathlib.Path(__file__).resolve().parents[2]
USAGE = {"prompt_tokens": 90, "completion_tokens": 10, "total_tokens": 100}
SMALL = {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25}
N, VOTES = 24, 8
"""Tasks, and the runs of the pipeline that an agent's mean tokens pay for."""


class Models:
    """Two models behind one address: `small` guesses, `large` looks up and reads what is there. `hold` lets no more
    than so many calls of controls through."""

    def __init__(self) -> None:
        self.hold: int | None = None
        self.dead = False
        self.controls = Counter[str]()

    def __call__(self, received: Received) -> Any:
        messages, text = received.body["messages"], json.dumps(received.body["messages"])
        if received.body["model"] == "small":
            return self.held("retry", text, said('{"answer": 3}', usage=SMALL))
        if messages[-1]["role"] == "tool":
            return said(str(messages[-1]["content"]), usage=USAGE)
        if "without any tool" in text:
            lines = [line for line in str(messages[-1]["content"]).splitlines() if line.startswith("secret {")]
            read = lines[-1].rpartition(": ")[2] if lines else "7"
            return self.held("pasted", text, said(f'{{"answer": {read}}}', usage=USAGE))
        n = str(messages[-1]["content"]).removeprefix("What is the secret of ").rstrip("?")
        return called(("secret", {"n": int(n)}), usage=USAGE)

    def held(self, kind: str, text: str, answer: Any) -> Any:
        self.controls[kind] += 1
        if kind == "retry" and self.controls[kind] <= N:
            return answer  # the arm itself
        if self.dead:
            return Answer(401, {"error": {"message": "no such key"}})
        made = sum(self.controls.values()) - N
        if self.hold is not None and made > self.hold:
            time.sleep(30)
        return answer


@pytest.fixture
def models() -> Models:
    return Models()


@pytest.fixture
def endpoint(models: Models) -> Iterator[FakeEndpoint]:
    with FakeEndpoint(last=models) as fake:
        yield fake


@pytest.fixture
def file(tmp_path: pathlib.Path, endpoint: FakeEndpoint, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """A comparison whose agent would earn its place, so that `retry` and `pasted` are run."""
    monkeypatch.chdir(tmp_path)
    return written(tmp_path, endpoint)


def written(folder: pathlib.Path, endpoint: FakeEndpoint, comparison: str = COMPARISON, n: int = N) -> pathlib.Path:
    for name, text in {"pipeline": PIPELINE, "agent": AGENT}.items():
        for model in ("small", "large"):
            block = f'{{name: vllm/{model}, base_url: "{endpoint.base_url}", concurrency: 2, retries: 0}}'
            text = text.replace(f"vllm/{model}", block)
        (folder / f"{name}.yaml").write_text(text, "utf-8")
    (folder / "secrets_of.py").write_text(TOOL, "utf-8")
    rows = [json.dumps({"id": f"n{k}", "n": k, "expected": 1000 + k}) for k in range(n)]
    (folder / "tasks.jsonl").write_text("\n".join(rows), "utf-8")
    (folder / "comparison.yaml").write_text(comparison, "utf-8")
    return folder / "comparison.yaml"


def found(*words: object, status: int = 0) -> dict[str, Any]:
    done = command(*words, "--json")
    assert done.exit_code == status, done.output
    return dict(json.loads(done.stdout))


def figures(result: dict[str, Any]) -> dict[str, tuple[int, int, str]]:
    return {
        one["kind"]: (one["figures"]["accuracy"]["right"], one["figures"]["accuracy"]["runs"], one["words"])
        for one in result["controls"]
    }


WHOLE = {"retry": (0, N, ""), "pasted": (N, N, "")}


def test_controls_are_kept_and_listed_under_names_of_their_own(file: pathlib.Path, endpoint: FakeEndpoint) -> None:
    """Each run of a control is a trial of the comparison, under a name that no arm has."""
    before = found("compare", file)
    assert figures(before) == WHOLE
    [kept] = Shelf().runs()
    trials = Shelf().runs(Query(comparison=kept.id))
    votes = before["controls"][0]["votes"]
    expected = {"pipeline": N, "agent": N, "retry of agent": N * (votes - 1), "pasted of agent": N}
    assert Counter(one.arm for one in trials) == expected
    assert kept.usage.tokens == sum(one.usage.tokens or 0 for one in trials)
    assert kept.state == "done"


def test_a_comparison_that_ended_is_gone_on_with_for_nothing(file: pathlib.Path, endpoint: FakeEndpoint) -> None:
    """No model is asked, and the controls come out as they were."""
    before, asked = found("compare", file), len(endpoint.requests)
    after = found("compare", file, "--resume")
    assert len(endpoint.requests) == asked
    assert after["controls"] == before["controls"]
    assert (after["verdict"], after["recorded_usd"]) == (before["verdict"], before["recorded_usd"])


def test_a_replay_makes_the_controls_again_without_a_model(file: pathlib.Path, endpoint: FakeEndpoint) -> None:
    """From the store, and from what `runs export` wrote of it."""
    before, asked = found("compare", file), len(endpoint.requests)
    assert command("runs", "export", "last", "-o", "kept.jsonl").exit_code == 0
    for run in ("last", "kept.jsonl"):
        after = found("compare", file, "--replay", run)
        assert after["controls"] == before["controls"]
        assert after["usd"] == 0
    assert len(endpoint.requests) == asked


def test_a_changed_control_run_is_a_divergence(file: pathlib.Path) -> None:
    """A replay says where a control's run came out otherwise."""
    found("compare", file)
    command("runs", "export", "last", "-o", "kept.jsonl")
    lines = pathlib.Path("kept.jsonl").read_text("utf-8").splitlines()
    assert sum('"pasted of agent"' in line for line in lines) == N
    read = '\\"answer\\": 1003'  # in a reply, where the model wrote it
    assert any(read in line for line in lines)
    changed = [line.replace(read, '\\"answer\\": 9') if "pasted of" in line else line for line in lines]
    pathlib.Path("kept.jsonl").write_text("\n".join(changed) + "\n", "utf-8")
    done = command("compare", file, "--replay", "kept.jsonl")
    assert (done.exit_code, "the arm 'pasted of agent' on the task 'n3'" in done.stderr) == (1, True), done.output


def test_a_recording_without_controls_says_so(file: pathlib.Path) -> None:
    """One that an earlier version wrote: the verdict is there, and nothing is made up."""
    before = found("compare", file)
    command("runs", "export", "last", "-o", "kept.jsonl")
    lines = pathlib.Path("kept.jsonl").read_text("utf-8").splitlines()
    old = [line for line in lines if " of agent" not in line]
    pathlib.Path("kept.jsonl").write_text("\n".join(old) + "\n", "utf-8")
    after = found("compare", file, "--replay", "kept.jsonl")
    assert after["verdict"] == before["verdict"]
    missing = "not run: nothing of it is kept"
    assert figures(after) == {"retry": (0, 0, missing), "pasted": (0, 0, missing)}


def test_another_score_is_applied_to_controls_too(file: pathlib.Path, endpoint: FakeEndpoint) -> None:
    """The kept runs are judged anew; where the agent no longer earns its place there are none."""
    found("compare", file)
    asked = len(endpoint.requests)
    file.write_text(COMPARISON.replace("number: {tolerance: 0}", "not-equals: {}"), "utf-8")
    assert found("rescore", file)["controls"] == []
    named = COMPARISON.replace("number: {tolerance: 0}", "number: {tolerance: 10}")
    file.write_text(named, "utf-8")
    assert figures(found("rescore", file)) == WHOLE
    assert len(endpoint.requests) == asked


def test_controls_go_on_where_a_comparison_is_extended(
    tmp_path: pathlib.Path, endpoint: FakeEndpoint, models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What they have run stays; they run on the tasks that the agent ran since."""
    monkeypatch.chdir(tmp_path)
    few = COMPARISON.replace("tasks: tasks.jsonl", "tasks: {file: tasks.jsonl, limit: 20}") + "stop_early: true\n"
    file = written(tmp_path, endpoint, few + "decide: {min_gain: 0.05}\n", 40)
    before, asked = found("compare", file), len(endpoint.requests)
    after = found("compare", file, "--extend", 5)
    ran = {one["kind"]: one["figures"]["accuracy"]["runs"] for one in before["controls"]}
    again = {one["kind"]: one["figures"]["accuracy"]["runs"] for one in after["controls"]}
    more = len({t["task"] for t in after["trials"] if t["arm"] == "agent"}) - ran["pasted"]
    assert again["pasted"] - ran["pasted"] == more
    assert len(endpoint.requests) - asked == more * (1 + 2 + 1 + after["controls"][0]["votes"] - 1)


def started(file: pathlib.Path, *options: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "loopworth", "compare", str(file), "--store", str(file.with_name("runs.db"))]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([*words, *options], cwd=file.parent, env=environment, **pipes)  # type: ignore[call-overload,no-any-return]


def waited(models: Models, calls: int) -> None:
    """Until so many calls of controls were made."""
    deadline = time.monotonic() + 60
    while sum(models.controls.values()) < N + calls:
        assert time.monotonic() < deadline
        time.sleep(0.002)


def test_an_interrupt_among_the_controls_loses_no_verdict(
    file: pathlib.Path, models: Models, endpoint: FakeEndpoint
) -> None:
    """The table and the verdict are printed, 130 is returned, within two seconds; what was made is gone on with."""
    models.hold = 8
    process = started(file)
    waited(models, 9)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert time.monotonic() - began < 3
    assert "verdict: earns" in out
    assert "the controls are not all run (interrupted)" in out
    assert "--resume` goes on with it" in err
    assert "Traceback" not in out + err
    models.hold, before = None, sum(models.controls.values())
    out, err = started(file, "--resume").communicate(timeout=60)
    assert "not all run" not in out
    assert "verdict: earns" in out
    assert sum(models.controls.values()) - before == N * (VOTES - 1) + N - 8, out


@pytest.mark.parametrize("calls", [1, 7, 30, N * 7 + 5])
def test_a_kill_among_the_controls_costs_what_was_in_flight(
    file: pathlib.Path, models: Models, endpoint: FakeEndpoint, calls: int
) -> None:
    """SIGKILL: what was paid is not paid again, and the controls come out as if nothing had been."""
    models.hold = calls
    process = started(file)
    waited(models, calls + 1)
    process.kill()
    process.communicate(timeout=30)
    models.hold, asked = None, len(endpoint.requests)
    done = started(file, "--resume", "--json")
    out, err = done.communicate(timeout=60)
    assert done.returncode == 0, err
    assert figures(json.loads(out)) == WHOLE
    needed = N * (1 + 2 + VOTES - 1 + 1)
    assert needed < len(endpoint.requests) <= needed + 2, asked
