"""What holds of every shipped example."""

from __future__ import annotations

import pathlib

import pytest

from tests.cli.kit import command
from tests.examples.kit import EXAMPLES, FILES, MODEL


def named(file: pathlib.Path) -> str:
    return str(file.relative_to(EXAMPLES))


@pytest.mark.parametrize("file", FILES, ids=named)
def test_a_shipped_file_has_no_faults(file: pathlib.Path) -> None:
    """`loopworth check` finds nothing."""
    done = command("check", file)
    assert (done.exit_code, done.stderr) == (0, "")


@pytest.mark.parametrize("file", [file for file in FILES if "local/" in file.read_text("utf-8")], ids=named)
def test_a_model_is_always_asked_within_a_limit(file: pathlib.Path) -> None:
    """A small model without a limit on its output runs to the end of its context."""
    text = file.read_text("utf-8")
    assert text.count(MODEL) == text.count("local/")
    assert text.count(MODEL) == text.count("max_tokens:")
    assert text.count(MODEL) == text.count("temperature: 0\n")


@pytest.mark.parametrize("folder", sorted({file.parent.name for file in FILES}))
def test_an_example_is_explained(folder: str) -> None:
    """Each has a page that names its files."""
    page = (EXAMPLES / folder / "README.md").read_text("utf-8")
    for file in (EXAMPLES / folder).glob("*.yaml"):
        assert file.name in page, file.name
