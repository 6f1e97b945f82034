"""Types: read with `ast`, checked strictly, shown to a model as a clean schema."""

import sys

import pytest

from loopworth.workflows.type_expression import TypeFault, parse_type


class Written(float):
    """A number of a YAML file that knows its spelling."""

    text = "3.10"


@pytest.mark.parametrize(
    ("expr", "good"),
    [
        ("str", ["", "a"]),
        ("int", [0, -3, 10**30]),
        ("float", [1.5, 2]),
        ("bool", [True, False]),
        ("date", ["2024-02-29"]),
        ("list[str]", [[], ["a", "b"]]),
        (["int"], [[1, 2]]),
        ("dict[str, int]", [{}, {"a": 1}]),
        ("str | None", [None, "a"]),
        ("None | list[int]", [None, [1]]),
        ("Literal[billing, how-to, in, 7, '8', two words]", ["billing", "how-to", "in", 7, "8", "two words"]),
        ('Annotated[float, "a price, without tax"]', [1.0]),
        ("dict[str, list[Literal[a, b]]]", [{"x": ["a", "b"]}]),
        ({"json_schema": {"type": "object", "required": ["a"]}}, [{"a": 1, "b": 2}]),
    ],
)
def test_a_value_of_the_type_passes_unchanged(expr, good):
    """What fits comes out as it went in."""
    for value in good:
        assert parse_type(expr).check(value) == value


@pytest.mark.parametrize(
    ("expr", "bad", "said"),
    [
        ("int", True, "must be a whole number, got true"),
        ("int", 1.0, "must be a whole number, got 1.0"),
        ("int", "3", 'must be a whole number, got "3"'),
        ("float", False, "must be a number, got false"),
        ("float", float("nan"), "must be a finite number"),
        ("float", float("inf"), "must be a finite number"),
        ("bool", 1, "must be true or false, got 1"),
        ("str", 5, "must be a text, got 5"),
        ("str", None, "must be a text, got null"),
        ("date", "2023-02-29", "must be a date such as 2024-03-31"),
        ("date", "20240229", "must be a date"),
        ("list[int]", [1, "x"], '[1] must be a whole number, got "x"'),
        ("list[int]", "12", "must be a list"),
        ("dict[str, int]", {"a": None}, "a must be a whole number, got null"),
        ("Literal[a, 1]", True, "must be one of a, 1, got true"),
        ("Literal[a, 1]", "b", 'must be one of a, 1, got "b"'),
        ({"a": {"b": "int"}}, {"a": {}}, "a.b is missing"),
        ({"a": "int"}, {"a": 1, "z": 1}, "z is not a field"),
        ({"a": ["int"]}, {"a": [0, 1.5]}, "a[1] must be a whole number, got 1.5"),
        ({"json_schema": {"properties": {"a": {"type": "integer", "minimum": 3}}}}, {"a": 2}, "a: must be at least 3"),
        ({"json_schema": {"enum": [1]}}, True, "must be one of 1"),
    ],
)
def test_a_value_of_another_type_is_refused_by_its_field(expr, bad, said):
    """Checking is strict, and the one line of the error names the field and what was got."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the text is compared below
        parse_type(expr).check(bad)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("expr", "path", "instead"),
    [
        ("string", (), "write `str`"),
        ("integer", (), "write `int`"),
        ("number", (), "write `float`, or `int` for whole numbers"),
        ("boolean", (), "write `bool`"),
        ("array", (), "write `list[str]`, with the type of its items"),
        ("object", (), "write a mapping of field: type, or `dict[str, int]`"),
        ("lst[str]", (), "did you mean `list`?"),
        ({"a": ["itn"]}, ("a", 0), "did you mean `int`?"),
        ({"a": "int = x"}, ("a",), ""),
        ({"a": None}, ("a",), "write one, such as `str` or `list[int]`"),
        ("int = 5", (), "drop the ` = …`"),
        ("int | str", (), "write `json_schema: {anyOf: [{…}, {…}]}`"),
        ("Optional[str]", (), "write `str | None`"),
        ("dict[int, str]", (), "write `dict[str, int]`"),
        ("Literal[]", (), "write `Literal[yes, no]`"),
        ("nowhere:Model", (), None),
        ({"json_schema": {"items": {"type": "strng"}}}, ("json_schema",), ""),
        ({"json_schema": {"patternProperties": {}}}, ("json_schema",), ""),
        ("__import__('os').getcwd()", (), None),
        ("int; str", (), None),
        (5, (), None),
    ],
)
def test_what_is_no_type_is_a_fault_with_a_remedy(expr, path, instead):
    """Nothing is evaluated; the fault leads to the part that is wrong and says what to write."""
    with pytest.raises(TypeFault) as caught:
        parse_type(expr)
    assert caught.value.path == path
    assert caught.value.what
    assert instead is None or caught.value.instead == instead


def test_an_object_fills_its_defaults_and_takes_any_field_name():
    """Defaults are filled in; a field may be named as pydantic's own attributes are."""
    made = parse_type(
        {"json": "str", "model_config": "int = 5", "_id": "Literal[a, how-to] = how-to", "x": "str | None = None"}
    )
    assert made.check({"json": "t"}) == {"json": "t", "model_config": 5, "_id": "how-to", "x": None}


