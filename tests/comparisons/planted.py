"""Workflows with one defect each, and healthy ones, run for real with scripted models; what they leave in a store."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import msgspec

import loopworth
from loopworth.runs.kept import Query
from loopworth.runs.recording import Recording
from loopworth.runs.store import Store
from loopworth.runs.world import Decision, Question

TOOLS = '''\
import itertools

POLLS = itertools.count()


def lookup(code: str, field: str = "budget") -> dict:
    """A figure of a project."""
    return {"code": code, "field": field, "value": sum(map(ord, code)), "unit": "EUR"}


def search(text: str) -> list:
    """Search the handbook."""
    return []


def find(text: str) -> str:
    """Find something in the handbook."""
    return f"page of {text}"


def read_page(name: str) -> str:
    """A page of the handbook."""
    return f"{name}: " + "word " * 2_000


def customer(name: str) -> dict:
    """Everything about a customer."""
    return {"id": 17, "name": name, "history": "bought a vase. " * 500}


def status(job: str) -> str:
    """How a job is going."""
    return "running" if next(POLLS) % 4 < 3 else "finished"


def shop(order: int) -> str:
    """What the shop says of an order."""
    return f"order {order}: see the warehouse"


def warehouse(order: int) -> str:
    """What the warehouse says of an order."""
    return f"order {order}: see the shop"


def refund(order: int) -> str:
    """Pay an order back."""
    return f"paid {order}"


def broken(code: str) -> str:
    """A figure of a project."""
    raise ConnectionError("the database is down")
'''
LOOP = {
    "shape": "constrained_loop",
    "input": {"question": "str"},
    "prompt": "{{ question }}",
    "finish": "text",
    "budget": {"turns": 8},
}


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"calls": [{"tool": tool, "arguments": arguments}]}


def loop(*replies: Any, tools: str = "lookup", **more: Any) -> dict[str, Any]:
    """A loop over some of the tools, and what its model says in one run after another."""
    names = tools.split()
    catalogue = {name: {"python": f"office:{name}", "effect": "read", "inline": True} for name in names}
    for name in names:
        catalogue[name] |= more.pop(name, {})
    model = {"name": "scripted", "replies": list(replies)}
    return {**LOOP, "model": model, "tools": catalogue, "use": names, **more}


async def refused(question: Question, id: str) -> Decision:
    """A person who says no to everything."""
    return Decision("reject", "the owner")


def run(folder: pathlib.Path, name: str, workflow: dict[str, Any], times: int = 1) -> list[Recording]:
    """The recordings of a workflow's runs, each with the whole script anew, as the store holds them."""
    (folder / "office.py").write_text(TOOLS, "utf-8")
    file = folder / f"{name}.yaml"
    file.write_text(json.dumps({"workflow": name, **workflow}).replace("\x7f", "\\u007f"), "utf-8")
    with_store = Store(folder / f"{name}.db")
    for _ in range(times):
        loopworth.run_sync(file, {"question": "What of ZRG-14?"}, store=with_store, ask=refused)
    shelf = with_store.shelf()
    with_store.close()
    return [shelf.recording(one.id) for one in shelf.runs(Query())]


LOOK = call("lookup", code="ZRG-14")
OTHERS = [call("lookup", code=f"ZRG-{n}") for n in range(15, 40)]

PLANTED: dict[str, tuple[str, dict[str, Any]]] = {
    "answers_without_looking": ("instructions", loop("The budget is 400.")),
    "answers_in_prose": ("instructions", loop(LOOK, "It is a lot.", "Really a lot.", output="int", finish="text")),
    "writes_wrong_arguments": (
        "tools",
        loop(call("lookup", project="ZRG-14"), call("lookup", number=14), LOOK, "It is 389."),
    ),
    "calls_a_tool_that_is_down": (
        "tools",
        loop(*(call("broken", code=f"ZRG-{n}") for n in range(14, 17)), "Nobody knows.", tools="broken"),
    ),
    "drowns_in_results": (
        "state",
        loop(call("read_page", name="travel"), call("read_page", name="food"), "By train.", tools="read_page"),
    ),
    "does_not_see_the_result": ("state", loop(LOOK, LOOK, LOOK, "It is 389.")),
    "goes_to_and_fro": (
        "decision",
        loop(*[call("shop", order=7), call("warehouse", order=7)] * 4, tools="shop warehouse"),
    ),
    "says_it_paid": (
        "decision",
        loop(call("shop", order=7), "I have refunded order 7.", tools="shop refund"),
    ),
    "never_has_enough": ("termination", loop(*OTHERS)),
    "stops_before_it_acts": ("termination", loop(LOOK, "Now let me look up the other project.")),
}
HEALTHY: dict[str, dict[str, Any]] = {
    "looks_and_answers": loop(LOOK, OTHERS[0], call("lookup", project=""), OTHERS[1], "The budget is 389."),
    "asks_elsewhere": loop(
        *[call("search", text="trip"), call("find", text="food"), call("search", text="tour"), call("find", text="b")],
        "By train.", tools="search find",
    ),
    "waits_for_a_job": loop(
        *[call("status", job="j1")] * 4, "It is finished.", tools="status", status={"repeatable": True}
    ),
}  # fmt: skip


