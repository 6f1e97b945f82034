"""Workflows with one defect each, and healthy ones, run for real with scripted models; what they leave in a store."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import msgspec

import loopworth
from loopworth.runs.decision import Decision, Question
from loopworth.runs.kept import Query
from loopworth.runs.recording import Recording
from loopworth.runs.store import Store

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


def passages(words: str) -> str:
    """Search the handbook."""
    return "What is bought may be given back within thirty days of delivery, in its own packing. " * 4


def gone(code: str) -> str:
    """A figure of a project."""
    return "Error: the server answered 503"


def denied(code: str) -> dict:
    """A figure of a project."""
    return {"error": "permission denied", "code": 403}


def nothing(code: str) -> None:
    """A figure of a project."""


def terms(topic: str) -> str:
    """The terms of the shop."""
    return f"On {topic}: within 7 days of delivery, or 29 of the order.\\nSee page 3, as of 2024."


def box(n: int) -> str:
    """What a box of the archive holds."""
    return f"box {n}: nothing of that name, see box {n + 1}"


def log(host: str) -> str:
    """The last line of a host's log."""
    return "ERROR: the disk is full" if host == "a" else f"{host} is well"


def payment(order: int) -> dict:
    """What is known of a payment."""
    return {"order": order, "error": "card expired"}


def minute(n: int) -> str:
    """A minute of a meeting."""
    return f"minute {n}: " + "it was said that it is late; " * 30


def plan(name: str) -> int:
    """What a plan costs a month; name is the plan's name."""
    return {"basic": 9, "team": 49}[name]


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


NO = Decision("reject", "the owner")
"""What a person says who says no to everything."""


def run(
    folder: pathlib.Path, name: str, workflow: dict[str, Any], times: int = 1, decision: Decision = NO
) -> list[Recording]:
    """The recordings of a workflow's runs, each with the whole script anew, as the store holds them."""

    async def ask(question: Question, id: str) -> Decision:
        return decision

    (folder / "office.py").write_text(TOOLS, "utf-8")
    file = folder / f"{name}.yaml"
    file.write_text(json.dumps({"workflow": name, **workflow}).replace("\x7f", "\\u007f"), "utf-8")
    with_store = Store(folder / f"{name}.db")
    for _ in range(times):
        loopworth.run_sync(file, {"question": "What of ZRG-14?"}, store=with_store, ask=ask)
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


