"""YAML as loopworth reads it: plain values, and every slip of the pen at its place."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.workflows.document import BROKEN, parse, plain, read, spelled


def faults(text):
    """(line, column, the whole message) of each fault of a text."""
    return [(fault.line, fault.column, f"{fault.what}; {fault.instead}") for fault in parse(text, "f.yaml").faults]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("true", True),
        ("false", False),
        ("12", 12),
        ("-0.5", -0.5),
        ("1e3", 1000.0),
        *((word, word) for word in ("yes", "no", "on", "off", "Yes", "True", "NULL", "=", ".inf", "1e999")),
        *((word, word) for word in ("0123", "007", "1_000", "0x1F", "0o17", ".5", "1.", "+1")),
        *((word, word) for word in ("2024-01-05", "12:30:45", "2001-12-14t21:59:43.10-05:00", "1:2")),
        ("'12'", "12"),
        ('"true"', "true"),
        ("9" * 400, "9" * 400),
    ],
)
def test_a_plain_scalar_is_json_or_the_text_that_was_written(written, value):
    """Only null, true, false and JSON's numbers are more than text."""
    found = plain(parse(f"a: {written}", "f").value["a"])
    assert (found, type(found)) == (value, type(value))


def test_a_number_remembers_how_it_was_written():
    """3.10 is a number, and the text 3.10 where a text is wanted."""
    value = parse("a: 3.10\nb: true", "f").value
    assert (value["a"], spelled(value["a"]), spelled(value["b"])) == (3.1, "3.10", "true")
    assert plain(value, {"properties": {"a": {"type": "string"}}}) == {"a": "3.10", "b": True}


@pytest.mark.parametrize(
    ("text", "column", "hint"),
    [
        ("set: {{ x }}", 6, 'put it in quotes: "{{ … }}"'),
        ("answer: {{ a }} items", 17, 'put it in quotes: "{{ … }}"'),
        ("- {{ x }}", 3, 'put it in quotes: "{{ … }}"'),
        ("w: {q: total {{ a }}}", 14, "inside { } quote it, or use one line per key"),
        ("w: {tags: list[str]}", 15, "inside { } quote it, or use one line per key"),
        ("ask: Answer this: {{ q }}", 17, "quote it, or use |"),
        ('if: "late" in tags', 12, "wrap all in '…'"),
        ("if: !done", 5, "`not done`"),
        ("if: && x", 5, "write `and`"),
        ("a: {description: invoices, refunds}", 28, "quote the text: it has a comma"),
        ('code: "[0-9]\\d"', 14, "single quotes"),
        ('ask: Return {{"name": "x"}}', 21, "JSON braces are single here"),
        ("a:\tb", 3, "indent with spaces"),
        ("a: b\na: c", 1, "the first is in line 1"),
        ("1: b", 1, "quote it: '1'"),
        ("true: b", 1, "quote it: 'true'"),
        ("? [a]\n: b", 3, "put it in quotes"),
        ("a: !!python/name:os.system ''", 4, "leave the tag out"),
        ("a: *b", 4, "starts with *"),
        ("a: `b`", 4, "put it in quotes"),
        ("a: [1, 2", 4, "close it"),
        ("a: 'b", 4, "close it"),
        ("a: b\n---\nc: d", 1, "one document a file"),
        ('a: "\\ud83d"', 4, "half of a surrogate pair"),
    ],
)
def test_a_slip_has_its_place_and_its_hint(text, column, hint):
    """The common slips of YAML are named in words that say what to write."""
    [(_, at, message)] = faults(text)
    assert at == column
    assert hint in message


def test_one_slip_does_not_hide_the_others():
    """A line that cannot be read is left out, and the rest of the file is still read."""
    text = 'ask: a: b\nset: {{ x }}\nif: "a" in b\nw: {t: list[str]}\nc: 1\nc: 2\n'
    assert [line for line, _, _ in sorted(faults(text))] == [1, 2, 3, 4, 6]
    assert parse(text, "f").value == {"ask": BROKEN, "set": BROKEN, "if": BROKEN, "w": BROKEN, "c": 1}


def test_a_merge_is_no_duplicate_and_own_keys_win():
    """`<<` brings what is not there; of several the first wins."""
    document = parse("x: &a {t: 0, u: 1}\ny: &b {u: 2, v: 3}\nm:\n  <<: [*a, *b]\n  t: 9\n", "f")
    assert (document.value["m"], document.faults) == ({"t": 9, "u": 1, "v": 3}, [])
    assert document.where(("m", "u")) == (1, 17)


