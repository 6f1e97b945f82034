"""The seam: recorded runs replay as they were, every end is an outcome, nothing in flight is lost."""

import asyncio

import pytest

from loopworth.models import ScriptedModel
from loopworth.runs.budget import Budget, Limits
from loopworth.runs.concurrency import together
from loopworth.runs.effects import Effects
from loopworth.runs.events import LimitHit, ModelCalled
from loopworth.runs.executor import execute
from loopworth.runs.journal import MemoryJournal
from loopworth.runs.message import Reply, Request, user
from loopworth.runs.outcome import Diverged, Failed, Outcome, Stop, Waiting
from loopworth.runs.usage import Quote, Usage
from loopworth.runs.world import Live, Nothing


class Asking:
    """An executor that asks the model its prompts, one after another."""

    def __init__(self, *prompts, most=None):
        self.prompts, self.most = prompts, most

    async def run(self, input, fx):
        said = []
        for n, prompt in enumerate(self.prompts):
            fx.record(user(prompt))
            reply = await fx.model(f"{n}/ask", Request([user(prompt)], "m", max_tokens=self.most))
            said.append(reply.text)
        return Outcome(said)


def run(executor, *replies, limits=None, journal=None, world=None):
    model = ScriptedModel(list(replies))
    fx = Effects(world or Live({"m": model}), journal, Budget(limits or Limits()))
    return asyncio.run(execute(executor, {}, fx)), fx


def test_a_replay_makes_the_same_outcome_and_touches_nothing():
    """Answer, events, transcript and usage are those of the recording; the world is not asked."""
    journal = MemoryJournal()
    said = {"text": "one", "usage": {"prompt_tokens": 9, "completion_tokens": 2}}
    recorded, _ = run(Asking("a", "b"), said, "two", journal=journal)
    replayed, _ = run(Asking("a", "b"), journal=MemoryJournal(journal.records), world=Nothing())
    assert recorded.answer == ["one", "two"]
    assert (replayed.answer, replayed.transcript) == (recorded.answer, recorded.transcript)
    assert [(type(e), e.at, e.usage) for e in replayed.events] == [(type(e), e.at, e.usage) for e in recorded.events]
    assert recorded.usage == Usage(9, 2)


def test_a_changed_request_under_a_recorded_id_diverges():
    """A replay never answers a question that was not asked."""
    journal = MemoryJournal()
    run(Asking("a"), "one", journal=journal)
    with pytest.raises(Diverged, match="0/ask"):
        run(Asking("another"), journal=journal, world=Nothing())


def test_a_call_that_is_not_in_the_recording_diverges():
    """A replay that goes further than its recording fails loudly instead of calling out."""
    with pytest.raises(Diverged, match="0/ask"):
        run(Asking("a"), journal=MemoryJournal(), world=Nothing())


def test_a_refusal_is_part_of_the_record():
    """A resumed run, on another clock and with room to spare, ends where the recorded one ended."""
    journal = MemoryJournal()
    first, _ = run(Asking("a", "b"), "one", limits=Limits(turns=1), journal=journal)
    again, _ = run(Asking("a", "b"), "never", limits=Limits(turns=9), journal=journal)
    assert first.exit == again.exit == "turn_limit"
    assert first.events[-1] == again.events[-1] == LimitHit("1/ask", "turn_limit", "")


@pytest.mark.parametrize(
    ("end", "exit"),
    [
        (Stop("refused", None, "no"), "refused"),
        (Waiting("1/call[0]/gate"), "waiting"),
        (Failed("step x: y"), "step_failed"),
        (ValueError("a bug"), "harness_error"),
        (asyncio.CancelledError(), "cancelled"),
    ],
)
def test_every_end_is_an_outcome_that_keeps_what_was_paid(end, exit):
    """Whatever ends a run, its events and messages are there; only a bug of ours carries a traceback."""

    class Ending(Asking):
        async def run(self, input, fx):
            await super().run(input, fx)
            raise end

    outcome, _ = run(Ending("a"), {"text": "one", "usage": {"prompt_tokens": 9, "completion_tokens": 2}})
    assert outcome.exit == exit
    assert outcome.usage == Usage(9, 2)
    assert [said.message["content"] for said in outcome.transcript] == ["a", "one"]
    assert bool(outcome.traceback) == (exit == "harness_error")


def test_a_reply_that_was_cut_is_no_answer_and_its_text_is_kept():
    """The finish reason is read first; what came of the reply stays in the transcript."""
    outcome, _ = run(Asking("a", most=64), {"text": "Half of the", "finish": "length"})
    assert (outcome.exit, outcome.answer) == ("truncated", None)
    assert outcome.transcript[-1].message["content"] == "Half of the"


