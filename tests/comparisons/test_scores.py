"""Scores: exact where they should be, lenient only by an option, and never fooled by a type."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.comparisons.named_scores import NAMES, scorer
from loopworth.comparisons.scores import ScoreFault
from loopworth.workflows.document import Float

PURE = [name for name in NAMES if "python" not in name]
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def right(name: str, answer: Any, expected: Any, **options: Any) -> bool:
    return scorer(name, options)(answer, expected).right


@pytest.mark.parametrize("answer", ["1,234", "1 234", "1234.0", "$1,234"])
def test_a_number_is_right_however_it_is_written(answer: str) -> None:
    """By `number`; as text all are wrong."""
    assert right("number", answer, "1234")
    assert not right("equals", answer, "1234")


@pytest.mark.parametrize("name", ["equals", "contains", "icontains", "number", "json"])
def test_a_longer_number_is_another_number(name: str) -> None:
    """325 is not 25, nor does it contain it."""
    assert not right(name, "325", "25")
    assert not right(name, "25.7", "25")
    assert not right(name, "1,025", "025")
    assert not right(name, 325, 25)


@pytest.mark.parametrize(
    ("percent", "sixty", "fraction"), [("strict", False, False), ("number", True, False), ("fraction", False, True)]
)
def test_percent_is_an_option(percent: str, sixty: bool, fraction: bool) -> None:
    """60 % is always 60 %; whether 60 and 0.6 are is said."""
    assert right("number", "60%", "60%", percent=percent)
    assert right("number", "60", "60%", percent=percent) is sixty
    assert right("number", "0.6", "60%", percent=percent) is fraction


@pytest.mark.parametrize("answer", ["paris", "  Paris\n", "PARIS"])
def test_case_and_space_are_options(answer: str) -> None:
    """Exact unless ignored; more words are wrong either way."""
    assert not right("equals", answer, "Paris")
    assert right("equals", answer, "Paris", case="ignore", space="ignore")
    assert not right("equals", "Paris, Texas", "Paris", case="ignore", space="ignore")


@pytest.mark.parametrize("answer", ["5 January 2024", "05/01/2024"])
def test_a_date_is_a_date_under_date_alone(answer: str) -> None:
    """Elsewhere another way to write it is wrong; a numeric order has to be stated, on both sides."""
    assert not right("equals", answer, "2024-01-05")
    assert not right("number", answer, "5")
    assert right("date", answer, "5 Jan 2024", order="day_first")
    assert right("date", "5 January 2024", answer, order="day_first")
    assert right("date", answer, "2024-01-05") is (answer != "05/01/2024")
    assert right("date", "5.1.24", "2024-01-05", formats="%d.%m.%y")


def test_a_note_says_which_option_would_do() -> None:
    """Where an answer differs in one thing that may not be seen."""
    assert scorer("equals")("cafe\u0301", "caf\u00e9").note.endswith("(right with unicode: nfc)")
    assert scorer("equals")("Paris.", "Paris").note.endswith("(right with punctuation: end)")
    assert "right with" not in scorer("equals")("paris.", "Paris").note


@pytest.mark.parametrize("answer", ["b, a", "a;b", "- a\n- b\n", "1. b\r\n2. a", '["b", "a"]', ["b", "a"], " a ,b, a"])
def test_a_set_is_right_however_it_is_listed(answer: Any) -> None:
    """Order, separators, bullets, JSON and how often an item is there do not count."""
    for expected in ("a, b", ["a", "b"], '["a", "b"]'):
        assert right("set", answer, expected)
        assert right("set", expected, answer)
    assert not right("set", answer, "a, b, c")
    assert not right("set", answer, "a")


def test_a_set_has_its_options() -> None:
    """How often, what separates, what an item may differ in; the note names what is missing and what is too much."""
    assert not right("set", "a, b, a", "a, b", duplicates="count")
    assert right("set", "Paris, Texas | Rome", ["Rome", "Paris, Texas"], separators="|")
    assert right("set", "b and A", "a, b", separators=[" and ", ", "], case="ignore")
    assert scorer("set")("a, x", "a, b").note == 'missing ["b"]; too much ["x"]'


def test_an_item_of_a_set_keeps_its_type() -> None:
    """1.0 is 1, a text that spells a number is that number, a truth value is none."""
    assert right("set", [1.0, 2], [2, 1])
    assert right("set", "1, 2", [2, 1])
    assert not right("set", [True], [1])
    assert not right("set", "3.1", "3.10")
    assert not right("set", [["a"], {"k": 1}], [["a"], {"k": True}])
    assert right("set", [["a"], {"k": 1}], [{"k": 1.0}, ["a"]])


ITEM = st.text("abcXY \u00e9", min_size=1, max_size=4).filter(lambda text: text == text.strip()) | st.integers(-9, 99)


@given(st.lists(ITEM, max_size=5), st.lists(ITEM, max_size=5), st.randoms())
def test_a_set_is_symmetric_and_has_no_order(one: list[Any], other: list[Any], random: Any) -> None:
    """Shuffled, exchanged or written out, the score is the same."""
    found = right("set", one, other)
    assert found is right("set", other, one)
    shuffled = random.sample(one, len(one))
    assert right("set", shuffled, one)
    assert right("set", shuffled, other) is found
    assert right("set", ", ".join(map(str, shuffled)), one)


def test_json_has_its_options() -> None:
    """The part that counts, the only paths compared, order, and more than expected."""
    order = {"id": 7, "items": [{"sku": "a", "n": 1}, {"sku": "b", "n": 2}]}
    assert right("json", {"answer": {"total": 5}}, 5, at="answer.total")
    assert not right("json", {"answer": 5}, 5, at="answer.total")
    assert right("json", {**order, "id": 8}, order, paths=["items[*].sku", "items[0].n"])
    assert scorer("json", {"paths": ["id"]})({**order, "id": 8}, order).note == "at id: expected 7, got 8"
    turned = {**order, "items": order["items"][::-1]}  # type: ignore[index]  # a list
    assert not right("json", turned, order)
    assert right("json", turned, order, unordered=True)
    assert right("json", {**order, "more": 1}, order, subset=True)
    assert not right("json", order, {**order, "more": 1}, subset=True)
    assert right(
        "json", {"items": [{"x": 0}, *turned["items"]]}, {"items": order["items"]}, unordered=True, subset=True
    )
    assert "has nothing at totl" in (scorer("json", {"paths": "totl"}).unfit(order) or "")


def test_a_tolerance_may_be_a_share() -> None:
    """Of the expected number, whatever its sign; the larger of the two counts."""
    assert right("number", "101", "100", relative=0.01)
    assert right("number", "-101", "-100", relative=0.01)
    assert not right("number", "101.01", "100", relative=0.01)
    assert right("number", "102", "100", relative=0.01, tolerance=2)


def test_a_spelled_number_is_its_spelling_against_a_text() -> None:
    """3.10 of a YAML file is no 3.1 there; against a number it is the number."""
    version = Float(3.1)
    version.text = "3.10"
    assert right("equals", "3.10", version)
    assert not right("equals", "3.1", version)
    assert right("equals", 3.1, version)
    assert right("contains", "Python 3.10 or later", version)
    assert not right("contains", "Python 3.1", version)
    assert right("number", "3.1", version)
    assert right("set", "3.9, 3.10", ["3.9", version])
    assert not right("set", "3.9, 3.1", ["3.9", version])
    assert right("set", [3.9, 3.1], [version, 3.9])
    assert right("json", "[3.1]", [version])


@pytest.mark.parametrize("answer", ["5/0", "9^9^9^9^9", "9**9**9"])
def test_nothing_is_worked_out(answer: str) -> None:
    """Not the expression, and not a number of it."""
    for expected in ("5", "0", "9"):
        assert not right("number", answer, expected)


@pytest.mark.parametrize("name", ["equals", "contains", "icontains", "regex", "number", "json"])
@pytest.mark.parametrize(("answer", "expected"), [("1", "true"), ("True", "1"), (True, 1), (1, True), (True, "1")])
def test_a_truth_value_is_not_a_number(name: str, answer: Any, expected: Any) -> None:
    """Under no score."""
    assert not right(name, answer, expected)


@pytest.mark.parametrize("name", PURE)
def test_no_answer_is_wrong_under_every_score(name: str) -> None:
    """The opposites too: without an answer nothing is right."""
    assert not right(name, None, "25")


def test_a_text_equals_the_value_it_spells() -> None:
    """As the cells of a CSV file do; types that hold one value are equal, a list by its items."""
    assert right("equals", 36, "36")
    assert right("equals", "36.0", 36)
    assert right("equals", True, "true")
    assert right("equals", ["a", 1], '["a", 1.0]')
    assert not right("equals", True, "True")


def test_json_is_compared_by_content() -> None:
    """Whatever the order of keys and the space, also from within a fence; what is no JSON is wrong."""
    assert right("json", '```json\n{"b": [2], "a": 1}\n```', {"a": 1.0, "b": [2]})
    assert right("json", "```JSON\n[1]```", [1])
    assert not right("json", "```\n" + "\n" * 500_000 + "x", [1])
    assert not right("json", '{"a": true}', {"a": 1})
    assert not right("json", "{'a': 1}", {"a": 1})
    assert not right("json", "NaN", "NaN")


@pytest.mark.parametrize("name", PURE)
def test_an_answer_that_opens_brackets_without_end_is_as_wrong_as_any(name: str) -> None:
    """JSON reads it no deeper than Python goes, which is the model's fault: an answer like another."""
    expected = {"set": ["x"], "json": {"a": 1}}.get(name.removeprefix("not-"), "2026-01-01")
    assert right(name, "[" * 5_000, expected) is right(name, "[", expected)