@pytest.mark.parametrize("text", ["a: &a [*a]", "a: &a {b: *a}", "a: &a {<<: *a}", "a: &a [[[*a]]]"])
def test_a_value_that_contains_itself_is_a_fault(text):
    """An alias of what is still open has no end."""
    assert any("contains itself" in message for _, _, message in faults(text))


def test_an_alias_bomb_is_a_fault_and_not_a_full_memory():
    """Aliases may make only so many values."""
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    assert ["aliases make more than" in message for _, _, message in faults("\n".join(rows))] == [True]


def test_keys_that_start_with_x_are_a_place_for_anchors():
    """They are no part of the value, at the top only."""
    assert parse("x-models: &m {x-y: 1}\nmodel: *m", "f").value == {"model": {"x-y": 1}}


@pytest.mark.parametrize("size", [1 << 20, (1 << 20) + 1])
def test_a_file_of_more_than_a_mebibyte_is_a_fault(tmp_path, size):
    """1 MiB is read, one byte more is not."""
    path = tmp_path / "big.yaml"
    path.write_bytes(b"a: 1\n#".ljust(size, b"x"))
    assert [fault.what for fault in read(path).faults] == (["is larger than 1 MiB"] if size > 1 << 20 else [])


def test_nesting_has_an_end():
    """Thousands of brackets are a fault, not a crash."""
    assert "levels deep" in faults("a: " + "[" * 5000)[0][2]
    assert "levels deep" in faults("a: " + "[" * 70 + "]" * 70)[0][2]


def test_a_file_is_utf8_with_or_without_a_byte_order_mark(tmp_path):
    """Other encodings are named, at their place, and CRLF ends a line."""
    path = tmp_path / "f.yaml"
    path.write_bytes("\ufeffa: ä 日本 # ö\r\nb: 2\r\n".encode())
    assert read(path).value == {"a": "ä 日本", "b": 2}
    path.write_bytes("a: x\nb: ä".encode("latin-1"))
    [fault] = read(path).faults
    assert (fault.line, fault.column, fault.what) == (2, 4, "is not UTF-8 text")


def test_signs_that_are_no_line_ends_stay_in_the_text():
    """NEL and U+2028 end no line, neither in a text nor in the count of lines."""
    document = parse("a: |\n  x\x85y\u2028z\nb: p \x85 q\nb: 1\n", "f")
    assert document.value == {"a": "x\x85y\u2028z\n", "b": "p \x85 q"}
    assert document.faults[0].line == 4


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("Ticket #5", True),
        ("Answer question #{{ n }}", True),
        ("total >= 0 # always", True),
        ("total >= 0   # always", False),
        ("late # a name", False),
        ("late   #a name", False),
        ("'late or not' # quoted", False),
        ("C# code", False),
        ("a#b", False),
    ],
)
def test_a_text_that_a_hash_cuts_short_is_known(text, cut):
    """A comment set apart is one; ` #` inside a text was meant as text."""
    assert parse(f"a: {text}\n", "f").cut(("a",)) is cut


def test_a_word_is_found_inside_a_block_text():
    """Inside braces first, as a word of its own, in the line where it stands."""
    document = parse("a: |\n  the code of\n  {{ x.code }} is {{ code }}\nb: 1\n", "f")
    assert document.find(("a",), "code") == (3, 22)
    assert document.find(("a",), "other") == (1, 4)
    assert document.line(("a",), 2) == (3, 3)


SIGNS = st.characters(exclude_categories=["Cc", "Cs", "Cn"], include_characters="\x85")
KEYS = st.text(SIGNS, max_size=80)
"""YAML takes a key of up to 1,024 signs, and an escaped one is up to twelve."""


@given(st.dictionaries(KEYS, st.text(SIGNS)), st.booleans())
def test_any_texts_in_json_quotes_are_read_as_they_are(values, escaped):
    """JSON is YAML: what json.dumps writes is read back."""
    written = {f"k{key}": value for key, value in values.items()}
    document = parse(json.dumps(written, ensure_ascii=escaped), "f")
    assert (document.value, document.faults) == (written, [])


@pytest.mark.parametrize("text", ["", "# nothing\n", "~\n", "null\n", "---\n"])
def test_a_file_that_holds_nothing_is_empty(text):
    """Also one that says so in a word: nothing is no workflow without a fault."""
    assert faults(text) == [(1, 1, "the file is empty; ")]


def test_a_slip_of_yaml_is_looked_for_in_yaml_alone(tmp_path):
    """A file of another kind is told to be one, and not where its first line departs from YAML."""
    for name, what in (("tools.py", "this is no YAML file"), ("tools.yaml", "expected ")):
        (tmp_path / name).write_text('"""Tools."""\n\nimport re\n')
        [fault] = read(tmp_path / name).faults
        assert fault.what.startswith(what)
