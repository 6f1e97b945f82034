"""A judge and runs that were made before: a log's, those of a killed comparison, those that are kept."""

from __future__ import annotations

import json
import pathlib
import re
from typing import Any

import pytest

from loopworth.comparisons.judge import ORDERS
from loopworth.comparisons.symptoms.conduct import conduct
from loopworth.runs.figures import dollars
from loopworth.runs.kept import Query
from loopworth.runs.shelf import Shelf
from loopworth.runs.store_file import StoreFile
from tests.cli.kit import command
from tests.comparisons.retold import held
from tests.comparisons.test_control_runs import started
from tests.comparisons.test_judge import (  # noqa: F401 - fixtures are used by their names
    CALLS,
    N,
    Referee,
    endpoint,
    fair,
    file,
    found,
    killed,
    referee,
    told,
    verdict,
)
from tests.endpoint import Answer, FakeEndpoint

DOWN = Answer(500, {"error": {"message": "down"}})


def of(parts: dict[str, Any], *tasks: int) -> bool:
    """Whether the judge is asked about one of these tasks of the agent, whose answers are in capitals."""
    return parts["task"].get("q") in {f"word {k}" for k in tasks} and parts["answer"].isupper()


# -- a log ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def logs(file: pathlib.Path) -> pathlib.Path:  # noqa: F811
    """A comparison of the same arms as logs of runs that `equals` scored."""
    plainly = file.with_name("plain.yaml")
    head, arms = file.read_text("utf-8").split("arms:")
    tail = f"tasks: tasks.jsonl\nscore: equals\narms:{arms}"
    plainly.write_text(f"comparison: plain\n{tail}", "utf-8")
    assert command("compare", str(plainly)).exit_code == 0
    assert command("runs", "export", "-o", str(file.with_name("runs.jsonl"))).exit_code == 0
    judged = file.with_name("logs.yaml")
    judged.write_text(f"{head}arms:\n  pipeline: {{log: runs.jsonl}}\n  agent: {{log: runs.jsonl}}\n", "utf-8")
    return judged


def test_a_judge_scores_the_runs_of_a_log(logs: pathlib.Path, endpoint: FakeEndpoint) -> None:  # noqa: F811
    """As it would have when they were made: its calls are its own, and the log's figures stay as they were logged."""
    result = found("compare", logs)
    assert (result["verdict"]["token"], len(endpoint.requests)) == ("earns", CALLS)
    assert (result["judge"]["calls"], result["judge"]["runs"]) == (CALLS, 2 * N)
    assert [(arm["shape"], arm["accuracy"]["right"], arm["model_calls"]) for arm in result["arms"]] == [
        ("log", 0, 0),
        ("log", N, 0),
    ]
    assert result["usd"] == pytest.approx(CALLS * 60 / 1e6)
    recorded = [json.loads(line) for line in logs.with_name("runs.jsonl").read_text("utf-8").splitlines()]
    then = {(one["run"]["arm"], one["run"]["task"]): one for one in recorded if one["run"]["kind"] == "trial"}
    for trial in result["trials"]:
        assert trial["latency"] == then[trial["arm"], trial["task"]]["score"]["latency"]


@pytest.mark.parametrize("words", [("compare", "--replay", "last"), ("rescore",), ("report", "last")])
def test_a_judged_log_is_told_again_without_a_call(
    logs: pathlib.Path,
    endpoint: FakeEndpoint,  # noqa: F811
    words: tuple[str, ...],
) -> None:
    """What the judge said is kept, although the runs are the log's."""
    before, asked = found("compare", logs), len(endpoint.requests)
    after = found(*words) if words[0] == "report" else found(words[0], logs, *words[1:])
    assert len(endpoint.requests) == asked
    assert [told(after[key]) for key in ("judge", "verdict")] == [told(before[key]) for key in ("judge", "verdict")]
    same = ("arm", "task", "right", "remark", "judge_calls", "latency", "exit")
    rows = [sorted(([t[k] for k in same] for t in result["trials"]), key=str) for result in (before, after)]
    assert rows[0] == rows[1]


def test_what_is_kept_with_a_trial_tells_of_its_judge(file: pathlib.Path) -> None:  # noqa: F811
    """Its calls and tokens, apart from the run's own; only labelled rows are read, of which there are some dozens."""
    assert command("compare", file).exit_code == 0
    held(labelled=24)


