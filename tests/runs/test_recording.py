"""Runs as lines of a file."""

from __future__ import annotations

import json
import pathlib

import pytest

from loopworth.runs.journal import MemoryJournal
from loopworth.runs.kept import Score
from loopworth.runs.recording import Recording, RecordingFault, line, read
from tests.runs.storing import chat, kept


def recorded(*questions: str, id: str = "a1") -> Recording:
    journal = MemoryJournal()
    outcome = chat(journal, *questions, replies=tuple(f"{q}!" for q in questions))
    return Recording(kept(id, input={"q": list(questions)}), journal.records, outcome, Score(True, remark="ok"))


def test_what_is_read_is_what_was_written(tmp_path: pathlib.Path) -> None:
    """Records, requests, outcome and score; line separators and half characters inside texts too."""
    runs = [recorded("a", "b", "c"), recorded("x\u2028y\u0085z\r\n", id="a2"), recorded("half \ud800", id="a3")]
    (tmp_path / "runs.jsonl").write_bytes(b"".join(map(line, runs)))
    found = read(tmp_path / "runs.jsonl")
    assert found.notes == ()
    for before, after in zip(runs, found.found, strict=True):
        assert (after.kept, after.outcome, after.score) == (before.kept, before.outcome, before.score)
        for id, record in before.records.items():
            assert json.loads(after.records[id].request) == json.loads(record.request)
            assert json.loads(after.records[id].body) == json.loads(record.body)


def test_a_file_may_have_been_edited_by_hand(tmp_path: pathlib.Path) -> None:
    """A byte order mark, Windows line ends and empty lines are nobody's fault."""
    file = tmp_path / "runs.jsonl"
    lines = [line(recorded("a")).strip(), line(recorded("b", id="a2")).strip()]
    file.write_bytes(b"\xef\xbb\xbf" + lines[0] + b"\r\n\r\n" + lines[1])
    assert ([one.kept.id for one in read(file).found], read(file).notes) == (["a1", "a2"], ())
    file.write_bytes(b"")
    assert read(file).found == ()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"{}", "loopworth"),
        (b"[]", "array"),
        (b"\xff\xfe", "line 1|utf-8|malformed"),
        (b'{"loopworth":1,"run":{"id":1}}', "str"),
        (b'{"loopworth":9,"run":{"id":"a","kind":"run","name":"n","file":"f","began":"b"}}', "newer loopworth"),
        (b'{"loopworth":1,"run":NaN}', "NaN|malformed"),
    ],
)
def test_a_line_that_is_no_recording_is_named(tmp_path: pathlib.Path, text: bytes, why: str) -> None:
    """The file, the line, and what is wrong with it; what stands behind it is not taken for the whole."""
    file = tmp_path / "runs.jsonl"
    file.write_bytes(line(recorded("a")) + text + b"\n" + line(recorded("b")))
    with pytest.raises(RecordingFault, match=rf"runs\.jsonl:2: this line is no recording: .*({why})"):
        read(file)


def test_a_conversation_is_written_once(tmp_path: pathlib.Path) -> None:
    """Each turn sends all of it again, and its line does not hold it again."""
    text = line(recorded(*[f"{n} " + "x" * 100 for n in range(30)]))
    assert text.count(b"x" * 100) < 300
    (tmp_path / "runs.jsonl").write_bytes(text)
    [found] = read(tmp_path / "runs.jsonl").found
    assert len(json.loads(found.records["30/ask"].request)["messages"]) == 59
