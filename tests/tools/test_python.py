"""Python functions as tools: schema, strictness, bound arguments, and what an author is told."""

import dataclasses
import datetime
import enum
import functools
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import pydantic
import pytest
from pydantic import BaseModel, Field, Secret, SecretBytes, SecretStr
from typing_extensions import TypedDict

from loopworth.tools.arguments import ArgumentFault
from loopworth.tools.fault import ToolFault
from loopworth.tools.python import python_tool
from tests.tools.kit import invoke


class Colour(enum.Enum):
    RED = "red"


class Line(TypedDict):
    sku: str
    count: int


class Address(BaseModel):
    street: str
    zip: str = Field(alias="postcode", max_length=5)
    title: str = "home"


@dataclasses.dataclass
class Point:
    x: float
    y: float = 0.0


def tool(function, **rules):
    return python_tool("f", function, **{"effect": "read", "inline": True, **rules})


def one(hint, default=dataclasses.MISSING):
    """A function of one argument with this hint that returns what it got."""

    def function(value):
        return [value]

    function.__annotations__ = {"value": hint}
    if default is not dataclasses.MISSING:
        function.__defaults__ = (default,)
    return function


def test_the_schema_comes_from_hints_and_docstring():
    """Name, description, types, defaults and descriptions; no titles, no further arguments."""

    def lookup(code: str, field: Literal["budget", "staff"], n: Annotated[int, "how many"] = 1) -> int:
        """Look a project up.

        Args:
            code: such as ZRG-14
            n: not this one
        """

    assert tool(lookup).wire == {
        "type": "function",
        "function": {
            "name": "f",
            "description": "Look a project up.",
            "parameters": {
                "type": "object",
                "properties": {
                    "code": {"type": "string", "description": "such as ZRG-14"},
                    "field": {"type": "string", "enum": ["budget", "staff"]},
                    "n": {"type": "integer", "description": "how many", "default": 1},
                },
                "required": ["code", "field"],
                "additionalProperties": False,
            },
        },
    }
    assert tool(lookup, description="Other.").description == "Other."


def test_an_argument_may_have_any_name():
    """Names that mean something to pydantic are only names here."""

    def odd(schema: str, model_config: str, copy: str, title: str, _x: int = 1, json: int = 2) -> list:
        return [schema, model_config, copy, title, _x, json]

    seen = invoke(tool(odd), {"schema": "a", "model_config": "b", "copy": "c", "title": "d", "_x": 5})
    assert seen.full == ["a", "b", "c", "d", 5, 2]
    assert list(tool(odd).parameters["properties"]) == ["schema", "model_config", "copy", "title", "_x", "json"]


@pytest.mark.parametrize(
    ("hint", "given", "got"),
    [
        (int, 5, 5),
        (float, 5, 5.0),
        (bool, True, True),
        (str, "é", "é"),
        (Any, {"a": [1]}, {"a": [1]}),
        (list[str], ["a"], ["a"]),
        (set[int], [1, 2, 1], {1, 2}),
        (tuple[int, str], [1, "a"], (1, "a")),
        (dict[str, int], {"a": 1}, {"a": 1}),
        (str | None, None, None),
        (int | str, "5", "5"),
        (Literal["a", 1], 1, 1),
        (datetime.date, "2024-01-02", datetime.date(2024, 1, 2)),
        (Path, "a/b", Path("a/b")),
        (Colour, "red", Colour.RED),
        (Line, {"sku": "a", "count": 2}, {"sku": "a", "count": 2}),
        (Point, {"x": 1}, Point(1.0, 0.0)),
        (Address, {"street": "s", "postcode": "1"}, Address(street="s", postcode="1")),
        (list[Point], [{"x": 1.5}], [Point(1.5, 0.0)]),
        (Annotated[int, Field(gt=3)], 4, 4),
    ],
)
def test_a_value_of_the_right_type_arrives_as_that_type(hint, given, got):
    """JSON in, the function's own types out."""
    accepted = tool(one(hint)).check({"value": given})
    assert accepted.kwargs == {"value": got}
    assert type(accepted.kwargs["value"]) is type(got)


