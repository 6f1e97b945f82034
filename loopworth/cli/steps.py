"""A kept run on the terminal, step by step."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from loopworth.cli.following import line
from loopworth.cli.terminal import shown
from loopworth.runs import steps as telling
from loopworth.runs.outcome import Said
from loopworth.runs.recording import Recording


def steps(recording: Recording) -> Iterator[Text]:
    """The run in order: what was said, and, set apart from it, what there is to say about each step."""
    for one in telling.steps(recording):
        yield line(one) if isinstance(one, Said) else mark(one)


def mark(note: telling.Note) -> Text:
    return Text("    ").append_text(shown(f"{note.at or '-'}  {note.text}", "dim", lines=False))
