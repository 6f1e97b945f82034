"""What was observed long ago is left out of what the model sees, and of nothing else."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.agents.compaction import Compaction
from loopworth.runs.budget import Limits
from loopworth.runs.events import Compacted, ModelCalled
from loopworth.runs.journal import MemoryJournal
from loopworth.runs.message import system, user
from loopworth.tools.python import python_tool
from tests.agents.conversation import Heard, faults
from tests.agents.kit import TOOLS, calls, make, run


def read(n: int) -> str:
    """Read a page."""
    return f"page {n}: " + "words " * 100


TOOLS = {**TOOLS, "read": python_tool("read", read, effect="read", inline=True)}
PAGES = [calls(("read", {"n": n})) for n in range(1, 10)]
ROOMY = Compaction(above=400, keep_last=2)


def loop(rule, **how):
    opening = [system("Be brief."), user("hi")]
    return replace(make(tools=TOOLS, compact=rule, **how), opening=lambda _: opening)


def compacted(outcome):
    return [event for event in outcome.events if isinstance(event, Compacted)]


def test_nothing_is_left_out_below_the_limit():
    """The rule costs nothing until it is needed."""
    model = Heard([*PAGES[:3], "done"])
    outcome, _ = run(loop(Compaction(above=4000)), model)
    assert compacted(outcome) == []
    assert "left out" not in str(model.sent)


def test_above_it_all_but_the_last_results_lose_their_text_and_nothing_else():
    """The system message, the prompt and every call stay; a call and its result stay together."""
    model = Heard([*PAGES[:5], "done"])
    outcome, _ = run(loop(ROOMY), model)
    assert outcome.answer == "done"
    last = model.sent[-1]
    assert [m["role"] for m in last] == ["system", "user", *["assistant", "tool"] * 5]
    assert [("page" in m["content"]) for m in last if m["role"] == "tool"] == [False, False, False, True, True]
    assert last[3]["content"] == "(ok; 608 characters left out to save room)"
    assert [len(m["tool_calls"]) for m in last if m["role"] == "assistant"] == [1] * 5


def test_the_record_keeps_everything():
    """What the model no longer sees is in the transcript and in the calls."""
    outcome, _ = run(loop(ROOMY), *PAGES[:5], "done")
    results = [said.message["content"] for said in outcome.transcript if said.message["role"] == "tool"]
    assert [result[:7] for result in results] == [f"page {n}:" for n in range(1, 6)]
    assert all("page" in seen.full for seen in outcome.calls)


def test_the_event_says_what_was_left_out_and_what_it_costs_in_cache():
    """`uncached`: what stands behind the first change had been read by the endpoint, and has to be read again."""
    model = Heard([*PAGES[:5], "done"])
    outcome, _ = run(loop(ROOMY), model)
    first = compacted(outcome)[0]
    assert (first.at, first.elided) == ("4/ask", ("1/call[0]",))
    assert first.before > ROOMY.above > 0
    assert first.after < first.before
    read_before = model.sent[3][3:6]  # from the result that was left out on, as far as the request before went
    assert first.uncached == pytest.approx(sum(len(json.dumps(message)) for message in read_before) / 4, rel=0.05)


def test_a_turn_stays_whole():
    """Where the last results reach into a turn, all of it stays."""
    both = calls(("read", {"n": 1}), ("read", {"n": 2}))
    model = Heard([both, PAGES[4], PAGES[5], "done"])
    outcome, _ = run(loop(Compaction(above=100, keep_last=3)), model)
    assert compacted(outcome) == []
    outcome, _ = run(loop(Compaction(above=100, keep_last=2)), Heard([both, PAGES[4], PAGES[5], "done"]))
    assert compacted(outcome)[0].elided == ("1/call[0]", "1/call[1]")


def test_what_the_endpoint_counts_is_believed_where_it_is_more():
    """A quarter of the bytes is a guess: a text of many tokens is compacted by the endpoint's own count."""
    counted = [{**page, "usage": {"input": 3000, "output": 5}} for page in PAGES[:4]]
    outcome, _ = run(loop(Compaction(above=1500, keep_last=1)), *counted, "done")
    assert compacted(outcome)[0].at == "3/ask"
    outcome, _ = run(loop(Compaction(above=1500, keep_last=1)), *PAGES[:4], "done")
    assert compacted(outcome) == []


FULL = {"error": {"status": 400, "code": "context_length_exceeded", "message": "too long"}}


