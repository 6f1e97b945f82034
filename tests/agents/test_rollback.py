"""A turn with a bad call is taken back whole: nothing of it ran, the model does not see it, the record keeps it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.agents.rollback import NOT_RUN, TAKEN_BACK
from loopworth.runs.budget import Limits
from loopworth.runs.events import ToolCalled
from loopworth.tools.python import python_tool
from tests.agents.conversation import Heard, faults
from tests.agents.kit import DONE, TOOLS, calls, lookup, make, run

GOOD, BAD, UNKNOWN = ("pay", {"amount": 5}), ("lookup", {"cod": "A"}), ("look", {"code": "A"})
GUARDED = {**TOOLS, "lookup": python_tool("lookup", lookup, effect="read", inline=True, allow={"code": ["A"]})}


@pytest.mark.parametrize(
    ("bad", "status"),
    [
        (BAD, "invalid_arguments"),
        (UNKNOWN, "unknown_tool"),
        (("lookup", '{"code": '), "invalid_arguments"),
        (("lookup", {"code": "Z"}), "not_allowed"),
    ],
)
def test_if_one_call_is_bad_none_of_the_turn_runs(bad, status):
    """An unknown tool, arguments that are no JSON or not of the schema, a value that is not allowed."""
    model = Heard([calls(GOOD, bad, text="paying"), "sorry"])
    outcome, _ = run(make(tools=GUARDED, rollback=True), model)
    assert (outcome.exit, outcome.answer, DONE) == ("success", "sorry", [])
    assert [(e.at, e.status) for e in outcome.events if isinstance(e, ToolCalled)] == [
        ("1/call[0]", "not_run"),
        ("1/call[1]", status),
    ]
    assert [message["role"] for message in model.sent[1]] == ["user", "user"]


def test_the_model_sees_one_line_in_place_of_its_reply_and_the_record_all_of_it():
    """The line says why, so that the next request is not the one that got this reply."""
    model = Heard([calls(GOOD, BAD, text="paying"), calls(GOOD), "done"])
    outcome, _ = run(make(rollback=True), model)
    seen = model.sent[1]
    assert [message["role"] for message in seen] == ["user", "user"]
    assert seen[1]["content"].startswith(f"{TAKEN_BACK} 'lookup': ")
    assert "\n" not in seen[1]["content"]
    assert "paying" not in str(seen)
    record = [said.message for said in outcome.transcript]
    assert [message["role"] for message in record[:5]] == ["user", "assistant", "tool", "tool", "user"]
    assert record[1]["content"] == "paying"
    assert record[2]["content"] == NOT_RUN
    assert "cod" in record[3]["content"]
    assert DONE == [("pay", 5)]


def test_a_good_call_that_was_taken_back_is_not_repeated_when_it_comes_again():
    """It was never made, so there is no result above to point to."""
    outcome, _ = run(make(rollback=True), calls(BAD, GOOD), calls(GOOD), "done")
    assert (outcome.exit, DONE) == ("success", [("pay", 5)])


def test_a_turn_that_is_taken_back_counts_and_its_number_is_not_used_again():
    """Rolling back without end meets the limit of turns."""
    replies = [calls(("lookup", {"cod": str(n)})) for n in range(9)]
    outcome, _ = run(make(rollback=True), *replies, limits=Limits(turns=4))
    assert (outcome.exit, outcome.model_calls) == ("turn_limit", 4)
    assert [e.at for e in outcome.events if isinstance(e, ToolCalled)] == [f"{n}/call[0]" for n in (1, 2, 3, 4)]


def test_the_same_bad_call_again_and_again_is_a_repetition():
    """Bad calls count like any other; the third ends the run."""
    model = Heard([calls(BAD)] * 5)
    outcome, _ = run(make(rollback=True), model)
    assert (outcome.exit, len(model.sent)) == ("repetition", 3)
    assert outcome.note == 'lookup({"cod":"A"}) was called 3 times'
    assert len(set(map(str, model.sent))) == 3


def test_an_answer_of_the_wrong_type_is_taken_back_and_asked_for_once_more():
    """`submit` is a call too; two answers that cannot be read are one too many, as ever."""
    wrong = calls(("submit", {"answer": "two"}), GOOD)
    outcome, model = run(make("int", "submit", rollback=True), wrong, calls(("submit", {"answer": 2})))
    assert (outcome.answer, DONE) == (2, [])
    assert "'submit': the answer was not accepted" in model.requests[1].messages[1]["content"]
    outcome, _ = run(make("int", "submit", rollback=True), wrong, wrong, "never")
    assert (outcome.exit, outcome.model_calls) == ("unparsable", 2)


def test_a_good_answer_in_a_turn_that_is_taken_back_does_not_count():
    """None of the turn's calls happened, and this is one of them."""
    said = calls(("submit", {"answer": 2}), BAD)
    outcome, _ = run(make("int", "submit", rollback=True), said, calls(("submit", {"answer": 3})))
    assert (outcome.exit, outcome.answer) == ("success", 3)


CALL = st.sampled_from([GOOD, BAD, UNKNOWN, ("lookup", {"code": "A"}), ("lookup", "["), ("poll", {})])


@given(st.lists(st.lists(CALL, min_size=1, max_size=4), max_size=6), st.booleans())
def test_what_the_model_sees_is_a_conversation_for_the_strictest_endpoint(turns, rollback):
    """Whatever is taken back: every call that is seen has its one result behind it, and every call of the record."""
    model = Heard([*(calls(*turn) for turn in turns), "done"])
    outcome, _ = run(make(rollback=rollback), model)
    assert outcome.exit != "harness_error", outcome.traceback
    assert faults([said.message for said in outcome.transcript]) == []
    assert len(outcome.calls) == sum(len(turn) for turn in turns[: outcome.model_calls])
