"""What a model is told of its tools where the endpoint tells it nothing."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from loopworth.agents.briefing import briefed, catalogue, words
from loopworth.runs.message import system, user
from loopworth.tools.python import python_tool
from loopworth.workflows.type_expression import parse_type
from tests.agents.kit import make


def book(room: str, nights: int = 1, extras: list[str] | None = None) -> str:
    """Book a room.

    Args:
        room: Its number,
            as on the door.
        nights: How long.
    """
    return f"{room} {nights} {extras}"


def test_a_tool_is_told_with_the_types_defaults_and_descriptions_of_its_arguments():
    """A model that knows only the names has to guess the rest."""
    told = catalogue([python_tool("book", book, effect="write")])
    assert told.splitlines() == [
        "Tools:",
        "- book(room: str, nights: int = 1, extras: list[str] | null = null): Book a room.",
        "  room: Its number, as on the door.",
        "  nights: How long.",
    ]


@pytest.mark.parametrize(
    ("expr", "said"),
    [
        ("int", "int"),
        ("Literal[billing, how-to]", "billing | how-to"),
        ("dict[str, list[float]]", "dict[str, list[float]]"),
        ({"codes": "list[str]", "field": "str | None"}, "{codes: list[str], field: str | null}"),
        (["bool"], "list[bool]"),
    ],
)
def test_a_type_reads_as_it_is_written_in_a_file(expr, said):
    """The words of the language, for the output too."""
    assert words(parse_type(expr).schema) == said


def test_words_that_are_no_words_are_quoted():
    """A value with a space or a bar in it could be taken for two."""
    assert words({"enum": ["a", "b c", 3, None]}) == 'a | "b c" | 3 | null'


def test_the_brief_ends_the_system_message():
    """There is one system message, whether the author wrote one or not."""
    assert briefed([system("Be brief."), user("hi")], "B") == [system("Be brief.\n\nB"), user("hi")]
    assert briefed([user("hi")], "B") == [system("B"), user("hi")]
    assert '{"answer": <int>}' in make("int", protocol="json").protocol.brief


SCHEMAS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.sampled_from(
                ["type", "enum", "items", "anyOf", "$ref", "properties", "const", "additionalProperties", "$defs"]
            )
            | st.text(),
            inner | st.sampled_from(["object", "array", "#/$defs/a"]),
        )
    ),
)


@given(SCHEMAS)
@example({"type": "object", "properties": "object"})
@example({"$ref": "#/$defs/a", "$defs": ["a"]})
@example({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}})
def test_any_schema_has_words(schema):
    """Also one of a tool server that is no schema at all, or that refers to itself."""
    assert isinstance(words(schema), str)
