"""The report as Markdown."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.comparisons.export import read, to_json
from loopworth.comparisons.pages.html import html
from loopworth.comparisons.pages.markdown import (
    LONGEST,
    Part,
    grid,
    level,
    markdown,
    opening,
    parts,
    shortened,
    size,
    text,
)
from loopworth.comparisons.pages.tables import Table
from loopworth.models import ModelSpec
from tests.comparisons.contenders import Asks, Endpoint, arm, compared, comparison, down, tasks
from tests.comparisons.reported import HOSTILE, hostile


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> str:
    return markdown(hostile(tmp_path_factory.mktemp("hostile")))


def test_the_verdict_stands_first_and_the_details_are_folded(made: str) -> None:
    """A reader of a pull request sees a sentence, the arms, the differences behind it, and what to be wary of."""
    top, *folded = made.split("<details>")
    said = re.match(r"\*\*Verdict: one (.*) better\*\* — (.*)\n\n(.*)\n\n(.*)\n", top)
    assert said is not None
    assert said[1].startswith("&#60;script&#62;alert")
    assert said[2] == "one keeps the place: no other arm earned it."
    assert said[3].startswith("The place is that of the arm to choose: the first arm holds it")
    assert said[4].startswith("hostile: 2 arms on n = 8")
    assert next(line.split(" | ")[0] for line in top.splitlines() if line.startswith("|")) == "| arm"
    rows = [line for line in top.splitlines() if line.startswith("| ")]
    assert len(rows) == 4 + 3
    assert "better | -0.50 | -0.75 to -0.12 | 8 | 0 | 4 |" in rows[6]
    assert "\nWhat to be wary of:\n\n- one, two: p95 has no upper limit at n = 8" in top
    assert "alone was right on 0" in folded[1]
    assert len(folded) == made.count("</details>") >= 8
    assert "SHA-256" in folded[-1]


@pytest.fixture(scope="module")
def long() -> dict[str, Any]:
    """A dozen arms on 60 levels with long names, each with a model that failed on a task and says so at length."""
    named = tasks(60, k=[f"{k} {HOSTILE}" for k in range(60)])
    arms = [arm(f"arm_{k}", Asks(f"vllm/{k}"), ModelSpec(f"vllm/{k}")) for k in range(12)]
    models = {f"vllm/{k}": Endpoint(lambda q, _, k=k: down(f"{k} @ " * 400) if q == "7" else q) for k in range(12)}
    return read(to_json(compared(comparison(arms, tasks=named, group_by="k"), models, keep=True)))


def test_it_fits_a_comment_however_much_there_is_to_tell(long: dict[str, Any]) -> None:
    """The verdict, the arms and the differences stand there whole; what is left out is counted, with what shows it."""
    made = markdown({**long, "id": "ab12"})
    assert 50_000 < len(made) <= LONGEST == 65_536
    assert made.startswith("\n".join(opening(long)))
    cut = re.findall(r"^- ([\d,]+) more, for which a comment has no room: <code>(.*)</code>$", made, re.MULTILINE)
    assert [command for _, command in cut] == ["loopworth report ab12 --html report.html"] * len(cut) != []
    rows = sum(len(one.rows) + len(one.words) for one in parts(long))
    shown = sum(line.startswith(("- ", "| ")) for line in made.removeprefix("\n".join(opening(long))).splitlines())
    heads = sum(bool(one.rows) for one in parts(long))
    assert shown - 2 * heads - len(cut) + sum(int(n.replace(",", "")) for n, _ in cut) == rows
    assert made.count("<details>") == made.count("</details>")


def test_of_what_is_not_kept_no_command_shows_another_comparison(long: dict[str, Any]) -> None:
    """A report without an id is that of whichever was kept last."""
    made = markdown({**long, "id": ""})
    assert "loopworth report" not in made
    assert "more, for which a comment has no room: <code>--html</code> and <code>--json</code> write all\n" in made
    assert len(made) <= LONGEST


@given(st.lists(st.integers(0, 90), max_size=30), st.lists(st.integers(0, 90), max_size=30), st.integers(200, 4000))
def test_what_is_shortened_has_room_and_counts_what_it_leaves_out(rows: list[int], words: list[int], most: int) -> None:
    """Sentences stand before rows; both are left out from the end."""
    whole = Part(("a",), tuple("r" * n for n in rows), tuple("w" * n for n in words), ("z",))
    made = shortened(whole, most, "command")
    assert size(made.lines) <= most
    if made != whole:
        left = len(rows) - len(made.rows) + len(words) - len(made.words) + 1
        assert made.words[-1] == f"- {left:,} more, for which a comment has no room: command"
        assert (made.rows, made.words[:-1]) == (whole.rows[: len(made.rows)], whole.words[: len(made.words) - 1])
        assert left > 0


@given(st.lists(st.integers(0, 1000), max_size=30), st.integers(0, 20_000))
def test_what_is_short_leaves_its_room_to_what_is_long(sizes: list[int], room: int) -> None:
    """Where all has room nothing is cut; else what is cut is cut alike, and next to no room is left."""
    most = level(sizes, room)
    used = sum(min(one, most) for one in sizes)
    assert used == sum(sizes) if sum(sizes) <= room else room - len(sizes) < used <= room


def test_a_table_has_as_many_cells_in_every_row(made: str) -> None:
    """Whatever stands in a cell."""
    for block in re.findall(r"(?:^\|.*\n)+", made, re.MULTILINE):
        assert len({line.count("|") for line in block.splitlines()}) == 1


def test_disagreements_are_told_with_both_answers(made: str, tmp_path: Any) -> None:
    """The first twenty; how many more there are is said."""
    [part] = [one for one in made.split("<details>") if one.startswith("<summary>Disagreements")]
    assert part.count("\n| ") == 2 + 4
    assert "wrong: &#60;script" in part
    many = markdown(hostile(tmp_path, tasks=50))
    assert "- and 5 more\n" in many


def test_no_place_of_the_page_obeys_a_text(made: str) -> None:
    """Neither a cell nor a sentence nor the name of a column, which a file of tasks may give."""
    assert "<script" not in made
    assert not {"\x1b", "\u202e"} & set(made)


@pytest.mark.parametrize(
    ("said", "is_not"),
    [
        ("<script>", "<"), ("a | b", "|"), ("[x](javascript:y)", "["), ("@octocat did", "@"), ("see #12", "#1"),
        ("see GH-12", "GH-1"),
        ("`code`", "`"), ("*bold*", "*"), ("_soft_", "_"), ("https://evil.example", "://"),
        ("www.evil.example", "www."),
        ("\x1b[2J", "\x1b"), ("two\nlines", "\n"), ("- item", "- "), ("1. item", "1."), ("&lt;", "&lt"),
    ],
)  # fmt: skip
def test_no_text_is_markup(said: str, is_not: str) -> None:
    """Nothing bold, no link, nobody notified, no cell or line broken."""
    assert is_not not in text(said)


@pytest.mark.parametrize("said", ["@octocat", "#12", "GH-12", "gh-12"])
def test_a_mention_is_broken_up(said: str) -> None:
    """What looks for mentions reads the page, where a sign that is spelled by its number is that sign."""
    assert re.search(r"&#\d+;<!-- -->\w+$", text(said))


@given(st.text(max_size=60))
def test_any_text_is_one_line_without_markup(said: str) -> None:
    """Its signs are spelled by their numbers."""
    bare = re.sub(r"&#\d+;|<!-- -->", "", text(said))
    assert not re.search(r"[<>|`*\[\]\n@~$\\]", bare)


def test_plain_words_stay_as_they_are() -> None:
    """So that the file can be read as it is."""
    words = "agent_sum alone was right on 0 (-0.84 to -0.35), 24/24 100 %."
    assert text(words) == words


@pytest.mark.parametrize("said", ["-", "- 3", "+ 1", "2. step"])
def test_a_cell_begins_no_list(said: str) -> None:
    """What Markdown reads at the beginning of a line alone stays as it is in a cell."""
    assert list(grid(Table("", "", ("", ""), (("arm", said),))))[-1] == f"| arm | {said} |"
    assert text(said) != said


def of_arm(found: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [one for one in found["trials"] if one["arm"] == name]


def test_disagreements_stand_in_the_natural_order_of_their_tasks(tmp_path: Any) -> None:
    """Of all pairs of arms together, 9 before 10."""
    found = hostile(tmp_path, tasks=12)
    [first] = found["differences"]
    third = [one | {"arm": "three", "right": int(one["task"].split()[0]) < 9} for one in of_arm(found, first["arm"])]
    several = {"differences": [first, first | {"arm": "three"}], "trials": [*found["trials"], *third]}
    [part] = [one for one in markdown(found | several).split("<details>") if "Disagreements" in one]
    ids = [int(task) for task in re.findall(r"^\| (\d+) ", part, re.MULTILINE)]
    assert ids == sorted(ids)
    assert len(ids) == 6 + 3
    pairs = re.findall(r"<summary><bdi>(\d+) ", html(found | several))
    assert list(map(int, pairs)) == ids


def test_a_comparison_of_one_arm_is_told(made: str, tmp_path: Any) -> None:
    """Without a verdict it says why there is none."""
    found = hostile(tmp_path, tasks=2) | {"verdict": None, "differences": []}
    assert markdown(found).startswith("**Verdict: none** — a single arm is compared with nothing.")
    assert "The place is" not in markdown(found)


@pytest.mark.parametrize(("answer", "cell"), [("", '""'), (" \n", '" \\\\n"'), ({"at": "Zürich"}, '{"at": "Zürich"}')])
def test_an_answer_is_never_blank_and_keeps_its_letters(tmp_path: Any, answer: Any, cell: str) -> None:
    """A text that shows no sign is told as JSON, and other values are in their own script."""
    found = hostile(tmp_path, tasks=2)
    [wrong] = [one for one in found["trials"] if not one["right"]]
    wrong["answer"] = answer
    assert f"| {cell} |".replace("\\\\", "&#92;") in markdown(found)