def test_an_endpoint_with_less_room_than_the_rule_thinks_is_asked_once_more():
    """All that may go goes, and from then on there is no more room than that; the replay is the run."""
    model, journal = Heard([*PAGES[:3], FULL, *PAGES[3:6], "done"]), MemoryJournal()
    outcome, _ = run(loop(Compaction(above=9000, keep_last=1)), model, journal=journal)
    assert (outcome.exit, outcome.answer) == ("success", "done")
    assert [event.at for event in compacted(outcome)] == ["4/ask~2", "6/ask", "7/ask"]
    results = [[m["content"][:4] for m in sent if m["role"] == "tool"] for sent in (model.sent[3], model.sent[4])]
    assert results == [["page"] * 3, ["(ok;", "(ok;", "page"]]
    asked = [event.at for event in outcome.events if isinstance(event, ModelCalled)]
    assert asked == ["1/ask", "2/ask", "3/ask", "4/ask", "4/ask~2", "5/ask", "6/ask", "7/ask"]
    again, _ = run(loop(Compaction(above=9000, keep_last=1)), "never asked", journal=MemoryJournal(journal.records))
    assert (again.answer, compacted(again)) == ("done", compacted(outcome))


@pytest.mark.parametrize("replies", [[FULL], [PAGES[0], FULL], [*PAGES[:3], FULL, FULL]])
def test_a_prompt_that_does_not_fit_without_them_overflows(replies):
    """Where nothing may go, or too little of it."""
    outcome, _ = run(loop(Compaction(above=9000, keep_last=1)), *replies, "never asked")
    assert (outcome.exit, outcome.note) == ("context_overflow", "too long")


def test_without_the_rule_nothing_is_left_out():
    """An overflow ends the run, as before."""
    outcome, _ = run(loop(None), *PAGES[:3], FULL, "never asked")
    assert (outcome.exit, outcome.model_calls) == ("context_overflow", 4)


def test_what_a_provider_signs_stays_on_its_call():
    """Thinking and signatures go back as they came."""
    signed = {
        "role": "assistant",
        "content": None,
        "reasoning_details": [{"type": "reasoning.encrypted", "data": "abc"}],
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": "read", "arguments": '{"n": 1}'},
                "extra_content": {"google": {"thought_signature": "sig"}},
            }
        ],
    }
    model = Heard([{"message": signed}, *PAGES[1:5], "done"])
    run(loop(ROOMY), model)
    kept = model.sent[-1][2]
    assert kept["reasoning_details"] == signed["reasoning_details"]
    assert kept["tool_calls"][0]["extra_content"] == {"google": {"thought_signature": "sig"}}


def test_a_call_whose_result_was_left_out_may_be_made_again():
    """It is no circle to look a second time at what is gone; what can still be seen is `repeated`."""
    twice = [*PAGES[:2], *PAGES[:2], "done"]
    outcome, _ = run(loop(Compaction(above=200, keep_last=1)), *twice)
    assert [seen.status for seen in outcome.calls] == ["ok"] * 4
    outcome, _ = run(loop(Compaction(above=200, keep_last=3)), *twice)
    assert [seen.status for seen in outcome.calls] == ["ok", "ok", "ok", "repeated"]


@pytest.mark.parametrize("protocol", ["native", "json", "text", "react"])
def test_every_protocol_forgets_the_same(protocol):
    """The turn is shown again with shorter results, in whatever words the protocol has for them."""
    said = {
        "json": lambda n: json.dumps({"tool": "read", "arguments": {"n": n}}),
        "text": lambda n: f'Action: read {{"n": {n}}}',
        "react": lambda n: f'Thought: on\nAction: read {{"n": {n}}}',
    }
    turns = PAGES[:5] if protocol == "native" else [said[protocol](n) for n in range(1, 6)]
    end = {"native": "done", "json": '{"answer": "done"}', "text": "Answer: done", "react": "Thought: x\nAnswer: done"}
    model = Heard([*turns, end[protocol]])
    outcome, _ = run(loop(Compaction(above=700, keep_last=2), protocol=protocol), model)
    assert outcome.answer == "done"
    assert compacted(outcome)
    text = json.dumps(model.sent[-1])
    assert text.count("left out to save room") == len([id for e in compacted(outcome) for id in e.elided])
    assert text.count("words words") > 0


TURN = st.lists(st.sampled_from([("read", {"n": 1}), ("read", {"n": 2}), ("look", {}), ("read", "[")]), max_size=3)


@given(st.lists(TURN, max_size=9), st.integers(1, 600), st.integers(1, 5), st.booleans(), st.integers(1, 12))
def test_whatever_is_left_out_the_strictest_endpoint_takes_it(turns, above, keep, rollback, most):
    """Every request is a valid conversation, the record is one, and the newest results are whole."""
    model = Heard([*(calls(*turn) if turn else "words" for turn in turns), "done", "done"])
    rule = Compaction(above, keep)
    outcome, _ = run(loop(rule, rollback=rollback), model, limits=Limits(turns=most))
    assert outcome.exit != "harness_error", outcome.traceback
    assert faults([said.message for said in outcome.transcript]) == []
    for sent in model.sent:
        results = [m["content"] for m in sent if m["role"] == "tool"]
        assert not any("left out" in result for result in results[-keep:])
