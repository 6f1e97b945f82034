"""`advise`: the rung that the answers ask for, and files that pass check and run."""

from __future__ import annotations

import asyncio
import itertools
import json
import pathlib
import re
from typing import Any, get_args

import pytest

import loopworth
from loopworth.comparisons.advice import DEFAULTS, MODEL, QUESTIONS, Answers, advise, answers, said
from loopworth.runs.message import Reply, Request
from loopworth.workflows.faults import WorkflowFault

COMBINATIONS = [
    dict(zip(QUESTIONS, words, strict=True))
    for words in itertools.product(*(choices for _, choices in QUESTIONS.values()))
]
ONE_OF_EACH = {
    "pipeline": {"steps": "known", "paths": "one"},
    "careful pipeline": {"steps": "known", "paths": "one", "undo": "no"},
    "router": {"steps": "known"},
    "careful router": {"depends": "no", "wrong_step": "expensive"},
    "constrained_loop": {},
    "open_loop": {"paths": "many"},
    "gated_loop": {"undo": "no"},
}


def written(folder: pathlib.Path, words: dict[str, str]) -> pathlib.Path:
    for name, text in advise(said(words)).files.items():
        (folder / name).write_text(text, "utf-8")
    return folder


@pytest.mark.parametrize("words", COMBINATIONS, ids=lambda words: "-".join(words.values()))
def test_the_files_of_every_combination_pass_check(words: dict[str, str], tmp_path: pathlib.Path) -> None:
    """No answer leads to a file with a fault."""
    written(tmp_path, words)
    assert [str(fault) for fault in loopworth.check(*sorted(tmp_path.glob("*.yaml")))] == []


@pytest.mark.parametrize("name", ["null", "true", "x", "e1", "x_", "steps"])
def test_a_feature_may_have_any_name(name: str, tmp_path: pathlib.Path) -> None:
    """Also one that YAML would read otherwise."""
    written(tmp_path, DEFAULTS | {"undo": "no", "name": name})
    assert [str(fault) for fault in loopworth.check(*sorted(tmp_path.glob("*.yaml")))] == []


def test_the_questions_are_those_that_are_read() -> None:
    """What the terminal offers is what a file may hold."""
    fields = {key: set(get_args(Answers.model_fields[key].annotation)) for key in QUESTIONS}
    assert fields == {key: set(choices) for key, (_, choices) in QUESTIONS.items()}
    assert advise(said(DEFAULTS)).rung == "constrained_loop"


@pytest.mark.parametrize(
    ("words", "rung"),
    [
        ({"steps": "known", "paths": "one"}, "pipeline"),
        ({"steps": "known"}, "router"),
        ({"depends": "no", "paths": "one"}, "pipeline"),
        ({"depends": "no"}, "router"),
        ({}, "constrained_loop"),
        ({"paths": "one"}, "constrained_loop"),
        ({"paths": "many"}, "open_loop"),
        ({"undo": "no"}, "gated_loop"),
        ({"wrong_step": "expensive", "paths": "many"}, "gated_loop"),
        ({"steps": "known", "paths": "one", "undo": "no"}, "pipeline"),
    ],
)
def test_the_rung_is_the_lowest_that_can_do_it(words: dict[str, str], rung: str) -> None:
    """Known steps are written down; unknown ones go to a loop, and behind a gate where a wrong one is dear."""
    advice = advise(said(DEFAULTS | words))
    assert advice.rung == rung
    assert advice.reasons


class Clerk:
    """Looks up the order, and the one that it waits for; closes it where it can; then answers with the state."""

    async def reply(self, request: Request, seconds: float | None) -> Reply:
        text = json.dumps(self.said(request))
        return Reply({"role": "assistant", "content": text}, text=text)

    def said(self, request: Request) -> dict[str, Any]:
        if request.schema is None or "anyOf" not in request.schema:
            return {"label": "other"}
        opening, told = [message["content"] for message in request.messages], []
        told = [text.partition(": ")[2] for text in opening if text.startswith("record: ")]
        states = [json.loads(text) for text in told]
        code = re.findall(r"[A-Z]-[0-9]{3}", next(text for text in opening if text.startswith(("Why", "When"))))
        if not code or (states and "see" not in states[-1]):
            cause = states[-1]["state"] if states else "9 to 17"
            closes = "settle" in json.dumps(request.schema) and not any(text.startswith("settle: ") for text in opening)
            return (
                {"tool": "settle", "arguments": {"code": code[0], "cause": cause}}
                if closes and code
                else {"answer": cause}
            )
        return {"tool": "record", "arguments": {"code": states[-1]["see"] if states else code[0]}}


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_the_comparison_runs_and_decides(name: str, tmp_path: pathlib.Path) -> None:
    """Every kind of project is measured as it is written: each arm does what it can do, and there is a verdict."""
    words = DEFAULTS | ONE_OF_EACH[name]
    folder = written(tmp_path, words)
    result = asyncio.run(loopworth.compare(folder / "comparison.yaml", models={MODEL: Clerk()}))
    right = {arm: [trial.right for trial in result.final if trial.arm == arm] for arm in ("pipeline", "agent")}
    harness = [trial.note for trial in result.runs if trial.exit in ("harness_error", "provider_error")]
    assert (harness, result.verdict is not None) == ([], True)
    assert sum(map(bool, right["pipeline"])) == (3 if words["steps"] == "unknown" else 6)
    assert sum(map(bool, right["agent"])) >= (6 if words["depends"] == "yes" else 3)


def test_bad_answers_are_shown_where_they_stand(tmp_path: pathlib.Path) -> None:
    """Each with its line, what is wrong, and what to write; all at once."""
    file = tmp_path / "answers.yaml"
    file.write_text("steps: unknwn\ndepends: maybe\npath: few\nundo: yes\nmodel: nobody/x\n", "utf-8")
    with pytest.raises(WorkflowFault) as found:
        answers(file)
    shown = [f"{fault.line}:{fault.column} {fault.what} | {fault.instead}" for fault in found.value.faults]
    assert [text.partition(", or give")[0] for text in shown] == [
        "1:1 'wrong_step' is missing in the answers | write wrong_step: cheap | expensive",
        "1:8 `steps` cannot be 'unknwn' | did you mean 'unknown'?",
        "2:10 `depends` cannot be 'maybe' | it is one of: no, yes",
        "3:1 unknown key 'path' in the answers | did you mean 'paths'?",
        "5:8 unknown provider 'nobody' | one of openai, azure, anthropic, openrouter, ollama, vllm, llamacpp, local, "
        "scripted",
    ]
