"""Names as models get them wrong."""

import pytest

from loopworth.tools.names import brief, listed, nearest, shown


@pytest.mark.parametrize("written", ["Read_File", "readFile", "read-file", "read file", "READFILE", "read_fil"])
def test_the_nearest_name_is_found_whatever_the_case_and_the_separators(written):
    """Case, `-`, `_` and spaces are what models change most."""
    assert nearest(written, ["run_command", "read_file"]) == "read_file"


def test_nothing_is_near_a_name_that_means_something_else():
    """A far guess would mislead more than it helps."""
    assert nearest("shell_exec", ["run_command", "read_file"]) is None
    assert nearest("", ["a"]) is None
    assert nearest("x" * 100_000, ["a"]) is None


def test_what_is_shown_is_printable_and_short():
    """Control characters and half characters are escaped, plain signs stay, long texts are cut."""
    assert shown("a\n\x1b[2J\ud800é\\") == r"'a\n\x1b[2J\ud800é\'"
    assert brief("x" * 100, 10) == "xxxxxxxxx…"


def test_of_many_names_only_the_first_are_listed():
    """A message about a catalogue of hundreds stays readable."""
    assert listed("abc") == "a, b, c"
    assert listed("abcde", 2) == "a, b, … (5 in all)"
