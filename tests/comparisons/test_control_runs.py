"""The runs of controls are runs like any other: kept, gone on with, replayed, judged anew; and they never decide."""

from __future__ import annotations

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
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
        self.release = threading.Event()
        self.asked = set[str]()
        self.controls = 0

    def __call__(self, received: Received) -> Any:
        messages, text = received.body["messages"], json.dumps(received.body["messages"])
        if received.body["model"] == "small":
            first = text not in self.asked  # the arm itself asks before its control does
            self.asked.add(text)
            answer = said('{"answer": 3}', usage=SMALL)
            return answer if first else self.held(answer)
        if messages[-1]["role"] == "tool":
            return said(str(messages[-1]["content"]), usage=USAGE)
        if "without any tool" in text:
            lines = [line for line in str(messages[-1]["content"]).splitlines() if line.startswith("secret {")]
            read = lines[-1].rpartition(": ")[2] if lines else "7"
            return self.held(said(f'{{"answer": {read}}}', usage=USAGE))
        n = str(messages[-1]["content"]).removeprefix("What is the secret of ").rstrip("?")
        return called(("secret", {"n": int(n)}), usage=USAGE)

    def held(self, answer: Any) -> Any:
        self.controls += 1
        if self.dead:
            return Answer(401, {"error": {"message": "no such key"}})
        if self.hold is not None and self.controls > self.hold:
            self.release.wait(60)
        return answer


@pytest.fixture
def models() -> Models:
    return Models()


@pytest.fixture
def endpoint(models: Models) -> Iterator[FakeEndpoint]:
    with FakeEndpoint(last=models) as fake:
        yield fake
        models.release.set()


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
    assert figures(after) == figures(before)
    assert (after["verdict"], after["recorded_usd"]) == (before["verdict"], before["recorded_usd"])


def test_a_replay_makes_the_controls_again_without_a_model(file: pathlib.Path, endpoint: FakeEndpoint) -> None:
    """From the store, and from what `runs export` wrote of it."""
    before, asked = found("compare", file), len(endpoint.requests)
    assert command("runs", "export", "last", "-o", "kept.jsonl").exit_code == 0
    for run in ("last", "kept.jsonl"):
        after = found("compare", file, "--replay", run)
        assert figures(after) == figures(before)
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
    assert after["verdict"]["token"] == before["verdict"]["token"] == "earns"
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


def started(file: pathlib.Path, *options: str, command: str = "compare") -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "loopworth", command, str(file), "--store", str(file.with_name("runs.db"))]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([*words, *options], cwd=file.parent, env=environment, **pipes)  # type: ignore[call-overload,no-any-return]


def waited(models: Models, calls: int) -> None:
    """Until so many calls of controls were made."""
    deadline = time.monotonic() + 60
    while models.controls < calls:
        assert time.monotonic() < deadline
        time.sleep(0.002)


def test_an_interrupt_among_the_controls_loses_no_verdict(
    file: pathlib.Path, models: Models, endpoint: FakeEndpoint
) -> None:
    """The table and the verdict are printed, 130 is returned, at once; what was made is gone on with."""
    models.hold = 16
    process = started(file)
    waited(models, 17)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert time.monotonic() - began < 10
    assert "verdict: agent earns its place" in out
    assert re.search(r"retry of agent: majority of 8 runs; run on [12] of 24 tasks: interrupted", out), out
    assert "the controls are not all run (interrupted)" in out
    assert "--resume` goes on with it" in err
    assert "Traceback" not in out + err
    models.hold, before = None, models.controls
    out, err = started(file, "--resume").communicate(timeout=60)
    assert "not all run" not in out
    assert "verdict: agent earns its place" in out
    needed = N * (VOTES - 1) + N - 16
    assert needed <= models.controls - before <= needed + 1, out  # an answer may have been under way when it ended


@pytest.mark.parametrize("calls", [1, 30, N * 7 + 5])
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


