"""Gates: enforced in the tool layer, decided on the exact arguments."""

import asyncio

import pytest

from loopworth.runs.decision import Decision
from loopworth.runs.effects import Effects
from loopworth.runs.events import GateAsked, GateDecided, ToolCalled
from loopworth.runs.journal import MemoryJournal, Record, body, digest
from loopworth.runs.outcome import Diverged, Failed, Waiting
from loopworth.runs.world import Live
from loopworth.tools.gate import Gate, question
from loopworth.tools.python import python_tool
from tests.tools.kit import deciding, invoke, place

PAID = []


def refund(amount: int, fee: int = 3) -> str:
    """Refund an amount."""
    PAID.append((amount, fee))
    return f"refunded {amount}"


@pytest.fixture(autouse=True)
def _():
    PAID.clear()


def gated(*gates, **rules):
    return python_tool("refund", refund, effect="irreversible", inline=True, gates=gates or (Gate(),), **rules)


EDITABLE = Gate(choices=("approve", "edit", "reject"))
OVER = Gate(lambda names: names["args"]["amount"] > names["limit"], lambda names: f"Refund {names['args']['amount']}?")


def test_a_gate_without_anybody_to_ask_waits_and_nothing_runs():
    """The activation ends; the gate is named by its effect id."""
    with pytest.raises(Waiting) as waiting:
        invoke(gated(), {"amount": 5})
    assert (waiting.value.gates, PAID) == (("1/call[0]/gate",), [])


def test_a_person_sees_the_exact_canonical_arguments():
    """Defaults are filled in, the hash binds the decision to tool and arguments."""
    ask, asked = deciding(Decision("approve", "ann"))
    seen = invoke(gated(), '{"amount": 5}', fx=place(ask=ask))
    [(id, question)] = asked
    assert (seen.status, PAID) == ("ok", [(5, 3)])
    assert (id, question.arguments) == ("1/call[0]/gate", {"amount": 5, "fee": 3})
    assert question.hash == digest(["refund", {"amount": 5, "fee": 3}])
    assert question.text == 'May refund be called with {"amount": 5, "fee": 3}?'
    assert question.choices == ("approve", "reject")


def test_a_condition_sees_inputs_and_arguments():
    """Below the limit nobody is asked."""
    ask, asked = deciding(Decision("approve"))
    assert invoke(gated(OVER), {"amount": 100}, fx=place(ask=ask, input={"limit": 100})).status == "ok"
    assert asked == []
    assert invoke(gated(OVER), {"amount": 101}, fx=place(ask=ask, input={"limit": 100})).status == "ok"
    assert [question.text for _, question in asked] == ["Refund 101?"]


def test_a_condition_is_evaluated_once():
    """Not again after the decision, so that it cannot change its mind."""
    seen = []
    ask, _ = deciding(Decision("edit", "ann", {"amount": 1}))
    gate = Gate(lambda names: not seen.append(names["args"]["amount"]), choices=EDITABLE.choices)
    invoke(gated(gate), {"amount": 7}, fx=place(ask=ask))
    assert (seen, PAID) == ([7], [(1, 3)])


def test_two_gates_of_one_tool_are_one_question():
    """The tool's approval and the workflow's gate: all texts, the choices that both offer."""
    ask, asked = deciding(Decision("approve"))
    second = Gate(ask=lambda _: "Sure?", choices=("approve", "edit", "reject"))
    invoke(gated(second, OVER, second), {"amount": 9}, fx=place(ask=ask, input={"limit": 1}))
    [(_, question)] = asked
    assert (question.text, question.choices) == ("Sure?\nRefund 9?", ("approve", "reject"))


def test_a_person_may_always_reject():
    """Whatever choices a file names."""
    ask, asked = deciding(Decision("reject"))
    invoke(gated(Gate(choices=("approve", "edit"))), {"amount": 5}, fx=place(ask=ask))
    assert [question.choices for _, question in asked] == [("approve", "edit", "reject")]


def test_the_time_a_person_takes_is_not_the_calls():
    """The seconds of an observation are the tool's."""
    now = [0.0]

    async def ask(*_):
        now[0] += 3600
        return Decision("approve")

    seen = invoke(gated(), {"amount": 5}, fx=Effects(Live({}, ask, clock=lambda: now[0])))
    assert (seen.status, seen.seconds) == ("ok", 0.0)


