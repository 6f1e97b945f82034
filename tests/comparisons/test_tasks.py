"""Task files: read with their places, and faulty in every line that is."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopworth.comparisons.tasks import Task, lacking, pick, read
from loopworth.workflows.faults import WorkflowFault


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def tasks(name: str, text: str | bytes, **options: object) -> tuple[Task, ...]:
    Path(name).write_bytes(text.encode() if isinstance(text, str) else text)
    return read(name, **options)  # type: ignore[arg-type]  # options of several types


def faults(name: str, text: str | bytes, **options: object) -> str:
    with pytest.raises(WorkflowFault) as caught:
        tasks(name, text, **options)
    return str(caught.value)


pytestmark = pytest.mark.usefixtures("folder")


def test_a_task_knows_its_columns_and_its_line() -> None:
    """Inputs and tags by the workflow's inputs; reserved columns apart."""
    found = tasks("t.jsonl", '\n{"id": 7, "question": "q", "k": 2, "expected": 5, "approve": "reject"}\n')[0]
    assert (found.id, found.expected, found.approve, found.where) == ("7", 5, "reject", "t.jsonl:2")
    assert found.tags(["question"]) == {"k": 2}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", b"\xef\xbb\xbfid,question\r\n1,a\r\n2,b\r\n"),
        ("t.jsonl", b'\xef\xbb\xbf{"id": 1, "question": "a"}\r\n{"id": 2, "question": "b"}\r\n'),
        ("t.yaml", b"\xef\xbb\xbf- id: 1\r\n  question: a\r\n- id: 2\r\n  question: b\r\n"),
    ],
)
def test_a_byte_order_mark_and_crlf_are_taken_off(name: str, text: bytes) -> None:
    """Two rows, `id` is found, and no value ends in CR."""
    found = tasks(name, text)
    assert [(task.id, task.fields) for task in found] == [("1", {"question": "a"}), ("2", {"question": "b"})]


@pytest.mark.parametrize(
    ("name", "text"),
    [("t.jsonl", '{"id": 1}\n{"id": "1"}\n'), ("t.yaml", '- id: 1\n- id: "1"\n'), ("t.csv", "id\n1\n1\n")],
)
def test_ids_are_text_so_that_1_and_one_in_quotes_clash(name: str, text: str) -> None:
    """The fault stands on the later line and names the earlier."""
    assert "the id '1' is taken by line " in faults(name, text)


def test_tasks_without_an_id_are_numbered() -> None:
    """From 1, in the order of the file."""
    found = tasks("t.jsonl", '{"q": "a"}\n\n{"q": "b"}\n')
    assert [(task.id, task.line) for task in found] == [("1", 1), ("2", 3)]


def test_only_a_line_feed_ends_a_line_of_jsonl() -> None:
    """A text may hold U+2028 and U+0085 as they are."""
    found = tasks("t.jsonl", '{"q": "a\u2028b\u0085c"}\n')
    assert [task.fields["q"] for task in found] == ["a\u2028b\u0085c"]


def test_every_broken_line_is_reported_with_its_place() -> None:
    """All at once: syntax, no object, a key twice, no JSON constant, half a character, too deep, and more."""
    lines = ['{"id": true}', "{id: 3}", "[1]", '{"a": 1, "a": 2}', '{"a": NaN}', '{"a": "\\ud800"}', "[" * 100_000]
    found = faults(
        "t.jsonl", '{"x": 1}\n' + "\n".join(lines) + '\n{"q": "", "approve": "maybe"}\n{"expected_route": 3}'
    )
    for place in ("2:2", "3:2", "4:1", "5:1", "6:1", "7:1", "8:1", "9:11", "10:2"):
        assert f"t.jsonl:{place}  " in found


def test_a_yaml_fault_stands_where_the_value_does() -> None:
    """In its own line and column."""
    found = faults("t.yaml", "- id: 1\n  approve: no\n- 5\n- id: [2]\n")
    assert "t.yaml:2:12  `approve` is approve or reject, not 'no'" in found
    assert "t.yaml:3:3  a task is a mapping" in found
    assert "t.yaml:4:7  `id` is a text or a number" in found


