"""The rules of a loop, from files: rollback, compaction, no limit of turns, a deadline. Every run is replayed too."""

import asyncio

import pytest

from loopworth.models import open_model
from loopworth.runs.journal import MemoryJournal
from loopworth.runs.world import Live
from loopworth.workflows.activation import activate
from loopworth.workflows.compile import compile
from loopworth.workflows.faults import WorkflowFault
from tests.workflows.played import TOOLS, Played, pipeline, scripted


def look(code, **more):
    said = "".join(f", {key}: {value}" for key, value in more.items())
    return f"{{calls: [{{tool: lookup, arguments: {{code: {code}}}}}]{said}}}"


def loop(*replies, top="", budget="{turns: 9}"):
    head = "workflow: l\nshape: open_loop\ntools: tools.yaml\nprompt: go\n"
    return f"{head}budget: {budget}\n{top}\n{scripted(*replies)}\n"


BAD = "{calls: [{tool: pay, arguments: {amount: 5}}, {tool: lookup, arguments: {cod: A}}]}"
PAGES = [f"{{calls: [{{tool: page, arguments: {{n: {n}}}}}]}}" for n in range(5)]
PAGE = """
workflow: page
shape: pipeline
input: {n: int}
steps: [{id: a, call: lookup, with: {code: "n{{ n }}"}}]
answer: "{{ n }} {{ 'words ' * 100 }}"
tools: tools.yaml
"""
OTHERS = {"tools": f"{TOOLS}  page: {{run: page.yaml, effect: read}}\n", "page": PAGE}
RULES = {
    "rollback": (loop(BAD, look("A"), BAD.replace("5", "6"), look("BB"), "'done'", top="on_bad_call: rollback"), 5),
    "compact": (loop(*PAGES, "'done'", top="compact: {above: 300, keep_last: 2}"), 6),
}


@pytest.mark.parametrize("rule", RULES)
def test_a_run_under_a_rule_goes_on_to_the_same_end_wherever_it_was_cut(tmp_path, rule):
    """What was taken back and what was left out is derived anew, from what was recorded."""
    text, asked = RULES[rule]
    whole = Played(tmp_path, text, **OTHERS)
    assert (whole.outcome.answer, whole.outcome.model_calls) == ("done", asked)
    records = list(whole.journal.records.items())
    for cut in range(len(records)):
        kept = dict(records[:cut])
        again = asyncio.run(resumed(whole.compiled, kept))
        assert (again.exit, again.answer) == ("success", "done"), cut
        assert again.transcript == whole.outcome.transcript
        assert [event.at for event in again.events] == [event.at for event in whole.outcome.events], cut


async def resumed(compiled, kept):
    """A second activation, whose model goes on where the records end."""
    models = {key: open_model(spec) for key, spec in compiled.models.items()}
    for model in models.values():
        model.given[""] = sum(record.kind == "model" for record in kept.values())
    return await activate(compiled, {}, Live(models), MemoryJournal(kept))


def test_rollback_from_a_file_runs_nothing_of_a_bad_turn(tmp_path):
    """The record has both turns that were taken back, with their numbers."""
    run = Played(tmp_path, RULES["rollback"][0])
    assert run.log == ["A", "BB"]
    assert [seen.status for seen in run.outcome.calls] == [
        *("not_run", "invalid_arguments", "ok", "not_run", "invalid_arguments", "ok")
    ]


def test_compaction_from_a_file_says_what_it_left_out(tmp_path):
    """`above` and `keep_last` are those of the file; a short result is not worth leaving out."""
    run = Played(tmp_path, RULES["compact"][0], **OTHERS)
    [first, *rest] = [event for event in run.outcome.events if type(event).__name__ == "Compacted"]
    assert (first.at, first.elided) == ("4/ask", ("1/call[0]",))
    assert [event.elided for event in rest] == [("2/call[0]",), ("3/call[0]",)]
    assert all(event.before > 300 and event.uncached > 0 for event in (first, *rest))
    short = [look("A" * n) for n in range(1, 6)]
    assert Played(tmp_path, loop(*short, "'done'", top="compact: {above: 10, keep_last: 1}")).at("Compacted") == []


def test_a_loop_without_a_limit_of_turns_ends_at_its_tokens_or_its_time(tmp_path):
    """`turns: none` asks for one of them, and lets a loop run on until then."""
    spent = [look("A" * n, usage="{input: 10, output: 10}") for n in range(1, 40)]
    run = Played(tmp_path, loop(*spent, budget="{turns: none, tokens: 600}"))
    assert (run.outcome.exit, run.outcome.model_calls) == ("token_limit", 30)
    slow = [look("A" * n, seconds="0.01") for n in range(1, 40)]
    run = Played(tmp_path, loop(*slow, budget="{turns: none, time: 150ms}"))
    assert run.outcome.exit == "time_limit"
    assert 1 <= run.outcome.model_calls < 17


@pytest.mark.parametrize("shape", ["open_loop", "pipeline"])
def test_a_model_in_place_of_the_files_needs_a_price_too(tmp_path, shape):
    """A limit in dollars that nobody can count against is a fault before the run, whoever names the model."""
    text = loop("'x'", budget="{turns: 2, usd: 1}")
    if shape == "pipeline":
        text = pipeline("{ask: hi}", answer="1", top=f"budget: {{usd: 1}}\n{scripted('x')}")
    Played(tmp_path, text)
    with pytest.raises(WorkflowFault, match=r"w\.yaml:.*a limit in usd, and the price of vllm/x is unknown"):
        compile(tmp_path / "w.yaml", model="vllm/x")
    compile(tmp_path / "w.yaml", model="openai/gpt-4o-mini")
    (tmp_path / "w.yaml").write_text(text.replace("usd: 1", "usd: 1, unpriced: allow"), "utf-8")
    compile(tmp_path / "w.yaml", model="vllm/x")


PART = """
workflow: part
shape: pipeline
steps:
  - {id: a, ask: first}
  - {id: b, ask: second}
answer: "{{ b }}"
model: {name: scripted, replies: [{text: x, usage: {input: 30, output: 12}}, {text: late, seconds: 60}]}
"""


def test_a_deadline_cuts_a_sub_workflow_and_keeps_what_was_paid(tmp_path):
    """The part's first call counts, the one in flight counts as much as it may have used, and both are in the trace."""
    run = Played(
        tmp_path, pipeline("{id: s, run: part.yaml}", answer='"{{ s }}"', top="budget: {time: 100ms}"), part=PART
    )
    assert (run.outcome.exit, run.outcome.note.endswith("time: 0.1s")) == ("time_limit", True)
    assert run.at("ModelCalled") == ["s/run/a/ask", "s/run/b/ask"]
    assert (run.outcome.usage.input, run.outcome.usage.output, run.outcome.usage.estimated) == (30, 12 + 2048, True)
    assert run.outcome.seconds < 30  # and not the minute that the reply would have taken