def test_a_killed_comparison_of_logs_asks_the_judge_for_the_rest(
    logs: pathlib.Path,
    endpoint: FakeEndpoint,  # noqa: F811
    referee: Referee,  # noqa: F811
) -> None:
    """Nothing that it has said is asked again."""
    referee.most = 70
    killed(started(logs), referee)
    asked = len(endpoint.requests)
    result = found("compare", logs, "--resume")
    assert (result["verdict"]["token"], result["judge"]["calls"]) == ("earns", CALLS)
    assert CALLS <= len(endpoint.requests) <= CALLS + asked - 70 + 8


def test_what_another_judge_said_is_no_part_of_a_log(
    file: pathlib.Path,  # noqa: F811
    endpoint: FakeEndpoint,  # noqa: F811
    referee: Referee,  # noqa: F811
) -> None:
    """Neither its calls nor its word: this is how another judge is asked about kept runs."""
    assert found("compare", file)["arms"][1]["accuracy"]["right"] == N
    command("runs", "export", "-o", str(file.with_name("runs.jsonl")))
    head, _ = file.read_text("utf-8").split("arms:")
    other = file.with_name("other.yaml")
    arms = "arms:\n  agent: {log: runs.jsonl}\n  pipeline: {log: runs.jsonl}\n"
    other.write_text(head.replace("Same meaning", "Any meaning") + arms, "utf-8")
    referee.says, asked = (lambda _: verdict("fail", "too loud")), len(endpoint.requests)
    result = found("compare", other)
    assert len(endpoint.requests) == asked + CALLS
    assert [(arm["model_calls"], arm["accuracy"]["right"]) for arm in result["arms"]] == [(0, 0), (0, 0)]
    assert {trial["remark"] for trial in result["trials"]} == {"the judge: too loud"}
    assert "Any meaning" in endpoint.requests[-1].body["messages"][0]["content"]


def test_a_diagnosis_looks_at_the_run_and_not_at_its_judge(file: pathlib.Path) -> None:  # noqa: F811
    """Its calls, its tokens and its words are no conduct of the workflow."""
    kept = found("compare", file)
    shelf = Shelf(file.with_name("runs.db"))
    trial = next(one for one in shelf.runs(Query(kinds=("trial",))) if one.arm == "agent")
    recording = shelf.recording(trial.id)
    assert recording.outcome is not None
    assert (recording.outcome.model_calls, len(recording.records)) == (2, 2)
    seen = conduct(recording)
    assert seen is not None
    assert (seen.said, seen.last) == (0, "")
    assert kept["judge"]["calls"] == CALLS


# -- a judge that cannot be reached -----------------------------------------------------------------------------------


def test_a_judge_that_was_down_is_asked_again_where_it_failed(
    file: pathlib.Path,  # noqa: F811
    endpoint: FakeEndpoint,  # noqa: F811
    referee: Referee,  # noqa: F811
) -> None:
    """`--resume` pays for the orders that it has no word in, on runs and on labelled rows, and for nothing else."""

    def half(parts: dict[str, Any]) -> Any:
        fails = (of(parts, 3) and tuple(parts)[1:] == ORDERS[0]) or of(parts, 5) or parts["task"].get("q") == "row 1"
        return DOWN if fails else fair(parts)

    referee.says = half
    done = command("compare", str(file), "--json")
    before = json.loads(done.stdout)
    assert "--resume` goes on with it" in done.stderr
    assert (before["judge"]["unjudged"], before["judge"]["agreement"]["unjudged"]) == (2, 1)
    assert any("--resume` asks the judge again" in warning for warning in before["warnings"])
    said = 2 * (2 * N + 24) - 1 - 2 - 2
    assert said <= len(endpoint.requests) - 3 <= said + 1  # of the row half judged one order or both were asked
    referee.says, asked = fair, len(endpoint.requests)
    after = found("compare", file, "--resume")
    [half_judged] = [t for t in before["trials"] if t["remark"].startswith("not scored") and t["task"] == "3"]
    assert len(endpoint.requests) == asked + 4 + (1 if half_judged["judge_calls"] == 2 else 2)
    assert (after["judge"]["unjudged"], after["judge"]["agreement"]["n"], after["verdict"]["token"]) == (0, 24, "earns")
    assert after["arms"][1]["accuracy"]["right"] == N
    assert "nothing" not in command("compare", str(file), "--resume").stderr
    assert len(endpoint.requests) == asked + 4 + (1 if half_judged["judge_calls"] == 2 else 2)