@pytest.mark.parametrize(
    ("hint", "given", "why"),
    [
        (int, "5", "value must be an integer, got the text '5'"),
        (int, True, "value must be an integer, got true"),
        (int, 5.5, "value must be an integer, got the number 5.5"),
        (int, None, "value must be an integer, got null"),
        (float, "1", "value must be a number, got the text '1'"),
        (bool, 1, "value must be true or false, got the number 1"),
        (bool, "true", "value must be true or false, got the text 'true'"),
        (str, 5, "value must be a text, got the number 5"),
        (list[int], "1,2", "value must be a list, got the text '1,2'"),
        (list[int], [1, "2"], "value[1] must be an integer, got the text '2'"),
        (dict[str, int], [], "value must be an object, got a list"),
        (int | str, [], "value must be an integer or a text, got a list"),
        (int | None, "x", "value must be an integer, got the text 'x'"),
        (Literal["a", "b"], "c", "value must be 'a' or 'b', got the text 'c'"),
        (Colour, "blue", "value must be 'red', got the text 'blue'"),
        (datetime.date, "soon", "value must be a valid date"),
        (Line, {"sku": "a"}, "value.count is missing"),
        (Line, {"sku": "a", "count": 1, "cuont": 2}, "value.cuont is not known there"),
        (Point, {"x": 1, "z": 2}, "value.z is not known there"),
        (Address, {"street": "s", "postcode": "1", "zip": "2"}, "value.zip is not known there"),
        (Point, {"x": "a"}, "value.x must be a number, got the text 'a'"),
        (list[Line], [{"sku": 1}], "value[0].sku must be a text, got the number 1\nvalue[0].count is missing"),
        (Address, {"street": "s", "postcode": "123456"}, "value.postcode String should have at most 5 characters"),
        (int | Line, {"sku": 1}, "value must be an integer, got an object\nvalue.sku must be a text"),
        (Annotated[int, Field(gt=3)], 3, "value must be greater than 3, got the number 3"),
    ],
)
def test_a_value_of_another_type_is_refused_by_name(hint, given, why):
    """Strictly, one line per fault, without a link."""
    with pytest.raises(ArgumentFault) as fault:
        tool(one(hint)).check({"value": given})
    assert str(fault.value).startswith(why)
    assert "http" not in str(fault.value)


def test_a_type_that_takes_further_keys_gets_them():
    """The author said so."""

    class Free(BaseModel, extra="allow"):
        a: int

    assert tool(one(Free)).check({"value": {"a": 1, "b": 2}}).arguments == {"value": {"a": 1, "b": 2}}


def test_missing_and_unknown_arguments_are_named_with_the_nearest():
    """All faults at once."""

    def weather(city: str, days: int = 1) -> str:
        return city * days

    assert invoke(weather, {"cty": "x", "zzz": 1}).content == (
        "city is missing\n"
        "cty is not an argument: did you mean city?\n"
        "zzz is not an argument: the arguments are city, days"
    )
    assert invoke(lambda: 1, {}).status == "ok"


def test_a_tool_without_arguments_takes_none():
    """And says so."""

    def get_time() -> str:
        return "noon"

    assert invoke(get_time, None).full == "noon"
    assert invoke(get_time, {"zone": "x"}).content == "zone is not an argument: the tool takes none"


def test_ten_faults_are_told_and_the_rest_counted():
    """A list of a thousand wrong items is one short message."""
    lines = invoke(tool(one(list[int])), {"value": ["a"] * 1000}).content.splitlines()
    assert (len(lines), lines[-1]) == (11, "… and 990 more")