@pytest.mark.parametrize(("note", "content"), [("not today", ": not today"), ("", ""), ("a\ud800", ": a\ufffd")])
def test_a_rejection_is_an_answer_with_the_reviewers_note(note, content):
    """It counts as no failure of the tool, and the tool does not run."""
    ask, _ = deciding(Decision("reject", "ann", note=note))
    fx = place(ask=ask)
    seen = invoke(gated(), {"amount": 5}, fx=fx)
    assert (seen.status, PAID, fx.budget.tool_calls, fx.budget.failures) == ("rejected", [], 0, {})
    assert seen.content == "a person rejected this call" + content


def test_an_edit_runs_with_the_new_arguments_and_says_so():
    """The observation holds what really ran; the step's value is the tool's own result."""
    ask, _ = deciding(Decision("edit", "ann", {"amount": 50}))
    seen = invoke(gated(EDITABLE), {"amount": 500}, fx=place(ask=ask))
    assert (seen.status, PAID) == ("ok", [(50, 3)])
    assert seen.content == '(a person changed the arguments to {"amount":50}) refunded 50'
    assert (seen.full, seen.arguments) == ("refunded 50", {"amount": 50, "fee": 3})


@pytest.mark.parametrize(
    ("edit", "status", "why"),
    [
        ({"amount": "all"}, "invalid_arguments", "amount must be an integer"),
        ({"amount": 60}, "not_allowed", "amount must be one of 5, 50"),
        ({"amount": float("nan")}, "invalid_arguments", "amount must be a finite number"),
        ({}, "invalid_arguments", "amount is missing"),
    ],
)
def test_an_edit_is_checked_like_any_other_call(edit, status, why):
    """A person can mistype as well; schema and allow-list hold for whoever calls."""
    ask, _ = deciding(Decision("edit", "ann", edit))
    seen = invoke(gated(EDITABLE, allow={"amount": [5, 50]}), {"amount": 5}, fx=place(ask=ask))
    assert (seen.status, PAID) == (status, [])
    assert why in seen.content


def test_unreadable_or_forbidden_arguments_ask_nobody():
    """What would be refused anyway is not worth a person's time."""
    ask, asked = deciding()
    for arguments in ('{"amount": ', {"amount": "x"}, {"amount": 7}):
        invoke(gated(allow={"amount": [5]}), arguments, fx=place(ask=ask))
    assert (asked, PAID) == ([], [])


def test_a_condition_that_fails_keeps_the_gate_shut():
    """The author's mistake is named; the tool does not run."""
    gate = Gate(lambda names: names["args"]["total"] > 5)
    with pytest.raises(Failed, match="the gate of the tool 'refund' cannot be decided: 'total'"):
        invoke(gated(gate), {"amount": 5})
    assert PAID == []


def test_a_decision_is_journalled_and_not_asked_again():
    """After a restart the recorded decision holds, and the events are the same."""
    journal = MemoryJournal()
    ask, asked = deciding(Decision("edit", "ann", {"amount": 1}))
    first, again = place(ask=ask, journal=journal), place(journal=journal)
    seen = [invoke(gated(EDITABLE), {"amount": 5}, fx=fx) for fx in (first, again)]
    assert seen[0] == seen[1]
    assert (len(asked), PAID) == (1, [(1, 3)])
    assert [(type(e), e.at) for e in again.trace()] == [(type(e), e.at) for e in first.trace()]
    assert [type(e) for e in again.trace()] == [GateAsked, GateDecided, ToolCalled]


def test_of_several_gates_the_strictest_expiry_and_memory_count():
    """The shortest timeout; an approval then only where all say so; remembered only where all say so."""
    week, day = Gate(timeout=7.0, on_timeout="approve", remember=True), Gate(timeout=1.0, on_timeout="approve")
    asked = question("pay", (week, day, Gate()), {"args": {}}, "h")
    assert asked is not None
    assert (asked.timeout, asked.on_timeout, asked.remember) == (1.0, "approve", False)
    asked = question("pay", (week, Gate(timeout=9.0)), {"args": {}}, "h")
    assert asked is not None
    assert (asked.timeout, asked.on_timeout) == (7.0, "reject")


ALL = ("approve", "edit", "reject")
NO = [Decision(word) for word in ("no", "", "yes", "answer", "Approve", "approve ", None, True, 1, ["approve"])]
WRONG = [*NO, "approve", True, None, 1, {"choice": "approve"}, ("approve",), GateDecided("x", "approve")]
SHAPES = [Decision("edit"), Decision("edit", arguments=[5]), Decision("approve", by=None), Decision("reject", note=7)]