def test_what_is_asked_again_is_told_again_like_any(
    file: pathlib.Path,  # noqa: F811
    endpoint: FakeEndpoint,  # noqa: F811
    referee: Referee,  # noqa: F811
) -> None:
    """Replayed and rescored before it was asked again, and after that; also where that was killed on the way."""
    same = ("arm", "task", "right", "judge_calls", "exit", "remark", "latency")
    rows = lambda result: sorted(([t[k] for k in same] for t in result["trials"]), key=str)
    referee.says = lambda parts: DOWN if of(parts, 3, 5) else fair(parts)
    before = json.loads(command("compare", str(file), "--json").stdout)
    asked = len(endpoint.requests)
    for words in (("compare", "--replay", "last"), ("rescore",)):
        assert rows(found(words[0], file, *words[1:])) == rows(before)
    referee.says, referee.most = fair, referee.count + 1
    killed(started(file, "--resume"), referee)
    after = found("compare", file, "--resume")
    assert (after["judge"]["unjudged"], after["arms"][1]["accuracy"]["right"]) == (0, N)
    assert asked + 4 <= len(endpoint.requests) <= asked + 4 + 2 + 2
    asked = len(endpoint.requests)
    for words in (("compare", "--replay", "last"), ("rescore",)):
        assert rows(found(words[0], file, *words[1:])) == rows(after)
    assert len(endpoint.requests) == asked


def test_a_judge_that_never_answers_ends_the_comparison(file: pathlib.Path, referee: Referee) -> None:  # noqa: F811
    """Before the arms are paid for."""
    referee.says = lambda _: DOWN
    done = command("compare", str(file), "--json")
    result = json.loads(done.stdout)
    assert done.exit_code == 3
    assert "the judge's endpoint failed it 5 times and never answered it" in result["stopped"]
    assert result["trials"] == []
    referee.says = fair
    assert found("compare", file, "--resume")["verdict"]["token"] == "earns"


def test_rescore_asks_a_judge_that_was_down_about_the_rows_it_failed(
    file: pathlib.Path,  # noqa: F811
    endpoint: FakeEndpoint,  # noqa: F811
    referee: Referee,  # noqa: F811
) -> None:
    """It pays for the orders that have no word, on runs and labelled rows, says how many rows that were, and leaves
    all else as it was; once they have one it asks nobody."""
    same = ("arm", "task", "attempt", "latency", "seconds", "began", "answer", "exit", "model_calls")
    rows = lambda result: sorted(([t[k] for k in same] for t in result["trials"]), key=str)

    def half(parts: dict[str, Any]) -> Any:
        fails = (of(parts, 3) and tuple(parts)[1:] == ORDERS[0]) or of(parts, 5) or parts["task"].get("q") == "row 1"
        return DOWN if fails else fair(parts)

    referee.says = half
    before = json.loads(command("compare", str(file), "--json").stdout)
    told_then = found("report", "last")
    [first] = [t for t in before["trials"] if t["remark"].startswith("not scored") and t["task"] == "3"]
    missing = 4 + (1 if first["judge_calls"] == 2 else 2)
    asked, held_to = len(endpoint.requests), file.read_text("utf-8")
    file.write_text(held_to.replace("price: {input: 1, output: 1}", "price: {input: 2, output: 1}"), "utf-8")
    referee.says = fair
    done = command("rescore", str(file), "--json")
    paid = dollars(missing * 110 / 1e6)
    assert f"the judge was asked again about 3 of 3 rows that it could not be reached for ({paid})" in done.stderr
    after = json.loads(done.stdout)
    assert len(endpoint.requests) == asked + missing
    assert (after["judge"]["unjudged"], after["judge"]["agreement"]["n"], after["verdict"]["token"]) == (0, 24, "earns")
    assert rows(found("report", "last")) == rows(told_then)
    assert "asked again" not in command("rescore", str(file)).stderr
    file.write_text(held_to, "utf-8")
    assert found("compare", file, "--resume")["verdict"]["token"] == "earns"
    assert found("compare", file, "--replay", "last")["judge"]["unjudged"] == 0
    assert len(endpoint.requests) == asked + missing


