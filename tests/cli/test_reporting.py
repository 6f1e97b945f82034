"""`loopworth report`, and the pages of `loopworth compare`."""

from __future__ import annotations

import asyncio
import csv
import json
import pathlib
import sys
from collections.abc import Iterable
from contextlib import closing
from typing import Any

import pytest

import loopworth
from loopworth.comparisons import retelling
from loopworth.comparisons.pages.html import html
from loopworth.runs.kept import Query
from loopworth.runs.shelf import Shelf
from tests.cli.kit import command
from tests.cli.test_comparisons import COMPARISON, GUESS, doubles
from tests.comparisons.reported import Page

FIGURES = ("arm", "accuracy", "usd", "tokens", "latency", "exits")
DONE = ("arm", "task", "answer", "right", "transcript", "seconds")


@pytest.fixture(autouse=True)
def here(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def told(*words: str | pathlib.Path) -> dict[str, object]:
    done = command("report", *words, "--json")
    assert done.exit_code == 0, done.output
    return dict(json.loads(done.stdout))


def compared(folder: pathlib.Path) -> dict[str, object]:
    done = command("compare", doubles(folder), "--json")
    assert done.exit_code == 0, done.output
    return dict(json.loads(done.stdout))


def figures(found: dict[str, object]) -> dict[str, object]:
    """What a report has in common with what `compare` printed: made again, it is only told as recorded."""
    arms = [{key: arm[key] for key in FIGURES} for arm in found["arms"]]  # type: ignore[attr-defined]
    trials = [[one[key] for key in DONE] for one in found["trials"]]  # type: ignore[attr-defined]
    verdict = {**found["verdict"], "arms": None}  # type: ignore[dict-item]
    return {"arms": arms, "trials": sorted(map(str, trials)), "verdict": verdict, "order": found["order"]}


def test_a_kept_comparison_is_reported_as_it_was(tmp_path: pathlib.Path) -> None:
    """The newest one: figures, trials, transcripts and verdict; nothing is run."""
    before = compared(tmp_path)
    after = told()
    assert figures(after) == figures(before)
    assert after["usd"] == 0
    assert all(trial["run"].startswith(str(after["replayed"])) for trial in after["trials"])  # type: ignore[attr-defined]


class Constant:
    """An arm of a program's own: it always says the same."""

    async def run(self, input: dict[str, Any], fx: loopworth.Effects) -> loopworth.Outcome:
        return loopworth.Outcome("4")


def test_arms_that_a_program_gave_are_in_what_every_command_says(tmp_path: pathlib.Path) -> None:
    """Each tells of all arms, and that this one is not run without its program; to go on with it is refused."""
    file = doubles(tmp_path)
    with closing(loopworth.Store()) as store:
        result = asyncio.run(loopworth.compare(file, arms={"mine": Constant()}, store=store))
    assert command("runs", "export", "-o", "runs.jsonl").exit_code == 0
    right = {
        arm.name: sum(t.right is True for t in result.final if t.arm == arm.name) for arm in result.comparison.arms
    }
    for words in (
        ("report", "last"),
        ("report", "runs.jsonl"),
        ("compare", file, "--replay", "last"),
        ("compare", file, "--replay", "runs.jsonl"),
        ("rescore", file),
    ):
        done = command(*words, "--json")
        assert done.exit_code == 0, done.output
        found = json.loads(done.stdout)
        assert {arm["arm"]: arm["accuracy"]["right"] for arm in found["arms"]} == right
        assert any(one.startswith("mine: it was given in Python") for one in found["warnings"])
        assert not [one for one in (done.stderr, *found["warnings"]) if "changed" in one]
    assert {arm["arm"] for arm in json.loads(command("diagnose", "last", "--json").stdout)["arms"]} == {*right}
    refused = command("compare", file, "--resume")
    assert (refused.exit_code, "is finished, and nothing of it is left to be made" in refused.output) == (2, True)


class Counting(Shelf):
    """A shelf that counts what it is asked."""

    asked = 0

    def select(self, question: str, values: Iterable[Any] = ()) -> list[Any]:
        self.asked += 1
        return super().select(question, values)


def test_a_store_is_not_asked_once_a_run(tmp_path: pathlib.Path) -> None:
    """Each question opens it: with thousands of runs that was most of the time that a report took."""
    compared(tmp_path)
    shelf = Counting()
    [kept] = shelf.runs(Query(kinds=("comparison",)))
    runs = len(shelf.trials(kept.id))
    shelf.asked = 0
    retelling.told(shelf, kept)
    assert shelf.asked < 10 <= runs


def test_a_comparison_is_named_by_its_file_as_well(tmp_path: pathlib.Path) -> None:
    """By the word that made it, and the newest of it, in every command that takes a run."""
    file = doubles(tmp_path)
    first, second = (json.loads(command("compare", file, "--json").stdout) for _ in range(2))
    assert told("comparison.yaml")["replayed"] == told(file)["replayed"] == second["id"]
    assert command("diagnose", file.name).stdout == command("diagnose", second["id"]).stdout
    assert command("runs", "show", file.name).stdout.split()[1] == second["id"]
    assert command("report", "other.yaml").exit_code == 2
    assert "no run of other.yaml is kept in" in command("report", "other.yaml").output
    assert first["id"] != second["id"]


def test_exported_runs_are_reported_like_kept_ones(tmp_path: pathlib.Path) -> None:
    """One comparison of a .jsonl file; and a .json file that `compare --json` wrote."""
    compared(tmp_path)
    assert command("runs", "export", "--output", "all.jsonl").exit_code == 0
    assert figures(told("all.jsonl")) == figures(told("last"))
    (tmp_path / "found.json").write_text(command("report", "--json").stdout)
    assert told("found.json") == told()


def test_the_pages_are_written_and_told(tmp_path: pathlib.Path) -> None:
    """HTML with charts, Markdown, charts as files of safe names, into folders that are made."""
    compared(tmp_path)
    done = command("report", "--html", "out/r.html", "--markdown", "out/r.md", "--svg", "out/svg", "--png", "out/png")
    assert done.exit_code == 0, done.output
    assert done.stdout == ""
    page = Page((tmp_path / "out/r.html").read_text("utf-8"))
    assert "svg" in {tag for tag, _ in page.elements}
    assert page.text.count("loopworth runs show") == 2 * 11  # of both runs on each task that only one got right
    assert "Twice {{ n }}?" in page.text
    assert (tmp_path / "out/r.md").read_text("utf-8").startswith("**Verdict: double better** — double keeps the place")
    names = {path.name for path in (tmp_path / "out").rglob("*.*")}
    assert {"differences.svg", "latency.png"} <= names
    assert not any(name.endswith(".part") for name in names)


def test_a_comparison_says_what_it_is_kept_as_and_what_to_look_at(tmp_path: pathlib.Path) -> None:
    """Whoever has a verdict is told where the answers are; a page that was written is not asked for again, and of a run
    that keeps nothing nothing is said."""
    done = command("compare", doubles(tmp_path))
    [kept] = Shelf().runs(Query(kinds=("comparison",)))
    assert f"kept as {kept.id}: `loopworth report --html page.html` shows every answer" in done.stderr
    assert f"`loopworth diagnose {kept.id}` what to mend" in done.stderr
    assert "report" not in command("compare", "comparison.yaml", "--html", "page.html").stderr.partition("kept as")[2]
    assert "kept as" not in command("compare", "comparison.yaml", "--no-store").stderr


def test_a_comparison_writes_its_pages_when_it_ends(tmp_path: pathlib.Path) -> None:
    """The table as ever, and the files."""
    done = command("compare", doubles(tmp_path), "--html", "r.html", "--markdown", "r.md")
    assert done.exit_code == 0, done.output
    assert "paired differences" in done.stdout
    text = Page((tmp_path / "r.html").read_text("utf-8")).text
    assert "loopworth runs show" in text
    assert "Twice 7?" in text
    assert "**Verdict: double better**" in (tmp_path / "r.md").read_text("utf-8")


def test_a_row_of_the_csv_has_its_level(tmp_path: pathlib.Path) -> None:
    """What the report groups by, a spreadsheet can group by as well."""
    file = doubles(tmp_path)
    file.write_text(f"{file.read_text('utf-8')}group_by: n\n", "utf-8")
    assert command("compare", file).exit_code == 0
    assert command("report", "--csv", "t.csv").exit_code == 0
    with open("t.csv", encoding="utf-8", newline="") as rows:
        found = list(csv.DictReader(rows))
    assert len(found) == 24
    tasks = [json.loads(line) for line in (tmp_path / "tasks.jsonl").read_text("utf-8").splitlines()]
    assert {row["task"]: row["level"] for row in found} == {task["id"]: str(task["n"]) for task in tasks}


def test_without_a_file_the_table_is_printed(tmp_path: pathlib.Path) -> None:
    """The same as `compare` printed but for where the figures are from."""
    before = command("compare", doubles(tmp_path)).stdout
    after = command("report").stdout
    assert "verdict: double better" in after
    assert set(before.splitlines()) - set(after.splitlines()) == set()


def test_a_run_that_is_told_again_is_no_replay(tmp_path: pathlib.Path) -> None:
    """It was made and paid for: nothing warns of that, on the terminal or on a page; what it cost was paid then."""
    file = doubles(tmp_path)
    assert command("compare", file).exit_code == 0
    after = command("report", "--html", "again.html", "--markdown", "again.md").stdout + command("report").stdout
    pages = [(tmp_path / name).read_text("utf-8") for name in ("again.html", "again.md")]
    assert "replayed from" not in "".join((after, *pages))
    assert not any("nothing now" in page for page in pages)  # what is not billed was not paid either
    assert "$0.5 when it was run; nothing now" in html(told() | {"recorded_usd": 0.5})
    assert "nothing is spent" in command("compare", file, "--replay", told()["replayed"]).stdout


def test_a_part_is_told_with_why_it_stopped(tmp_path: pathlib.Path) -> None:
    """Whoever forwards the report did not see the terminal of that day."""
    file = doubles(tmp_path, 20)
    says = '{text: "4", usage: {prompt_tokens: 10, completion_tokens: 1}}'
    (tmp_path / "guess.yaml").write_text(GUESS.replace(says, "{error: {status: 500, message: down}}"), "utf-8")
    assert command("compare", file).exit_code == 3
    after = told()
    assert after["verdict"] is None
    [stopped] = [one for one in after["warnings"] if one.startswith("stopped after ")]  # type: ignore[attr-defined]
    assert "is unfinished: scripted failed the arm 'guess' 5 times and never answered it" in stopped


def test_files_that_changed_since_change_no_cost_and_are_named(tmp_path: pathlib.Path) -> None:
    """An old report is made again with what its runs cost then; the page says which files are others now."""
    priced = GUESS.replace("name: scripted", "name: scripted, price: {input: 1.0, output: 12.0}")
    file = doubles(tmp_path)
    (tmp_path / "guess.yaml").write_text(priced, "utf-8")
    assert command("compare", file).exit_code == 0
    before = told()
    (tmp_path / "guess.yaml").write_text(priced.replace("12.0", "9.0"), "utf-8")
    after = told()
    assert figures(after) == figures(before)
    assert after["provenance"]["files"] == before["provenance"]["files"]  # type: ignore[index]
    assert "guess.yaml changed since it was run" in after["warnings"][0]  # type: ignore[index]
    assert "changed" not in str(before["warnings"])
    assert before["texts"]["guess.yaml"] == priced  # type: ignore[index]
    assert set(before["texts"]) - set(after["texts"]) == {"guess.yaml"}  # type: ignore[call-overload]


def test_an_arm_that_left_the_file_is_named(tmp_path: pathlib.Path) -> None:
    """Its runs are in no figure of a report, which says so, on the terminal too."""
    file = doubles(tmp_path)
    assert command("compare", file).exit_code == 0
    lines = file.read_text("utf-8").splitlines(keepends=True)
    file.write_text("".join(line for line in lines if "guess" not in line), "utf-8")
    says = "the arm 'guess' was run too, and the file has it no more: it is in no figure"
    assert says in told()["warnings"][1]  # type: ignore[index]
    shown = " ".join(command("report").output.split())
    assert (says in shown, "changed since it was run" in shown) == (True, True)


def test_a_rule_that_changed_is_told(tmp_path: pathlib.Path) -> None:
    """The verdict is then that of the files as they are."""
    file = doubles(tmp_path)
    assert command("compare", file).exit_code == 0
    before = told()
    file.write_text(COMPARISON.replace("min_gain: 0.10", "min_gain: 0.90").replace("nce: 0", "nce: 4"), "utf-8")
    after = told()
    assert "the verdict is by the rule that the files have now" in str(after["warnings"])
    assert figures(after)["trials"] == figures(before)["trials"]  # the score is what it was


def test_files_that_are_elsewhere_are_named_by_a_word(tmp_path: pathlib.Path) -> None:
    """A recording of another machine."""
    compared(tmp_path)
    (tmp_path / "moved").mkdir()
    for path in (*tmp_path.glob("*.yaml"), *tmp_path.glob("*.jsonl"), *tmp_path.glob("*.py")):
        path.rename(tmp_path / "moved" / path.name)
    lost = command("report")
    assert lost.exit_code == 2
    assert "is not there any more: write --comparison FILE" in lost.stderr
    assert told("--comparison", "moved/comparison.yaml")["comparison"] == "doubles"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("last", "no comparison is kept"),
        ("none.jsonl", "there is no such file"),
        ("none.json", "there is no such file"),
        ("odd.json", "this is no comparison"),
        ("list.json", "this is no comparison"),
        ("deep.json", "this is no JSON"),
        ("broken.json", "this is no JSON"),
        ("empty.jsonl", "it holds no comparison, and one is reported: `loopworth runs export ID` writes one"),
    ],
)
def test_what_is_no_comparison_is_said(tmp_path: pathlib.Path, name: str, said: str) -> None:
    """With status 2, and in a sentence."""
    texts = {"odd.json": "{}", "list.json": "[1]", "broken.json": "{", "empty.jsonl": "", "deep.json": "[" * 100_000}
    for file, text in texts.items():
        (tmp_path / file).write_text(text, "utf-8")
    (tmp_path / "hello.yaml").write_text(
        'workflow: hello\nshape: pipeline\ninput: {}\nsteps: [{id: said, set: hi}]\nanswer: "{{ said }}"\n', "utf-8"
    )
    assert command("run", "hello.yaml").exit_code == 0
    done = command("report", name)
    assert done.exit_code == 2, done.output
    assert said in done.stderr