def test_the_canonical_arguments_are_what_the_function_sees():
    """Defaults, nested ones too, are filled in, so that a gate and an allow-list judge nothing else."""
    accepted = tool(one(Point | None, None)).check({})
    assert accepted == ({"value": None}, {"value": None})
    assert tool(one(Point)).check({"value": {"x": 1}}).arguments == {"value": {"x": 1.0, "y": 0.0}}
    assert tool(one(datetime.date, datetime.date(2024, 1, 2))).check({}).arguments == {"value": "2024-01-02"}


def test_a_mutable_default_is_not_shared_between_calls():
    """One call's list does not leak into the next."""

    def push(items: list[int] = []) -> list[int]:  # noqa: B006
        items.append(1)
        return items

    made = tool(push)
    assert [invoke(made, {}).full for _ in range(2)] == [[1], [1]]


def test_bound_arguments_are_hidden_and_given():
    """`with:` values are no part of the schema, and a model cannot set them."""

    def lookup(code: str, database: Path, token) -> list:
        return [code, str(database), token]

    made = tool(lookup, bound={"database": "p.sqlite", "token": "secret"})
    assert list(made.parameters["properties"]) == ["code"]
    assert invoke(made, {"code": "a"}).full == ["a", "p.sqlite", "secret"]
    refused = invoke(made, {"code": "a", "database": "other"})
    assert (refused.status, refused.content) == (
        "invalid_arguments",
        "database is not an argument: the arguments are code",
    )


def test_a_bound_object_of_a_foreign_type_is_taken_as_it_is():
    """A connection cannot come from a model, but it can be bound."""
    with sqlite3.connect(":memory:") as connection:
        made = tool(one(sqlite3.Connection), bound={"value": connection})
        assert made.check({}).kwargs["value"] is connection
    connection.close()


@pytest.mark.parametrize(
    ("bound", "what", "instead"),
    [
        ({"databse": "x"}, "`with` binds 'databse', which lookup() does not take", "did you mean 'database'?"),
        ({"zzz": 1}, "`with` binds 'zzz'", "its arguments are code, database"),
        ({"database": 5}, "`with`: database must be a text, got the number 5", ""),
    ],
)
def test_a_bound_argument_that_does_not_fit_is_the_authors_fault(bound, what, instead):
    """Found when the tool is built."""

    def lookup(code: str, database: str) -> str:
        return code + database

    with pytest.raises(ToolFault) as fault:
        tool(lookup, bound=bound)
    assert what in fault.value.what
    assert instead in fault.value.instead
    assert (fault.value.key, fault.value.name) == ("with", next(iter(bound)))


def generator(n: int):
    yield n


@pytest.mark.parametrize(
    ("function", "what", "instead"),
    [
        (lambda *codes: codes, "takes `*codes`", "write each argument as a parameter with a type hint"),
        (lambda **codes: codes, "takes `**codes`", "write each argument as a parameter"),
        (lambda code: code, "argument 'code' of <lambda>() has no type hint", "write code: str"),
        (one(sqlite3.Connection), "argument 'value' of function() has the type Connection", "bind it under `with:`"),
        (one(Callable[[int], int]), "argument 'value' of function() has the type", "bind it under `with:`"),
        (one("Nowhere"), "the type hints of function() cannot be read: name 'Nowhere' is not defined", ""),
        (one(int, object()), "argument 'value' of function() has the default <object", "use a plain default"),
        (one(float, float("nan")), "argument 'value' of function() has the default nan", "use a plain default"),
        (generator, "generator() is a generator", "return a list"),
        (dict.fromkeys, "takes `iterable` by position only", "take the `/` out"),
        (min, "min() has no signature", "wrap it in a function"),
        (7, "7 is no function", ""),
    ],
)
def test_a_function_that_no_model_can_call_is_the_authors_fault(function, what, instead):
    """What is wrong, and what to write instead."""
    with pytest.raises(ToolFault) as fault:
        tool(function)
    assert what in fault.value.what
    assert instead in fault.value.instead
    assert fault.value.key == "python"