def test_a_number_in_a_text_field_keeps_its_spelling():
    """A plain number of a YAML file that lands in `str` or a Literal is the text that was written."""
    assert parse_type({"version": "str"}).check({"version": Written(3.10)}) == {"version": "3.10"}
    assert parse_type("Literal[3.10, 3.11]").check(Written(3.10)) == "3.10"
    assert type(parse_type("float").check(Written(3.10))) is float


def test_the_schema_is_plain_and_small():
    """A model sees types and descriptions: no titles, no references."""
    made = parse_type({"title": 'Annotated[float, "in euro, net"]', "tags": [{"a": "int"}], "n": "int = 1"})
    item = {
        "type": "object",
        "properties": {"a": {"type": "integer"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    assert made.schema == {
        "type": "object",
        "properties": {
            "title": {"type": "number", "description": "in euro, net"},
            "tags": {"type": "array", "items": item},
            "n": {"type": "integer", "default": 1},
        },
        "required": ["title", "tags"],
        "additionalProperties": False,
    }
    assert parse_type("Literal[a, b]").schema == {"type": "string", "enum": ["a", "b"]}


@pytest.mark.parametrize(
    ("expr", "text", "expected"),
    [
        ("str", " as it is\n", " as it is\n"),
        ('Annotated[str, "a reason"]', '"quoted" ', '"quoted" '),
        ("int", " 42 ", 42),
        ("Literal[a, b]", "a\n", "a"),
        ("Literal[a, b]", '"a"', "a"),
        ("date", "2024-01-31", "2024-01-31"),
        ("list[int]", "```json\n[1, 2]\n```", [1, 2]),
        ({"a": "int"}, '{"a": 1}', {"a": 1}),
    ],
)
def test_a_models_text_is_read_as_its_type(expr, text, expected):
    """Text stays itself; other types are JSON, fenced or not, or a bare word."""
    assert parse_type(expr).read(text) == expected


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        *[("int", "forty"), ("float", "NaN"), ("float", "1e999"), ({"a": "int"}, '{"a": 1')],
        *[("int", "[" * 5000), ("list[int]", "[" * 5000), ({"a": "int"}, '{"a": ' * 5000)],
    ],
)
def test_a_text_that_is_not_of_the_type_is_refused(expr, text):
    """No number is guessed out of words, NaN is none, and a model that writes brackets without end has written none."""
    with pytest.raises(ValueError, match=r"must be|NaN is not a number|is nested too deeply"):
        parse_type(expr).read(text)


def test_the_model_of_a_type_holds_its_plain_value():
    """Libraries that want a pydantic model get one; what is no object stands in its field `answer`."""
    number, thing = parse_type("int"), parse_type({"json": "str"})
    assert number.plain(number.model.model_validate_json('{"answer": 3}')) == 3
    assert thing.plain(thing.model.model_validate_json('{"json": "x"}')) == {"json": "x"}


def test_a_pydantic_model_beside_the_file_is_a_type(tmp_path):
    """`module:Model` is found beside the YAML; its own rules hold, and plain data comes out."""
    (tmp_path / "shapes.py").write_text(
        "import datetime\nfrom pydantic import BaseModel\n"
        "class Box(BaseModel):\n    side: int = 1\n    made: datetime.date\n"
    )
    path = list(sys.path)
    made = parse_type({"boxes": "list[shapes:Box] | None"}, tmp_path)
    assert made.check({"boxes": [{"made": "2024-01-31"}]}) == {"boxes": [{"side": 1, "made": "2024-01-31"}]}
    assert sys.path == path
    with pytest.raises(TypeFault, match="is not a pydantic model"):
        parse_type("shapes:datetime", tmp_path)