@pytest.mark.parametrize("words", [[], ["--html", "page.html"], ["--svg", "charts"]], ids=["terminal", "html", "svg"])
def test_a_file_that_was_edited_is_no_bug_of_ours(tmp_path: pathlib.Path, words: list[str]) -> None:
    """What a report is made of is not all there: that is said with status 2, and nothing is written."""
    found = compared(tmp_path)
    (tmp_path / "edited.json").write_text(json.dumps(found | {"arms": found["arms"][1:]}), "utf-8")  # type: ignore[index]
    done = command("report", "edited.json", *words)
    assert (done.exit_code, "is not all there (KeyError: 'double')" in done.stderr) == (2, True), done.output
    assert not (tmp_path / "page.html").exists()


def test_a_run_is_no_comparison(tmp_path: pathlib.Path) -> None:
    compared(tmp_path)
    trial = str(told()["trials"][0]["run"])  # type: ignore[index]
    done = command("report", trial)
    assert (done.exit_code, "this is no comparison" in done.stderr) == (2, True)


def test_without_the_extra_a_page_has_no_charts_and_says_how_to_get_them(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page is written all the same; a file of a chart cannot be."""
    compared(tmp_path)
    monkeypatch.setitem(sys.modules, "altair", None)
    monkeypatch.delitem(sys.modules, "loopworth.comparisons.pages.charts", raising=False)
    monkeypatch.delattr("loopworth.comparisons.pages.charts", raising=False)
    done = command("report", "--html", "r.html")
    assert done.exit_code == 0, done.output
    assert "pip install 'loopworth[report]'" in done.stderr
    assert "svg" not in {tag for tag, _ in Page((tmp_path / "r.html").read_text("utf-8")).elements}
    assert command("report", "--svg", "out").exit_code == 2


def test_a_file_that_cannot_be_written_is_said(tmp_path: pathlib.Path) -> None:
    """Status 3, and no half of a file."""
    compared(tmp_path)
    (tmp_path / "file").write_text("")
    done = command("report", "--markdown", "file/r.md")
    assert done.exit_code == 3
    assert "cannot be written" in done.stderr
