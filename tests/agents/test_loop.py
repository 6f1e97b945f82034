"""The loop: turn by turn, to an answer or a recorded end."""

import ast
import asyncio
from pathlib import Path

import pytest

from loopworth.agents import loop as loop_module
from loopworth.agents.repetition import Repetition
from loopworth.runs.budget import Limits
from loopworth.runs.events import ToolCalled
from loopworth.tools.python import python_tool
from tests.agents.kit import DONE, calls, make, results, run


def test_a_loop_calls_until_the_model_answers():
    """Each turn's results go back in call order; text without a call is the answer."""
    outcome, _ = run(make(), calls(("lookup", {"code": "AB"}), ("lookup", {"code": "C"})), "three")
    assert (outcome.exit, outcome.answer) == ("success", "three")
    assert (outcome.model_calls, outcome.tool_calls, outcome.path) == (2, 2, ("lookup", "lookup"))
    assert results(outcome) == ["2", "1"]


def test_a_loop_stops_at_its_budget():
    """The step that would pass the limit is not made, and the reason is the limit's."""
    outcome, model = run(make(), *[calls(("lookup", {"code": "A" * n})) for n in range(1, 9)], limits=Limits(turns=3))
    assert (outcome.exit, outcome.answer, outcome.model_calls) == ("turn_limit", None, 3)
    assert len(model.requests) == 3


def test_a_tool_call_limit_answers_the_rest_of_the_turn_and_ends_the_run():
    """Every call id gets its one answer, also the refused ones."""
    wanted = calls(("lookup", {"code": "A"}), ("lookup", {"code": "B"}), ("lookup", {"code": "C"}))
    outcome, _ = run(make(), wanted, "never", limits=Limits(turns=9, tool_calls=2))
    assert outcome.exit == "tool_call_limit"
    assert len(results(outcome)) == 3
    assert len(DONE) == 2


def test_submit_ends_the_run_with_a_typed_answer():
    """Finishing is a tool call: its argument is the answer, and it is no tool call of the count."""
    outcome, model = run(make("int", "submit"), calls(("lookup", {"code": "AB"})), calls(("submit", {"answer": 2})))
    assert (outcome.exit, outcome.answer, outcome.tool_calls) == ("success", 2, 1)
    assert [tool["function"]["name"] for tool in model.requests[0].tools] == ["lookup", "pay", "poll", "submit"]


def test_submit_on_the_last_turn_is_success():
    """The turn limit is about turns, and the last one counts."""
    outcome, _ = run(make("int", "submit"), calls(("submit", {"answer": 2})), limits=Limits(turns=1, tool_calls=0))
    assert (outcome.exit, outcome.answer) == ("success", 2)


def test_the_other_calls_of_a_submitting_turn_are_made_before_it_ends():
    """A write asked for in the same breath as the answer is not dropped."""
    outcome, _ = run(make("str", "submit"), calls(("submit", {"answer": "done"}), ("pay", {"amount": 5})))
    assert (outcome.answer, DONE) == ("done", [("pay", 5)])
    assert results(outcome) == ["accepted", "paid 5"]


def test_of_two_submits_the_first_of_the_right_type_counts():
    """Both stay in the transcript."""
    wanted = calls(("submit", {"answer": "A"}), ("submit", {"answer": 7}), ("submit", {"answer": 8}))
    outcome, _ = run(make("int", "submit"), wanted)
    assert outcome.answer == 7
    assert len(outcome.transcript[1].message["tool_calls"]) == 3


def test_an_answer_of_the_wrong_type_is_asked_again_once():
    """The model is told why; the second time the run is unparsable."""
    bad = calls(("submit", {"answer": "two"}))
    good, _ = run(make("int", "submit"), bad, calls(("submit", {"answer": 2})))
    ended, model = run(make("int", "submit"), bad, bad, "never")
    assert good.answer == 2
    assert "not accepted" in results(good)[0]
    assert (ended.exit, len(model.requests)) == ("unparsable", 2)


def test_text_instead_of_submit_is_reminded_once_and_then_taken():
    """A reminder does not keep a finished run alive."""
    outcome, model = run(make("int", "submit"), "It is 2.", "2")
    assert (outcome.exit, outcome.answer, len(model.requests)) == ("success", 2, 2)
    assert "submit" in model.requests[1].messages[-2]["content"]


def test_repetition_ends_the_run_and_says_what_was_repeated():
    """The third equal call is not made."""
    outcome, _ = run(make(), *[calls(("lookup", {"code": "A"}))] * 9)
    assert (outcome.exit, outcome.model_calls, DONE) == ("repetition", 3, [("lookup", "A")])
    assert outcome.note == 'lookup({"code":"A"}) was called 3 times'


def test_equal_calls_of_one_turn_count_too():
    """Three in one breath are three."""
    outcome, _ = run(make(), calls(*[("lookup", {"code": "A"})] * 3))
    assert (outcome.exit, DONE) == ("repetition", [("lookup", "A")])
    assert [e.status for e in outcome.events if isinstance(e, ToolCalled)] == ["ok", "repeated", "repeated"]


def test_a_rule_of_never_lets_the_loop_go_on_to_its_limit():
    """`stop: never` leaves the end to the budget."""
    rule = Repetition(tell=2, stop=None)
    outcome, _ = run(make(on_repeat=rule), *[calls(("lookup", {"code": "A"}))] * 6, limits=Limits(turns=5))
    assert outcome.exit == "turn_limit"


