"""Whatever a tool returns becomes plain data, the same for the same value, or an error that names the type."""

import collections
import dataclasses
import datetime
import decimal
import enum
import json
import pathlib
import subprocess
import sys
import uuid

import msgspec
import numpy
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.runs.message import json_of
from loopworth.runs.nesting import DEEPEST
from loopworth.tools.python import python_tool
from loopworth.tools.result import Unserialisable, content, keeping, kept, plain
from tests.runs.test_nesting import deep
from tests.tools.kit import invoke


class Colour(enum.Enum):
    RED = "red"


class Size(enum.IntEnum):
    BIG = 3


class Model(pydantic.BaseModel):
    day: datetime.date
    tags: set[str]


class Struct(msgspec.Struct):
    a: int
    b: float


@dataclasses.dataclass
class Point:
    x: float
    inner: object = None


Pair = collections.namedtuple("Pair", "left right")
DAY = datetime.date(2024, 1, 2)


@pytest.mark.parametrize(
    ("value", "data"),
    [
        ({3, 1, 2}, [1, 2, 3]),
        (frozenset({"b", "a"}), ["a", "b"]),
        ({1, "a", None}, ["a", 1, None]),
        (DAY, "2024-01-02"),
        (datetime.datetime(2024, 1, 2, 3, tzinfo=datetime.UTC), "2024-01-02T03:00:00+00:00"),
        (datetime.timedelta(minutes=1), 60.0),
        (decimal.Decimal("12.50"), "12.50"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (pathlib.PurePosixPath("a/b"), "a/b"),
        (b"caf\xc3\xa9", "café"),
        (b"\xff", {"base64": "/w=="}),
        (float("nan"), "NaN"),
        ([float("inf"), -float("inf")], ["Infinity", "-Infinity"]),
        (Colour.RED, "red"),
        (Size.BIG, 3),
        (Model(day=DAY, tags={"b", "a"}), {"day": "2024-01-02", "tags": ["a", "b"]}),
        (Struct(1, float("nan")), {"a": 1, "b": "NaN"}),
        (Point(1.0, Point(2.0)), {"x": 1.0, "inner": {"x": 2.0, "inner": None}}),
        (Pair(1, (2,)), {"left": 1, "right": [2]}),
        ({1: "a", None: "b", DAY: "c"}, {"1": "a", "null": "b", "2024-01-02": "c"}),
        (collections.OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
        (collections.deque([1]), [1]),
        (range(3), [0, 1, 2]),
        (numpy.float64(1.5), 1.5),
        (numpy.arange(3), [0, 1, 2]),
        (numpy.int64(3), 3),
        ("a\ud800b", "a\ufffdb"),
        ("\ud83d\ude80", "\N{ROCKET}"),
        ({"\ud800": 1}, {"\ufffd": 1}),
        (10**40, 10**40),
    ],
    ids=lambda value: type(value).__name__,  # a set shows its members in another order in every process
)
def test_a_value_becomes_plain_data(value, data):
    """Only values are converted, never a text of them."""
    assert plain(value) == data
    assert json.loads(json.dumps(plain(value), allow_nan=False)) == data


class Thing:
    """A class of the user's own."""


def holding_itself():
    value = []
    value.append(value)
    return value


def test_a_result_may_be_as_deep_as_what_is_read_again():
    """And no deeper: what a run shows as JSON can be an input of the next one."""
    deepest = deep(DEEPEST)
    assert json_of(json.dumps(plain(deepest))) == deepest
    with pytest.raises(Unserialisable, match="more than 100 levels"):
        plain(deep(DEEPEST + 1))
    assert plain({(1, 2): "a key"}) == {"[1,2]": "a key"}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (Thing(), "a value of type tests.tools.test_result.Thing"),
        ([Thing()], "a value of type"),
        (Thing, "a value of type type"),
        ((n for n in "a"), "a value of type generator"),
        (len, "a value of type builtin_function_or_method"),
        (holding_itself(), "a value nested more than 100 levels deep, or one that holds itself"),
        ({1: "a", "1": "b"}, "a mapping with two keys that are both '1' as text"),
        (10**5000, "an integer of 16610 bits"),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else "",
)
def test_what_cannot_be_plain_data_is_a_tool_error_that_names_it(value, said):
    """The run goes on, and nothing is kept of the odd value."""

    def tool() -> object:
        return value

    seen = invoke(tool)
    assert (seen.status, seen.full) == ("tool_error", None)
    assert seen.content.startswith(f"tool failed: it returned {said}")


def test_a_result_whose_own_conversion_fails_is_a_tool_error():
    """A property or a `model_dump` of the author's can raise too."""

    class Odd:
        def model_dump(self):
            raise RuntimeError("no dump")

    assert invoke(lambda: Odd()).content == "<lambda> failed: RuntimeError: no dump"


def test_two_processes_make_the_same_text_of_a_set():
    """Python shuffles text sets by process; the result must not follow."""
    code = "from loopworth.tools.result import *; print(content(plain({'a', 'b', 'c', 'd', ('x', 1)}), 99))"
    texts = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert texts == {'["a","b","c","d",["x",1]]\n'}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("Error: none found", "Error: none found"),
        ({"value": 3, "unit": "é"}, '{"value":3,"unit":"é"}'),
        (None, "(no result)"),
        ("", "(the result is an empty text)"),
        (" \n", "(the result is an empty text)"),
        ([], "[]"),
        (0, "0"),
        (False, "false"),
    ],
)
def test_a_model_reads_text_as_it_is_and_other_data_as_json(value, text):
    """Never an empty message; keys in their order; non-ASCII kept. A text that says Error is a success."""
    seen = invoke(lambda: value)
    assert (seen.status, seen.content, seen.full) == ("ok", text, value)


