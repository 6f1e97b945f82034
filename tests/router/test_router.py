"""The router: `if` routes first, then one decision, then a fixed path."""

import asyncio

from loopworth.models import ScriptedModel
from loopworth.router import Route, Router
from loopworth.runs.budget import Budget, Limits
from loopworth.runs.effects import Effects
from loopworth.runs.events import ModelCalled, RouteTaken
from loopworth.runs.executor import execute
from loopworth.runs.message import Request, user
from loopworth.runs.outcome import Outcome, Stop
from loopworth.runs.world import Live


class Says:
    """An executor that answers with its name and its input."""

    def __init__(self, name):
        self.name = name

    async def run(self, input, fx):
        return Outcome(f"{self.name}: {input['ticket']}")


class Asks:
    async def run(self, input, fx):
        return Outcome((await fx.model("ask", Request([user(input["ticket"])], "m"))).text)


class Ends:
    async def run(self, input, fx):
        raise Stop("check_failed", None, "the sum is wrong")


ROUTES = {
    "urgent": Route(Says("oncall"), when=lambda names: "outage" in names["ticket"]),
    "billing": Route(Says("billing"), description="invoices, refunds"),
    "tech": Route(Asks()),
    "broken": Route(Ends()),
}


def routed(ticket, *replies, routes=ROUTES, otherwise=False, limits=None):
    model = ScriptedModel(list(replies))
    router = Router(routes, lambda names: [user(f"Which desk? {names['ticket']}")], "m", otherwise)
    fx = Effects(Live({"m": model}), budget=Budget(limits or Limits()))
    return asyncio.run(execute(router, {"ticket": ticket}, fx)), model


def taken(outcome):
    return [(e.label, e.rule, e.said) for e in outcome.events if type(e) is RouteTaken]


def test_a_route_with_if_is_taken_without_a_model():
    """Rules come first, in order, and cost nothing."""
    outcome, model = routed("an outage!")
    assert (outcome.answer, outcome.route) == ("oncall: an outage!", "urgent")
    assert taken(outcome) == [("urgent", "if", "")]
    assert model.requests == []


def test_the_model_chooses_once_from_the_routes_without_a_rule():
    """One call; a route whose rule was false is not offered; the trace has the raw text."""
    outcome, model = routed("a refund", " Billing.\n")
    assert outcome.answer == "billing: a refund"
    assert taken(outcome) == [("billing", "model", " Billing.\n")]
    assert "urgent" not in model.requests[0].messages[0]["content"]
    assert len(model.requests) == 1


def test_a_rule_with_a_description_is_offered_as_well():
    """`if` catches the sure cases, and the model may choose the route for the rest."""
    routes = {"sure": Route(Says("sure"), when=lambda _: False, description="money"), "other": Route(Says("other"))}
    assert routed("x", "sure", routes=routes)[0].answer == "sure: x"


def test_what_the_model_does_not_choose_goes_otherwise():
    """An invalid label is asked again once; an abstention is not; both go to `otherwise`, which is a route then."""
    outcome, model = routed("x", "It is not tech, so billing", "hm", otherwise=True)
    assert (outcome.exit, taken(outcome), len(model.requests)) == ("no_route", [("otherwise", "otherwise", "hm")], 2)
    outcome, model = routed("x", "none", otherwise=True)
    assert (outcome.exit, outcome.route, len(model.requests)) == ("no_route", "otherwise", 1)


def test_without_otherwise_the_run_ends_as_no_route():
    """The end says what the labels were and what was said."""
    outcome, _ = routed("x", "??", "!!")
    assert (outcome.exit, outcome.answer, outcome.route) == ("no_route", None, None)
    assert outcome.note == "none of urgent, billing, tech, broken: the model said '!!', and there is no `otherwise`"


def test_a_model_that_says_nothing_was_asked_all_the_same():
    """The note tells what it said, and not that no rule was true."""
    outcome, model = routed("hi", "", "")
    assert outcome.note == "none of urgent, billing, tech, broken: the model said '', and there is no `otherwise`"
    assert len(model.requests) == 2


def test_rules_alone_never_ask_a_model():
    """With nothing to offer, what no rule takes goes otherwise."""
    outcome, model = routed("x", routes={"urgent": ROUTES["urgent"]}, otherwise=True)
    assert (outcome.route, model.requests) == ("otherwise", [])


def test_a_router_ends_as_its_route_ends():
    """The route's reason is passed on, its limits too, and its effects lie under its label."""
    outcome, _ = routed("x", "broken")
    assert (outcome.exit, outcome.note) == ("check_failed", "the sum is wrong")
    outcome, _ = routed("x", "tech", "answer")
    assert [e.at for e in outcome.events if type(e) is ModelCalled] == ["choose", "tech/ask"]
    outcome, _ = routed("x", "tech", "answer", limits=Limits(turns=1))
    assert outcome.exit == "turn_limit"


def test_a_route_gets_the_input_that_it_asks_for():
    """`arguments` maps the router's input to the route's."""
    route = Route(Says("a"), when=lambda _: True, arguments=lambda names: {"ticket": names["ticket"].upper()})
    assert routed("x", routes={"a": route})[0].answer == "a: X"
