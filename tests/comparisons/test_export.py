"""A comparison as JSON."""

from __future__ import annotations

import gc
import json
from typing import Any

import pytest

from loopworth.comparisons.export import asked, read, to_json
from loopworth.models import ModelSpec
from tests.comparisons.contenders import Asks, Endpoint, Says, arm, compared, comparison, down, tasks

HERE = ModelSpec("vllm/here")


def document(**changes: Any) -> Any:
    arms = [arm("regex", Says(str)), arm("asks", Asks(HERE.key), HERE)]
    given = comparison(arms, 5, tasks=tasks(5, k=[1, 1, 2, 2, 2]), **{"group_by": "k", "seed": 7, **changes})
    endpoint = Endpoint(lambda q, n: down() if n == 1 else q, concurrency=1)
    return json.loads(to_json(compared(given, {"vllm/here": endpoint})))


def test_the_document_has_every_trial_with_its_transcript_and_events() -> None:
    """The rerun and what it replaced, each with answer, expected, usage, timing and calls."""
    found = document()
    assert [(t["exit"], t["attempt"]) for t in found["trials"] if t["arm"] == "asks"][-1] == ("success", 1)
    assert len(found["trials"]) == 11
    told = next(t for t in found["trials"] if t["arm"] == "asks" and t["exit"] == "success")
    assert told["answer"] == told["expected"] == told["transcript"][-1]["message"]["content"]
    assert told["events"][0]["type"] == "ModelCalled"
    assert (told["right"], told["usage"]["input"], told["usage"]["usd"]) == (True, 10, 0.001)
    assert {"latency", "seconds", "began", "model_calls", "tool_calls", "route", "note", "traceback", "calls"} <= set(
        told
    )


def test_the_verdict_has_the_fields_of_the_language() -> None:
    """`verdict.holder`, `verdict.token`, and per challenger what it rests on."""
    verdict = document()["verdict"]
    assert (verdict["holder"], verdict["token"]) == ("regex", "undecided")
    fields = ["arm", "against", "token", "n", "b", "c", "difference", "interval", "error"]
    assert list(verdict["arms"][0])[: len(fields)] == fields


def test_the_document_says_how_to_run_it_again() -> None:
    """Seed, order, versions, models, and the specification as it was written."""
    found = document(spec={"comparison": "tried"}, files={"tasks.jsonl": "abc"})
    assert (found["seed"], found["spec"], len(found["order"])) == (7, {"comparison": "tried"}, 10)
    assert found["provenance"]["versions"]["loopworth"]
    assert found["provenance"]["models"][0]["name"] == "vllm/here"
    assert found["provenance"]["files"] == {"tasks.jsonl": "abc"}


def test_the_document_says_what_each_task_asks() -> None:
    """The columns that an arm takes, by name where there are several, and no tag; on one line, shortened."""
    assert document()["inputs"] == {str(k): str(k) for k in range(1, 6)}
    [task] = tasks(1, k=[[1, "é"]], tag=["x"])
    assert asked(task, ("k", "question", "other")) == 'question: 1, k: [1, "é"]'
    [long] = tasks(1, k=["word\n" * 50])
    assert asked(long, ("k",)) == f"{'word ' * 24}"[:119] + "…"


def test_the_figures_stand_beside_the_trials() -> None:
    """Per arm and per level, and they are those of the trials."""
    found = document()
    asks = next(arm for arm in found["arms"] if arm["arm"] == "asks")
    assert asks["accuracy"]["right"] == sum(t["right"] is True for t in found["trials"] if t["arm"] == "asks") == 5
    assert (asks["usd"]["mean"], asks["billed"], asks["exits"]) == (0.001, True, {"success": 5})
    assert [(row["level"], row["arm"]) for row in found["levels"]][:2] == [("1", "regex"), ("1", "asks")]


def test_half_a_surrogate_pair_does_not_break_the_document() -> None:
    """What a model or a task said is data, whatever it holds."""
    result = compared(comparison([arm("a", Says(lambda _: "\ud800"))], 2, spec={"x": "\udfff"}))
    assert json.loads(to_json(result))["trials"][0]["answer"] == "\ud800"


@pytest.mark.parametrize("text", ["plain", "\udcb2 degrees", "\ud83d\ude00"])
def test_what_was_written_is_read_back(text: str) -> None:
    """Halves of surrogate pairs too; and the collector goes on as it did."""
    assert read(json.dumps({"said": text}).encode()) == json.loads(json.dumps({"said": text}))
    assert gc.isenabled()
    with pytest.raises(ValueError, match="Expecting"):
        read(b"{")
    assert gc.isenabled()
