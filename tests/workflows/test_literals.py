"""A secret that a file spells out is in none of the messages about the file."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

import loopworth
from loopworth.workflows.document import read
from loopworth.workflows.literals import hidden

WORKFLOW = """
workflow: w
shape: pipeline
input: {q: str}
model: MODEL
tools:
  page: {builtin: http, effect: read, TOOL}
steps: [{id: a, ask: "{{ q }}"}]
answer: "{{ a }}"
"""
SECRET = "zq-abcDEFghijkl"


def messages(
    folder: pathlib.Path, model: str = "ollama/m", tool: str = "with: {base_url: 'https://example.org'}"
) -> str:
    file = folder / "w.yaml"
    file.write_text(WORKFLOW.lstrip("\n").replace("MODEL", model).replace("TOOL", tool), "utf-8")
    return "\n".join(map(str, loopworth.check(file)))


@pytest.mark.parametrize("key", ["api_key", "apikey", "api-key", "API_KEY", "apiKey", "key", "token", "secret", "auth"])
def test_a_key_that_is_written_into_a_model_is_told_as_stars(tmp_path: pathlib.Path, key: str) -> None:
    """However its key is spelled, and whatever is said of it."""
    said = messages(tmp_path, f"{{name: openai/x, {key}: {SECRET}-0123}}")
    assert SECRET not in said
    assert "w.yaml:4:" in said


def test_the_advice_is_to_name_a_variable(tmp_path: pathlib.Path) -> None:
    """What was written is no help, so what to write is."""
    said = messages(tmp_path, f"{{name: openai/x, api_key: {SECRET}}}")
    assert "`api_key` must be {env: …}, and this is the text '***'" in said
    assert "write the name of the variable that holds it, as {env: OPENAI_API_KEY}" in said


@pytest.mark.parametrize("at", ["model", "tool"])
def test_a_key_in_the_place_of_its_variable_is_no_name(tmp_path: pathlib.Path, at: str) -> None:
    """It is a fault of the file, on a machine that has no keys too, and told without it."""
    (tmp_path / "w.yaml").write_text(
        "workflow: w\nshape: pipeline\ninput: {}\n"
        + {
            "model": f"model: {{name: openai/x, api_key: {{env: {SECRET}}}}}\nsteps: [{{id: a, ask: hi}}]\n",
            "tool": f"tools: {{t: {{python: 'm:f', effect: read, with: {{k: {{env: {SECRET}}}}}}}}}\n"
            "steps: [{id: a, call: t}]\n",
        }[at]
        + "answer: '{{ a }}'\n",
        "utf-8",
    )
    (tmp_path / "m.py").write_text("def f(k: str) -> str:\n    return k\n", "utf-8")
    [fault] = loopworth.check(tmp_path / "w.yaml")
    assert fault.what == "this names no environment variable"
    assert SECRET not in str(fault)


@pytest.mark.parametrize(
    "model",
    [
        "{name: openai/x, api_key: {env: SECRET}}",
        "{name: openai/x, api_key: {value: SECRET}}",
        "{name: openai/x, api_key: [SECRET]}",
        "{name: openai/x, timeout: sk-abcDEF0123456789}",
        "{name: sk-abcDEF0123456789}",
        "sk-abcDEF0123456789",
        "{name: x, base_url: ['https://me:SECRET@example.org/v1']}",
        "{name: x, base_url: ['https://example.org/v1?key=SECRET']}",
        "{name: openai/x, extra: 'x', headers: {X-Thing: SECRET}}",
        "{name: openai/x, temperature: eyJhbGciOi.eyJzdWIiOiIx.abcDEF}",
    ],
)
def test_a_secret_in_another_place_is_told_as_stars_too(tmp_path: pathlib.Path, model: str) -> None:
    """Under any key where it looks like one, in an address, below `headers`."""
    said = messages(tmp_path, model.replace("SECRET", SECRET))
    assert said
    for text in (SECRET, "sk-abcDEF0123456789", "eyJhbGciOi"):
        assert text not in said


@pytest.mark.parametrize(
    "tool",
    [
        "with: {base_url: 'https://example.org', headers: {Authorization: SECRET}, no_such: 1}",
        "with: {base_url: 'https://example.org', headers: 'Authorization: SECRET'}",
        "with: {base_url: 'https://example.org', header: {X-Api-Key: SECRET}}",
        "with: {base_url: 5, headers: {Authorization: 'Bearer SECRET'}}",
        "env: {TOKEN: SECRET}",
        "token: SECRET",
        "allow: {token: SECRET}",
        "timeout: 'SECRET', with: {password: SECRET}",
    ],
)
def test_what_is_bound_to_a_tool_is_told_as_stars(tmp_path: pathlib.Path, tool: str) -> None:
    """The headers of the `http` tool, and an environment or an argument whose name says what it is."""
    said = messages(tmp_path, tool=tool.replace("SECRET", SECRET))
    assert said
    assert SECRET not in said


def test_what_only_looks_like_one_is_shown(tmp_path: pathlib.Path) -> None:
    """The name of a variable, types of inputs, words: a message without them would say nothing."""
    said = messages(tmp_path, "{name: openai/x, api_key: OPENAI_API_KEY}")
    assert "this is the text 'OPENAI_API_KEY'" in said
    assert hidden({"input": {"token": "string", "password": "str | None"}, "max_tokens": "a thousand"}) is None
    assert hidden({"key": "customers", "sort_key": "name_of_it", "from": {"password": {"run": "reset.yaml"}}}) is None
    assert hidden({"api_key": {"env": "my_own_key"}, "headers": {"X": "{{ value }}"}}) is None


def test_a_changed_model_of_an_arm_is_masked_where_it_was_written(tmp_path: pathlib.Path) -> None:
    """A comparison's dotted path is a key like any other."""
    messages(tmp_path)
    arm = f"{{workflow: w.yaml, change: {{model.api_key: {SECRET}, steps: 3}}}}"
    text = f"comparison: c\ntasks: t.jsonl\nscore: equals\narms:\n  a: {arm}\n"
    (tmp_path / "c.yaml").write_text(text, "utf-8")
    (tmp_path / "t.jsonl").write_text('{"q": "a", "expected": "a"}', "utf-8")
    said = "\n".join(map(str, loopworth.check(tmp_path / "c.yaml")))
    assert "api_key" in said
    assert SECRET not in said


def test_the_secrets_of_a_file_are_looked_for_when_something_is_said_of_it(tmp_path: pathlib.Path) -> None:
    """A sound file costs nothing; and none is found where there is none."""
    (tmp_path / "w.yaml").write_text("workflow: w\n", "utf-8")
    document: Any = read(tmp_path / "w.yaml")
    assert "hidden" not in vars(document)
    assert document.fault((), "what").what == "what"
    assert vars(document)["hidden"] is None
