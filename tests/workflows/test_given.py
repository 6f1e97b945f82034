"""A program's own tools in a catalogue, and its own executor in a workflow's place."""

from __future__ import annotations

import asyncio
import pathlib
from typing import Any

import pytest

import loopworth
from loopworth import Effects, Outcome, Request, ToolCall
from loopworth.models import ScriptedModel
from loopworth.runs.journal import MemoryJournal
from loopworth.workflows.faults import WorkflowFault
from loopworth.workflows.given import entries, executor, toolbox

PAYS = """
workflow: pays
shape: pipeline
input: {to: str}
tools:
  pay: {python: "shop:pay", effect: write, allow: {to: [Ann]}, with: {till: real}, inline: true}
steps:
  - {id: paid, call: pay, with: {to: "{{ to }}"}}
answer: "{{ paid }}"
"""
SHOP = """
def pay(to: str, till: str) -> str:
    return f"{to} from {till}"
"""
OUTER = """
workflow: outer
shape: pipeline
input: {to: str}
steps:
  - {id: paid, run: pays.yaml, with: {to: "{{ to }}"}}
answer: "{{ paid }}"
"""
OPEN = """
workflow: open
shape: open_loop
prompt: go
model: ollama/m
budget: {turns: 3}
"""


SAY = """
workflow: say
shape: pipeline
model: ollama/m
steps: [{id: said, ask: hello}]
answer: "{{ said }}"
"""


def pay(to: str) -> str:
    """Pay somebody."""
    return f"{to} from a test"


def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    for name, text in {"pays.yaml": PAYS, "shop.py": SHOP, "outer.yaml": OUTER, "open.yaml": OPEN}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_function_stands_in_for_a_tool_and_the_tools_rules_stay(tmp_path: pathlib.Path) -> None:
    """Its effect and its allow-list are the file's; what the file binds for its own function is gone with that."""
    made = loopworth.compile(folder(tmp_path) / "pays.yaml", tools={"pay": pay})
    assert (made.tools["pay"].effect, made.writes) == ("write", ("pay",))
    assert loopworth.run_sync(made, {"to": "Ann"}).answer == "Ann from a test"
    assert loopworth.run_sync(made, {"to": "Bob"}).exit == "step_failed"


def test_it_stands_in_wherever_the_tool_is_called(tmp_path: pathlib.Path) -> None:
    """In the workflows that a workflow runs, too."""
    assert loopworth.run_sync(folder(tmp_path) / "outer.yaml", {"to": "Ann"}).answer == "Ann from real"
    assert loopworth.run_sync(tmp_path / "outer.yaml", {"to": "Ann"}, tools={"pay": pay}).answer == "Ann from a test"


def test_a_new_tool_is_in_the_catalogue(tmp_path: pathlib.Path) -> None:
    """A model is told of it as of any other."""
    made = loopworth.compile(folder(tmp_path) / "open.yaml", tools={"pay": {"python": pay, "effect": "write"}})
    assert made.tools["pay"].wire["function"]["description"] == "Pay somebody."


def test_a_new_tool_says_its_effect(tmp_path: pathlib.Path) -> None:
    """Else it is a fault at the function."""
    with pytest.raises(WorkflowFault, match="no catalogue has a tool 'pay', and this one says no `effect`") as caught:
        loopworth.compile(folder(tmp_path) / "open.yaml", tools={"pay": pay})
    [fault] = caught.value.faults
    assert (fault.file, fault.line) == (__file__, pay.__code__.co_firstlineno)
    assert fault.instead == 'if it is new, say what it does: {"python": …, "effect": "read"}'
    with pytest.raises(WorkflowFault, match=r"did you mean 'pay'\?"):
        loopworth.compile(tmp_path / "outer.yaml", tools={"pya": pay})


def test_a_guard_cannot_be_taken_away(tmp_path: pathlib.Path) -> None:
    """A given tool may tighten what guards the one in the file, as an override may."""
    with pytest.raises(WorkflowFault, match="`effect` of 'pay' is write, and an override may only tighten it"):
        loopworth.compile(folder(tmp_path) / "pays.yaml", tools={"pay": {"python": pay, "effect": "read"}})
    tight = loopworth.compile(tmp_path / "pays.yaml", tools={"pay": {"python": pay, "approval": "required"}})
    assert tight.gates == ("pay",)


def test_all_faults_of_given_tools_come_at_once() -> None:
    """As of a file."""
    with pytest.raises(WorkflowFault) as caught:
        entries({"a": {"python": pay, "effekt": "read"}, "b": 3})  # type: ignore[dict-item]
    assert [fault.what for fault in caught.value.faults] == [
        "unknown key 'effekt' in a tool",
        "`python` must be a text, and this is 3",
    ]