def test_one_call_a_turn_where_parallel_is_false():
    """Further calls of a turn are answered `not_run`, so that the model can ask again."""
    wanted = calls(("lookup", {"code": "A"}), ("pay", {"amount": 1}))
    outcome, _ = run(make(parallel=False), wanted, calls(("pay", {"amount": 1})), "ok")
    assert DONE == [("lookup", "A"), ("pay", 1)]
    assert "one call a turn" in results(outcome)[1]


def test_the_writes_of_a_turn_run_in_call_order_between_its_reads():
    """Reads may run side by side; what changes the world does not."""
    wanted = calls(("pay", {"amount": 1}), ("lookup", {"code": "A"}), ("pay", {"amount": 2}))
    outcome, _ = run(make(), wanted, "ok")
    assert [d for d in DONE if d[0] == "pay"] == [("pay", 1), ("pay", 2)]
    assert results(outcome) == ["paid 1", "1", "paid 2"]
    assert [e.at for e in outcome.events if isinstance(e, ToolCalled)] == ["1/call[0]", "1/call[1]", "1/call[2]"]


def test_an_empty_reply_ends_the_run_as_empty():
    """No text and no call is no answer, and not the word None."""
    outcome, _ = run(make(), {"message": {"role": "assistant", "content": None}, "finish_reason": "stop"})
    assert (outcome.exit, outcome.answer) == ("empty", None)


@pytest.mark.parametrize("protocol", ["native", "json"])
def test_both_protocols_run_the_same_loop(protocol):
    """Only how it is spoken differs: the same calls, the same answer."""
    native = [calls(("lookup", {"code": "AB"})), calls(("submit", {"answer": 2}))]
    json = ['{"tool": "lookup", "arguments": {"code": "AB"}}', '{"answer": 2}']
    outcome, model = run(make("int", "submit", protocol), *(native if protocol == "native" else json))
    assert (outcome.answer, outcome.path, outcome.model_calls) == (2, ("lookup",), 2)
    assert (model.requests[0].schema is None) == (protocol == "native")


def test_the_loop_stays_on_one_screen():
    """At most 120 lines, no body over 35, and no name of a provider, a protocol or a shape in it."""
    source = Path(loop_module.__file__).read_text("utf-8")
    bodies = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.AsyncFunctionDef | ast.FunctionDef)]
    assert len(source.splitlines()) <= 120
    assert max(body.end_lineno - body.body[0].lineno + 1 for body in bodies) <= 35
    assert len(bodies) >= 3
    names = ["openai", "ollama", "anthropic", "native", "json", "react", "constrained", "open_loop", "gated", "local"]
    assert [name for name in names if name in source.lower()] == []


def test_the_reads_of_a_turn_run_side_by_side():
    """Each read waits for the other: one after another, neither would ever end."""
    met = asyncio.Barrier(2)

    async def left() -> str:
        """Look left."""
        await met.wait()
        return "left"

    async def right() -> str:
        """Look right."""
        await met.wait()
        return "right"

    tools = {f.__name__: python_tool(f.__name__, f, effect="read", timeout=5) for f in (left, right)}
    outcome, _ = run(make(tools=tools), calls(("left", {}), ("right", {})), "seen")
    assert (results(outcome), outcome.answer) == (["left", "right"], "seen")


def test_under_json_a_fault_is_said_of_the_reply():
    """What is no JSON object is the reply; there are no arguments yet."""
    outcome, _ = run(make(protocol="json"), "The answer is 5.", '["x"]')
    assert (outcome.exit, outcome.note) == (
        "unparsable",
        'The reply was not accepted: the reply is a list: an object is needed, such as {"name": "value"}',
    )
    assert "the reply is not JSON: line 1, column 1" in outcome.transcript[-2].message["content"]
    outcome, _ = run(make(protocol="json"), calls(("lookup", {"code": "A"})))
    assert (outcome.exit, outcome.note) == ("empty", "the reply only calls lookup: no tool was offered")


def test_what_a_reply_shows_of_itself_stands_in_the_trace():
    """An unknown finish reason counts as a normal end, and can be read in the events afterwards."""
    outcome, _ = run(make(), {"text": "done", "finish": "banana"})
    assert outcome.exit == "success"
    assert outcome.events[0].note == "unknown finish reason 'banana'"


@pytest.mark.parametrize(
    ("then", "limits"), [("", Limits(turns=9)), ("never", Limits(turns=1)), ("x", Limits(turns=1))]
)
def test_an_answer_in_words_stands_where_its_reminder_brings_nothing(then, limits):
    """The model has answered: silence, or a limit of the loop's own, does not take that back."""
    outcome, _ = run(make("int", "submit"), "2", {"text": then}, limits=limits)
    assert (outcome.exit, outcome.answer) == ("success", 2)
    unread, _ = run(make("int", "submit"), "It is two.", {"text": then}, limits=limits)
    assert (unread.exit, unread.answer) == ("empty" if limits.turns == 9 else "turn_limit", None)
    held, _ = run(make("int", "submit", tool_choice="required"), "2", {"text": then}, limits=limits)
    assert held.answer is None