def test_a_pattern_is_found_anywhere_and_in_linear_time() -> None:
    """A pattern that would take for ever elsewhere answers at once."""
    assert right("regex", "It costs 36 euros", r"\b\d+ euros?$")
    assert right("regex", "PARIS", "paris", case="ignore")
    began = time.process_time()
    assert not right("regex", "a" * 50_000 + "b", "(a+)+$")
    assert time.process_time() - began < 1


def test_a_tolerance_is_kept_to_the_digit() -> None:
    """0.1 away is within 0.1; a float is right within its own rounding."""
    assert right("number", "0.4", "0.3", tolerance=0.1)
    assert not right("number", "0.4000001", "0.3", tolerance=0.1)
    assert right("number", 0.1 + 0.2, 0.3)
    assert right("number", "10000000000000000000000001", 10**25 + 1)
    assert not right("number", "10000000000000000000000002", 10**25 + 1)


@given(st.sampled_from(PURE), PLAIN, PLAIN)
def test_no_value_breaks_a_score(name: str, answer: Any, expected: Any) -> None:
    """Whatever a model says and a file expects, there is a verdict, with a note where it is wrong."""
    found = scorer(name)(answer, expected)
    assert found.right or found.note


@given(st.sampled_from([name for name in PURE if not name.startswith("not-")]), PLAIN, PLAIN)
def test_a_not_form_is_the_opposite(name: str, answer: Any, expected: Any) -> None:
    """Save without an answer, or where nothing could be expected: then both are wrong."""
    score = scorer(name)
    judged = answer is not None and score.unfit(expected) is None
    assert right(f"not-{name}", answer, expected) is (judged and not score(answer, expected).right)


