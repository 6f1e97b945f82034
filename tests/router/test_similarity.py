"""A decision by similarity: the nearest label, if it is near enough, made of what was recorded alone."""

import asyncio
import json

import pytest

from loopworth.models import ScriptedModel
from loopworth.router import Route, Router, Similarity
from loopworth.runs.effects import Effects
from loopworth.runs.events import ModelCalled, RouteTaken
from loopworth.runs.executor import execute
from loopworth.runs.journal import MemoryJournal
from loopworth.runs.message import user
from loopworth.runs.outcome import Diverged, Outcome
from loopworth.runs.world import Live, Nothing


class Says:
    def __init__(self, name):
        self.name = name

    async def run(self, input, fx):
        return Outcome(self.name)


ROUTES = {
    "urgent": Route(Says("urgent"), when=lambda names: "outage" in names["ticket"]),
    "money": Route(Says("money")),
    "parcel": Route(Says("parcel")),
}


def routed(scores, at_least=None, ticket="Where is it?", prompt=None, otherwise=False, journal=None, world=None):
    """The outcome of a router whose model answers with these scores, and what that was asked."""
    model = ScriptedModel([json.dumps(scores)])
    made = prompt or (lambda names: [user(names["ticket"])])
    router = Router(ROUTES, made, "", otherwise, similarity=Similarity("m", at_least))
    fx = Effects(world or Live({"m": model}), journal)
    return asyncio.run(execute(router, {"ticket": ticket}, fx)), model.requests


def taken(outcome):
    return [(e.label, e.rule, e.said) for e in outcome.events if type(e) is RouteTaken]


def test_the_nearest_label_is_taken_and_its_score_said():
    """One call, asked with the text alone; the scores stand in the transcript."""
    outcome, (request,) = routed({"money": 0.2, "parcel": 0.71238})
    assert outcome.answer == "parcel"
    assert taken(outcome) == [("parcel", "similarity", "parcel 0.7124")]
    assert request.messages == [user("Where is it?")]
    assert [said.message["role"] for said in outcome.transcript] == ["user", "assistant"]
    assert [event.at for event in outcome.events if type(event) is ModelCalled] == ["choose"]


@pytest.mark.parametrize(("at_least", "route"), [(None, "money"), (0.6, "money"), (0.61, "otherwise")])
def test_at_least_is_a_floor_and_the_floor_itself_is_enough(at_least, route):
    """Under it the run goes otherwise; without one the nearest is taken, however far."""
    outcome, _ = routed({"money": 0.6, "parcel": 0.1}, at_least, otherwise=True)
    assert outcome.route == route


def test_without_otherwise_what_is_not_near_enough_is_no_route():
    """The end says what the nearest was, how near, and what was asked for."""
    outcome, _ = routed({"money": 0.41, "parcel": 0.1}, 0.6)
    assert (outcome.exit, taken(outcome)) == ("no_route", [])
    assert "the most similar was 'money 0.4100, under 0.6', and there is no `otherwise`" in outcome.note


def test_rules_come_first_and_of_equals_the_first():
    """Nothing is compared where an `if` is true."""
    outcome, asked = routed({"money": 1}, ticket="an outage")
    assert (outcome.route, asked) == ("urgent", [])
    assert routed({"parcel": 0.5, "money": 0.5})[0].route == "parcel"


def test_of_a_conversation_the_last_message_is_compared():
    """Its texts, where it has parts."""
    parts = [
        {"type": "text", "text": "Where"},
        {"type": "image_url", "image_url": {}},
        {"type": "text", "text": "is it"},
    ]
    _, (request,) = routed({"money": 1}, prompt=lambda _: [user("first"), user(parts)])
    assert request.messages == [user("Where\nis it")]


def test_a_replay_needs_no_model_and_diverges_where_the_text_is_another():
    """The record holds the scores."""
    journal = MemoryJournal()
    first, _ = routed({"money": 0.9, "parcel": 0.1}, journal=journal)
    again, asked = routed({}, journal=journal, world=Nothing())
    assert (again.answer, taken(again), asked) == (first.answer, taken(first), [])
    assert routed({}, 0.95, journal=journal, world=Nothing())[0].exit == "no_route"
    with pytest.raises(Diverged):
        routed({}, ticket="Another?", journal=journal, world=Nothing())