def test_rescore_says_which_rows_are_left_and_why(
    file: pathlib.Path,  # noqa: F811
    endpoint: FakeEndpoint,  # noqa: F811
    referee: Referee,  # noqa: F811
) -> None:
    """A judge that is down still, or without its key, a budget that is spent: the figures come all the same."""
    referee.says = lambda parts: DOWN if of(parts, *range(7)) else fair(parts)
    command("compare", str(file), "--json")
    asked, text = len(endpoint.requests), file.read_text("utf-8")
    file.write_text(text.replace("retries: 0", "retries: 0, concurrency: 1"), "utf-8")
    done = command("rescore", str(file), "--json")
    assert (done.exit_code, json.loads(done.stdout)["judge"]["unjudged"]) == (0, 7)
    assert re.search(r"asked again about 5 of 7 rows .* 7 are left: not scored: provider_error", done.stderr)
    assert len(endpoint.requests) == asked + 5
    referee.says, asked = fair, len(endpoint.requests)
    file.write_text(text + "budget: {tokens: 60}\n", "utf-8")
    assert "0 of 7 rows" in (said := command("rescore", str(file)).stderr)
    assert "7 are left: the comparison's budget is used up" in said
    file.write_text(text, "utf-8")
    file.write_text(text.replace("retries: 0", "api_key: {env: REFEREE}"), "utf-8")
    assert "7 are left: openai/referee needs a key, and REFEREE is not set" in command("rescore", file).stderr
    assert len(endpoint.requests) == asked
    file.write_text(text.replace("Same meaning", "Any meaning"), "utf-8")
    assert command("rescore", str(file)).exit_code == 2
    assert len(endpoint.requests) == asked
    file.write_text(text.replace("retries: 0", "retries: 1, max_tokens: 99"), "utf-8")
    assert re.search(r"spent: \$0\.00\d+\n", command("rescore", file).stdout)
    assert "spent: nothing" in command("rescore", file).stdout
    assert found("rescore", file)["judge"]["unjudged"] == 0


def test_what_was_logged_is_nothing_of_the_budget_that_a_judge_is_asked_within(
    logs: pathlib.Path,
    endpoint: FakeEndpoint,  # noqa: F811
    referee: Referee,  # noqa: F811
) -> None:
    """Neither where it is asked first nor where it is asked again; what it was paid itself is."""
    rows = [{"task": str(k), "answer": f"WORD{k}", "seconds": 1, "usage": {"usd": 0.5}} for k in range(N)]
    logs.with_name("runs.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    referee.says, text = (lambda parts: DOWN if of(parts, 3) else fair(parts)), logs.read_text("utf-8")
    logs.write_text(f"{text}budget: {{usd: 1}}\n", "utf-8")
    before = json.loads(command("compare", str(logs), "--json").stdout)
    assert (before["stopped"], before["judge"]["unjudged"]) == ("", 2)
    referee.says, asked = fair, len(endpoint.requests)
    logs.write_text(f"{text}budget: {{usd: 0.0001}}\n", "utf-8")
    assert "2 are left: the comparison's budget is used up" in command("rescore", str(logs)).stderr
    assert len(endpoint.requests) == asked
    logs.write_text(f"{text}budget: {{usd: 1}}\n", "utf-8")
    assert found("rescore", logs)["judge"]["unjudged"] == 0


def test_rescore_of_a_store_that_is_only_read_asks_nobody(
    file: pathlib.Path,  # noqa: F811
    endpoint: FakeEndpoint,  # noqa: F811
    referee: Referee,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What it would say could not be kept, and would be paid twice; the figures come all the same."""
    referee.says = lambda parts: DOWN if of(parts, 3) else fair(parts)
    command("compare", str(file), "--json")
    asked, made = len(endpoint.requests), StoreFile.writing

    def refused(self: StoreFile) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(StoreFile, "writing", refused)
    done = command("rescore", str(file), "--json")
    monkeypatch.setattr(StoreFile, "writing", made)
    assert (done.exit_code, json.loads(done.stdout)["judge"]["unjudged"]) == (0, 1)
    assert "asked again about 1 row, and nothing can be kept of it: " in done.stderr
    assert len(endpoint.requests) == asked


def test_a_rescore_that_is_killed_loses_no_word(
    file: pathlib.Path,  # noqa: F811
    endpoint: FakeEndpoint,  # noqa: F811
    referee: Referee,  # noqa: F811
) -> None:
    """What was asked again before is kept, and what was in flight is asked once more."""
    referee.says = lambda parts: DOWN if of(parts, 3, 5, 7, 9) else fair(parts)
    command("compare", str(file), "--json")
    asked = len(endpoint.requests)
    referee.says, referee.most = fair, referee.count + 3
    killed(started(file, command="rescore"), referee)
    after = found("rescore", file)
    assert (after["judge"]["unjudged"], after["arms"][1]["accuracy"]["right"]) == (0, N)
    assert len(endpoint.requests) <= asked + 8 + 5
    assert rows_of(found("report", "last")) == rows_of(after)


def rows_of(result: dict[str, Any]) -> list[list[Any]]:
    return sorted(
        ([t[k] for k in ("arm", "task", "right", "latency", "exit", "remark")] for t in result["trials"]), key=str
    )


# -- stopping early ---------------------------------------------------------------------------------------------------


def early(file: pathlib.Path) -> pathlib.Path:  # noqa: F811
    file.write_text(file.read_text("utf-8") + "stop_early: true\n", "utf-8")
    return file


def test_a_judged_comparison_stops_as_soon_as_it_is_settled(
    file: pathlib.Path,  # noqa: F811
    endpoint: FakeEndpoint,  # noqa: F811
) -> None:
    """By the judge's word, which is not asked for runs that were not needed; replayed and rescored it is the same."""
    result = found("compare", early(file))
    assert result["verdict"]["token"] == "earns"
    made = len(result["trials"])
    assert made < 2 * N
    assert len(endpoint.requests) == result["judge"]["calls"] == 2 * (made + 24)
    for again in (found("compare", file, "--replay", "last"), found("rescore", file)):
        assert told(again["verdict"]) == told(result["verdict"])
    assert len(endpoint.requests) == 2 * (made + 24)


def test_a_judge_that_is_not_believed_settles_nothing_early(file: pathlib.Path, referee: Referee) -> None:  # noqa: F811
    """However soon the figures are clear."""
    early(file)
    referee.says = lambda parts: verdict("pass" if parts["answer"].isupper() or "row" in parts["task"]["q"] else "fail")
    assert found("compare", file)["verdict"]["token"] == "undecided"


def test_stopping_early_goes_on_where_the_judge_failed(file: pathlib.Path, referee: Referee) -> None:  # noqa: F811
    """The pair is left out at first, and judged when it is resumed."""
    early(file)
    first = next(t["task"] for t in found("compare", file)["trials"] if t["arm"] == "agent")
    referee.says = lambda parts: DOWN if of(parts, int(first)) else fair(parts)
    assert found("compare", file)["judge"]["unjudged"] == 1
    referee.says = fair
    after = found("compare", file, "--resume")
    assert (after["judge"]["unjudged"], after["verdict"]["token"]) == (0, "earns")


# -- rescore ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Same meaning", "Any meaning"),
        ("openai/referee", "openai/umpire"),
        ("tasks: tasks.jsonl", "tasks: other.jsonl"),
    ],
)
def test_rescore_never_gives_one_judges_word_for_anothers(file: pathlib.Path, old: str, new: str) -> None:  # noqa: F811
    """Nor about another task: it asks no model, and says how to have these runs judged."""
    found("compare", file)
    rows = [json.loads(line) for line in file.with_name("tasks.jsonl").read_text("utf-8").splitlines()]
    file.with_name("other.jsonl").write_text("\n".join(json.dumps(row | {"expected": "else"}) for row in rows), "utf-8")
    file.write_text(file.read_text("utf-8").replace(old, new), "utf-8")
    done = command("rescore", str(file))
    assert done.exit_code == 2
    assert "60 of 60 runs were judged by another, or on other tasks, and `rescore` asks no model" in done.stderr
    assert "{log: runs.jsonl}" in done.stderr


