"""A deadline of a workflow: it reaches into what runs inside, and loses nothing that was paid."""

from __future__ import annotations

import pathlib
import threading
from collections.abc import Iterator
from typing import Any

import pytest

import loopworth
from loopworth.runs.events import LimitHit, ModelCalled, ToolCalled
from loopworth.runs.outcome import Outcome
from tests.endpoint import Answer, FakeEndpoint, called, said

INNER = """\
workflow: inner
shape: constrained_loop
input: {{q: str}}
model: {{name: fake, base_url: "{url}", max_tokens: 50}}
tools: {{noop: {{python: "code:noop", effect: read}}}}
use: [noop]
prompt: "{{{{ q }}}}"
finish: text
budget: {{turns: 5}}
"""
OUTER = """\
workflow: outer
shape: pipeline
input: {q: str}
budget: {time: 2s}
steps:
  - id: one
    run: inner.yaml
    with: {q: "{{ q }}"}
  - id: two
    run: inner.yaml
    with: {q: "{{ q }} again"}
answer: "{{ one }} {{ two }}"
"""


@pytest.fixture
def never() -> Iterator[threading.Event]:
    """A wait of the server's that only the end of the test ends."""
    waiting = threading.Event()
    yield waiting
    waiting.set()


def ran(folder: pathlib.Path, *script: Any, time: str = "2s", **options: Any) -> Outcome:
    """The outer workflow over these answers."""
    with FakeEndpoint(*script) as fake:
        (folder / "code.py").write_text('def noop() -> str:\n    "Does nothing."\n    return "ok"\n', "utf-8")
        (folder / "inner.yaml").write_text(INNER.format(url=fake.base_url), "utf-8")
        (folder / "outer.yaml").write_text(OUTER.replace("2s", time), "utf-8")
        return loopworth.run_sync(folder / "outer.yaml", {"q": "hi"}, **options)


@pytest.mark.parametrize("streamed", [False, True])
def test_an_outer_deadline_cuts_the_inner_call_and_keeps_what_was_paid(
    tmp_path: pathlib.Path, never: threading.Event, streamed: bool
) -> None:
    """Two inner runs at once: one is through its first turn, one waits for its first answer. Both calls in flight are
    cut, the answered one is counted as the server said, and what the cut ones may have used at most."""

    def server(received: Any) -> Any:
        history = received.body["messages"]
        if len(history) == 1 and "again" not in history[0]["content"]:
            return called(("noop", {}))
        return Answer(packets=[b'data: {"choices": [{"delta": {"content": "so far"}}]}\n\n', never.wait])

    heard: list[Any] = []
    outcome = ran(tmp_path, server, server, server, hear=heard.append if streamed else None)
    calls = [event for event in outcome.events if isinstance(event, ModelCalled)]
    assert (outcome.exit, outcome.answer) == ("time_limit", None)
    assert [(call.at, call.finish) for call in calls] == [
        ("one/run/1/ask", "tool_calls"),
        ("one/run/2/ask", "time_limit"),
        ("two/run/1/ask", "time_limit"),
    ]
    assert (calls[0].usage.input, calls[0].usage.output) == (10, 5)
    assert all((call.usage.output, call.usage.estimated) == (50, True) for call in calls[1:])
    assert outcome.usage.output == 105
    assert [event.status for event in outcome.events if isinstance(event, ToolCalled)] == ["ok"]
    assert all(event.owner == "" for event in outcome.events if isinstance(event, LimitHit))
    assert 2.0 <= outcome.seconds < 8.0
    partial = [one.at for one in outcome.transcript if one.message.get("content") == "so far"]
    assert partial == ["one/run/2/ask", "two/run/1/ask"]


def test_a_run_that_ends_in_time_is_not_cut(tmp_path: pathlib.Path) -> None:
    """The same files, with answers, and time that a busy machine has too."""

    def server(received: Any) -> Any:
        """Answers by what is asked, for the two runs are under way at once; a run may ask for proof of tools, too."""
        if any(tool["function"]["name"] == "note" for tool in received.body["tools"]):
            return called(("note", {"word": "ready"}))
        return said("b" if "again" in received.body["messages"][0]["content"] else "a")

    outcome = ran(tmp_path, *[server] * 4, time="60s")
    assert (outcome.exit, sorted(outcome.answer.split())) == ("success", ["a", "b"])