def test_a_quoted_cell_may_run_over_lines_and_later_rows_keep_their_line() -> None:
    """A line break in quotes is part of the cell; an empty reserved cell says nothing, an empty other one is a text."""
    found = tasks("t.csv", 'id, q,expected\n1,"a\nb, c",\n2,,x\n')
    assert [(task.line, task.fields["q"], task.expected) for task in found] == [(2, "a\nb, c", None), (4, "", "x")]


def test_a_csv_with_ragged_rows_or_a_bad_header_is_faulty() -> None:
    """Cells that do not match the header, names missing or twice, a quote that never closes, another separator."""
    found = faults("t.csv", 'id,q,q,\n1,2\n1,2,3,4,5\n"x\n')
    for says in ("1:1  column 4 has no name", "called 'q'", "2:1  has 2 cells", "3:1  has 5 cells", "4:1  is not CSV"):
        assert says in found
    assert "separate cells by commas" in faults("s.csv", "id;q\n1;2\n")


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("t.jsonl", "\n", "holds no task"),
        ("t.csv", "id,q\n", "holds no task"),
        ("t.yaml", "a: 1\n", "tasks are a list"),
        ("t.tsv", "a", "use .jsonl, .csv or .yaml"),
        ("t.jsonl", '[{"id": 1}]', "is one JSON list"),
        ("t.jsonl", '{"q": "é"}'.encode("latin1"), "t.jsonl:1:8  is not UTF-8"),
        ("t.jsonl", '{"q": 1}'.encode("utf-16"), "is not UTF-8"),
    ],
)
def test_a_file_that_holds_no_tasks_says_why(name: str, text: str | bytes, says: str) -> None:
    """One fault, and what to write instead."""
    assert says in faults(name, text)


def test_a_file_that_is_not_there_is_a_fault() -> None:
    """Not a traceback."""
    with pytest.raises(WorkflowFault, match=r"none\.jsonl:1:1  cannot be read"):
        read("none.jsonl")


def test_columns_can_be_renamed() -> None:
    """To an input's name or a reserved one; a column that is not there is a fault with the nearest, so is a clash."""
    text = '{"q": "a", "gold": 3}\n'
    renamed = tasks("t.jsonl", text, rename={"q": "question", "gold": "expected"})[0]
    assert (renamed.fields, renamed.expected) == ({"question": "a"}, 3)
    assert "did you mean 'gold'?" in faults("t.jsonl", text, rename={"gld": "expected"})
    assert "the same name" in faults("t.jsonl", text, rename={"q": "gold"})


def test_a_task_without_a_field_is_told_by_its_line() -> None:
    """Before any model call, for every task and every field."""
    found = tasks("t.jsonl", '{"id": 1, "question": "a"}\n{"id": 2, "qestion": "b", "expected": 1}\n')
    assert [str(fault) for fault in lacking(found, ["question", "expected"])] == [
        "t.jsonl:1:1  task '1' has no field 'expected'\n    fields: question",
        "t.jsonl:2:1  task '2' has no field 'question'\n    did you mean 'qestion'?",
    ]


def test_one_task_is_picked_by_its_id() -> None:
    """An id that is not in the set is an error, not an empty report."""
    found = tasks("t.jsonl", "\n".join(f'{{"id": {n}}}' for n in range(1, 11)))
    assert pick(found, "7").id == "7"
    with pytest.raises(LookupError, match="there is no task '99'; did you mean '9'"):
        pick(found, "99")


def test_what_a_yaml_file_expects_keeps_its_spelling() -> None:
    """3.10 is not 3.1 where texts are compared, in a list too."""
    one, many = tasks("t.yaml", "- {id: 1, expected: 3.10}\n- {id: 2, expected: [3.10, 3.9]}\n")
    assert (one.expected.text, one.expected) == ("3.10", 3.1)
    assert [item.text for item in many.expected] == ["3.10", "3.9"]


def test_a_cell_knows_its_line_and_column() -> None:
    """Also behind a cell that runs over lines, and under a renamed column."""
    first, second = tasks("t.csv", 'id,q,n\r\n1,"a ""b"",\r\nc",5\r\n\r\n22,,7\r\n', rename={"n": "seats"})
    assert first.places == {"id": (2, 1), "q": (2, 3), "seats": (3, 4)}
    assert second.places == {"id": (5, 1), "q": (5, 4), "seats": (5, 5)}
    assert (first.cells, second.cells) == ({"q": 'a "b",\r\nc', "seats": "5"}, {"q": "", "seats": "7"})