def test_rescore_asks_no_judge_about_runs_that_none_judged(logs: pathlib.Path) -> None:
    """A file that names a judge now says so, and a file that names none any more is rescored."""
    plainly = logs.with_name("plain.yaml")
    head, _ = logs.read_text("utf-8").split("arms:")
    score = head.split("score:")[1]
    plainly.write_text(plainly.read_text("utf-8").replace("score: equals\n", f"score:{score}"), "utf-8")
    done = command("rescore", str(plainly))
    assert (done.exit_code, "no judge was asked about 60 of 60 runs" in done.stderr) == (2, True)
    judged = found("compare", logs)
    logs.write_text(logs.read_text("utf-8").replace(f"score:{score}", "score: icontains\n"), "utf-8")
    again = found("rescore", logs)
    assert (again["judge"], again["arms"][1]["model_calls"], again["usd"]) == (None, 0, 0)
    assert judged["judge"] is not None


def test_rescore_takes_labels_and_prices_that_the_files_have_now(file: pathlib.Path) -> None:  # noqa: F811
    """A row is known by what it holds, wherever it stands; one that the judge was not asked about is not counted."""
    before = found("compare", file)
    labels = file.with_name("labelled.jsonl")
    rows = [json.loads(line) for line in labels.read_text("utf-8").splitlines()]
    rows[0] |= {"right": True}
    labels.write_text("\n".join(json.dumps(row) for row in [*reversed(rows), rows[0] | {"q": "new"}]), "utf-8")
    file.write_text(file.read_text("utf-8").replace("{input: 1, output: 1}", "{input: 2, output: 2}"), "utf-8")
    after = found("rescore", file)
    known = after["judge"]["agreement"]
    assert (known["n"], known["agreed"], known["labelled_right"]) == (24, 23, 13)
    assert after["judge"]["usd"] == pytest.approx(2 * before["judge"]["usd"])
    assert after["judge"]["provenance"]["usd"] == "assumed"