def test_a_reply_cut_by_what_the_budget_had_left_is_the_budgets_end():
    """Output tokens are held before a call: when the rest of the budget cut the reply, the limit is the reason."""
    said = {"text": "all of", "finish": "length", "usage": {"prompt_tokens": 0, "completion_tokens": 30}}
    outcome, _ = run(Asking("a", most=64), said, limits=Limits(tokens=30))
    assert outcome.exit == "token_limit"


class Priced(ScriptedModel):
    """A model of which every output token costs a cent."""

    def quote(self, request):
        return Quote(0, 0.0, 0.01)


def test_a_reply_cut_by_what_money_was_left_is_the_limit_s_end_and_a_replay_s_too():
    """What is left buys so many tokens and no more; the record says whose limit cut the reply."""
    said = {"text": "all of", "finish": "length", "usage": {"prompt_tokens": 0, "completion_tokens": 30}}
    journal, model = MemoryJournal(), Priced([said])
    first, _ = run(Asking("a", most=64), limits=Limits(usd=0.3), journal=journal, world=Live({"m": model}))
    assert model.requests[0].max_tokens == 30
    assert (first.exit, first.note) == ("cost_limit", "usd: 0.3, which left 30 tokens for the reply")
    again, _ = run(Asking("a", most=64), limits=Limits(usd=0.3), journal=journal, world=Nothing())
    assert (again.exit, again.note, again.transcript) == (first.exit, first.note, first.transcript)


def test_a_reply_that_is_cut_at_its_own_limit_is_truncated_whatever_the_budget_has_left():
    """The limit of the file cut it, and not what was left."""
    said = {"text": "all of", "finish": "length", "usage": {"prompt_tokens": 40, "completion_tokens": 64}}
    outcome, _ = run(Asking("a", most=64), said, limits=Limits(tokens=100))
    assert outcome.exit == "truncated"


class Hanging:
    """A model that never answers."""

    async def reply(self, request, seconds):
        await asyncio.Event().wait()


def test_a_call_past_its_deadline_is_cut_and_charged_as_held():
    """An endpoint that accepts and never answers costs no more than the limit says, in time and in tokens."""
    outcome, fx = run(Asking("a", most=500), limits=Limits(time=0.05), world=Live({"m": Hanging()}))
    assert outcome.exit == "time_limit"
    assert (fx.budget.tokens, fx.budget.held) == (500, 0)
    assert outcome.usage == Usage(0, 500, usd=None, estimated=True)


def test_a_cancelled_call_leaves_its_event_and_frees_what_it_held():
    """Ctrl-C in a model call: the run ends as cancelled, and says that a call was under way."""

    async def cancel():
        fx = Effects(Live({"m": Hanging()}), None, Budget(Limits(tokens=900)))
        task = asyncio.ensure_future(execute(Asking("a", most=500), {}, fx))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        return await task, fx

    outcome, fx = asyncio.run(cancel())
    assert (outcome.exit, fx.budget.held) == ("cancelled", 0)
    assert [e.finish for e in outcome.events if isinstance(e, ModelCalled)] == ["cancelled"]


def test_an_endpoint_that_fails_leaves_a_model_call_of_unknown_cost():
    """What a failed call cost is not known, so it must not count as free."""

    class Down:
        async def reply(self, request, seconds):
            raise Stop("provider_error", None, "connection refused")

    outcome, _ = run(Asking("a"), world=Live({"m": Down()}))
    assert (outcome.exit, outcome.note) == ("provider_error", "connection refused")
    assert outcome.usage.usd is None


def test_waits_of_a_reply_are_put_on_the_runs_clock():
    """A model reports its queueing from the start of the call; the event says when that was in the run."""

    class Queued:
        async def reply(self, request, seconds):
            return Reply({"role": "assistant", "content": "x"}, text="x", seconds=1.0, waits=((0.0, 2.0),))

    ticks = iter([0.0, 5.0, *[5.0] * 20])
    outcome, _ = run(Asking("a"), world=Live({"m": Queued()}, clock=lambda: next(ticks)))
    [call] = outcome.events
    assert (call.began, call.seconds, call.waits) == (5.0, 3.0, ((5.0, 7.0),))


def test_the_trace_is_in_program_order_whatever_finishes_first():
    """Places are made before the first await, so completion order cannot be seen."""

    class Two(Asking):
        async def run(self, input, fx):
            slow, quick = fx.at("slow"), fx.at("quick")
            await together(self.one(slow, 5), self.one(quick, 0))
            return Outcome("x")

        async def one(self, fx, turns):
            for _ in range(turns):
                await asyncio.sleep(0)
            await fx.model("ask", Request([user("a")], "m"))

    outcome, _ = run(Two(), "one", "two")
    assert [e.at for e in outcome.events] == ["slow/ask", "quick/ask"]