@pytest.mark.parametrize("said", [*WRONG, *SHAPES], ids=repr)
def test_what_is_no_decision_for_a_choice_offered_calls_nothing(said):
    """Whatever it is: no call, no record, and the run waits as if nobody had been asked; the note names what came."""
    ask, _ = deciding(said)
    journal = MemoryJournal()
    with pytest.raises(Waiting) as waiting:
        invoke(gated(EDITABLE), {"amount": 5}, fx=place(ask=ask, journal=journal))
    assert (PAID, journal.records, waiting.value.gates) == ([], {}, ("1/call[0]/gate",))
    assert waiting.value.note.startswith(("the gate of refund offers approve or", "the gate of refund takes no "))


@pytest.mark.parametrize("offered", [("approve", "reject"), ("edit", "reject"), ("reject",)])
def test_a_choice_that_this_gate_does_not_offer_decides_nothing(offered):
    """Each choice that there is, at each gate that does not offer it; also from the journal of another gate."""
    for word in {*ALL, "answer"} - {*offered}:
        decision = Decision(word, "ann", {"amount": 9999})
        ask, _ = deciding(decision)
        with pytest.raises(Waiting) as waiting:
            invoke(gated(Gate(choices=offered)), {"amount": 5}, fx=place(ask=ask))
        said, _, instead = waiting.value.note.partition(" (a gate offers ")
        assert said == f"the gate of refund offers {' or '.join(offered)}, not {word}"
        assert instead.startswith("" if word == "answer" else f"{word} by `choices: [")
        hash = digest(["refund", {"amount": 5, "fee": 3}])
        journal = MemoryJournal({"1/call[0]/gate": Record(hash, "gate", body(decision))})
        with pytest.raises(Diverged, match=f"1/call.0./gate: the gate of refund offers .*, not {word}.*\n    recorded"):
            invoke(gated(Gate(choices=offered)), {"amount": 5}, fx=place(journal=journal))
    assert PAID == []


@pytest.mark.parametrize("said", [said for said in NO if said.choice != "answer"], ids=repr)
def test_a_record_that_holds_no_decision_calls_nothing(said):
    """A journal that somebody wrote in: the record is shown, and the run diverges."""
    record = Record(digest(["refund", {"amount": 5, "fee": 3}]), "gate", body(said))
    with pytest.raises(Diverged, match=r"the gate of refund cannot be decided by this: .*\n    recorded: .*choice"):
        invoke(gated(EDITABLE), {"amount": 5}, fx=place(journal=MemoryJournal({"1/call[0]/gate": record})))
    assert PAID == []


def test_a_remembered_decision_stands_only_where_it_is_offered():
    """An equal call behind another gate, which offers less, is asked about by itself."""
    ask, asked = deciding(Decision("edit", "ann", {"amount": 1}), Decision("reject", "ben"))
    fx = place(ask=ask)
    invoke(gated(Gate(choices=ALL, remember=True)), {"amount": 5}, fx=fx, id="1/call[0]")
    seen = invoke(gated(Gate(remember=True)), {"amount": 5}, fx=fx, id="1/call[1]")
    assert ([id for id, _ in asked], seen.status) == (["1/call[0]/gate", "1/call[1]/gate"], "rejected")
    assert PAID == [(1, 3)]


def test_a_plain_function_that_is_asked_is_told_what_to_write():
    """It decides nothing, though it returns a decision."""
    with pytest.raises(Waiting) as waiting:
        invoke(gated(), {"amount": 5}, fx=place(ask=lambda question, id: Decision("approve")))
    assert (PAID, "write `async def ask(question, id)`" in waiting.value.note) == ([], True)


def test_nobodys_decision_is_an_approval_only_where_it_is_offered():
    """Of two gates one takes the approval away: then time that runs out is a no."""
    first, second = Gate(choices=ALL, timeout=1.0, on_timeout="approve"), Gate(choices=("edit", "reject"))
    asked = question("pay", (first, second), {"args": {}}, "h")
    assert asked is not None
    assert (asked.choices, asked.on_timeout) == (("edit", "reject"), "reject")


def test_a_call_that_is_given_up_while_a_person_is_asked_was_not_run():
    """Ctrl-C at the question: no tool was called, so none is counted."""

    async def gone(question, id):
        raise asyncio.CancelledError

    fx = place(ask=gone)
    with pytest.raises(asyncio.CancelledError):
        invoke(gated(), {"amount": 5}, fx=fx)
    assert ([e.status for e in fx.trace() if isinstance(e, ToolCalled)], PAID) == (["not_run"], [])
