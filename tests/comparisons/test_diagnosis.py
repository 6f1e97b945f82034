"""`diagnose`: the right part for planted defects, nothing where nothing is wrong."""

from __future__ import annotations

import asyncio
import json
import pathlib
import tempfile
from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import loopworth
from loopworth.comparisons.diagnosis import diagnose, tells
from loopworth.comparisons.symptoms.conduct import Conduct, conduct
from loopworth.comparisons.symptoms.finding import Runs, yaml
from loopworth.comparisons.symptoms.termination import capped, truncated
from loopworth.models import ScriptedModel
from loopworth.runs.decision import Decision
from loopworth.runs.going_round import endless
from loopworth.runs.kept import Query
from loopworth.runs.message import Reply, Request
from loopworth.runs.recording import Recording
from loopworth.runs.shelf import Shelf
from loopworth.runs.store import Store
from loopworth.workflows.document import parse, plain
from tests.comparisons.planted import HEALTHY, LESS_PLAIN, LOOK, OTHERS, PLANTED, RULES, call, loop, run


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_defect_leads_to_its_part(name: str, tmp_path: pathlib.Path) -> None:
    """The first finding names the part in which the defect was planted, with a run, a place and a change."""
    part, workflow = PLANTED[name]
    findings = diagnose(run(tmp_path, name, workflow))
    assert [finding.part for finding in findings] == [part], findings
    assert findings[0].signs[0].run
    assert findings[0].change


@pytest.mark.parametrize("name", LESS_PLAIN)
def test_a_defect_that_is_less_plain_leads_to_its_part(name: str, tmp_path: pathlib.Path) -> None:
    """What a run repeats comes to what it came to first, an error is one however it is said, and so are a claim and a
    refusal: one finding, of one part."""
    part, rule, workflow = LESS_PLAIN[name]
    findings = diagnose(run(tmp_path, name, workflow))
    assert [(finding.part, finding.rule) for finding in findings] == [(part, rule)], findings


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_workflow_has_no_finding(name: str, tmp_path: pathlib.Path) -> None:
    """One slip that is mended, calls that differ, a job that is waited for: nothing to look at."""
    recordings = run(tmp_path, name, HEALTHY[name])
    assert [one.kept.exit for one in recordings] == ["success"]
    assert diagnose(recordings) == []


@pytest.mark.parametrize("rule", RULES)
def test_each_rule_finds_what_it_is_for(rule: str, tmp_path: pathlib.Path) -> None:
    """Whatever the protocol, one cause is one finding."""
    assert [finding.rule for finding in diagnose(run(tmp_path, rule, RULES[rule]))] == [rule]


@pytest.mark.parametrize("rule", [name for name, workflow in RULES.items() if "steps" not in workflow])
def test_what_goes_wrong_in_a_step_is_found_as_what_it_is(rule: str, tmp_path: pathlib.Path) -> None:
    """A step that runs another workflow fails for what that ended for: the path around it is no finding."""
    run(tmp_path, "inner", RULES[rule], times=0)
    assert [finding.rule for finding in diagnose(run(tmp_path, "outer", piped("inner.yaml")))] == [rule]


def piped(file: str, **more: Any) -> dict[str, Any]:
    """A pipeline whose one step runs another workflow."""
    step = {"id": "found", "run": file, "with": {"question": "{{ question }}"}}
    return {
        "shape": "pipeline",
        "input": {"question": "str"},
        "steps": [step | more],
        "answer": "{{ found or 'none' }}",
    }


PLANNED = loop(LOOK, call("submit", answer=["Look at it", "Then I will look up the other one"]), output="list[str]")
EACH: dict[str, dict[str, Any]] = {
    "cycle": RULES["cycle"],
    "claims": RULES["claims"],
    "rejected": RULES["rejected"],
    "empty": RULES["empty"],
    "stops_early": RULES["stops_early"],
    "": {**PLANNED, "finish": "submit"},
}
"""What goes wrong in the last of several runs of another workflow, and what does not."""


@pytest.mark.parametrize("rule", EACH)
def test_what_goes_wrong_for_each_item_is_found_as_what_it_is(rule: str, tmp_path: pathlib.Path) -> None:
    """Each has a loop of its own; a list of answers is read like one, and one of plans was asked for."""
    run(tmp_path, "inner", twice(EACH[rule]), times=0)
    workflow = piped("inner.yaml", for_each=["a", "b"], max_concurrency=1) | {"answer": "{{ found }}"}
    assert [finding.rule for finding in diagnose(run(tmp_path, "outer", workflow))] == [rule] * bool(rule)


