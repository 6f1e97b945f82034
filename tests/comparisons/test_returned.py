"""What a program returns in the form of another framework, or among other things: said once an arm."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from loopworth.comparisons.returned import doubtful
from tests.cli.kit import command


@pytest.mark.parametrize(
    ("value", "kind", "said"),
    [
        ({"messages": [{"content": "4"}]}, "python", "the whole object, with `messages`, was taken as one"),
        ({"output": "4", "intermediate_steps": []}, "command", "the whole object, with `output`, was taken as one"),
        (None, "python", "it returned nothing, which is no answer"),
        (None, "command", "it wrote nothing to standard output, which is no answer"),
        ('Loading…\n{"answer": 4}', "command", "write the rest to standard error"),
        ('Loading…\n{\n  "answer": 4\n}\nDone.', "command", "write the rest to standard error"),
        ({"answer": None, "exit_reason": "turn_limit"}, "python", ""),
        ({"answer": "4", "messages": []}, "python", ""),
        ({"city": "Rome", "year": 4}, "python", ""),
        ('As JSON:\n{"city": "Rome"}', "command", ""),
        ('As JSON:\n{"answer": 4}', "python", ""),
        ("{broken\n{" + '"a":{' * 100_000, "command", ""),
        ("4", "command", ""),
        (0, "python", ""),
        ([], "python", ""),
    ],
)
def test_what_is_likely_no_answer_is_said_with_what_to_write(value: Any, kind: str, said: str) -> None:
    """What may well be an answer is not: an object with keys of its own, a text of a model, nothing on purpose."""
    found = doubtful(value, kind)
    assert said in found
    assert bool(found) == bool(said)


def test_a_report_says_once_an_arm_what_was_taken_as_its_answers(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer stays what was returned: nothing of it is guessed."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arms.py").write_text("def same(q): return q\ndef graph(q): return {'messages': [q]}\n")
    (tmp_path / "tasks.jsonl").write_text('{"q": "1", "expected": "1"}\n{"q": "2", "expected": "2"}\n')
    arms = 'rules: {python: "arms:same"}, graph: {python: "arms:graph"}'
    (tmp_path / "c.yaml").write_text(f"comparison: c\ntasks: tasks.jsonl\nscore: equals\narms: {{{arms}}}\n")
    result = json.loads(command("compare", "c.yaml", "--json", "--no-store").stdout)
    [said] = [one for one in result["warnings"] if "taken as" in one]
    assert said == (
        "graph: in 2 of 2 runs what it returned has no `answer`, so the whole object, with `messages`, was taken as "
        'one: return {"answer": …}'
    )
    assert {trial["answer"] for trial in result["trials"] if trial["arm"] == "rules"} == {"1", "2"}
    assert all(list(trial["answer"]) == ["messages"] for trial in result["trials"] if trial["arm"] == "graph")
