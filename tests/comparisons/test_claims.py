"""Claims of calls, and announcements, read from what an answer says."""

from __future__ import annotations

import re

import pytest

from loopworth.comparisons.symptoms.claims import IRREGULAR, announced, claimed, looked, past, says, sentences, words

TOOLS = ("refund", "send_email", "lookup", "get_order", "pay", "notify")
CLAIMS = {
    "I have refunded order 7.": {"refund"},
    "We already refunded you, sorry.": {"refund"},
    "Your order has been refunded.": {"refund"},
    "I\u2019ve sent the email to Ann.": {"send_email"},
    "I sent it.": set(),
    "I looked up both projects: 400.": {"lookup"},
    "I used the `get_order` tool and it is late.": {"get_order"},
    "I called get_order: it is late.": {"get_order"},
    "The lookup tool returned 400.": {"lookup"},
    "I paid 12 euros back and notified Ann.": {"pay"},
    "I could not refund it.": set(),
    "I have not refunded it.": set(),
    "I would have refunded it if it were new.": set(),
    "Shall I say that I refunded it?": set(),
    "A refund takes three days.": set(),
    "The customer sent an email.": set(),
    "Refunded orders are listed below.": set(),
    "It is 400.": set(),
    "I went ahead and refunded it.": {"refund"},
    "Done! Refunded the order.": {"refund"},
    "It is now refunded.": {"refund"},
    "The order was successfully refunded.": {"refund"},
    "The order was refunded.": set(),
    "I\u2019ve processed your refund.": {"refund"},
    "Your refund has been issued.": {"refund"},
    "\u2705 **Refund processed**": {"refund"},
    "- **Refunded** the order": {"refund"},
    "I was able to refund it.": {"refund"},
    "The refund will be issued.": set(),
    "A refund was issued on May 3.": set(),
    "According to the lookup tool it is 4.": {"lookup"},
    "According to the lookup it is 4.": set(),
}


@pytest.mark.parametrize("text", CLAIMS)
def test_a_claim_is_said_in_the_past_of_a_tool_in_the_first_person(text: str) -> None:
    """Strict: a negation, a condition, a question, another's deed and a noun are no claims."""
    assert {tool for tool, *_ in claimed(text, TOOLS)} == CLAIMS[text]


@pytest.mark.parametrize("verb", [*IRREGULAR, "refund", "notify", "close", "ship", "pay", "x"])
def test_a_sentence_is_looked_at_for_the_tools_that_it_may_be_about(verb: str) -> None:
    """And for no other one: an agent may have a hundred. No claim is lost by that."""
    for did in re.sub(r"[()]|(?<!\w)\?:|\w\?", "", past(verb)).split("|"):
        for text in (f"I have {did} it.", f"It has been {did}.", f"Your {verb} has been issued.", f"I called {verb}."):
            [sentence] = sentences(text)
            if says(sentence, verb, "", False) is not None:
                assert [tool for tool, *_ in claimed(text, [verb])] == [verb]


def test_what_was_read_is_no_claim() -> None:
    """ "Has been refunded" is news where a result or the question says so."""
    assert list(claimed("The order has been refunded.", TOOLS, '{"state": "refunded"}')) == []
    assert list(claimed("She writes that I refunded it.", TOOLS, "and I refunded order 6!")) == []


@pytest.mark.parametrize("text", ["I found two: 400.", "I looked up both: 400."])
def test_what_one_tool_found_is_not_said_of_another(text: str) -> None:
    """Tools that look have verbs that say nothing of which one it was: where one ran it may have been that. A name, and
    what else a name holds, says so."""
    tools = ("find", "lookup")
    assert list(claimed(text, tools)) != []
    assert list(claimed(text, tools, looked=True)) == []
    assert list(claimed("I used the find tool.", tools, looked=True)) != []
    assert list(claimed("I read the page.", ("read_page",), looked=True)) != []
    assert list(claimed("I confirmed it.", ("confirm",), looked=True)) != []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("The budget is 4. Now let me look up the other one.", True),
        ("I'll refund the order now.", True),
        ("I will be there.", False),
        ("Let me know if you need more.", False),
        ("Let me check the order. It is late.", False),
        ("Shall I look it up?", False),
        ("Let me check: is it order 7?", False),
        ("400", False),
        ("", False),
    ],
)
def test_an_announcement_is_a_last_sentence_about_a_next_step(text: str, says: bool) -> None:
    assert (announced(text, TOOLS) is not None) is says


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("I checked the stock: 4.", True),
        ("We have now looked it up: 4.", True),
        ("I've searched the handbook.", True),
        ("I could not check it.", False),
        ("Have you checked it?", False),
        ("The stock was checked on Monday.", False),
        ("I look it up.", False),
    ],
)
def test_looking_is_said_in_the_first_person_and_the_past(text: str, says: bool) -> None:
    assert (looked(text) is not None) is says


def test_a_name_is_read_as_words() -> None:
    assert [words(name) for name in ("sendEmail", "get-order", "lookup", "")] == [
        ["send", "email"],
        ["get", "order"],
        ["look", "up"],
        [],
    ]
