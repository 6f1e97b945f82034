"""`loopworth run --stream`: text on the terminal while it comes, and the same run."""

from __future__ import annotations

import io
import json
import pathlib
import threading

import pytest
from rich.console import Console

from loopworth.cli.following import Following, line
from loopworth.runs.hearing import Delta
from loopworth.runs.outcome import Said
from tests.cli.kit import HELLO, Terminal, command, written
from tests.endpoint import Answer, FakeEndpoint, Received

ASKS = """\
workflow: asks
shape: pipeline
input: {{}}
model: {{name: fake, base_url: "{url}"}}
steps:
  - id: said
    ask: Say it.
answer: "{{{{ said }}}}"
"""


def event(text: str, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    return f"data: {json.dumps({'choices': [choice]})}\n\n".encode()


USAGE = b'data: {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}\n\ndata: [DONE]\n\n'


def shown(*said: Said | Delta, transcript: bool = False, stream: bool = True) -> str:
    """What stands on the terminal after these."""
    file = io.StringIO()
    following = Following(Console(file=file, markup=False, highlight=False, width=100), transcript, stream)
    for one in said:
        following.hear(one) if isinstance(one, Delta) else following.say(one)
    following.end()
    return file.getvalue()


CALL = {"id": "c", "function": {"name": "pay", "arguments": "{}"}}


def assistant(text: str | None, at: str = "1/ask", **more: object) -> Said:
    return Said(at, {"role": "assistant", "content": text, **more})


USER = Said("", {"role": "user", "content": "Pay."})


def test_text_is_shown_while_it_comes(tmp_path: pathlib.Path) -> None:
    """The first words are on the terminal before the server has sent the last ones, and control characters spelled."""
    rest = threading.Event()
    packets = [event("Hello \x1b[2J"), event("dear "), rest.wait, event("Ann"), event("", "stop"), USAGE]
    with FakeEndpoint(Answer(packets=packets)) as fake:
        written(tmp_path, asks=ASKS.format(url=fake.base_url))
        terminal = Terminal("-m", "loopworth", "run", "asks.yaml", "--stream", cwd=tmp_path)
        seen = terminal.until("dear")
        assert "Hello \\x1b[2Jdear" in seen
        assert "Ann" not in seen
        rest.set()
        assert terminal.close() == 0
    assert "\x1b[2J" not in terminal.seen
    assert "7 in, 3 out" in terminal.seen


def test_a_run_is_the_same_with_and_without(tmp_path: pathlib.Path) -> None:
    """The JSON differs in ids and times only; with --json the text goes to standard error."""

    def server(received: Received) -> Answer | dict[str, object]:
        usage = {"prompt_tokens": 7, "completion_tokens": 3}
        if received.body.get("stream"):
            return Answer(packets=[event("Hello "), event("Ann", "stop"), USAGE])
        return {
            "choices": [{"message": {"role": "assistant", "content": "Hello Ann"}, "finish_reason": "stop"}],
            "usage": usage,
        }

    with FakeEndpoint(last=server) as fake:
        file = written(tmp_path, asks=ASKS.format(url=fake.base_url)) / "asks.yaml"
        store = ("--store", tmp_path / "runs.db")
        streamed, plain = command("run", file, "--json", "--stream", *store), command("run", file, "--json", *store)
        again = command("run", file, "--json", "--replay", "last", *store)
    found = [json.loads(done.stdout) for done in (streamed, plain, again)]
    for name in ("answer", "exit", "usage", "model_calls", "path", "transcript"):
        assert found[0][name] == found[1][name] == found[2][name]
    assert "Hello Ann" in streamed.stderr
    assert "Hello" not in plain.stderr


def test_a_replay_of_a_streamed_run_shows_its_text_at_once(tmp_path: pathlib.Path) -> None:
    """Nothing comes over the wire; what was said is there. So it is with a model that does not stream."""
    file = written(tmp_path, hello=HELLO) / "hello.yaml"
    store = ("--store", tmp_path / "runs.db")
    first = command("run", file, "-i", "question=hi", "--stream", *store)
    again = command("run", file, "--stream", "--replay", "last", *store)
    for done in (first, again):
        assert done.stdout.splitlines()[0].split("  ") == ["said/ask", "assistant", "Hi [bold]Ann[/]\\x1b[2J"]
        assert done.stdout.splitlines()[1] == ""


def test_two_replies_at_once_have_lines_of_their_own() -> None:
    """Each piece stands behind the effect that it belongs to."""
    lines = shown(
        Delta("a/ask", "Hello "), Delta("b/ask", "Good "), Delta("a/ask", "Ann"), Delta("a/ask", "!")
    ).splitlines()
    assert lines == ["a/ask  assistant  Hello ", "b/ask  assistant  Good ", "a/ask  assistant  Ann!"]


def test_an_attempt_that_broke_off_is_left_standing_and_the_next_says_so() -> None:
    """Whoever has read half of it is told that it begins anew."""
    lines = shown(Delta("a/ask", "Hello "), Delta("a/ask", "Hi", 2)).splitlines()
    assert lines == ["a/ask  assistant  Hello ", "a/ask  assistant  asked again: Hi"]


def test_what_was_heard_is_not_shown_twice() -> None:
    """A message adds what is new in it: with a transcript, its calls."""
    heard = Delta("1/ask", "I pay.")
    assert shown(USER, heard, assistant("I pay.")) == "1/ask  assistant  I pay.\n"
    assert shown(USER, heard, assistant("I pay.", tool_calls=[CALL]), transcript=True).splitlines() == [
        "-  user  Pay.",
        "1/ask  assistant  I pay.",
        "1/ask  assistant  pay({})",
    ]


@pytest.mark.parametrize(("transcript", "lines"), [(False, []), (True, ["-  user  Pay.", "1/ask  assistant  pay({})"])])
def test_a_reply_that_only_calls_tools_says_nothing(transcript: bool, lines: list[str]) -> None:
    """There is nothing to hear; the transcript has the calls."""
    assert shown(USER, assistant(None, tool_calls=[CALL]), transcript=transcript).splitlines() == lines


def test_what_was_thought_stands_before_what_was_said_and_is_no_part_of_it() -> None:
    """In every provider's words; the start of it is enough."""
    for extra in (
        {"reasoning_content": "Paris is\nin France."},
        {"thinking": "Paris is in France."},
        {"blocks": [{"type": "thinking", "thinking": "Paris is in France."}, {"type": "text", "text": "18"}]},
    ):
        assert line(Said("1/ask", {"role": "assistant", "content": "18", **extra})).plain == (
            "1/ask  assistant  (Paris is in France.)\n18"
        )
    long = line(Said("1/ask", {"role": "assistant", "content": "18", "reasoning": "a" * 999})).plain
    assert long.endswith("a…)\n18")
    assert len(long) < 250


def test_a_transcript_alone_is_as_it_was() -> None:
    """Every message, an empty reply too."""
    lines = shown(USER, assistant(""), transcript=True, stream=False).splitlines()
    assert lines == ["-  user  Pay.", "1/ask  assistant  "]
