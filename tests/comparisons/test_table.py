"""A comparison on the terminal."""

from __future__ import annotations

import dataclasses
import io
import re
from typing import Any

import pytest
from rich.console import Console
from rich.text import Text

from loopworth.comparisons.export import read, to_json
from loopworth.comparisons.figures import batching_words, duration, seen_words, shown
from loopworth.comparisons.pages.markdown import markdown
from loopworth.comparisons.pages.tables import verdict
from loopworth.comparisons.result import Result
from loopworth.comparisons.spending import Batching, Seen
from loopworth.comparisons.table import render, table
from loopworth.models import ModelSpec
from loopworth.runs.usage import Usage
from loopworth.workflows.templates import expression
from tests.comparisons.contenders import Asks, Endpoint, Routes, Says, arm, compared, comparison, down, reply, tasks

HERE, LOCAL = ModelSpec("vllm/here"), ModelSpec("local/small")


def printed(result: Result, width: int = 120) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=True)
    console.print(render(result))
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def test_of_many_levels_the_first_are_shown() -> None:
    """A tag that is different for each task makes no table that nobody reads; how many there are is said."""
    given = comparison([arm("a", Says(str)), arm("b", Says(str))], tasks=tasks(70, k=list(range(70))), group_by="k")
    text = printed(compared(given), 400)
    assert "the first 60 of 70 levels" in text
    assert len(re.findall(r"^ \d* +[ab] +\d/1", text, re.MULTILINE)) == 120


def lines(result: Result) -> dict[str, str]:
    """The rows of all tables by their first cell, the first of a name, without colours."""
    console = Console(file=io.StringIO(), width=120, no_color=True)
    console.print(render(result))
    rows = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    cells = [re.split(r"\s{2,}", row.strip()) for row in rows]
    return {row[0]: " | ".join(row[1:]) for row in reversed(cells)}


def test_the_table_has_every_figure_for_every_arm() -> None:
    """Accuracy with its interval, calls, tokens, cost, latency, exit reasons, side by side."""
    arms = [arm("regex", Says(str)), arm("asks", Asks(HERE.key), HERE)]
    found = lines(compared(comparison(arms, 4), {"vllm/here": Endpoint(lambda *_: "1")}))
    assert found["right"] == "4/4 100 % | 1/4 25 %"
    assert found["95 % interval, %"] == "51.0-100.0 | 4.6-69.9"
    assert (found["model calls"], found["tool calls"], found["tokens"]) == ("0 | 1", "0 | 0", "0 | 15")
    assert found["cost"] == "not billed | $0.001"
    assert found["ended"] == "success 4 | success 4"
    assert {"latency p50", "latency p95", "shape"} <= set(found)


@pytest.mark.parametrize("width", [200, 80, 72, 70])
def test_no_figure_is_cut_as_long_as_there_is_room(width: int) -> None:
    """Headers break first, and columns move together: a line never ends amid a number or a name."""
    made = table("hops", "arm", "right", "model calls", "tool calls", "tokens", "cost", left=2)
    rows = [["3", "pipeline", "28/28 100 %", "0", "5", "0", "not billed"]] * 2
    rows += [["4", "langgraph", "13/16 81 %", "2.81", "1.81", "123,584", "$0.001813"]]
    for row in rows:
        made.add_row(*map(Text, row))
    console = Console(file=io.StringIO(), width=width)
    console.print(made)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert {word for row in rows for cell in row for word in cell.split()} <= set(text.split())
    assert [re.split(r"\s{2,}", line.strip()) for line in text.splitlines() if "langgraph" in line] == rows[2:]
    assert max(map(len, text.splitlines())) <= width


