"""Tools that an endpoint drops in silence end a run as a fault of the endpoint."""

import asyncio

import pytest

from loopworth.agents.proof import INSTEAD, Proven, unread
from loopworth.models import ModelSpec, open_model
from loopworth.models.doubts import SERVED, Doubts
from loopworth.runs.budget import Budget, Limits
from loopworth.runs.effects import Effects
from loopworth.runs.executor import execute
from loopworth.runs.journal import MemoryJournal
from loopworth.runs.replay import Replayed
from loopworth.runs.world import Live
from loopworth.tools.toolbox import Toolbox
from tests.agents.kit import make
from tests.endpoint import FakeEndpoint, called, said


def play(answer, journal=None, world=None, loop=None, name="vllm/fake", runs=1):
    """The outcomes of a proven loop whose endpoint answers so, and what the endpoint got."""
    loop = loop or make("int", "submit")

    async def main(url):
        model = open_model(ModelSpec(name, base_url=url))
        live = Live({"m": model}, doubts=Doubts({"m": model}))
        try:
            return [await once(world or live) for _ in range(runs)]
        finally:
            await model.close()

    async def once(world):
        fx = Effects(world, journal, Budget(Limits(turns=5)), Toolbox(loop.tools))
        return await execute(Proven(loop, "m"), {"q": "hi"}, fx)

    SERVED.clear()
    with FakeEndpoint(last=answer) as fake:
        return asyncio.run(main(fake.base_url)), [received.body for received in fake.requests]


def usage(tokens):
    return {"prompt_tokens": tokens, "completion_tokens": 1}


def drops(received):
    """Answers as if no tools had been sent, and counts as much."""
    return said("2", usage=usage(10 * len(received.body["messages"])))


def unwilling(received):
    """Reads the tools, ignores the choice, and calls none."""
    return said("2", usage=usage(10 + 50 * ("tools" in received.body)))


def willing(received):
    """Calls a tool only where it is asked to in words; takes no forced choice."""
    asked = "note" in received.body["messages"][0]["content"]
    return called(("note", {"word": "ready"})) if asked else said("2")


def test_dropped_tools_end_the_run_as_the_endpoint_s_fault():
    """An answer that was given without seeing the tools is no answer; what to do is said, and what it took is told."""
    [outcome], sent = play(drops)
    assert (outcome.exit, outcome.answer) == ("provider_error", None)
    assert (
        outcome.note == f"m: the endpoint drops tools in silence: 10 prompt tokens with a tool, 10 without: {INSTEAD}"
    )
    assert "protocol: json" in outcome.note
    assert ["tools" in body for body in sent] == [True, True, True, False]
    assert sent[2]["tool_choice"] == "required"
    assert (outcome.model_calls, outcome.usage.input) == (4, sum(10 * len(body["messages"]) for body in sent))


def test_an_endpoint_that_ignores_the_choice_keeps_its_answer():
    """It reads the tools, so that its model calls none is the model's own doing; it is not asked again."""
    outcomes, sent = play(unwilling, runs=2)
    assert [(outcome.exit, outcome.answer) for outcome in outcomes] == [("success", 2)] * 2
    assert [outcome.model_calls for outcome in outcomes] == [4, 2]
    assert len(sent) == 6


def test_one_call_is_proof_enough():
    """A model that calls the tool it is asked to call is asked once."""
    [outcome], sent = play(willing)
    assert (outcome.answer, len(sent)) == (2, 3)


def test_a_loop_that_calls_tools_asks_for_no_proof():
    """What the run itself shows costs nothing, and is remembered for the runs after it."""
    turns = iter([called(("submit", {"answer": 2})), said("2"), said("2")])
    outcomes, sent = play(lambda _: next(turns), runs=2)
    assert [outcome.answer for outcome in outcomes] == [2, 2]
    assert len(sent) == 3


def test_a_replay_of_a_proof_is_the_recorded_one():
    """The record decides whether there was one, whatever is known by then."""
    journal = MemoryJournal()
    [first], _ = play(drops, journal)
    [again], sent = play(drops, MemoryJournal(journal.records), Replayed(first))
    assert (again.exit, again.note, again.events, sent) == (first.exit, first.note, first.events, [])
    bare = MemoryJournal({id: record for id, record in journal.records.items() if not id.startswith("proof")})
    [other], _ = play(drops, bare, Replayed(first))
    assert (other.exit, other.answer) == ("success", 2)


def test_an_unparsable_end_may_be_for_want_of_tools():
    """Without them a model cannot call `submit`; other ends say why themselves."""
    [outcome], _ = play(said("many"))
    assert outcome.exit == "provider_error"
    [cut], sent = play(said("many", finish="length"))
    assert (cut.exit, len(sent)) == ("truncated", 1)


def test_trouble_with_the_proof_is_no_proof():
    """An endpoint that will not take the proof's request has told nothing."""
    turns = iter([said("2"), said("2")])
    [outcome], _ = play(lambda _: next(turns, {"error": {"message": "no such choice", "code": 400}}))
    assert (outcome.exit, outcome.answer) == ("success", 2)


def test_only_models_of_unknown_endpoints_are_doubted():
    """A scripted model has no endpoint, and a provider at its own address serves tools or says that it does not."""
    own = open_model(ModelSpec("openrouter/m", api_key="PATH"))
    elsewhere = open_model(ModelSpec("openrouter/m", base_url="http://127.0.0.1:9/v1"))
    script = open_model(ModelSpec("scripted", replies=[]))
    doubts = Doubts({"own": own, "elsewhere": elsewhere, "script": script})
    assert [doubts.about(key) for key in ("own", "elsewhere", "script", "nobody")] == [False, True, False, False]


@pytest.mark.parametrize(("with_tools", "without", "drops"), [(60, 10, False), (10, 10, True), (None, None, True)])
def test_tokens_tell_whether_tools_were_read(with_tools, without, drops):
    """Where nothing is counted, the ignored choice has to do."""
    assert bool(unread(with_tools, without)) == drops