class Node(BaseModel):
    label: str
    below: "list[Node]" = []


class Login(BaseModel):
    user: str
    password: str = Field("", exclude=True)


class Account(BaseModel):
    logins: dict[str, list[Login | None]] = {}
    tree: Node | None = None


@dataclasses.dataclass
class Key:
    word: SecretStr


class Door(NamedTuple):
    keys: list[Key]


class Room(TypedDict):
    doors: tuple[Door, ...]


@dataclasses.dataclass
class Note:
    text: Annotated[str, Field(exclude=True)]


@pydantic.dataclasses.dataclass
class Card:
    pin: str = Field("", exclude=True)


class Sparse(BaseModel):
    to: str = Field("", exclude_if=lambda to: to == "all")


@pytest.mark.parametrize(
    ("hint", "part"),
    [
        (SecretStr, "a SecretStr"),
        (list[SecretBytes | None], "a SecretBytes"),
        (Login, "the field 'password' with `exclude`"),
        (Account, "the field 'password' with `exclude`"),
        (Annotated[str, Field(exclude=True)], "a value with `exclude`"),
        (list[Secret[int]], "a Secret"),
        (Key, "a SecretStr"),
        (Door, "a SecretStr"),
        (Room, "a SecretStr"),
        (Note, "a value with `exclude`"),
        (Card, "the field 'pin' with `exclude`"),
        (Sparse, "the field 'to' with `exclude`"),
    ],
)
def test_an_argument_that_its_gate_would_not_show_is_the_authors_fault(hint, part):
    """A person decides, and an allow-list judges, what the canonical arguments tell, and nothing else is passed on."""
    with pytest.raises(ToolFault) as fault:
        tool(one(hint))
    assert f"'value' of function() holds {part}, which no gate and no allow-list would see" in fault.value.what


def test_a_model_that_holds_itself_is_an_argument_like_any_other():
    """Where nothing in it is hidden."""
    assert invoke(tool(one(Node)), {"value": {"label": "a", "below": [{"label": "b"}]}}).status == "ok"


def test_the_one_wrong_hint_among_many_is_named():
    """Not the first argument, but the faulty one."""

    def store(code: str, connection: sqlite3.Connection, n: int = 1) -> None: ...

    with pytest.raises(ToolFault, match="argument 'connection' of store"):
        tool(store)


class Counter:
    """A callable with state."""

    def __init__(self, start: int) -> None:
        self.at = start

    def __call__(self, by: int) -> int:
        return self.at + by

    def add(self, by: int) -> int:
        """Add."""
        return self.at + by

    @staticmethod
    def double(by: int) -> int:
        return 2 * by


def plus(a: int, by: int) -> int:
    return a + by


@functools.wraps(Counter(3).add)
def wrapped(*args, **kwargs):
    return Counter(3).add(*args, **kwargs)


@pytest.mark.parametrize(
    "function",
    [Counter(3), Counter(3).add, functools.partial(plus, 3), wrapped, Counter.double],
    ids=["callable", "method", "partial", "wrapped", "static"],
)
def test_methods_partials_and_callables_are_functions_too(function):
    """The hints are found where they stand."""
    seen = invoke(tool(function), {"by": 3})
    assert (seen.status, seen.full) == ("ok", 6)


def test_field_describes_an_argument():
    """`Field(description=…)` in a hint or as a default is pydantic's own way."""

    def f(a: Annotated[int, Field(description="first")], b: int = Field(2, description="second", le=5)) -> list:
        """F.

        Args:
            a: not this one
        """
        return [a, b]

    properties = tool(f).parameters["properties"]
    assert [properties[name]["description"] for name in "ab"] == ["first", "second"]
    assert invoke(tool(f), {"a": 1}).full == [1, 2]
    assert invoke(tool(f), {"a": 1, "b": 6}).status == "invalid_arguments"