def twice(workflow: dict[str, Any]) -> dict[str, Any]:
    """The same for two runs of it in one run, which have one script."""
    return workflow | {"model": {"name": "scripted", "replies": workflow["model"]["replies"] * 2}}


ASKED: dict[str, list[Any]] = {
    "truncated": [{"text": "It is", "finish": "length"}],
    "unparsable": ["a lot", "really a lot"],
    "declined": [{"text": "", "finish": "content_filter"}],
    "step_failed": [""],
}


@pytest.mark.parametrize("rule", ASKED)
def test_a_step_that_asks_fails_for_what_was_replied(rule: str, tmp_path: pathlib.Path) -> None:
    """An output limit or a filter is no reason to send the task elsewhere; a loop's means against an empty reply are
    none of a fixed path's."""
    workflow = {
        "shape": "pipeline",
        "input": {"question": "str"},
        "model": {"name": "scripted", "replies": ASKED[rule]},
        "steps": [{"id": "said", "ask": "{{ question }}", **({"output": "int"} if rule == "unparsable" else {})}],
        "answer": "{{ said }}",
    }
    assert [finding.rule for finding in diagnose(run(tmp_path, rule, workflow))] == [rule]


STUCK = loop(*OTHERS, budget={"turns": 3})


@pytest.mark.parametrize("how", ["otherwise", "skip", "last_word"])
def test_a_cap_is_a_finding_whatever_takes_the_place_of_the_answer(how: str, tmp_path: pathlib.Path) -> None:
    """Something else runs then, or the step is skipped, or an answer is asked for at the cap: it was hit all the same,
    and what has been written already is not proposed."""
    last = loop(*OTHERS[:3], "Nobody knows.", budget={"turns": 3}, on_limit="answer")
    workflow = {"otherwise": STUCK | {"otherwise": {"set": "none"}}, "last_word": last, "skip": STUCK}[how]
    run(tmp_path, "inner", workflow, times=0)
    [finding] = diagnose(run(tmp_path, "outer", piped("inner.yaml", on_error="skip")))
    assert (finding.rule, finding.path) == ("cap", "instructions" if how == "last_word" else "on_limit")
    assert "the cap on turns of found/run is hit" in finding.what


COMPARISON = """
comparison: figures
tasks: tasks.jsonl
score: icontains
arms:
  fixed: {workflow: fixed.yaml}
  agent: {workflow: agent.yaml}
"""
FIXED = """
workflow: fixed
shape: pipeline
input: {question: str}
steps: [{id: said, set: "389"}]
answer: "{{ said }}"
"""


