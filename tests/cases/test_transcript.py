"""The handed cases of kind transcript: runs as lines of a file, whole, cut off, broken, and with odd numbers."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable
from typing import Any

import pytest
from ruamel.yaml import YAML

from loopworth.runs.journal import Record, asked, body
from loopworth.runs.kept import Kept
from loopworth.runs.message import user
from loopworth.runs.outcome import Outcome, Said
from loopworth.runs.recording import Recording, RecordingFault, line, read

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("transcript.yaml"))["cases"]
ODD = {"score": float("nan"), "best": float("inf"), "worst": float("-inf")}


def recording(k: int, answer: Any = "yes") -> Recording:
    request = asked(["look", {"code": k}])
    outcome = Outcome(answer, transcript=[Said("", user(f"question {k}"))])
    records = {"1/call": Record(request.hash, "tool", body({"full": answer}), request=request.request)}
    return Recording(Kept(f"run{k}", "run", "w", "w.yaml", "2026-11-30"), records, outcome)


def written(given: dict[str, Any], folder: pathlib.Path) -> pathlib.Path:
    """The file of a case."""
    lines = [line(recording(k)) for k in range(1, 121)]
    match given:
        case {"file": "120 good lines, then a half line without a line end"}:
            lines.append(lines[0][:100])
        case {"file": "line 50 of 120 is broken"}:
            lines[49] = lines[49][:100] + b"\n"
        case {"record": "a score that is not-a-number and one that is infinite"}:
            lines = [line(recording(1, ODD))]
    (folder / "runs.jsonl").write_bytes(b"".join(lines))
    return folder / "runs.jsonl"


def all_load(file: pathlib.Path) -> None:
    found = read(file)
    assert [one.kept.id for one in found.found] == [f"run{k}" for k in range(1, 121)]
    assert found.notes == (f"{file}:121: the last line is cut off, and was dropped",)


def names_the_line(file: pathlib.Path) -> None:
    with pytest.raises(RecordingFault, match=r"runs\.jsonl:50: this line is no recording"):
        read(file)


def strict(file: pathlib.Path) -> None:
    """No line holds what JSON has no word for, and each is read again."""

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    for text in file.read_bytes().splitlines():
        found = json.loads(text, parse_constant=refuse)
        assert found["outcome"]["answer"] == dict.fromkeys(ODD)
    assert len(read(file).found) == 1


EXPECTED: dict[str, Callable[[pathlib.Path], None]] = {
    "All 120 load; a note names the dropped half line.": all_load,
    "An error or a loud warning that names line 50; later lines are not hidden in silence.": names_the_line,
    "Each line is strict JSON; a browser can read it.": strict,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_transcript(case: dict[str, Any], tmp_path: pathlib.Path) -> None:
    """What a file of runs may hold, and every line of what must come of it."""
    file = written(case["given"], tmp_path)
    for expected in case["expect"]:
        EXPECTED[expected](file)
