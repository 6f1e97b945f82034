"""What a task gives a workflow: cells of a CSV file are read as the types of the inputs they are."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.comparisons import cells
from loopworth.comparisons.tasks import Task, read
from loopworth.workflows.type_expression import parse_type

TYPE = parse_type(
    {
        "n": "int",
        "share": "float = 0.5",
        "sure": "bool",
        "who": "str",
        "maybe": "int | None",
        "note": "str | None",
        "day": "date",
        "kind": "Literal[a, 1]",
        "tags": "list[str]",
        "told": 'Annotated[int, "how many"]',
    }
)


def of(**columns: str) -> Task:
    return Task("1", dict(columns), file="t.csv", line=2, cells=columns, places=dict.fromkeys(columns, (2, 9)))


@pytest.mark.parametrize(
    ("name", "cell", "value"),
    [
        ("n", "7", 7),
        ("n", " 7 ", 7),
        ("share", "1", 1.0),
        ("sure", "true", True),
        ("who", "007", "007"),
        ("who", "", ""),
        ("maybe", "", None),
        ("maybe", "3", 3),
        ("note", "5", "5"),
        ("note", "null", "null"),
        ("day", "2024-01-05", "2024-01-05"),
        ("kind", "a", "a"),
        ("kind", "1", 1),
        ("tags", '["x"]', ["x"]),
        ("told", "3", 3),
    ],
)
def test_a_cell_is_read_as_its_input(name: str, cell: str, value: Any) -> None:
    """The text where that is of the type, else the value that it stands for."""
    found = cells.given(of(**{name: cell}), TYPE)
    assert found == {name: value}
    assert type(found[name]) is type(value)


@pytest.mark.parametrize(
    ("name", "cell", "says"),
    [
        ("n", "many", 'must be a whole number, got "many"'),
        ("n", "3.0", "must be a whole number"),
        ("n", "1,000", "must be a whole number"),
        ("n", "", "must be a whole number, got null"),
        ("share", "1e999", "must be a finite number"),
        ("sure", "yes", "must be true or false"),
        ("sure", "1", "must be true or false"),
        ("day", "05/01/2024", "must be a date"),
        ("kind", "b", "must be one of a, 1"),
        ("tags", "x", "must be a list"),
        ("tags", "[" * 100_000, "is nested too deeply"),
    ],
)
def test_a_cell_that_cannot_be_read_is_a_fault_at_its_place(name: str, cell: str, says: str) -> None:
    """Line and column of the cell, once, however many arms take it in."""
    [fault] = cells.misfits([of(**{name: cell})], {"a": TYPE, "b": TYPE})
    assert (fault.line, fault.column) == (2, 9)
    assert says in fault.what
    assert fault.what.startswith(f"task '1' is no input of the arm 'a': {name} ")


def test_an_empty_cell_is_the_default() -> None:
    """Of an input that is no text: the workflow fills it in; a tag that no arm takes stays a text."""
    assert cells.given(of(share=" ", n="1", tag="x"), TYPE) == {"n": 1}
    assert list(cells.misfits([of(share="")], {"a": TYPE})) == []
    assert cells.typed(of(share="", n="1", tag="2"), [TYPE]).fields == {"share": None, "n": 1, "tag": "2"}


def test_two_arms_may_read_one_column_as_two_types() -> None:
    """Each as its own; expressions see what the first reads."""
    text, number = parse_type({"code": "str"}), parse_type({"code": "int"})
    task = cells.typed(of(code="007", other="7"), [parse_type({"other": "int"}), text, number])
    assert task.fields == {"code": "007", "other": 7}
    assert cells.given(of(code="7"), text) == {"code": "7"}
    assert cells.given(of(code="7"), number) == {"code": 7}


def test_a_number_of_a_yaml_file_is_plain_or_its_spelling(tmp_path: pathlib.Path) -> None:
    """A text input gets 3.10, a number input a plain number, which can be kept in the store."""
    (tmp_path / "t.yaml").write_text("- {who: 3.10, share: 3.10, n: 5, note: 1.0}\n", "utf-8")
    found = cells.given(read(tmp_path / "t.yaml")[0], TYPE)
    assert found == {"who": "3.10", "share": 3.1, "n": 5, "note": "1.0"}
    assert [type(found[name]) for name in ("share", "n")] == [float, int]


@given(st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.booleans(), st.text(max_size=20))
def test_what_is_written_out_is_read_back(n: int, share: float, sure: bool, who: str) -> None:
    """Numbers and truth values as JSON writes them, texts as they are."""
    task = of(n=str(n), share=repr(share), sure=str(sure).lower(), who=who)
    assert cells.given(task, TYPE) == {"n": n, "share": share, "sure": sure, "who": who}