class Asks:
    """Asks once, pays once."""

    async def run(self, input: dict[str, Any], fx: Effects) -> Outcome:
        reply = await fx.model("ask", Request([{"role": "user", "content": input["to"]}], "clerk"))
        seen = await fx.tool("pay", ToolCall("1", "pay", {"to": reply.text}))
        return Outcome(seen.full)


TOOLS = {"pay": {"python": pay, "effect": "write"}}
MODELS = {"clerk": lambda request: request.messages[-1]["content"].title()}


def test_an_executor_of_ones_own_runs_through_the_same_edge() -> None:
    """Its calls are events, its tools have their layer, and whatever ends it is its exit reason."""
    outcome = loopworth.run_sync(Asks(), {"to": "ann"}, models=MODELS, tools=TOOLS)
    assert (outcome.answer, outcome.exit) == ("Ann from a test", "success")
    assert (outcome.model_calls, outcome.tool_calls, outcome.path) == (1, 1, ("pay",))
    assert loopworth.run_sync(Asks(), {"to": "ann"}, models=MODELS).answer is None
    assert loopworth.run_sync(Asks(), {}, models=MODELS).exit == "harness_error"
    lacking = loopworth.run_sync(Asks(), {"to": "ann"}, tools=TOOLS)
    assert "there is no model 'clerk' here: give it as models={'clerk': …}" in lacking.note


def test_its_run_is_replayed_from_its_journal() -> None:
    """No model is asked and no tool called again, and the outcome is equal."""
    journal, calls = MemoryJournal(), list[str]()

    def counted(to: str) -> str:
        calls.append(to)
        return pay(to)

    tools = {"pay": {"python": counted, "effect": "write"}}
    first = loopworth.run_sync(Asks(), {"to": "ann"}, models=MODELS, tools=tools, journal=journal)
    broken = {"clerk": lambda request: 1 / 0}
    again = loopworth.run_sync(Asks(), {"to": "ann"}, models=broken, tools=tools, journal=journal)
    assert calls == ["Ann"]
    assert (again.answer, again.transcript, again.path) == (first.answer, first.transcript, first.path)


def test_its_run_is_kept_under_its_name_and_can_be_replayed(tmp_path: pathlib.Path) -> None:
    """In the run store it is a run like any other."""
    store = loopworth.Store(tmp_path / "runs.db")
    outcome = loopworth.run_sync(Asks(), {"to": "ann"}, models=MODELS, tools=TOOLS, store=store, id="r1")
    recording = store.shelf().recording("r1")
    store.close()
    assert (recording.kept.name, recording.kept.exit) == ("Asks", "success")
    assert asyncio.run(loopworth.replay(Asks(), recording, tools=TOOLS)).answer == outcome.answer


def test_gates_of_given_tools_are_asked() -> None:
    """An `approval` of a given tool stops its call until somebody decides."""
    gated = {"pay": {"python": pay, "effect": "write", "approval": "required"}}
    assert loopworth.run_sync(Asks(), {"to": "ann"}, models=MODELS, tools=gated).exit == "waiting"


class Shared(ScriptedModel):
    """As one of ours that counts how often it is closed."""

    __module__ = "loopworth.models"
    closed = 0

    async def close(self) -> None:
        self.closed += 1


def test_models_that_runs_share_stay_open(tmp_path: pathlib.Path) -> None:
    """Who opened a model closes it, be it one of ours."""
    (tmp_path / "say.yaml").write_text(SAY)
    shared = Shared(["one", "two"])
    answers = [loopworth.run_sync(tmp_path / "say.yaml", {}, models={"ollama/m": shared}).answer for _ in range(2)]
    assert (answers, shared.closed) == (["one", "two"], 0)


def test_what_cannot_be_run_is_said_to_be_none() -> None:
    """A caller's slip is an exception, before anything runs."""
    with pytest.raises(TypeError, match=r"class .* cannot be run: give a file, or an object with `async run"):
        loopworth.run_sync(Asks, {})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"3 cannot be run: give a file, or an object with `async run\(input, fx\)"):
        loopworth.run_sync(3, {})  # type: ignore[arg-type]
    made = executor(Asks(), {}, {})
    with pytest.raises(TypeError, match="a compiled workflow has its tools: give them to `compile`"):
        loopworth.run_sync(made, {}, tools=TOOLS)
    with pytest.raises(WorkflowFault, match="has no `effect`"):
        toolbox({"pay": pay})


def test_a_model_that_returns_another_shape_ends_the_run_as_its_failure() -> None:
    """Not as a bug of loopworth, and with the words that mend it."""
    models = {"clerk": lambda request: {"answer": "Ann"}}
    outcome = loopworth.run_sync(Asks(), {"to": "ann"}, models=models, tools=TOOLS)
    assert outcome.exit == "provider_error"
    assert "the model python/<lambda> returned dict with 'answer': it must return a Reply, a text, or" in outcome.note


