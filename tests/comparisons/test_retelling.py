"""What is kept with the trials of a comparison tells what its transcripts tell."""

from __future__ import annotations

import json
import pathlib
import sqlite3
from contextlib import closing

import pytest

from loopworth.comparisons.retelling import told
from loopworth.runs.secrets import KNOWN, learn
from loopworth.runs.shelf import Shelf
from tests.cli.kit import command
from tests.cli.test_comparisons import COMPARISON, doubles
from tests.comparisons.retold import Frugal, held, newest, unsaid
from tests.comparisons.test_control_runs import endpoint, file, models  # noqa: F401 - fixtures are used by their names
from tests.endpoint import FakeEndpoint

REPEATED = COMPARISON.replace("}\ndecide: {", "}\nrepeats: 3\ngroup_by: n\ndecide: {harm: answer == 4, max_harm: 0.5, ")


@pytest.fixture(autouse=True)
def here(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("comparison", [COMPARISON, REPEATED])
def test_figures_tell_what_transcripts_tell(tmp_path: pathlib.Path, comparison: str) -> None:
    """Every figure, word and trial; what was said is read of the disagreements that are shown, and of no other run."""
    assert command("compare", doubles(tmp_path, comparison=comparison)).exit_code == 0
    held()
    shelf = Frugal()
    told(shelf, newest(), pairs=2)
    assert len(shelf.read) == len(set(shelf.read)) == 4


def test_figures_tell_of_controls(file: pathlib.Path, endpoint: FakeEndpoint) -> None:  # noqa: F811
    """Their votes too, which are on what other runs answered."""
    assert command("compare", file).exit_code == 0
    held()


def altered(statement: str) -> None:
    with closing(sqlite3.connect(str(Shelf().home))) as db, db:
        db.execute(statement)


@pytest.mark.parametrize("kept", ["null", "cast('{}' as blob)", """cast('{"arm": 1, "new": 2}' as blob)"""])
def test_trials_without_figures_of_this_version_are_told_by_their_transcripts(
    tmp_path: pathlib.Path, kept: str
) -> None:
    """Those of an older store, or of another version; the others are told by their figures, in the same order."""
    assert command("compare", doubles(tmp_path)).exit_code == 0
    before = told(Shelf(), newest())[1]
    altered(f"update trial set figures = {kept} where task in ('n2', 'n7')")
    shelf = Frugal()
    after = told(shelf, newest(), pairs=0)[1]
    assert unsaid(after) == unsaid(before)
    assert len(shelf.read) == 4


def test_a_known_secret_is_not_kept_in_figures(tmp_path: pathlib.Path) -> None:
    """Where a model repeats a key as its answer, the mask stands there as in the transcript."""
    made = doubles(tmp_path)
    guess = tmp_path / "guess.yaml"
    guess.write_text(guess.read_text("utf-8").replace('text: "4"', 'text: "sk-0123456789abcdef"'), "utf-8")
    learn("sk-0123456789abcdef")
    try:
        assert command("compare", made).exit_code == 0
    finally:
        KNOWN.forget()
    figures = Shelf().figures(newest().id)
    assert len(figures) == 24
    assert not [text for text in figures.values() if b"0123456789abcdef" in text]
    assert {json.loads(text)["answer"] for text in figures.values() if b"***" in text} == {"***"}
