"""Names as models get them wrong."""

from loopworth.tools.names import brief, listed, shown


def test_what_is_shown_is_printable_and_short():
    """Control characters and half characters are escaped, plain signs stay, long texts are cut."""
    assert shown("a\n\x1b[2J\ud800é\\") == r"'a\n\x1b[2J\ud800é\'"
    assert brief("x" * 100, 10) == "xxxxxxxxx…"


def test_of_many_names_only_the_first_are_listed():
    """A message about a catalogue of hundreds stays readable."""
    assert listed("abc") == "a, b, c"
    assert listed("abcde", 2) == "a, b, … (5 in all)"