@pytest.mark.parametrize("name", PURE)
def test_a_monstrous_answer_is_scored_at_once(name: str) -> None:
    """Too long, too deep, too large or not even a character: within a second, and nothing is raised."""
    score = scorer(name)
    for answer in ("[" * 200_000, "1" * 900_000, "a" * 2_000_000, 10**5000, "\ud800"):
        began = time.process_time()
        score(answer, "1")
        assert time.process_time() - began < 1


@pytest.mark.parametrize(
    ("name", "expected", "why"),
    [
        ("number", "many", "'many' is not a number"),
        ("regex", "(", "'(' is not a pattern: unclosed group"),
        ("regex", "(?=a)", "look-around"),
        ("json", "{a}", "is not JSON"),
        ("date", "05/01/2024", "'05/01/2024' is not a date"),
        ("contains", "", "an empty text is in every answer"),
        ("equals", None, "there is no expected value"),
    ],
)
def test_an_expected_value_that_nothing_meets_is_told(name: str, expected: Any, why: str) -> None:
    """So that the task's line can be named before any model call; at run time it is wrong, under not- as well."""
    assert why in (scorer(name).unfit(expected) or "")
    assert why in (scorer(f"not-{name}").unfit(expected) or "")
    assert not right(f"not-{name}", "x", expected)


@pytest.mark.parametrize(
    ("name", "options", "option", "says"),
    [
        ("nmber", {}, None, "did you mean 'number'?"),
        ("number", {"tolerence": 1}, "tolerence", "did you mean 'tolerance'?"),
        ("number", {"tolerance": "x"}, "tolerance", "Expected `float`"),
        ("number", {"tolerance": -1}, "tolerance", "0 or more"),
        ("number", {"percent": "yes"}, "percent", "strict or number or fraction"),
        ("not-equals", {"case": True}, "case", "exact or ignore"),
        ("number", {"relative": -0.1}, "relative", "0 or more"),
        ("date", {"order": "dmy"}, "order", "none or day_first or month_first"),
        ("date", {"formats": "%d.%m"}, "formats", "does not name year, month and day"),
        ("set", {"separators": [""]}, "separators", "not empty"),
        ("json", {"paths": ["a..b"]}, "paths", "is not a path"),
        ("json", {"at": "["}, "at", "is not a path"),
    ],
)
def test_a_score_that_cannot_be_is_a_fault_at_its_option(
    name: str, options: dict[str, Any], option: str | None, says: str
) -> None:
    """It names the option, and the nearest right word."""
    with pytest.raises(ScoreFault) as caught:
        scorer(name, options)
    assert caught.value.option == option
    assert says in str(caught.value)


def test_options_may_be_numbers_as_yaml_reads_them() -> None:
    """A number that remembers its spelling is a number."""
    written = Float(0.5)
    written.text = "0.50"
    assert right("number", "1.5", "1", tolerance=written)
