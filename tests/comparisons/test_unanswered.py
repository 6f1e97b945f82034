"""An arm that hardly ever answered: how its runs ended, and why, before anything is made of its figures."""

from __future__ import annotations

import pathlib

import pytest

from loopworth.comparisons.unanswered import End, unanswered
from loopworth.runs.exit import Exit
from tests.cli.kit import command


def ends(*some: tuple[int, Exit, str]) -> list[End]:
    return [End(exit, note, not note and exit == "success") for n, exit, note in some for _ in range(n)]


@pytest.mark.parametrize(
    ("some", "words"),
    [
        ([(20, "step_failed", "no key")], "all 20 runs ended as step_failed: no key"),
        ([(1, "step_failed", "no key")], "1 run ended as step_failed: no key"),
        (
            [(10, "repetition", "alike"), (10, "empty", "")],
            "20 of 20 runs left no answer (10 repetition and 10 empty); the most frequent reason (10 of them): alike",
        ),
        (
            [(2, "success", ""), (12, "step_failed", "no key"), (6, "step_failed", "late")],
            "18 of 20 runs left no answer (18 step_failed); the most frequent reason (12 of them): no key",
        ),
        ([(10, "success", ""), (10, "step_failed", "no key")], ""),
        ([], ""),
    ],
)
def test_less_than_half_of_the_runs_with_an_answer_is_said_with_the_reason(
    some: list[tuple[int, Exit, str]], words: str
) -> None:
    """All ends, and the reason that most have; half is enough."""
    assert unanswered(ends(*some)) == words


def test_reasons_that_differ_in_figures_only_are_one() -> None:
    some = [End("step_failed", f"line {n}: no key", False) for n in range(3)]
    assert unanswered([*some, End("step_failed", "late", False)], ", so much").endswith(
        ", so much; the most frequent reason (3 of them): line 0: no key"
    )


def test_an_answer_of_nothing_is_no_success() -> None:
    assert unanswered([End("success", "", False)] * 2) == "all 2 runs ended as success without an answer"


def test_every_form_says_first_that_an_arm_hardly_answered(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The terminal, Markdown, the page, the JSON and the diagnosis, with the reason."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LOOPWORTH_STORE", str(tmp_path / "runs.db"))
    (tmp_path / "arms.py").write_text("def same(q): return q\ndef broken(q): raise RuntimeError('no key')\n")
    (tmp_path / "tasks.jsonl").write_text('{"q": "1", "expected": "1"}\n{"q": "2", "expected": "2"}\n')
    arms = 'rules: {python: "arms:same"}, agent: {python: "arms:broken"}'
    (tmp_path / "c.yaml").write_text(f"comparison: c\ntasks: tasks.jsonl\nscore: equals\narms: {{{arms}}}\n")
    terminal = " ".join(command("compare", "c.yaml", "--html", "c.html", "--markdown", "c.md").stdout.split())
    ended, reason = "all 2 runs ended as step_failed", "answer failed: RuntimeError: no key"
    words = f"agent: {ended}, so the verdict compares with an arm that mostly did not answer: {reason}"
    assert terminal.partition("warning: ")[2].startswith(words)
    for page in ("c.html", "c.md"):
        assert "so the verdict compares with an arm that mostly did not answer" in (tmp_path / page).read_text("utf-8")
    assert f"{ended}: {reason}" in " ".join(command("diagnose", "last").stdout.split())
