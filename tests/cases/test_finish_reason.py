"""The handed cases of kind finish-reason, played over HTTP: the finish reason is read before the reply."""

import pathlib

import pytest
from ruamel.yaml import YAML

from loopworth.runs.message import user
from loopworth.tools.python import python_tool
from loopworth.workflows import verbs
from loopworth.workflows.pipeline import Pipeline, Step
from tests.agents.kit import make
from tests.cases.wire import Played, answer, play
from tests.endpoint import said, wire

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("finish-reason.yaml"))["cases"]


def drafting() -> Pipeline:
    """Step draft, then step review, which reads the draft."""
    chat = verbs.Chat("m")
    draft = Step("draft", verbs.ask(lambda names: [user("Write.")], chat))
    review = Step("review", verbs.ask(lambda names: [user(f"Review: {names['draft']}")], chat), frozenset({"draft"}))
    return Pipeline([draft, review], lambda names: names["review"])


def played(given):
    done: list[str] = []

    def send_mail(to: str) -> str:
        """Send a mail."""
        done.append(to)
        return "sent"

    if "draft_answer" in given:
        content, finish = given["draft_answer"]["content"], given["draft_answer"]["finish_reason"]
        return play(given, drafting(), wire({"role": "assistant", "content": content}, finish), said("good"))
    loop = make(tools={"send_mail": python_tool("send_mail", send_mail, effect="write", inline=True)})
    turn = given.get("every_turn", given)
    turns = given.get("limits", {}).get("max_steps", 10)
    return play(given, loop, answer(turn), last=answer(turn), turns=turns)._replace(done=done)


def few_further_calls(found: Played) -> None:
    assert len(found.sent) <= 3
    assert found.outcome.exit == "empty"
    assert "empty tool turn" in found.outcome.note


def no_empty_messages(found: Played) -> None:
    assert not [m for m in found.sent[-1]["messages"] if m["role"] == "assistant"]


def final_answer(found: Played) -> None:
    assert (found.outcome.exit, found.outcome.answer, len(found.sent)) == ("success", "The total is 12.", 1)
    assert not [said for said in found.outcome.transcript if "tool_calls" in said.message]


def reasoning_used_it_up(found: Played) -> None:
    assert found.outcome.exit == "truncated"
    assert "reasoning" in found.outcome.note
    assert str(found.sent[0]["max_tokens"]) in found.outcome.note


def never_success(found: Played) -> None:
    assert (found.outcome.exit == "success", found.outcome.answer) == (False, None)


def not_run_and_filtered(found: Played) -> None:
    assert (found.done, found.outcome.exit, len(found.sent)) == ([], "filtered", 1)


def draft_was_truncated(found: Played) -> None:
    assert len(found.sent) == 1
    assert found.outcome.exit == "step_failed"
    assert "'draft'" in found.outcome.note
    assert "truncated" in found.outcome.note
    assert found.given["draft_answer"]["content"] in found.said


def not_about_review(found: Played) -> None:
    assert "review" not in found.outcome.note


EXPECTED = {
    "At most a small fixed number of further model calls; the exit reason names an empty tool turn.": few_further_calls,
    "No empty assistant messages pile up in the history.": no_empty_messages,
    "Taken as the final answer after one model call; the empty list is not sent back in later history.": final_answer,
    "Exit reason truncated; the message says the output limit was used up by reasoning and names the limit.": (
        reasoning_used_it_up
    ),
    "Never status success with empty output.": never_success,
    "The call is not run; exit reason filtered.": not_run_and_filtered,
    "The review step does not get the half text as if it were whole; the run says step draft was truncated.": (
        draft_was_truncated
    ),
    "The error is about draft, not about a missing variable in review.": not_about_review,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_finish_reason(case):
    """How a reply ended decides what it is worth."""
    found = played(case["given"])
    for line in case["expect"]:
        EXPECTED[line](found)
