"""What differs between a recording and now, in words."""

from __future__ import annotations

from loopworth.runs.divergence import MOST, difference
from loopworth.runs.journal import encode
from loopworth.runs.message import Request, assistant, user


def asked(*messages: dict, **more: object) -> bytes:
    return encode(Request(list(messages), "m", **more))


def test_the_message_that_differs_is_named_with_both_texts() -> None:
    """Its number from 1, its role, the recorded and the new text."""
    old = asked(user("hi"), assistant("What?"), user("tell me the time"))
    new = asked(user("hi"), assistant("What?"), user("tell me a time"))
    assert difference("2/ask", old, new) == (
        "2/ask: message 3 (user) content is not the recorded one\n"
        '    recorded: "tell me the time"\n'
        '    now:      "tell me a time"'
    )


def test_a_message_that_only_one_side_has_is_named() -> None:
    """A dropped or an added message says so."""
    said = difference("1/ask", asked(user("hi")), asked(user("hi"), user("more")))
    assert "message 2 (user) is not the recorded one" in said
    assert "recorded: (nothing)" in said
    assert "message 2 is not" in difference("1/ask", asked(user("hi"), user("more")), asked(user("hi")))


def test_the_messages_come_before_what_else_differs() -> None:
    """A person looks at the prompt first; another model or limit is named where the messages are equal."""
    assert "message 1 (user)" in difference("ask", asked(user("a"), max_tokens=5), asked(user("b"), max_tokens=6))
    said = difference("ask", asked(user("a"), max_tokens=5), asked(user("a"), max_tokens=6))
    assert "the request's max_tokens is not the recorded one" in said


def test_the_argument_of_a_tool_that_differs_is_named() -> None:
    """A call is known by its tool and its arguments."""
    said = difference("pay/call", encode(["pay", {"amount": 5, "to": "a"}]), encode(["pay", {"amount": 6, "to": "a"}]))
    assert "the arguments amount of pay is not the recorded one\n    recorded: 5\n    now:      6" in said
    assert "the tool is not" in difference("pay/call", encode(["pay", {}]), encode(["refund", {}]))


def test_long_texts_are_shown_where_they_part() -> None:
    """One word in a long prompt is found at once."""
    long = "x" * 5000
    said = difference("ask", asked(user(f"{long} red {long}")), asked(user(f"{long} blue {long}")))
    assert "x red x" in said
    assert "x blue x" in said
    assert len(said) < 3 * MOST


def test_a_request_that_was_not_kept_is_said_to_differ() -> None:
    """Only its hash is known."""
    assert difference("ask", b"", asked(user("a"))) == "ask: the recording holds another request under this id"