@pytest.mark.parametrize("more", ["", "stop_early: true\n"])
def test_what_was_interrupted_among_its_controls_is_replayed_and_judged_anew(
    tmp_path: pathlib.Path, models: Models, endpoint: FakeEndpoint, monkeypatch: pytest.MonkeyPatch, more: str
) -> None:
    """All arms were run, so the verdict is there; the controls are those that were made."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LOOPWORTH_STORE", str(tmp_path / "runs.db"))
    file, models.hold = written(tmp_path, endpoint, COMPARISON + more), 16
    process = started(file)
    waited(models, 17)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, "verdict: agent earns its place" in out) == (130, True), out + err
    for words in (["compare", file, "--replay", "last"], ["rescore", file]):
        after = found(*words)
        assert after["verdict"]["token"] == "earns"
        assert not after["interrupted"]
        [retried, pasted] = after["controls"]
        assert retried["words"].startswith("run on ")
        assert pasted["words"] == "not run: nothing of it is kept"


def test_a_dead_endpoint_of_a_control_loses_no_verdict(file: pathlib.Path, models: Models) -> None:
    """The controls end there and say why; once it answers they are gone on with."""
    models.dead = True
    done = command("compare", file, "--json")
    result = json.loads(done.stdout)
    assert (done.exit_code, result["verdict"]["token"]) == (0, "earns")
    assert "never answered it" in result["controls"][0]["words"]
    assert any("the controls are not all run" in warning for warning in result["warnings"])
    assert "--resume` goes on with it" in done.stderr
    models.dead = False
    after = found("compare", file, "--resume")
    assert after["controls"][1]["words"] == ""
    assert after["verdict"]["token"] == "earns"


def test_the_budget_of_a_comparison_covers_its_controls(
    tmp_path: pathlib.Path, endpoint: FakeEndpoint, models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it no longer allows is not run, and said; the verdict stands, and the comparison is over."""
    monkeypatch.chdir(tmp_path)
    file = written(tmp_path, endpoint, COMPARISON + f"budget: {{tokens: {N * 225 + 1000}}}\n")
    result = found("compare", file)
    assert result["verdict"]["token"] == "earns"
    spent = "the comparison's budget is used up: "
    assert result["controls"][0]["words"].startswith("run on ")
    assert spent in result["controls"][0]["words"]
    assert result["controls"][1]["words"].startswith(f"not run: {spent}")
    assert models.controls <= 1000 // 25 + 2
    assert Shelf().runs()[0].state == "done"


@pytest.mark.parametrize(
    ("first", "ran"),
    [
        ('{python: "guessing:guess"}', 1),
        ("{command: [sh, -c, 'read line; echo 3 >> ran.txt; echo 3']}", 1),
        ("{log: first.jsonl}", 0),
    ],
)
def test_a_program_is_retried_and_a_log_cannot_be(
    tmp_path: pathlib.Path, endpoint: FakeEndpoint, monkeypatch: pytest.MonkeyPatch, first: str, ran: int
) -> None:
    """A program may ask a model of its own; what is in a log was made."""
    monkeypatch.chdir(tmp_path)
    file = written(tmp_path, endpoint)
    (tmp_path / "guessing.py").write_text(
        "def guess(n):\n    with open('ran.txt', 'a') as ran:\n        ran.write('3\\n')\n    return 3\n", "utf-8"
    )
    found("compare", file)
    command("runs", "export", "last", "-o", "first.jsonl")
    file.write_text(COMPARISON.replace("{workflow: pipeline.yaml}", first), "utf-8")
    result = found("compare", file, "--store", "other.db")
    assert result["verdict"]["token"] == "earns"
    votes = result["controls"][0]["votes"]
    assert figures(result)["pasted"] == (N, N, "")
    if ran:
        assert figures(result)["retry"] == (0, N, "")
        made = len((tmp_path / "ran.txt").read_text("utf-8").split())
        assert made == N * votes
        assert figures(found("compare", file, "--resume", "--store", "other.db")) == figures(result)
        assert len((tmp_path / "ran.txt").read_text("utf-8").split()) == made
    else:
        assert "cannot be made again" in figures(result)["retry"][2]
    for words in (["compare", file, "--replay", "last"], ["rescore", file]):
        after = found(*words, "--store", "other.db")
        assert (after["verdict"]["token"], figures(after)) == ("earns", figures(result))


def test_one_task_alone_has_its_controls(file: pathlib.Path, endpoint: FakeEndpoint) -> None:
    """With `--task` a comparison is kept and gone on with like any other; it earns nothing, so only what is named
    runs."""
    file.write_text(COMPARISON + "  bare: {control: no_tools, of: agent}\n", "utf-8")
    one = found("compare", file, "--task", "n3")
    assert one["controls"][0]["figures"]["accuracy"]["runs"] == 1
    asked = len(endpoint.requests)
    assert figures(found("compare", file, "--task", "n3", "--resume")) == figures(one)
    assert figures(found("compare", file, "--task", "n3", "--replay", "last")) == figures(one)
    assert len(endpoint.requests) == asked
    whole = found("compare", file)
    part = found("compare", file, "--task", "n3", "--replay", "last")
    assert len(whole["trials"]) == 2 * N
    assert [trial["task"] for trial in part["trials"]] == ["n3"] * 2
    assert part["controls"][0]["figures"]["accuracy"]["runs"] == 1


def test_a_pilot_runs_no_controls(file: pathlib.Path, models: Models) -> None:
    """It is there to see what the arms cost."""
    assert command("plan", file, "--pilot", str(N)).exit_code == 0
    assert models.controls == 0
