"""What is said of an option that there is not, and of a value that an option does not take."""

from __future__ import annotations

import pytest

from tests.cli.kit import command

UNKNOWN = [
    ("report --md x", "--md (Possible options: --markdown)"),
    ("report --out x", "--out (Possible options: --html, --markdown)"),
    ("compare c.yaml -o x", "-o (Possible options: --html, --markdown)"),
    ("draw w.yaml --out x", "--out (Possible options: --output)"),
    ("runs export --outptu x", "--outptu (Possible options: --output)"),
    ("runs --limit 3", "--limit (Possible options: --most)"),
    ("run w.yaml --text x", "--text (Possible options: --input)"),
    ("compare c.yaml --arm a", "--arm"),
    ("--verison", "--verison (Possible options: --version)"),
]


@pytest.mark.parametrize(("line", "said"), UNKNOWN)
def test_an_unknown_option_names_the_one_that_was_meant(line: str, said: str) -> None:
    """What other tools call so, else the nearest by the rule of all spelling; where none is near, none is named."""
    done = command(*line.split())
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1] == f"Error: No such option: {said}"


def test_a_word_that_an_option_does_not_take_names_those_that_it_takes() -> None:
    """In the words of the option, without those of a library."""
    said = command("compare", "c.yaml", "--require", "earned").stderr
    assert "Invalid value for '--require': 'earned' is not one of 'earns', 'keeps'" in said


OUTPUTS = [
    "draw w.yaml -o -",
    "schema -o -",
    "runs export -o -",
    *(f"report --{kind} -" for kind in ("html", "markdown", "csv", "svg", "png")),
    "compare c.yaml --html -",
    "compare c.yaml --markdown -",
]


@pytest.mark.parametrize("line", OUTPUTS)
def test_a_file_to_write_is_none_called_minus(line: str, tmp_path, monkeypatch) -> None:
    """It is said before anything is made, and no file of this name is left."""
    monkeypatch.chdir(tmp_path)
    done = command(*line.split())
    assert done.exit_code == 2
    assert "`-` is no file: name one" in done.stderr
    assert list(tmp_path.iterdir()) == []