def compared(
    folder: pathlib.Path,
    scripts: list[list[Any]],
    more: str = "",
    control: str = "",
    score: str = "icontains",
    agent: dict[str, Any] | None = None,
    columns: dict[str, list[Any]] | None = None,
    **workflow: Any,
) -> pathlib.Path:
    """The store of a comparison in which the agent, a loop if it is no other, says one script on each task."""
    model = Scripts(scripts)
    run(folder, "agent", agent or loop(**workflow), times=0)
    rows = [{"question": f"{k}", "expected": "389"} for k in range(len(scripts))]
    for name, cells in (columns or {}).items():
        rows = [row | ({name: cell} if cell else {}) for row, cell in zip(rows, cells, strict=True)]
    (folder / "tasks.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    (folder / "fixed.yaml").write_text(FIXED, "utf-8")
    (folder / "comparison.yaml").write_text(f"{COMPARISON.replace('icontains', score)}{control}{more}", "utf-8")
    with_store = Store(folder / "compared.db")
    asyncio.run(loopworth.compare(folder / "comparison.yaml", models={"scripted": model}, store=with_store))
    with_store.close()
    return folder / "compared.db"


class Scripts:
    """A model with a script for each question, which is its number."""

    name, endpoint, concurrency = "scripted", "scripted", 4

    def __init__(self, scripts: list[list[Any]]) -> None:
        self.models = [ScriptedModel(script) for script in scripts]

    async def reply(self, request: Request, seconds: float | None) -> Reply:
        return await self.models[int(request.messages[0]["content"])].reply(request, seconds)

    async def close(self) -> None:
        """Nothing is open."""


def test_a_cap_is_proposed_from_the_runs_that_ended_well(tmp_path: pathlib.Path) -> None:
    """The 95th percentile of the healthy runs' turns, and half as much again; an arm that is sound has no finding."""
    healthy = [[*OTHERS[:n], "It is 389."] for n in (1, 2, 3, 3)]
    store = compared(tmp_path, [*healthy, OTHERS, OTHERS], budget={"turns": 20})
    [finding] = diagnose(recorded(store))
    assert (finding.subject, finding.rule, finding.runs, finding.of) == ("agent", "cap", 2, 6)
    assert finding.change == "budget.turns: 6"
    assert "4 runs that ended well" in finding.why


def test_a_cap_of_a_part_is_proposed_from_what_that_part_used(tmp_path: pathlib.Path) -> None:
    """Not from what the whole run used, of which it is some."""
    run(tmp_path, "inner", loop(budget={"turns": 20}), times=0)
    agent = piped("inner.yaml") | {"model": {"name": "scripted", "replies": []}}
    agent["steps"].insert(0, {"id": "before", "ask": "{{ question }}"})
    scripts = [*([*OTHERS[:n], "It is 389."] for n in (1, 2, 3, 3)), OTHERS, OTHERS]
    [finding] = diagnose(recorded(compared(tmp_path, [["So", *script] for script in scripts], agent=agent)))
    assert (finding.rule, finding.change) == ("cap", "budget.turns: 6")


def test_what_one_run_of_many_does_is_no_habit(tmp_path: pathlib.Path) -> None:
    """From two runs and a fifth of them on; but one claim of a call that was not made is enough."""
    right = [LOOK, "It is 389."]
    store = compared(tmp_path, [right, right, right, right, OTHERS, [LOOK, "I ran lookup and refunded it: 389."]])
    assert diagnose(recorded(store)) == []
    (tmp_path / "again").mkdir()
    store = compared(tmp_path / "again", [right] * 5 + [[LOOK, "I have refunded it: 389."]], tools="lookup refund")
    assert [(finding.rule, finding.runs) for finding in diagnose(recorded(store))] == [("claims", 1)]


def test_a_claim_that_is_said_again_is_one_sign(tmp_path: pathlib.Path) -> None:
    """The first sentence that claims a tool says it."""
    often = "I have refunded it. It was late. So I refunded it."
    [finding] = diagnose(run(tmp_path, "often", loop(LOOK, often, tools="lookup refund")))
    assert [sign.said for sign in finding.signs] == ["'i have refunded it.', and no call of refund was made"]


def test_wrong_answers_that_are_the_first_result_stop_too_early(tmp_path: pathlib.Path) -> None:
    """The scores of a comparison tell a hasty answer from a right one."""
    store = compared(tmp_path, [[LOOK, "It is 389."], [OTHERS[0], "390"], [OTHERS[1], "391"]])
    [finding] = diagnose(recorded(store))
    assert (finding.part, finding.rule, finding.runs) == ("termination", "first_result", 2)


def test_wrong_answers_that_hold_the_right_one_want_to_be_told_how_to_look(tmp_path: pathlib.Path) -> None:
    """A score that wants the bare value finds it in a sentence: the model was not told. A part of a number is none."""
    said, other = [LOOK, "The budget is 389 EUR."], [LOOK, "The budget is 3890 EUR."]
    store = compared(tmp_path, [said, said, [LOOK, "389"], other], score="equals")
    [finding] = diagnose(recorded(store))
    assert (finding.part, finding.rule, finding.runs) == ("instructions", "wordy", 2)


@pytest.mark.parametrize("looked", [[OTHERS[1]], OTHERS[1:3]])
def test_a_right_number_in_a_sentence_is_no_wrong_one(looked: list[Any], tmp_path: pathlib.Path) -> None:
    """It was worked out, and well: what is wrong is how the answer looks."""
    store = compared(tmp_path, [[*looked, "In all it is 389."]] * 3, score="equals")
    assert [finding.rule for finding in diagnose(recorded(store))] == ["wordy"]


def test_a_refusal_that_was_expected_is_none(tmp_path: pathlib.Path) -> None:
    """Where declining was right, nothing is wrong with the instructions."""
    assert diagnose(recorded(compared(tmp_path, [[LOOK, "I can't share that, 389 is all I say."]] * 3))) == []


def test_a_number_that_no_result_holds_is_a_guess(tmp_path: pathlib.Path) -> None:
    """One figure was looked up, and the wrong answer is another one."""
    guess = [LOOK, "It is 77."]
    [finding] = diagnose(recorded(compared(tmp_path, [guess, guess, [LOOK, "It is 389."]])))
    assert (finding.part, finding.rule, finding.runs) == ("decision", "guesses", 2)


@pytest.mark.parametrize(("answer", "rules"), [("7 days", []), ("29 days", []), ("12 days", ["guesses"])])
def test_a_number_that_stands_in_a_sentence_was_not_invented(
    answer: str, rules: list[str], tmp_path: pathlib.Path
) -> None:
    """Wherever it stands; and of numbers in sentences none is made."""
    reads = call("terms", topic="returns")
    store = compared(tmp_path, [[reads, call("terms", topic="trips"), answer]] * 3, tools="terms")
    assert [finding.rule for finding in diagnose(recorded(store))] == rules


def test_a_tool_that_has_nothing_in_run_after_run_is_the_tools(tmp_path: pathlib.Path) -> None:
    """One call in each wrong run is enough, where most calls of the tool bring nothing; right runs are none of it."""
    asks = [call("nothing", code="A"), "It is not known."]
    [finding] = diagnose(recorded(compared(tmp_path, [asks] * 3, tools="nothing")))
    assert (finding.part, finding.rule, finding.runs) == ("tools", "says_nothing", 3)
    assert finding.what == "nothing returns nothing, in run after run"
    (tmp_path / "again").mkdir()
    assert (
        diagnose(recorded(compared(tmp_path / "again", [[call("nothing", code="A"), "389"]] * 3, tools="nothing")))
        == []
    )


def test_a_tool_that_was_the_wrong_one_does_not_say_nothing(tmp_path: pathlib.Path) -> None:
    """Another had what it was asked for: one cause, one finding."""
    asks = [call("search", text="trip"), call("find", text="trip"), "It is not known."]
    findings = diagnose(recorded(compared(tmp_path, [asks] * 3, tools="search find")))
    assert [finding.rule for finding in findings] == ["wrong_tool"]


def test_a_wrong_sum_of_right_figures_wants_a_tool(tmp_path: pathlib.Path) -> None:
    """What was looked up is right, and the number made of it stands in no result."""
    wrong = [LOOK, OTHERS[0], "In all 700."]
    store = compared(tmp_path, [[LOOK, "It is 389."], wrong, wrong])
    [finding] = diagnose(recorded(store))
    assert (finding.part, finding.rule, finding.runs) == ("tools", "works_out", 2)
    (tmp_path / "again").mkdir()
    store = compared(tmp_path / "again", [[LOOK, OTHERS[0], "It is 390."]] * 3)
    assert diagnose(recorded(store)) == []


@pytest.mark.parametrize(
    ("key", "top", "cap"), [("turns", 2, 4), ("turns", 10, 15), ("time", 3.5, "6s"), ("usd", 0.0123, 0.018)]
)
def test_a_proposed_cap_leaves_a_margin(key: str, top: float, cap: Any) -> None:
    """Half as much again, and two at least; money by its share alone."""
    assert capped(key, top) == cap


def test_a_change_is_one_line_whatever_is_in_it() -> None:
    """Controls are spelled out, so that the line can be copied from a terminal."""
    assert yaml({"a": ["b", "c d\x7f\n"], "n": 1}) == '{a: [b, "c d\\u007f\\n"], n: 1}'
    assert yaml(["null", "true", "nullify", None, True]) == '["null", "true", nullify, null, true]'


def recorded(store: pathlib.Path) -> list[Recording]:
    shelf = Shelf(store)
    [one] = shelf.runs(Query(kinds=("comparison",)))
    scores = shelf.scores(one.id)
    return [
        Recording(trial, shelf.records(trial.id), shelf.outcome(trial.id), scores[trial.id])
        for trial in shelf.trials(one.id)
    ]


DEFECTS = RULES | {name: workflow for name, (_, _, workflow) in LESS_PLAIN.items()}


@pytest.mark.parametrize("rule", DEFECTS)
def test_a_change_is_one_that_an_arm_can_try(rule: str, tmp_path: pathlib.Path) -> None:
    """Every proposed line is a `change:` that passes `check`, so that a comparison can say what it was worth."""
    [finding] = diagnose(run(tmp_path, rule, DEFECTS[rule]))
    (tmp_path / "tasks.jsonl").write_text('{"question": "What?", "expected": "389"}', "utf-8")
    (tmp_path / "fixed.yaml").write_text(FIXED, "utf-8")
    arms = f"""
  mended:
    workflow: {rule}.yaml
    change:
      {finding.change}
writes: allowed
approvals: approve
"""
    run(tmp_path, "agent", HEALTHY["looks_and_answers"], times=0)
    file = tmp_path / "comparison.yaml"
    file.write_text(COMPARISON.replace("  agent: {workflow: agent.yaml}\n", arms.lstrip("\n")), "utf-8")
    assert [str(fault) for fault in loopworth.check(file)] == []


def test_a_pipelines_tool_that_fails_is_the_tools(tmp_path: pathlib.Path) -> None:
    """The finding is of the tool, not of the path that ends there; a failure that may pass is tried again."""
    steps = [{"id": "first", "call": "broken", "with": {"code": "ZRG-14"}}]
    tools = {"broken": {"python": "office:broken", "effect": "read"}}
    workflow = {
        "shape": "pipeline",
        "input": {"question": "str"},
        "tools": tools,
        "steps": steps,
        "answer": "{{ first }}",
    }
    [finding] = diagnose(run(tmp_path, "fails", workflow))
    assert (finding.part, finding.change) == ("tools", "steps.first.retry: {attempts: 2}")


@pytest.mark.parametrize(
    ("tool", "fails", "why"),
    [
        ("plan", "1 of 1 calls of plan fail on what they are given", "the errors name what was sent"),
        ("sold", "1 of 1 calls of sold fail", "mend the tool"),
    ],
)
def test_what_reads_a_step_that_fails_is_not_left_without_its_value(
    tool: str, fails: str, why: str, tmp_path: pathlib.Path
) -> None:
    """A later step reads the value: the proposed line passes `check`. An error that quotes what a model gave a step
    points at that."""
    (tmp_path / "shop.py").write_text('def sold(name: str) -> int:\n    """Sales."""\n    raise ValueError("closed")\n')
    workflow = {
        "shape": "pipeline",
        "input": {"question": "str"},
        "model": {"name": "scripted", "replies": ["R-1234"]},
        "tools": {
            "plan": {"python": "office:plan", "effect": "read"},
            "sold": {"python": "shop:sold", "effect": "read"},
        },
        "steps": [
            {"id": "name", "ask": "The name of a plan, such as R-1234: {{ question }}"},
            {"id": "cost", "call": tool, "with": {"name": "{{ name }}"}},
            {"id": "twice", "set": "{{ cost * 2 }}"},
        ],
        "answer": "{{ twice }}",
    }
    [finding] = diagnose(run(tmp_path, "fails", workflow))
    assert (finding.part, finding.what) == ("tools", fails)
    assert finding.why.startswith(why)
    changed = workflow | json.loads(json.dumps({finding.path: finding.value}))
    run(tmp_path, "mended", changed, times=0)
    assert loopworth.check(tmp_path / "mended.yaml") == []


def test_calls_count_that_reached_their_tool(tmp_path: pathlib.Path) -> None:
    """What was answered `repeated` was not made: the figures are those of a report's table. Ends as `repetition` are
    named, and errors that quote what was sent point at the arguments, with one that was right for an example."""
    wrong, right = call("plan", name="the plan's name"), call("plan", name="basic")
    scripts = [[wrong, wrong, wrong, wrong], [wrong, wrong, wrong, wrong], [wrong, right, "It is 9."]]
    store = compared(tmp_path, scripts, tools="plan")
    [finding] = diagnose(recorded(store))
    assert finding.what == (
        "3 of 4 calls of plan fail on what they are given, and 2 runs then make the same call again until `repetition`"
    )
    assert finding.change.endswith('For example: {\\"name\\":\\"basic\\"}"')
    made = sum(one.kept.tool_calls for one in recorded(store) if one.kept.arm == "agent")
    assert made == 4


@pytest.mark.parametrize(
    ("text", "circular"),
    [
        ("customers." * 30, True),
        ("So: " + "I have to look at it. " * 12 + "I have to lo", True),
        ("0" * 200, True),
        ("| a | b |\n" + "".join(f"| {n} | {n * n} |\n" for n in range(60)), False),
        ("It is done.\n" + "-" * 80 + "\n" * 40, False),
        ("ha ha ha", False),
        ("", False),
    ],
)
def test_a_reply_that_goes_round_wants_no_more_room(text: str, circular: bool) -> None:
    """The same words or digits over and over, to the end; a table, a rule and a laugh are none."""
    assert bool(endless(text)) is circular
    [finding] = truncated(Runs("a", (Conduct("r", "a", "truncated", ending=text),), 1))
    assert (finding.path, "more room would cost more" in finding.why) == (
        ("model.extra", True) if circular else ("model.max_tokens", False)
    )


def test_what_goes_round_is_told_a_few_times_and_not_as_often_as_it_was_said() -> None:
    """A line of a thousand dots says no more than one of ten."""
    [finding] = truncated(Runs("a", (Conduct("r", "a", "truncated", ending="So: " + ".0" * 300),), 1))
    assert finding.signs[0].said in (f"…{'.0' * 10}…, over and over", f"…{'0.' * 10}…, over and over")


def test_a_workflow_that_says_no_as_a_tool_is_no_failure(tmp_path: pathlib.Path) -> None:
    """A check of fixed steps behind a tool is what they are there for."""
    strict = {"shape": "pipeline", "input": {"order": "int"}, "steps": [{"check": "order > 9"}], "answer": "paid"}
    run(tmp_path, "strict", strict, times=0)
    workflow = loop(call("pay", order=1), call("pay", order=2), "Neither can be paid.", tools="")
    workflow |= {"tools": {"pay": {"run": "strict.yaml", "effect": "read"}}, "use": ["pay"]}
    assert diagnose(run(tmp_path, "asks", workflow)) == []


def test_wrong_routes_are_named_by_the_pair_that_is_confused_most(tmp_path: pathlib.Path) -> None:
    """The change gives the missed label the question that was missed; routes that an `if` took are the author's."""
    router = {
        "workflow": "router",
        "shape": "router",
        "input": {"question": "str"},
        "model": {"name": "scripted", "replies": []},
        "choose": "{{ question }}",
        "from": {"a": {"set": "A"}, "b": {"set": "B"}, "c": {"set": "C"}, "d": {"if": "question == 'd'", "set": "D"}},
    }
    (tmp_path / "router.yaml").write_text(json.dumps(router), "utf-8")
    rows = [{"question": said, "expected_route": right} for said, right in zip("wxyzd", "aaaac", strict=True)]
    (tmp_path / "tasks.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    (tmp_path / "comparison.yaml").write_text(
        "comparison: routes\ntasks: tasks.jsonl\narms: {router: {workflow: router.yaml}}", "utf-8"
    )
    with_store = Store(tmp_path / "routes.db")
    model = ScriptedModel(["a", "b", "b", "c"])
    model.concurrency = 1
    asyncio.run(loopworth.compare(tmp_path / "comparison.yaml", models={"scripted": model}, store=with_store))
    with_store.close()
    [finding] = diagnose(recorded(tmp_path / "routes.db"))
    assert (finding.part, finding.rule, finding.runs) == ("decision", "wrong_route", 3)
    assert "most often b for a (2 times)" in finding.what
    assert finding.path == "from.a.description"


PAYS = {"tools": "refund", "shape": "gated_loop", "gate": {"refund": "required"}}


@pytest.mark.parametrize(
    ("approvals", "columns", "found"),
    [("reject", [None] * 4, []), ("approve", ["approve", "reject"] * 2, ["rejected"])],
    ids=["of all", "of some tasks"],
)
def test_what_a_comparison_rejects_is_a_finding_where_it_tells_tasks_apart(
    approvals: str, columns: list[str | None], found: list[str], tmp_path: pathlib.Path
) -> None:
    """A no to every gate says nothing of what was proposed; one in a column of the tasks is its author's."""
    scripts = [[call("refund", order=k), "It is 389."] for k in range(4)]
    more = f"approvals: {approvals}\nwrites: allowed\n"
    store = compared(tmp_path, scripts, more=more, columns={"approve": columns}, **PAYS)
    assert [finding.rule for finding in diagnose(recorded(store))] == found


def test_what_nobody_decided_is_rejected_by_no_person(tmp_path: pathlib.Path) -> None:
    """A question that lapsed, and a terminal at which nobody is."""
    workflow = loop(*[call("refund", order=k) for k in range(3)], "It is 389.", **PAYS)
    for by in ("timeout", "nobody"):
        rejected = Decision("reject", by)
        [one] = run(tmp_path, by, workflow, decision=rejected)
        assert [seen.status for seen in one.outcome.calls if one.outcome] == ["rejected"] * 3
        assert diagnose([one]) == []


def test_a_program_of_ones_own_has_no_parts_to_change(tmp_path: pathlib.Path) -> None:
    """That it fails is what its runs ended for: there is no step and no tool of a file in it."""
    (tmp_path / "mine.py").write_text("def ask(question):\n    raise ValueError(question)\n", "utf-8")
    compared(tmp_path, [[LOOK, "It is 389."]] * 3, control='  program: {python: "mine:ask"}\n')
    programs = [one for one in recorded(tmp_path / "compared.db") if one.kept.arm == "program"]
    assert [one.kept.exit for one in programs] == ["step_failed"] * 3
    assert diagnose(programs) == []


def test_faults_and_controls_are_the_comparisons_own(tmp_path: pathlib.Path) -> None:
    """What a comparison puts into a tool is no failure of it, and what it makes of an arm is no arm."""
    scripts = [[LOOK, OTHERS[0], "Nobody knows."]] * 3
    more = "faults: {lookup: {error: down, rate: 0.999}}\n"
    store = compared(tmp_path, scripts, more=more, control="  blind: {control: no_tools, of: agent}\n")
    recordings = recorded(store)
    assert any(call.fault for one in recordings for call in one.outcome.calls)
    controls = [one for one in recordings if one.kept.arm == "blind (no_tools) of agent"]
    assert (len(controls), any(map(tells, controls))) == (3, False)
    assert diagnose(recordings) == []


def test_of_each_loop_one_request_is_read(tmp_path: pathlib.Path) -> None:
    """Its first says what tools it has; each later one holds all before it, and reading them grows with the square of
    the turns."""
    [one] = run(tmp_path, "looks", loop(LOOK, OTHERS[0], "It is 389."))
    later = msgspec.structs.replace(one.records["2/ask"], request=b"{ not read")
    found = conduct(msgspec.structs.replace(one, records={**one.records, "2/ask": later}))
    assert found is not None
    assert found.offered == {"lookup": "A figure of a project."}


def test_the_tools_of_an_arm_are_gathered_once(tmp_path: pathlib.Path) -> None:
    """No rule goes through all runs again for each of them: what diagnosing takes grows with their number alone."""
    looked = [found for one in run(tmp_path, "looks", loop(LOOK, "389")) if (found := conduct(one)) is not None]
    runs = Runs("agent", tuple(looked), 1)
    assert runs.tools is runs.tools


WORDS = st.sampled_from(["It is 389.", "", "I refunded it: '\x1b[1m", "let me look", "{{ 7 * 7 }}", "#: x"]) | st.text()
CALLS = st.builds(
    lambda tool, arguments: {"calls": [{"tool": tool, "arguments": arguments}]},
    st.sampled_from(["lookup", "search", "broken", "customer", "nothing at all", "refund"]),
    st.dictionaries(st.sampled_from(["code", "text", "name"]), st.text(max_size=9)) | st.text(max_size=9),
)
ENDS = st.sampled_from([{"text": "x", "finish": "length"}, {"text": "", "finish": "content_filter"}, {"error": "no"}])


DEEP = "[" * 5_000
CALLED_DEEP = {"calls": [{"tool": "lookup", "arguments": f'{{"code": {DEEP}'}]}


@settings(max_examples=60)
@example([CALLED_DEEP, CALLED_DEEP, DEEP], "native")
@example([DEEP, DEEP, DEEP], "json")
@given(st.lists(CALLS | WORDS | ENDS, max_size=9), st.sampled_from(["native", "json", "text"]))
def test_any_run_can_be_diagnosed(replies: list[Any], protocol: str) -> None:
    """Whatever a model says: findings with evidence, and each change one line of YAML with one key."""
    with tempfile.TemporaryDirectory() as folder:
        names = "lookup search broken customer refund"
        recordings = run(pathlib.Path(folder), "any", loop(*replies, tools=names, protocol=protocol), times=2)
        for finding in diagnose(recordings):
            assert {sign.run for sign in finding.signs} <= {one.kept.id for one in recordings}
            assert 0 < finding.runs <= finding.of <= 2
            found = parse(finding.change, "change.yaml")
            assert (found.faults, plain(found.value)) == ([], {finding.path: finding.value})
