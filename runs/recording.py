"""A run with all it was asked and answered, in the store or as one line of a JSONL file.

A line is strict JSON: `{"loopworth": 1, "run": {…}, "effects": [{"id", "kind", "request", "body", …}], "outcome": {…},
"score": {…}}`. The requests of a run are packed as in `runs.packing`: a message stands in full where it was first sent.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from loopworth.runs.journal import Record, body
from loopworth.runs.kept import Kept, Score
from loopworth.runs.nesting import TOO_DEEP
from loopworth.runs.outcome import Outcome
from loopworth.runs.packing import Pool
from loopworth.runs.usage import Value

FORMAT = 1


class Recording(Value, frozen=True):
    """One run. Without an outcome it did not end; a comparison itself has neither records nor an outcome."""

    kept: Kept
    records: Mapping[str, Record] = {}
    outcome: Outcome | None = None
    score: Score | None = None


class Effect(Value, frozen=True):
    """A record as it stands in a line."""

    id: str
    hash: str
    kind: str
    request: msgspec.Raw
    body: msgspec.Raw
    began: float = 0.0
    ended: float = 0.0


class Line(Value, frozen=True):
    loopworth: int
    run: Kept
    effects: list[Effect] = []
    outcome: Outcome | None = None
    score: Score | None = None


class RecordingFault(ValueError):
    """A file of recordings that cannot be read; the text names the line."""


def line(recording: Recording) -> bytes:
    """A recording as one line of strict JSON, with its line end."""
    parts = {
        b"loopworth": b"%d" % FORMAT,
        b"run": body(recording.kept),
        b"effects": b"[" + b",".join(effects(recording.records)) + b"]",
        b"outcome": body(recording.outcome),
        b"score": body(recording.score),
    }
    return b"{" + b",".join(b'"%s":%s' % part for part in parts.items()) + b"}\n"


def effects(records: Mapping[str, Record]) -> Iterable[bytes]:
    pool = Pool()
    for id, record in records.items():
        request = pool.pack(record.request) or b"null"
        head = body({"id": id, "hash": record.hash, "kind": record.kind, "began": record.began, "ended": record.ended})
        yield head[:-1] + b',"request":' + request + b',"body":' + record.body + b"}"


class Recordings(Value, frozen=True):
    """The recordings of a file, and what there is to say about it."""

    found: tuple[Recording, ...]
    notes: tuple[str, ...] = ()


def read(path: str | Path) -> Recordings:
    """All recordings of a JSONL file. A last line that was cut off is dropped, with a note; any other line that cannot
    be read is a fault, since what comes after it is not to be missed in silence. Raises RecordingFault, OSError.
    """
    content = Path(path).read_bytes().removeprefix(b"\xef\xbb\xbf")
    *whole, last = content.split(b"\n")
    lines = [(k, text.strip()) for k, text in enumerate(whole, 1) if text.strip()]
    found, notes = [read_line(path, k, text) for k, text in lines], list[str]()
    if last.strip():
        try:
            found.append(read_line(path, len(whole) + 1, last.strip()))
        except RecordingFault:
            notes.append(f"{path}:{len(whole) + 1}: the last line is cut off, and was dropped")
    return Recordings(tuple(found), tuple(notes))


def read_line(path: str | Path, k: int, text: bytes) -> Recording:
    try:
        return recording_of(text)
    except (msgspec.MsgspecError, ValueError, IndexError) as why:
        raise RecordingFault(f"{path}:{k}: this line is no recording: {why}") from None
    except RecursionError:
        raise RecordingFault(f"{path}:{k}: this line is no recording: it {TOO_DEEP}") from None


def recording_of(text: bytes) -> Recording:
    """The recording of a line."""
    try:
        found = msgspec.json.decode(text, type=Line)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        found = halved(json.loads(text, parse_constant=unknown))
    if found.loopworth > FORMAT:
        raise ValueError(f"it was written by a newer loopworth (format {found.loopworth}; this one knows {FORMAT})")
    pool, records = Pool(), dict[str, Record]()
    for one in found.effects:
        request = b"" if bytes(one.request) == b"null" else pool.unpack(bytes(one.request))
        kind: Any = one.kind
        records[one.id] = Record(one.hash, kind, bytes(one.body), one.began, one.ended, request)
    return Recording(found.run, records, found.outcome, found.score)


def halved(value: Any) -> Line:
    """A line that holds halves of surrogate pairs, which msgspec does not read."""
    for one in value.get("effects", ()):
        one.update({name: msgspec.Raw(body(one[name])) for name in ("request", "body")})
    return msgspec.convert(value, Line)


def unknown(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")