def test_many_columns_stand_in_rows_of_as_many_as_have_room() -> None:
    """Each beside the first column, so that no figure of many arms is cut, and each stands there once."""
    made = table("", *(f"agent_{k}" for k in range(9)))
    made.columns[0].no_wrap, made.parted = True, True
    for name in ("right", "95 % interval, %"):
        made.add_row(Text(name), *(Text(f"{name[0]}{k}.123-{k}.4567") for k in range(9)))
    console = Console(file=io.StringIO(), width=80)
    console.print(made)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert max(map(len, text.splitlines())) <= 80
    assert re.findall(r"[r9]\d\.123-\d\.4567", text) == sorted(
        (f"{name}{k}.123-{k}.4567" for k in range(9) for name in "r9"),
        key=lambda one: (int(one[1]) // 3, one[0] != "r"),
    )
    assert text.count("95 % interval, %") == text.count(" right ") == 3
    assert re.findall(r"agent_\d", text) == [f"agent_{k}" for k in range(9)]


@pytest.mark.parametrize("width", [40, 12])
def test_what_has_no_room_is_broken_and_not_lost(width: int) -> None:
    """Every sign of a cell stands there, however narrow the terminal is."""
    made = table("arm", "right", "cost")
    made.add_row(Text("langgraph_with_a_long_name"), Text("13/16 81 %"), Text("$0.001813"))
    made.columns[1].no_wrap = True
    console = Console(file=io.StringIO(), width=width)
    console.print(made)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert sorted("langgraph_with_a_long_name13/1681%$0.001813armrightcost") == sorted(re.sub(r"[\s─]", "", text))


@pytest.mark.parametrize("arms", [2, 9])
def test_the_intervals_of_the_means_fit_the_narrowest_terminal(arms: int) -> None:
    """A row for each arm, so that many widen nothing; no figure of them is cut, nor a column of which none is known."""

    def used(question: str, n: int) -> Any:
        return reply(question, Usage(1200 * int(question), 5, usd=0.00123 * int(question)))

    asking = [arm(f"agent_number_{k}", Asks(HERE.key), HERE) for k in range(arms)]
    console = Console(file=io.StringIO(), width=80)
    console.print(render(compared(comparison(asking, 60), {"vllm/here": Endpoint(used)})))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert max(map(len, text.splitlines())) <= 80
    within = text[text.index("how sure the figures are") : text.index("each arm alone")]
    head, *rows = (re.split(r"\s{2,}", line.strip()) for line in within.splitlines() if re.search(r"  \S", line))
    assert head == ["arm", "tokens", "cost", "p95 is under"]
    assert [row[:3] for row in rows] == [[f"agent_number_{k}", "31,573-42,440", "$0.0324-$0.0435"] for k in range(arms)]


def test_one_of_a_thing_is_not_several() -> None:
    """Arms, tasks, runs and calls are counted in words."""
    text = " ".join(
        printed(compared(comparison([arm("a", Asks(HERE.key), HERE)], 1), {"vllm/here": Endpoint(dear)})).split()
    )
    assert "tried: 1 arm on n = 1 task, answered by vllm/here" in text
    assert "the cost of 1 of 1 run is unknown" in text
    assert "and 1 run of unknown cost" in text
    assert not re.search(r"\b1 (arms|tasks|runs)\b", text)
    assert batching_words(Batching("a", 2.0, 1.0, 1.0, None, None, 4, 4)).startswith(
        "2 model calls for 1 tool call a run"
    )
    assert batching_words(Batching("a", 1.0, 2.04, 2.0, None, None, 4, 4)).startswith(
        "1 model call for 2.04 tool calls"
    )
    assert "which takes about 102 more input tokens, $0.01 a run (estimated)" in batching_words(
        Batching("a", 2.0, 1.05, 1.0, -102.0, -0.01, 4, 4)
    )
    assert ", and 1 model call came after it" in seen_words(Seen("a", 4, 2, 1.0, 0, 0))


def dear(question: str, n: int) -> Any:
    return reply(question, Usage(1, 1, usd=None))


def test_harm_is_shown_where_the_file_says_what_it_is() -> None:
    """Runs that did it, of those that were looked at; without a definition there is no such row."""
    arms = [arm("a", Says(str)), arm("b", Says(lambda _: "0"))]
    assert "did harm" not in lines(compared(comparison(arms, 4)))
    harmful = dataclasses.replace(comparison(arms, 4), harm=expression("answer == '0' and task.question in ['1', '2']"))
    assert lines(compared(harmful))["did harm"] == "0/4 0 % | 2/4 50 %"


def test_a_cost_that_is_unknown_or_not_billed_says_so() -> None:
    """`unknown` is no 0, and an embedded model is not for free: it is not billed."""
    arms = [arm("local", Asks(LOCAL.key), LOCAL), arm("dear", Asks(HERE.key), HERE)]
    models = {
        "local/small": Endpoint(lambda q, _: reply(q, Usage(1, 1)), "local"),
        "vllm/here": Endpoint(lambda q, _: reply(q, Usage(1, 1, usd=None))),
    }
    assert lines(compared(comparison(arms), models))["cost"] == "not billed | unknown"


def test_the_verdict_stands_with_its_interval_model_and_rule() -> None:
    """Token, sentence, n, the interval with its label, the model, and what is not shown."""
    arms = [arm("regex", Says(lambda _: "no")), arm("asks", Asks(HERE.key), HERE)]
    text = " ".join(printed(compared(comparison(arms, 30), {"vllm/here": Endpoint(lambda q, _: q)}), 400).split())
    for part in (
        "asks earned the place.",
        "90 % interval",
        "of 0.05: asks earns its place.",
        "With vllm/here: On 30 tasks",
        "says nothing of other kinds",
    ):
        assert part in text


def test_without_a_verdict_the_terminal_says_why() -> None:
    """In the words of every page: of one arm, and of a part of the plan. Of an arm without a run nothing was right."""
    one = compared(comparison([arm("a", Says(str))], 4))
    part = compared(comparison([arm("a", Says(str)), arm("b", Asks(HERE.key), HERE)], 4), {HERE.name: Endpoint(silent)})
    for result, why in (
        (one, "a single arm is compared with nothing."),
        (part.but(stopped="it was late"), "it was late."),
    ):
        text = " ".join(printed(result, 400).split())
        assert re.search(rf"verdict: .*none — .*{why}", text)
        assert why in verdict(read(to_json(result)))[1]
    assert lines(part)["right"] == "4/4 100 % | -"


def silent(question: str, n: int) -> Any:
    return down()


def test_what_holds_of_several_arms_is_said_once() -> None:
    """How accuracy goes with the levels, and where it is under what is accepted."""
    given = comparison([arm(name, Says(str)) for name in "abc"], tasks=tasks(8, k=[1, 2] * 4), group_by="k", accept=0.6)
    result = compared(given)
    said = [
        "a, b, c: every answer is right at every level of k",
        "accept 0.6: the lower limit of a, b, c is under it first",
    ]
    spec = {"decide": {"accept": 0.6}}
    for text in (printed(result, 400), markdown({**read(to_json(result)), "spec": spec})):
        assert [text.count(one) for one in said] == [1, 1]


def test_data_are_never_read_as_markup_or_control_codes() -> None:
    """A tag, a note or a route that holds markup or an escape sequence is shown as the text it is."""
    evil = "[red]x[/red]\x1b[2J\x07\u202e"
    given = tuple(
        type(task)(**{**{name: getattr(task, name) for name in task.__struct_fields__}, "expected_route": evil})
        for task in tasks(3, k=[evil] * 3)
    )
    arms = [arm("a", Routes(lambda _: evil)), arm("b", Asks(HERE.key), HERE)]
    result = compared(
        comparison(arms, tasks=given, group_by="k"), {"vllm/here": Endpoint(lambda q, _: down(evil) if q == "1" else q)}
    )
    text = printed(result, 400)
    assert "[red]x[/red]\\x1b[2J" in text
    assert not any(code in text for code in ("\x1b[2J", "\x07", "\u202e"))


def test_a_remark_is_one_printable_line() -> None:
    """Lines are joined, and what is long is cut."""
    assert shown("a\n b\x00") == "a b\\x00"
    assert len(shown("x" * 1000)) == 400


def test_levels_and_routes_have_tables_of_their_own() -> None:
    """`group_by` gives a row for each level and arm, `expected_route` a confusion matrix."""
    given: Any = tuple(
        type(task)(**{**{name: getattr(task, name) for name in task.__struct_fields__}, "expected_route": "billing"})
        for task in tasks(4, k=[1, 1, 2, 2])
    )
    result = compared(
        comparison([arm("a", Routes(lambda q: "billing" if q == "1" else "other"))], tasks=given, group_by="k")
    )
    found = lines(result)
    assert found["1"].startswith("a | 0/2 0 %")
    assert found["billing"] == "1 | 3"
    assert found["route right"].startswith("1/4")


def test_a_long_run_is_told_in_whole_seconds() -> None:
    """And in no power of ten, as all figures."""
    times = [duration(seconds) for seconds in (0.00001, 0.9996, 1.234, 1234.5, 36000.0)]
    assert times == ["< 0.1 ms", "1,000 ms", "1.23 s", "1,230 s", "36,000 s"]
