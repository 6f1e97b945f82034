"""The grid: each dialect with each kind of answer, as the providers' pages show them, through a real loop."""

import json
import pathlib
from typing import Any

import pytest
from ruamel.yaml import YAML

from loopworth.models.dialects import DIALECTS
from loopworth.models.spec import SPOKEN
from tests.conformance.play import play
from tests.conformance.rules import faults

KINDS = (
    "text",
    "one_call",
    "parallel_calls",
    "bad_arguments",
    "length",
    "filter",
    "stream",
    "usage",
    "status_400",
    "status_401",
    "status_429",
    "status_500",
    "cut_mid_stream",
)
HERE = pathlib.Path(__file__).parent
GRID = {path.stem: YAML(typ="safe").load(path) for path in sorted(HERE.glob("*.yaml"))}
CELLS = [
    pytest.param(dialect, cell, id=f"{dialect}-{kind}-{k}")
    for dialect, page in GRID.items()
    for kind, cells in page["cells"].items()
    for k, cell in enumerate(cells)
]


def test_the_grid_is_whole() -> None:
    """Every dialect has every kind of answer, or says why not; every cell cites the provider."""
    assert set(GRID) == set(DIALECTS) == set(SPOKEN)
    for page in GRID.values():
        there, missing = set(page["cells"]), page.get("left_out", {})
        assert there | set(missing) == set(KINDS)
        assert not there & set(missing)
        assert all(len(reason) > 20 for reason in missing.values())
        assert all(cell["source"].startswith("https://") for cells in page["cells"].values() for cell in cells)


@pytest.mark.parametrize(("dialect", "cell"), CELLS)
def test_an_answer_is_taken_for_what_it_is(dialect: str, cell: dict[str, Any]) -> None:
    """Every request is one that the provider takes, and every answer ends in what its page says it means."""
    found = play(dialect, cell["turns"], cell.get("model", {}))
    assert found.faults == []
    outcome, want = found.outcome, cell["expect"]
    said = [message.message for message in outcome.transcript]
    assert (outcome.exit, outcome.note if outcome.exit != want["exit"] else "") == (want["exit"], "")
    for key, value in want.items():
        match key:
            case "answer":
                assert outcome.answer == value
            case "note":
                assert value in outcome.note
            case "calls":
                made = [
                    (call.tool, call.arguments if call.status == "ok" else None, call.status) for call in outcome.calls
                ]
                assert [list(call) for call in made] == value
                assert len({call.call for call in outcome.calls}) == len(value)
            case "requests":
                assert len(found.sent) == value
            case "slept":
                assert found.slept == value
            case "usage":
                assert {name: getattr(outcome.usage, name) for name in value} == value
            case "kept":
                [reply] = [message for message in said if message["role"] == "assistant"]
                assert {name: reply.get(name) for name in value} == value
            case "sent_back":
                assert value in json.dumps(found.sent[-1]["messages"], ensure_ascii=False)
            case "heard":
                assert found.heard == value
            case "streamed":
                assert all(body.get("stream", False) is value for body in found.sent)
            case "warning":
                assert any(value in warning for warning in outcome.warnings)
            case "not_sent":
                assert value in json.dumps(found.sent[0])
                assert value not in json.dumps(found.sent[-1])
            case _:
                assert key == "exit"


@pytest.mark.parametrize(
    ("dialect", "body"),
    [
        ("openai", {"messages": [{"role": "tool", "tool_call_id": "a", "content": ""}]}),
        ("openai", {"messages": [{"role": "user", "content": "a"}, {"role": "system", "content": "b"}]}),
        ("ollama", {"messages": [{"role": "tool", "tool_name": "a", "content": ""}]}),
        ("ollama", {"messages": [], "temperature": 0}),
        ("anthropic", {"messages": [{"role": "user", "content": []}]}),
        ("anthropic", {"messages": [{"role": "assistant", "content": []}], "max_tokens": 1}),
    ],
)
def test_the_server_refuses_what_a_provider_would(dialect: str, body: dict[str, Any]) -> None:
    """A request that breaks a rule is told."""
    path = {"openai": "/v1/chat/completions", "ollama": "/api/chat", "anthropic": "/v1/messages"}[dialect]
    assert faults(dialect, path, {"anthropic-version": "2023-06-01"}, body)