PLACES = [call("lookup", code=f"ZRG-{n}") for n in (14, 15, 14, 16, 14, 17, 14, 18)]
LESS_PLAIN: dict[str, tuple[str, str, dict[str, Any]]] = {
    "asks_back": ("instructions", "no_look", loop("Which project do you mean?")),
    "declines_in_words": ("instructions", "declined", loop(LOOK, "I'm sorry, but I can\u2019t help with that.")),
    "declines_at_once": ("instructions", "declined", loop("As an AI, I have no access to projects.")),
    "is_stopped_by_a_guard": (
        "instructions", "guarded",
        loop(LOOK, "389, silly", guard=[{"on": "answer", "if": "'silly' in answer", "else": "it is rude"}]),
    ),
    "is_told_no_again": (
        "instructions", "rejected",
        loop(*[call("refund", order=7)] * 4, tools="refund", shape="gated_loop", gate={"refund": "required"}),
    ),
    "repeats_wrong_arguments": ("tools", "bad_arguments", loop(*[call("lookup", project="ZRG-14")] * 4)),
    "repeats_a_wrong_name": ("tools", "unknown_tool", loop(*[call("find", project="ZRG-14")] * 4)),
    "repeats_what_is_down": ("tools", "tool_failures", loop(*[call("broken", code="A")] * 4, tools="broken")),
    "sends_the_words_of_a_description": (
        "tools", "tool_failures", loop(*[call("plan", name="the plan's name")] * 4, tools="plan"),
    ),
    "says_the_same_for_ever": (
        "termination", "truncated", loop(LOOK, {"text": "It is " + "customers." * 40, "finish": "length"}),
    ),
    "goes_to_and_fro_with_what_is_down": (
        "tools", "tool_failures", loop(*[call("broken", code="A"), LOOK] * 4, tools="broken lookup"),
    ),
    "reads_errors_in_words": (
        "tools", "error_results", loop(call("gone", code="A"), call("gone", code="B"), "Nobody knows.", tools="gone"),
    ),
    "reads_errors_by_key": (
        "tools", "error_results",
        loop(call("denied", code="A"), call("denied", code="B"), "Nobody knows.", tools="denied"),
    ),
    "asks_another_under_other_names": (
        "tools", "wrong_tool",
        loop(
            *[one for word in ("trip", "food") for one in (call("search", text=word), call("passages", words=word))],
            "30 days", tools="search passages",
        ),
    ),
    "asks_for_a_fact_again_between_others": ("state", "same_call", loop(*PLACES, "It is 389.", budget={"turns": 20})),
    "goes_round_in_a_wide_circle": ("state", "same_call", loop(*OTHERS[:5] * 3, budget={"turns": 12})),
    "asks_the_same_in_other_words": (
        "state", "same_call",
        loop(*[call("passages", words=word) for word in ("back", "return", "refund", "give")], "?", tools="passages"),
    ),
    "is_filled_up_in_a_few_turns": (
        "state", "big_results",
        loop(
            *[{**call("minute", n=n), "usage": {"input": 400 * n, "output": 9}} for n in range(1, 6)],
            tools="minute", budget={"turns": 9, "tokens": 1500},
        ),
    ),
    "says_it_went_ahead": (
        "decision", "claims", loop(LOOK, "I've gone ahead and refunded the order.", tools="lookup refund"),
    ),
    "says_it_is_processed": ("decision", "claims", loop(LOOK, "- **Refund processed**", tools="lookup refund")),
    "says_it_is_done": ("decision", "claims", loop(LOOK, "Done! Refunded the order.", tools="lookup refund")),
    "quotes_a_tool": ("decision", "claims", loop(LOOK, "According to the shop tool it is 3.", tools="lookup shop")),
    "says_it_looked": ("decision", "claims", loop("I checked the project: its budget is 400.")),
    "calls_what_a_guard_refuses": (
        "decision", "guarded_calls",
        loop(LOOK, guard=[{"on": "call", "if": "args.code == 'ZRG-14'", "else": "ZRG-14 is secret"}]),
    ),
    "goes_on_with_the_answer_in_hand": (
        "termination", "lingers",
        loop(LOOK, *[call("shop", order=n) for n in range(71, 75)], "ZRG-14", tools="lookup shop"),
    ),
}  # fmt: skip
"""Defects as they are met: the part, the rule that finds it, the workflow."""
HEALTHY |= {
    "waits_in_vain": loop(*[call("shop", order=7)] * 4, "It is still there.", tools="shop", shop={"repeatable": True}),
    "does_the_same_on_purpose": loop(
        *[call("refund", order=7)] * 3, "Three have been refunded.", tools="refund", refund={"repeatable": True}
    ),
    "follows_a_trail": loop(*[call("box", n=n) for n in range(1, 7)], "It is in box 7.", tools="box"),
    "reads_logs": loop(*[call("log", host=host) for host in "abc"], "The disk of a is full.", tools="log"),
    "reads_of_errors": loop(*[call("payment", order=n) for n in (7, 8)], "The cards have expired.", tools="payment"),
    "asks_for_several_at_once": loop(
        {"calls": [{"tool": "lookup", "arguments": {"code": f"ZRG-{n}"}} for n in range(14, 20)]}, "389"
    ),
    "makes_sure": loop(LOOK, OTHERS[0], LOOK, OTHERS[1], "It is 389."),
    "goes_through_all": loop(*[call("payment", order=n) for n in range(9, 3, -1)], "9", tools="payment"),
    "asks_several_about_what_is_wanted": loop(
        LOOK, call("shop", order=14), call("warehouse", order=14), call("find", text="ZRG-14"), "ZRG-14",
        tools="lookup shop warehouse find",
    ),
    "says_what_it_did": loop(LOOK, call("refund", order=7), "I looked it up and refunded it.", tools="lookup refund"),
    "says_what_another_tool_found": loop(LOOK, "I found that it is 389.", tools="lookup find"),
    "says_what_cannot_be": loop(LOOK, "I cannot refund it: it is 389 days old.", tools="lookup refund"),
    "offers_the_next_step": loop(LOOK, "It is 389. Let me know if I should refund it.", tools="lookup refund"),
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
