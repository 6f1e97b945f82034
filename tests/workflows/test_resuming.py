"""A run that was cut after any of its records goes on to the same end, whatever stands around its steps."""

import asyncio

import pytest

from loopworth.models import open_model
from loopworth.runs.decision import Decision
from loopworth.runs.journal import MemoryJournal
from loopworth.runs.world import Live
from loopworth.workflows.activation import activate
from tests.workflows.played import Played, pipeline, scripted

EACH = '{id: a, for_each: [A, BB, CCC], call: lookup, with: {code: "{{ item }}"}, '
INNER = pipeline(
    "{id: x, call: lookup, with: {code: A}}", "{id: y, call: lookup, with: {code: BB}}", answer='"{{ x + y }}"'
)
TOOL = "tools: [tools.yaml, {sub: {run: inner.yaml, effect: read}}]"
PIPELINES = {
    "retry": (f"{EACH}retry: {{attempts: 3, wait: 1s}}}}", '"{{ a }}"', ""),
    "repeat": (f"{EACH}repeat: {{times: 2, wait: 1s}}}}", '"{{ a }}"', ""),
    "on_error": (f"{EACH}on_error: skip}}", "\"{{ a | select('defined') | list }}\"", ""),
    "timeout": (f"{EACH}timeout: 60s, retry: {{attempts: 2}}}}", '"{{ a }}"', ""),
    "if": (f"{EACH}if: index != 1, max_concurrency: 1}}", "\"{{ a | select('defined') | list }}\"", ""),
    "otherwise": (f"{EACH}}}", '"{{ a }}"', "check: answer == 0\notherwise: {call: lookup, with: {code: ''}}"),
    "guard": (f"{EACH}}}", '"{{ a }}"', "guard: [{on: call, if: args.code == 'CCC'}]\notherwise: {set: 7}"),
    "partial": (f"{EACH}}}", "\"{{ a | default('none') }}\"", "budget: {tool_calls: 2}\non_limit: partial"),
    "remember": (f"{EACH}}}", '"{{ a }}"', "gate: {lookup: {remember: run, choices: [approve, edit]}}"),
    "sub": ("{id: a, for_each: [1, 2], run: inner.yaml, retry: {attempts: 2}}", '"{{ a }}"', ""),
    "tool": ("{id: a, call: sub, retry: {attempts: 2}}", '"{{ a }}"', TOOL),
    "asked": (
        "{id: a, ask: hi, repeat: {times: 3, until: a == 'x'}, retry: {attempts: 2}}",
        '"{{ a }}"',
        scripted("a", "b", "x"),
    ),
}


def edited(question):
    return Decision("edit", "ann", {"code": f"{question.arguments['code']}!"})


@pytest.mark.parametrize("name", PIPELINES)
def test_a_cut_run_goes_on_to_the_same_end(tmp_path, name):
    """Answer, exit and effect ids are those of the run that was not cut; nothing recorded is called again."""
    step, answer, top = PIPELINES[name]
    text = pipeline(step, "{call: lookup, with: {code: last}}", answer=answer, top=top)
    text = text.replace("tools: tools.yaml\n", "") if "tools:" in top else text
    whole = Played(tmp_path, text, ask=edited, inner=INNER)
    records = list(whole.journal.records.items())
    for cut in range(len(records)):
        kept = dict(records[:cut])
        again = asyncio.run(activate(whole.compiled, {}, world(whole, kept), MemoryJournal(kept), run="r"))
        assert (again.exit, again.answer) == (whole.outcome.exit, whole.outcome.answer), cut
        assert [event.at for event in again.events] == [event.at for event in whole.outcome.events], cut


def world(whole, kept):
    """Models that go on where the records end, and a person who decides the same."""
    models = {key: open_model(spec) for key, spec in whole.compiled.models.items()}
    for model in models.values():
        for _ in [one for one in kept.values() if one.kind == "model"]:
            asyncio.run(model.reply(next(iter(whole.requests.values()))[0], None))

    async def ask(question, id):
        return edited(question)

    return Live(models, ask, sleep=whole.sleep)
