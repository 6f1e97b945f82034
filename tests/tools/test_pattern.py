"""Patterns over what models write: Python's own, and no text takes long."""

import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.tools.allow import Allow
from loopworth.tools.arguments import ArgumentFault
from loopworth.tools.pattern import allowing, compiled, is_whole, stands_in

PATTERNS = [
    "[A-Z]{3}-[0-9]{2}",
    r"\d+(\.\d{2})?",
    r"[\w.-]+@example\.com",
    r"(?i)(staff|budget)",
    r"a|ab|[^a-c]*",
    r"(a+)+b",
    r"^\s*x?$",
    r"a{,3}",
    r"(?P<x>a)(?P=x)",
    r"(?!b)\w{2,4}",
    r"[]&&a-c]+",
    r"\<b\>",
    r"x{1, 2}",
    r"b\Z",
    r"[+--c]",
    r"(?x)a # letters",
    "(?i:b)(?x:[ a])",
    "[[a]2]",
    r"[^a[\]]]?",
    r"\[[a-c]\]?",
]
TEXT = st.text(st.sampled_from("abcABX0129.-@&<>{}, \n]+é\u017f\u212a\u0663"), max_size=8)


@pytest.mark.filterwarnings("ignore:Possible")
@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_matches_what_python_says(pattern):
    """The sieve before it never decides otherwise."""

    @given(st.one_of(TEXT, st.from_regex(re.compile(pattern, re.ASCII), fullmatch=True)))
    def holds(text):
        made = allowing(pattern)
        assert is_whole(made, text) == (re.fullmatch(pattern, text, re.ASCII) is not None)
        assert stands_in(made, text) == (re.search(pattern, text, re.ASCII) is not None)

    holds()


@pytest.mark.parametrize("pattern", ["(a+)+b", r"([a-z0-9]+\.?)+@corp\.com", r"(\w|\w\w)*-", "(a|a)*c|(a*)*d"])
def test_no_text_that_does_not_match_takes_long(pattern):
    """`re` alone would take years, and nothing could stop it; here another process could."""
    code = (
        "import re, sys; from loopworth.tools.pattern import is_whole, stands_in; p = re.compile(sys.argv[1]); "
        "print(is_whole(p, 'a' * 10_000), stands_in(p, 'a' * 10_000))"
    )
    done = subprocess.run([sys.executable, "-c", code, pattern], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "False False\n"


@pytest.mark.parametrize(
    ("pattern", "value"),
    [
        (r"\d+", "1\N{ARABIC-INDIC DIGIT TWO}3"),
        (r"\w+", "p\N{FULLWIDTH LATIN SMALL LETTER A}y"),
        ("(?i)staff", "\N{LATIN SMALL LETTER LONG S}taff"),
        ("(?i)kiosk", "\N{KELVIN SIGN}iosk"),
        (r"a\sb", "a\N{EM SPACE}b"),
        (r"\S+", "a\N{NO-BREAK SPACE}b"),
        (r"a\Wb", "a\N{CYRILLIC SMALL LETTER A}b"),
    ],
)
def test_no_sign_of_another_script_passes_for_one_of_ascii(pattern, value):
    """Nor, where it is no letter, digit or blank that is wanted, for one that is none."""
    rules = {"code": {"pattern": pattern}}, {"properties": {"code": {"type": "string"}}}
    with pytest.raises(ArgumentFault, match="is not allowed"):
        Allow.of(*rules).check({"code": value})
    Allow.of({"code": {"pattern": f"(?u){pattern.removeprefix('(?i)')}|{value}"}}, rules[1]).check({"code": value})


@pytest.mark.parametrize("pattern", ["[", "a{99999999999}", "(" * 5_000 + ")" * 5_000, "a**"])
def test_what_is_no_pattern_is_told_in_words(pattern):
    """Of whatever kind Python's own complaint is."""
    with pytest.raises(ValueError, match=r"\w"):
        compiled(pattern)