def text(tool: str, **arguments: Any) -> str:
    """A call as the text protocol has it."""
    return f"Action: {tool} {msgspec.json.encode(arguments).decode()}"


def ended(**how: Any) -> dict[str, Any]:
    return {"text": "So", **how}


RULES: dict[str, dict[str, Any]] = {
    "no_look": loop('{"answer": "400"}', protocol="json"),
    "unparsable": loop("Answer: a lot", "Answer: much", output="int", protocol="text"),
    "declined": loop(LOOK, ended(text="", finish="content_filter")),
    "check_failed": loop(LOOK, "It is 1.", check="'389' in answer", **{"else": "the figure is not there"}),
    "rejected": loop(
        *[call("refund", order=k) for k in range(3)], "It was not allowed.", tools="refund",
        shape="gated_loop", gate={"refund": "required"},
    ),
    "bad_arguments": loop(text("lookup"), text("lookup", number=1), "Answer: 3", protocol="text"),
    "unknown_tool": loop(call("find", x=1), call("find", x=2), "It is 3."),
    "tool_failures": loop(call("broken", code="A"), call("broken", code="B"), "It is 3.", tools="broken"),
    "wrong_tool": loop(
        *[call(tool, text=word) for word in ("trip", "food") for tool in ("search", "find")], "By train.",
        tools="search find",
    ),
    "says_nothing": loop(*[call("search", text=word) for word in ("trip", "travel", "tour")], "No.", tools="search"),
    "big_results": loop(call("customer", name="Ann"), "Her number is 17.", tools="customer"),
    "cut_results": loop(
        call("read_page", name="travel"), ended(text=""), tools="read_page", read_page={"returns": {"max_chars": 90}}
    ),
    "forgotten": loop(
        *[call("read_page", name=name) for name in ("a", "b", "c", "a", "b", "c")], "Done.", tools="read_page",
        compact={"above": 500, "keep_last": 1}, read_page={"returns": {"max_chars": 1500}},
    ),
    "same_call": loop(*[text("lookup", code="ZRG-14")] * 5, "Answer: 3", protocol="text", on_repeat={"stop": "never"}),
    "cycle": loop(
        *[call("shop", order=7), call("warehouse", order=7)] * 2, "It is nowhere.", tools="shop warehouse"
    ),
    "overflow": loop(LOOK, {"error": {"status": 400, "code": "context_length_exceeded", "message": "too long"}}),
    "claims": loop(LOOK, "Done: the order has been refunded.", tools="lookup refund"),
    "speaks": loop("It is 400.", LOOK, "It is 389.", tool_choice="required_first"),
    "stops_early": loop(LOOK, "I'll check the other figure next."),
    "empty": loop(LOOK, ended(text="")),
    "truncated": loop(LOOK, ended(finish="length")),
    "cap": loop(*OTHERS, budget={"turns": 5}),
    "step_failed": {
        "shape": "pipeline", "input": {"question": "str"}, "answer": "389",
        "steps": [{"check": "question | length < 5", "else": "the question is too long"}],
    },
    "no_route": {
        "shape": "router", "input": {"question": "str"}, "choose": "{{ question }}", "from": {"a": {"set": "a"}},
        "model": {"name": "scripted", "replies": ["none of them", "none of them"]},
    },
}  # fmt: skip
"""A workflow for each rule that no score is needed for."""