def test_five_megabytes_are_cut_for_the_model_and_kept_once():
    """The note says how long it was; the full value is the tool's."""
    big = "x" * 5_000_000
    seen = invoke(lambda: big)
    assert seen.content == "x" * 20_000 + "… (cut: the first 20000 of 5000000 characters)"
    assert seen.full == big
    assert invoke(python_tool("t", lambda: {"a": "x" * 90}, effect="read", max_chars=5)).content.startswith(
        '{"a":… (cut'
    )


@pytest.mark.parametrize(
    ("keep", "value", "left"),
    [
        (("value", "unit"), {"unit": "x", "junk": 1, "value": 2}, {"value": 2, "unit": "x"}),
        (("value",), [{"value": 1, "junk": 2}, {"junk": 3}, "text"], [{"value": 1}, {}, "text"]),
        (
            ("order.total", "order.id"),
            {"order": {"id": 1, "total": 2, "x": 3}, "y": 4},
            {"order": {"total": 2, "id": 1}},
        ),
        (("lines.sku",), {"lines": [{"sku": "a", "n": 1}, {"sku": "b"}]}, {"lines": [{"sku": "a"}, {"sku": "b"}]}),
        (("value",), "text", "text"),
        (("nothing",), {"value": 1}, {}),
        ((), {"value": 1}, {"value": 1}),
    ],
)
def test_keep_shapes_the_value_itself(keep, value, left):
    """Named keys of a mapping, of each mapping in a list, along dotted paths."""
    assert kept(keeping(keep), value) == left
    seen = invoke(python_tool("t", lambda: value, effect="read", keep=keep))
    assert seen.full == left
    assert list(left) == list(seen.full)


DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()) | st.binary() | st.dates(),
    lambda inner: st.lists(inner) | st.tuples(inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=10,
)


@given(DATA, st.integers(0, 50))
def test_plain_data_is_strict_json_and_stays_what_it_is(value, most):
    """Twice plain is once plain; the text is never empty and never longer than allowed plus its note."""
    try:
        data = plain(value)
    except Unserialisable:
        return
    assert json.loads(json.dumps(data, allow_nan=False)) == plain(data) == data
    text = content(data, most)
    assert text.encode()
    assert text.strip()
    assert len(text) <= most + 80