ANY: Any = loopworth


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            lambda file: ANY.run_sync(file, {}, models=len),
            r"write models=\{'ollama/m': …\}, by the name that the file has",
        ),
        (lambda file: ANY.run_sync(Asks(), {}, models=len), r"write models=\{'provider/name': …\}"),
        (lambda file: ANY.run_sync(file, {}, tools=[pay]), r"gives tools without names: write tools=\{'pay': …\}"),
        (lambda file: ANY.compile(file, tools=pay), r"gives tools without names: write tools=\{'pay': …\}"),
        (
            lambda file: ANY.compile(file, model=len),
            r"is no name, such as 'ollama/.*': give your own to `run`, as models=",
        ),
        (lambda file: ANY.compile({"workflow": "w"}), r"\{'workflow': 'w'\} is no path: a workflow or a comparison is"),
        (lambda file: ANY.load({"workflow": "w"}), "is no path"),
        (lambda file: ANY.check({"workflow": "w"}), "is no path"),
        (lambda file: ANY.run_sync({"workflow": "w"}, {}), "cannot be run: give a file, or an object"),
        (lambda file: asyncio.run(ANY.compare({"comparison": "w"})), "is no path"),
    ],
)
def test_what_is_given_in_another_shape_is_told_what_to_write(tmp_path: pathlib.Path, given: Any, said: str) -> None:
    """Before anything runs, and not by an error from within."""
    (tmp_path / "say.yaml").write_text(SAY)
    with pytest.raises(TypeError, match=said):
        given(tmp_path / "say.yaml")


def test_run_sync_within_an_event_loop_says_what_to_await(tmp_path: pathlib.Path) -> None:
    """A notebook or a web server has one; no coroutine is left behind (warnings are errors)."""
    (tmp_path / "say.yaml").write_text(SAY)

    async def cell() -> Any:
        return loopworth.run_sync(tmp_path / "say.yaml", {})

    with pytest.raises(RuntimeError, match=r"an event loop is running here: write `await loopworth.run\(…\)`"):
        asyncio.run(cell())


@pytest.mark.parametrize("ask", [True, "approve", lambda: None, lambda question: None])
def test_an_ask_that_cannot_be_asked_is_refused_before_anything_runs(ask: Any) -> None:
    """A caller's slip as any other, with what to write."""
    with pytest.raises(TypeError, match=r"write `async def ask\(question, id\)`, which returns a Decision"):
        loopworth.run_sync(Asks(), {"to": "ann"}, models=MODELS, tools=TOOLS, ask=ask)


@pytest.mark.parametrize("said", [None, True, "approve", loopworth.Decision("no")])  # type: ignore[arg-type]
def test_a_run_whose_ask_decides_nothing_waits_and_names_it(said: Any) -> None:
    """In the note, with nothing called; a program that meant yes writes a Decision."""

    async def ask(question: Any, id: str) -> Any:
        return said

    gated = {"pay": {"python": pay, "effect": "write", "approval": "required"}}
    outcome = loopworth.run_sync(Asks(), {"to": "ann"}, models=MODELS, tools=gated, ask=ask)
    assert (outcome.exit, outcome.tool_calls) == ("waiting", 0)
    assert f": the gate of pay offers approve or reject, not {getattr(said, 'choice', said)}" in outcome.note


class Forgets:
    async def run(self, input: dict[str, Any], fx: Effects) -> Any:
        return "an answer"


def test_an_executor_that_leaves_no_outcome_is_told_so() -> None:
    """Its bug ends the run, and the note says what to return."""
    outcome = loopworth.run_sync(Forgets(), {})
    assert outcome.exit == "harness_error"
    assert "Forgets.run returned str: an executor returns an Outcome" in outcome.note


def test_files_are_checked_with_the_tools_that_a_program_gives(tmp_path: pathlib.Path) -> None:
    """Without them a step calls what is not there; a faulty one is a fault among the others."""
    file = tmp_path / "w.yaml"
    file.write_text(
        "workflow: w\nshape: pipeline\ninput: {to: str}\nanswer: '{{ paid }}'\n"
        "steps: [{id: paid, call: pay, with: {to: '{{ to }}'}}]\n"
    )
    assert [fault.what for fault in loopworth.check(file)] == ["there is no tool 'pay'"]
    assert loopworth.check(file, tools=TOOLS) == []
    faulty = loopworth.check(file, tools={"pay": {"python": pay, "efect": "read"}})
    assert any("efect" in fault.what for fault in faulty)
