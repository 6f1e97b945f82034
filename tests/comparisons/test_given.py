"""What a program gives a comparison: models, tools and arms of its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import pathlib
import sys
from typing import Any

import pytest
from msgspec import structs

import loopworth
from loopworth import Effects, Outcome, Reply, Request, ToolCall, Usage
from loopworth.cli.store import gathered
from loopworth.comparisons import retelling
from loopworth.comparisons.basis import changed, latest
from loopworth.comparisons.comparison import load
from loopworth.comparisons.report import report
from loopworth.comparisons.rescoring import rescored
from loopworth.runs.outcome import Diverged
from loopworth.workflows.faults import WorkflowFault

ASKS = """
workflow: asks
shape: pipeline
input: {question: str}
model: {name: ollama/m, temperature: TEMPERATURE}
tools: {look: {python: "code:look", effect: EFFECT, inline: true}}
steps:
  - {id: seen, call: look, with: {at: "{{ question }}"}}
  - {id: said, ask: "{{ question }} {{ seen }}"}
answer: "{{ said }}"
"""
SAYS = """
workflow: asks
shape: pipeline
input: {question: str}
steps:
  - {id: said, set: "{{ question }}"}
answer: "{{ said }}"
"""
OUTER = """
workflow: outer
shape: pipeline
input: {question: str}
steps:
  - {id: said, run: inner.yaml, with: {question: "{{ question }}"}}
answer: "{{ said }}"
"""
CODE = """
def look(at: str) -> str:
    return "in code"
"""
COMPARISON = """
comparison: c
tasks: tasks.jsonl
score: equals
arms:
  warm: {workflow: warm.yaml}
  cold: {workflow: cold.yaml}
"""


def written(folder: pathlib.Path, comparison: str = COMPARISON, effect: str = "read", n: int = 3) -> pathlib.Path:
    for name, heat in (("warm", "1"), ("cold", "0")):
        (folder / f"{name}.yaml").write_text(ASKS.replace("TEMPERATURE", heat).replace("EFFECT", effect))
    (folder / "code.py").write_text(CODE)
    (folder / "comparison.yaml").write_text(comparison)
    rows = [{"question": f"q{k}", "expected": f"Q{k} IN CODE"} for k in range(n)]
    (folder / "tasks.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return folder / "comparison.yaml"


def shouts(request: Request) -> str:
    return str(request.messages[-1]["content"]).upper()


def look(at: str) -> str:
    """Look somewhere else."""
    return "elsewhere"


def compared(path: pathlib.Path, **given: Any) -> loopworth.Result:
    return asyncio.run(loopworth.compare(path, **given))


def rights(result: loopworth.Result) -> dict[str, int]:
    return {arm.name: sum(bool(t.right) for t in result.final if t.arm == arm.name) for arm in result.comparison.arms}


def test_a_model_stands_in_for_one_that_the_files_name_in_every_arm(tmp_path: pathlib.Path) -> None:
    """Under each of its settings; and the report says who really answered."""
    result = compared(written(tmp_path), models={"ollama/m": shouts})
    assert rights(result) == {"warm": 3, "cold": 3}
    assert [arm.models for arm in result.comparison.arms] == [("python/shouts",), ("python/shouts",)]


def test_two_models_of_one_name_are_told_apart(tmp_path: pathlib.Path) -> None:
    """Each arm is asked by its own, and the report does not take them for one."""
    keys = {spec.key for arm in load(written(tmp_path)).arms for spec in arm.workflow.models.values()}
    whispers = lambda request: shouts(request).lower()
    same = lambda request: shouts(request)
    result = compared(tmp_path / "comparison.yaml", models=dict(zip(sorted(keys), (whispers, same), strict=True)))
    assert sorted(rights(result).values()) == [0, 3]
    assert sorted(arm.models for arm in result.comparison.arms) == [("python/<lambda>",), ("python/<lambda>-2",)]


class Counted:
    """A model that says what it used, and must stay open."""

    closed = False

    async def reply(self, request: Request, seconds: float | None) -> Reply:
        return Reply({"role": "assistant", "content": shouts(request)}, text=shouts(request))

    async def close(self) -> None:
        self.closed = True


def test_a_given_model_is_left_open(tmp_path: pathlib.Path) -> None:
    """Who opened it closes it."""
    model = Counted()
    assert rights(compared(written(tmp_path), models={"ollama/m": model})) == {"warm": 3, "cold": 3}
    assert not model.closed


class Priced:
    """A model of the program's own, which says what it cost."""

    name = "policy"

    async def reply(self, request: Request, seconds: float | None) -> Reply:
        return Reply({"role": "assistant", "content": shouts(request)}, usage=Usage(10, 2, usd=0.25))


def test_a_kept_comparison_names_who_answered_and_not_whose_place_it_took(tmp_path: pathlib.Path) -> None:
    """Told again, judged anew and replayed by files alone: no word of an object is taken for a model's, and what it
    said it cost stays, for no price of a file is its own."""
    path = written(tmp_path)
    with contextlib.closing(loopworth.Store(tmp_path / "runs.db")) as store:
        id = compared(path, models={"ollama/m": Priced()}, store=store).id
        before = store.shelf().run(id)
        told, document = retelling.told(store.shelf(), before)
        again = rescored(load(path), store.shelf(), before)
        replayed = compared(path, store=store, replay=id)
    for result in (told, again, replayed):
        assert [arm.models for arm in result.comparison.arms] == [("policy",), ("policy",)]
        assert result.recorded_usd == 6 * 0.25
    assert "answered by policy" in document["words"]
    assert [model["name"] for model in document["provenance"]["models"]] == ["policy", "policy"]


class Flaky:
    """A model whose endpoint is down for one question, until it is not."""

    down = True

    def __call__(self, request: Request) -> str:
        if self.down and str(request.messages[-1]["content"]).startswith("q1"):
            raise ConnectionError("no route")
        return shouts(request)


def test_runs_that_an_endpoint_failed_are_made_when_it_goes_on(tmp_path: pathlib.Path) -> None:
    """They leave no verdict, and what was paid for is not paid again to get one; a replay makes them all."""
    model = Flaky()
    with contextlib.closing(loopworth.Store(tmp_path / "runs.db")) as store:
        given = {"models": {"ollama/m": model}, "store": store}
        first = compared(written(tmp_path), **given)
        assert first.verdict is not None
        assert "Make the missing ones: `--resume` does" in first.verdict.arms[0].words
        again = compared(tmp_path / "comparison.yaml", **given, resume=first.id)
        assert [(t.task, t.attempt) for t in again.final if t.exit == "provider_error"] == [("2", 2), ("2", 2)]
        model.down = False
        whole = compared(tmp_path / "comparison.yaml", **given, resume=first.id)
        assert rights(whole) == {"warm": 3, "cold": 3}
        assert sorted((t.attempt, t.exit) for t in whole.trials if t.task == "2") == [
            *((n, "provider_error") for n in (0, 0, 1, 1, 2, 2)),
            *[(3, "success")] * 2,
        ]
        assert "1 run that the endpoint failed was made again" in " ".join(report(whole).warnings)
        assert len(compared(tmp_path / "comparison.yaml", **given, resume=first.id).trials) == len(whole.trials)
        assert rights(compared(tmp_path / "comparison.yaml", store=store, replay=first.id)) == {"warm": 3, "cold": 3}


class Early(Flaky):
    """The same for the first ten of the tasks, of which it is wrong on twelve where it is asked warmly."""

    def __init__(self, wrong: bool) -> None:
        self.wrong = wrong

    def __call__(self, request: Request) -> str:
        k = int(str(request.messages[-1]["content"]).split()[0][1:])
        if self.down and k < 10:
            raise ConnectionError("no route")
        return "no" if self.wrong and k < 12 else shouts(request)


def test_one_that_stops_early_reads_what_an_endpoint_failed_where_it_goes_on(tmp_path: pathlib.Path) -> None:
    """The verdict rests on all that was made then, whoever tells it: the difference lies in its interval."""
    path = written(tmp_path, COMPARISON + "stop_early: true\n", n=30)
    heats = {spec.key: arm.name == "warm" for arm in load(path).arms for spec in arm.workflow.models.values()}
    models = {key: Early(warm) for key, warm in heats.items()}
    with contextlib.closing(loopworth.Store(tmp_path / "runs.db")) as store:
        first = compared(path, models=models, store=store)
        assert first.verdict is not None
        assert (first.verdict.token, first.verdict.arms[0].n) == ("undecided", 20)
        for model in models.values():
            model.down = False
        whole = compared(path, models=models, store=store, resume=first.id)
        before = store.shelf().run(first.id)
        told = retelling.told(store.shelf(), before)[0]
        again = [told, rescored(load(path), store.shelf(), before), compared(path, store=store, replay=first.id)]
    assert whole.verdict is not None
    [one] = whole.verdict.arms
    assert (one.token, one.n, one.b) == ("earns", 30, 12)
    assert one.interval is not None
    assert one.difference is not None
    assert one.interval[0] < one.difference < one.interval[1]
    assert [result.verdict for result in again] == [whole.verdict] * 3


def test_reruns_that_fail_again_cost_no_verdict(tmp_path: pathlib.Path) -> None:
    """Whoever goes on with a comparison that is over has what it said before, though the endpoint is down for good."""
    models = {
        spec.key: Early(wrong=False)
        for arm in load(written(tmp_path, n=30)).arms
        for spec in arm.workflow.models.values()
    }
    with contextlib.closing(loopworth.Store(tmp_path / "runs.db")) as store:
        first = compared(tmp_path / "comparison.yaml", models=models, store=store)
        again = compared(tmp_path / "comparison.yaml", models=models, store=store, resume=first.id)
        assert store.shelf().run(first.id).state == "done"
    assert first.verdict is not None
    assert (again.stopped, again.verdict) == ("", first.verdict)
    assert len(again.trials) == len(first.trials) + 2 * 10


class Dear:
    """A model whose endpoint is down for two questions, and whose last answer costs a dollar."""

    failed = 0

    async def reply(self, request: Request, seconds: float | None) -> Reply:
        text = str(request.messages[-1]["content"])
        usd = 0.0
        if text.startswith(("q0", "q1")):
            self.failed += 1
            if self.failed < 8:
                raise ConnectionError("no route")
            usd = 1.0
        return Reply({"role": "assistant", "content": text.upper()}, usage=Usage(1, 1, usd=usd))


def test_reruns_that_the_budget_has_no_room_for_cost_no_verdict(tmp_path: pathlib.Path) -> None:
    """It was given without them."""
    path = written(tmp_path, COMPARISON + "budget: {usd: 1}\nchange: {model.price: {input: 1, output: 1}}\n")
    with contextlib.closing(loopworth.Store(tmp_path / "runs.db")) as store:
        first = compared(path, models={"ollama/m": Dear()}, store=store)
        again = compared(path, models={"ollama/m": Dear()}, store=store, resume=first.id)
    assert first.verdict is not None
    assert (again.stopped, again.verdict, len(again.trials)) == ("", first.verdict, len(first.trials))


def test_a_judge_may_be_given_as_any_model_is(tmp_path: pathlib.Path) -> None:
    """It judges, the report names it, and told again its word is not taken for that of the model in the file."""
    judged = COMPARISON.replace("score: equals", "score: {judge: {model: openai/judge}}")
    passes = lambda request: "VERDICT: pass"
    with contextlib.closing(loopworth.Store(tmp_path / "runs.db")) as store:
        models = {"ollama/m": shouts, "openai/judge": passes}
        result = compared(written(tmp_path, judged), models=models, store=store)
        told, _ = retelling.told(store.shelf(), store.shelf().run(result.id))
    assert rights(result) == rights(told) == {"warm": 3, "cold": 3}
    panels = [one.comparison.panel for one in (result, told)]
    assert [panel and panel.model.name for panel in panels] == ["python/<lambda>", "python/<lambda>"]


def test_a_tool_stands_in_for_one_that_the_files_name(tmp_path: pathlib.Path) -> None:
    """In every arm."""
    result = compared(written(tmp_path), models={"ollama/m": shouts}, tools={"look": look})
    assert rights(result) == {"warm": 0, "cold": 0}


class Looks:
    """An executor: look, then shout."""

    async def run(self, input: dict[str, Any], fx: Effects) -> Outcome:
        seen = await fx.tool("look", ToolCall("1", "look", {"at": input["question"]}))
        reply = await fx.model(
            "ask", Request([{"role": "user", "content": f"{input['question']} in code"}], "ollama/m")
        )
        return Outcome(reply.text if seen.status == "ok" else None)


READS = {"look": {"python": look, "effect": "read"}}


def test_an_executor_is_an_arm_after_those_of_the_file(tmp_path: pathlib.Path) -> None:
    """It is run, scored and counted as they are, and must earn the place as they must."""
    result = compared(written(tmp_path), models={"ollama/m": shouts}, tools=READS, arms={"mine": Looks()})
    assert rights(result)["mine"] == 3
    assert [(t.model_calls, t.tool_calls) for t in result.final if t.arm == "mine"] == [(1, 1)] * 3
    assert result.verdict is not None
    assert [(one.arm, one.against) for one in result.verdict.arms][-1][0] == "mine"


class Alone:
    """An executor that asks whom it likes by its own means, or breaks."""

    async def run(self, input: dict[str, Any], fx: Effects) -> Outcome:
        if input["question"] == "q2":
            raise RuntimeError("its own client is down")
        return Outcome(f"{input['question']} in code".upper())


def test_what_an_executor_used_that_nothing_was_seen_of_is_unknown(tmp_path: pathlib.Path) -> None:
    """It is not free, whether it ended well or not; of one that does all by `fx` everything is known."""
    arms = {"alone": Alone(), "mine": Looks()}
    result = compared(written(tmp_path), models={"ollama/m": Priced()}, tools=READS, arms=arms)
    used = {name: {(t.usage.tokens, t.usage.usd) for t in result.final if t.arm == name} for name in arms}
    assert used == {"alone": {(None, None)}, "mine": {(12, 0.25)}}
    assert "What a run of alone costs is unknown" in str(result.verdict)


def test_a_compiled_workflow_is_an_arm(tmp_path: pathlib.Path) -> None:
    """With tools of its own, say."""
    path = written(tmp_path)
    made = loopworth.compile(tmp_path / "cold.yaml", tools={"look": look})
    assert rights(compared(path, models={"ollama/m": shouts}, arms={"other": made})) == {
        "warm": 3,
        "cold": 3,
        "other": 0,
    }


class Callable:
    """A function that is an object, and waits."""

    async def __call__(self, question: str) -> str:
        return f"{question.upper()} IN CODE"


async def waits(task: dict[str, Any]) -> Any:
    """Takes the whole task, and says what it used."""
    return {"answer": f"{task['question'].upper()} IN CODE", "usage": {"usd": 0.5, "model_calls": 2}}


def test_a_function_is_an_arm_as_one_that_a_file_names(tmp_path: pathlib.Path) -> None:
    """Sync or not, given the columns that it names or all of them; what it tells of a run counts."""
    arms = {"sync": lambda question: f"{question.upper()} IN CODE", "waits": waits, "object": Callable()}
    result = compared(written(tmp_path), models={"ollama/m": shouts}, arms=arms)
    assert rights(result) == {"warm": 3, "cold": 3, "sync": 3, "waits": 3, "object": 3}
    assert {arm.name: arm.workflow.shape for arm in result.comparison.arms[2:]} == dict.fromkeys(arms, "python")
    assert [(t.usage.usd, t.model_calls) for t in result.final if t.arm == "waits"] == [(0.5, 2)] * 3
    with pytest.raises(ValueError, match="the arm 'mine' needs 'topic', which is no input of the tasks"):
        compared(tmp_path / "comparison.yaml", models={"ollama/m": shouts}, arms={"mine": lambda topic, question: ""})


def test_what_a_function_says_that_nobody_reads_is_told(tmp_path: pathlib.Path) -> None:
    """The report warns of it, and what it may have meant is unknown."""
    mine = lambda question: {"answer": "", "usage": {"input_tokens": 3, "output_tokens": 1, "cost": 0.1}}
    result = compared(written(tmp_path), models={"ollama/m": shouts}, arms={"mine": mine})
    assert [(t.usage.tokens, t.usage.usd) for t in result.final if t.arm == "mine"] == [(4, None)] * 3
    assert [one for one in report(result).warnings if "its `usage` has 'cost', which nobody reads: say" in one]


def test_a_function_is_given_the_columns_of_the_tasks_and_not_those_of_another(tmp_path: pathlib.Path) -> None:
    """What a function of the file happens to take limits none that a program gives."""
    (tmp_path / "app.py").write_text("def blind(): return ''")
    path = written(tmp_path, COMPARISON.partition("  warm")[0] + '  blind: {python: "app:blind"}\n')
    result = compared(path, arms={"mine": lambda question: f"{question.upper()} IN CODE"})
    assert rights(result) == {"blind": 0, "mine": 3}


def test_a_store_may_be_given_by_its_place(tmp_path: pathlib.Path) -> None:
    """It is opened, written and closed; what is none is said to be none."""
    path, file = written(tmp_path), tmp_path / "runs.db"
    id = compared(path, models={"ollama/m": shouts}, store=str(file)).id
    assert rights(compared(path, models={"ollama/m": shouts}, store=file, replay=id)) == {"warm": 3, "cold": 3}
    asyncio.run(loopworth.run(path.parent / "cold.yaml", {"question": "q"}, models={"ollama/m": shouts}, store=file))
    with contextlib.closing(loopworth.Store(file)) as store:
        assert sorted(run.kind for run in store.shelf().runs()) == ["comparison", "run"]
    with pytest.raises(TypeError, match="store=7 is no run store: give a Store, its file, or postgresql"):
        compared(path, models={"ollama/m": shouts}, store=7)


def test_an_arm_is_held_to_what_the_file_allows(tmp_path: pathlib.Path) -> None:
    """Its name is new, its writes are allowed, its gates are answered, and the tasks have what it takes."""
    path, models = written(tmp_path), {"ollama/m": shouts}
    with pytest.raises(ValueError, match="Input should be a valid string"):
        compared(path, models=models, arms={1: Looks()})
    with pytest.raises(ValueError, match="'my arm' is not a name for an input, a step, a tool or an arm"):
        compared(path, models=models, tools=READS, arms={"my arm": Looks()})
    with pytest.raises(ValueError, match="the file has an arm 'cold'"):
        compared(path, models=models, tools=READS, arms={"cold": Looks()})
    writes = {"look": {"python": look, "effect": "write"}}
    with pytest.raises(ValueError, match=r"the arm 'mine' may write \(look\), once for every task"):
        compared(path, models=models, arms={"mine": loopworth.compile(tmp_path / "cold.yaml", tools=writes)})
    gated = {"look": {"python": look, "approval": "required"}}
    with pytest.raises(ValueError, match=r"the arm 'mine' may reach a gate \(look\)"):
        compared(path, models=models, arms={"mine": loopworth.compile(tmp_path / "cold.yaml", tools=gated)})
    (tmp_path / "more.yaml").write_text(
        "workflow: m\nshape: pipeline\ninput: {topic: str}\nsteps: [{set: 1}]\nanswer: x"
    )
    with pytest.raises(WorkflowFault, match="task '1' has no field 'topic'"):
        compared(path, models=models, arms={"mine": tmp_path / "more.yaml"})


def test_a_model_that_no_arm_asks_is_a_slip(tmp_path: pathlib.Path) -> None:
    """An executor may ask any."""
    path = written(tmp_path)
    with pytest.raises(LookupError, match="nothing asks a model 'ollama/mm': did you mean 'ollama/m'"):
        compared(path, models={"ollama/mm": shouts})
    both = {"ollama/m": shouts, "other": shouts}
    assert rights(compared(path, models=both, tools=READS, arms={"mine": Looks()}))["mine"] == 3


def test_a_model_that_was_not_given_is_named(tmp_path: pathlib.Path) -> None:
    """To the executor that asks it, in every repeat, with how it is given; one of another arm is not its own."""

    class Asks:
        async def run(self, input: dict[str, Any], fx: Effects) -> Outcome:
            return Outcome((await fx.model("ask", Request([], "clerk"))).text)

    path = written(tmp_path, COMPARISON + "repeats: 2\n", n=1)
    found = compared(path, models={"ollama/m": shouts}, tools=READS, arms={"mine": Asks()})
    notes = [trial.note for trial in found.trials if trial.arm == "mine"]
    assert notes == ["LookupError: there is no model 'clerk' here: give it as models={'clerk': …}"] * 2


def test_what_was_given_is_part_of_what_a_comparison_is_made_of(tmp_path: pathlib.Path) -> None:
    """Without it, the comparison cannot be gone on with: other models would answer the rest."""
    path, store = written(tmp_path), loopworth.Store(tmp_path / "runs.db")
    compared(path, models={"ollama/m": shouts}, tools=READS, arms={"mine": Looks()}, store=store)
    comparison = load(path)
    kept = latest(store.shelf(), comparison)
    store.close()
    assert kept is not None
    found = changed(kept.input, comparison)
    assert {"the arm 'mine' given in Python", "the model 'ollama/m' given in Python"} < {*found}
    assert any(name.endswith("test_given.py") for name in found)


def test_the_file_of_a_given_arm_counts_in_what_a_comparison_is_made_of(tmp_path: pathlib.Path) -> None:
    """It is gone on with no more where that has changed."""
    path, own = written(tmp_path, COMPARISON.replace("  cold: {workflow: cold.yaml}\n", "")), tmp_path / "cold.yaml"
    given: dict[str, Any] = {"models": {"ollama/m": shouts}, "arms": {"own": own}}
    with contextlib.closing(loopworth.Store(tmp_path / "runs.db")) as store:
        first = compared(path, **given, store=store)
        own.write_text(own.read_text().replace('answer: "{{ said }}"', "answer: no more"))
        with pytest.raises(ValueError, match=r"cannot be resumed: cold\.yaml changed since it began"):
            compared(path, **given, store=store, resume=first.id)


def test_a_replay_names_the_arm_that_does_otherwise_now(tmp_path: pathlib.Path) -> None:
    """And none whose runs were cut short for it."""
    path = written(tmp_path, n=12)
    for name in ("warm", "cold"):
        (tmp_path / f"{name}.yaml").write_text(SAYS.replace("asks", name))
    with contextlib.closing(loopworth.Store(tmp_path / "runs.db")) as store:
        first = compared(path, store=store)
        (tmp_path / "cold.yaml").write_text(SAYS.replace("{{ question }}", "something else"))
        with pytest.raises(Diverged, match=r"the arm 'cold' on the task '.*': the answer is not the recorded one"):
            compared(path, store=store, replay=first.id)


def test_a_comparison_with_given_arms_goes_on_and_is_made_again(tmp_path: pathlib.Path) -> None:
    """With the same objects it goes on where it was, and from its recording no model is asked and no tool called."""
    path, store, asked = written(tmp_path), loopworth.Store(tmp_path / "runs.db"), list[str]()

    def counted(request: Request) -> str:
        asked.append("")
        return shouts(request)

    given: dict[str, Any] = {"models": {"ollama/m": counted}, "tools": READS, "arms": {"mine": Looks()}, "store": store}
    first = compared(path, **given)
    n = len(asked)
    resumed, replayed = compared(path, **given, resume=first.id), compared(path, **given, replay="last")
    assert rights(first) == rights(resumed) == rights(replayed)
    assert (len(asked), resumed.made, replayed.replayed) == (n, 9, True)
    with pytest.raises(ValueError, match=f"{first.id} is finished, and nothing of it is left to be made"):
        compared(path, **{**given, "arms": {}}, resume=first.id)
    with pytest.raises(ValueError, match=r"is the trial 'asks', and no comparison 'c'"):
        compared(path, **given, replay=f"{first.id}.1")
    with pytest.raises(ValueError, match="give `store` as well"):
        compared(path, **{**given, "store": None}, replay=first.id)
    store.close()


GIVEN = "it was given in Python, and is not run without its program: what is kept of its runs is told"


def everywhere(path: pathlib.Path, store: loopworth.Store, id: str) -> dict[str, loopworth.Result]:
    """A kept comparison as those tell it who have its files alone."""
    shelf, before = store.shelf(), store.shelf().run(id)
    read = retelling.Recorded(gathered(shelf, before))
    return {
        "report": retelling.told(shelf, before)[0],
        "report of a page": retelling.told(shelf, before, pairs=2)[0],
        "report of a file": retelling.told(read, before)[0],
        "rescore": rescored(load(path), shelf, before),
        "replay": compared(path, store=store, replay=id),
    }


def test_what_was_not_given_again_has_not_changed(tmp_path: pathlib.Path) -> None:
    """An unfinished comparison goes on where it is given; one that is given in addition changes it."""
    path, given = written(tmp_path, n=20), {"models": {"ollama/m": shouts}, "store": tmp_path / "runs.db"}
    mine = {"mine": lambda question: {"answer": None, "exit_reason": "provider_error"}}
    first = compared(path, **given, arms=mine)
    assert not first.finished
    with pytest.raises(ValueError, match=f"{first.id} goes on in the program that gave the arm 'mine'$"):
        compared(path, **given, resume=first.id)
    with pytest.raises(ValueError, match="cannot be resumed: the arm 'more' given in Python changed since it began"):
        compared(path, **given, arms={**mine, "more": mine["mine"]}, resume=first.id)


@pytest.mark.parametrize("early", [False, True])
def test_arms_that_a_program_gave_are_told_without_it(tmp_path: pathlib.Path, early: bool) -> None:
    """Their runs, their figures and the verdict on all arms, as they were, by whoever has the files alone; and that
    nothing can run them again. What a program gave is no change of the files."""
    path = written(tmp_path, COMPARISON + "stop_early: true\n" * early, n=8)
    arms = {"mine": Looks(), "other": loopworth.compile(tmp_path / "cold.yaml", tools={"look": look})}
    with contextlib.closing(loopworth.Store(tmp_path / "runs.db")) as store:
        first = compared(path, models={"ollama/m": shouts}, tools=READS, arms=arms, store=store)
        told = everywhere(path, store, first.id)
        document = retelling.told(store.shelf(), store.shelf().run(first.id))[1]
    assert rights(first) == {"warm": 0, "cold": 0, "mine": 8, "other": 0}
    of_first = report(first)
    for who, result in told.items():
        assert (who, result.verdict) == (who, first.verdict)
        assert rights(result) == rights(first)
        assert [arm.models for arm in result.comparison.arms] == [arm.models for arm in first.comparison.arms]
        of_it = report(result)
        assert [(one.shape, one.billed) for one in of_it.arms] == [(one.shape, one.billed) for one in of_first.arms]
        assert f"mine, other: {GIVEN}" in of_it.warnings
    assert [one.split(" changed")[0] for one in document["warnings"] if " changed" in one] == ["code.py"]


def test_arms_that_an_older_version_kept_are_told_by_their_names(tmp_path: pathlib.Path) -> None:
    """Of such no more is known."""
    with contextlib.closing(loopworth.Store(tmp_path / "runs.db")) as store:
        given: dict[str, Any] = {"models": {"ollama/m": shouts}, "tools": READS, "store": store}
        first = compared(written(tmp_path), **given, arms={"mine": Looks(), "its": Looks()})
        before = store.shelf().run(first.id)
        older = structs.replace(before, input={k: v for k, v in before.input.items() if k != "given_arms"})
        result = retelling.told(store.shelf(), older)[0]
    assert rights(result) == rights(first) == {"warm": 0, "cold": 0, "mine": 3, "its": 3}


ANSWERS = """
workflow: answers
shape: open_loop
input: {question: str}
model: openai/agent
tools: {look: {python: "code:look", effect: read, inline: true}}
prompt: "{{ question }} in code"
finish: text
budget: {turns: 4}
"""


def test_controls_of_an_arm_that_a_program_gave_are_told_without_it(tmp_path: pathlib.Path) -> None:
    """What they came to is kept, as it is of any."""
    path = written(tmp_path, n=25)
    (tmp_path / "agent.yaml").write_text(ANSWERS)
    models = {"ollama/m": lambda request: "no", "openai/agent": shouts}
    with contextlib.closing(loopworth.Store(tmp_path / "runs.db")) as store:
        first = compared(path, models=models, arms={"agent": loopworth.compile(tmp_path / "agent.yaml")}, store=store)
        told = everywhere(path, store, first.id)
    assert first.verdict is not None
    assert (first.verdict.token, [one.control.key for one in first.controls]) == (
        "earns",
        ["retry of agent", "pasted of agent"],
    )
    for who, result in told.items():
        assert (who, result.verdict) == (who, first.verdict)
        assert [(one.words, len(one.trials)) for one in result.controls] == [
            (one.words, len(one.trials)) for one in first.controls
        ]


def test_the_code_of_tools_in_sub_workflows_is_part_of_it_too(tmp_path: pathlib.Path) -> None:
    """A function that changed is noticed wherever it is called."""
    path = written(tmp_path)
    (tmp_path / "inner.yaml").write_text((tmp_path / "warm.yaml").read_text().replace("code:look", "deep:look"))
    (tmp_path / "warm.yaml").write_text(OUTER)
    (tmp_path / "deep.py").write_text(CODE)
    before = {"files": load(path).files, "tasks": ""}
    assert "deep.py" in before["files"]
    (tmp_path / "deep.py").write_text(CODE + "# changed\n")
    sys.modules.pop("deep", None)
    assert changed(before, load(path)) == ["deep.py"]


class Down:
    """A model whose endpoint answers so many questions, and then none, one at a time, each after so many turns of the
    event loop."""

    concurrency = 1

    def __init__(self, answers: int, turns: int = 100) -> None:
        self.left, self.turns, self.endpoint = answers, turns, f"after {turns} turns"

    async def reply(self, request: Request, seconds: float | None) -> Reply:
        for _ in range(self.turns):
            await asyncio.sleep(0)
        self.left -= 1
        if self.left < 0:
            raise ConnectionError("no route")
        return await Priced().reply(request, seconds)


def by_arm(path: pathlib.Path, **models: Any) -> dict[str, Any]:
    """The models of the arms, by their keys."""
    return {key: models[arm.name] for arm in load(path).arms for key in arm.workflow.models}


@pytest.mark.parametrize("more", ["", "stop_early: true\n"])
@pytest.mark.parametrize("answers", [0, 1])
@pytest.mark.parametrize("n", [2, 3, 5, 6])
def test_a_report_says_what_the_comparison_said_where_an_endpoint_is_down(
    tmp_path: pathlib.Path, n: int, answers: int, more: str
) -> None:
    """There is a verdict where nothing planned is left to be made, the reruns neither; wherever it failed last."""
    path = written(tmp_path, COMPARISON + more, n=n)
    with contextlib.closing(loopworth.Store(tmp_path / "runs.db")) as store:
        first = compared(path, models=by_arm(path, warm=Priced(), cold=Down(answers)), store=store)
        told = everywhere(path, store, first.id)
    owed = [trial for trial in first.final if trial.owed]
    assert bool(owed) == bool(first.stopped) == (first.verdict is None)
    for who, result in told.items():
        assert (who, result.verdict, bool(result.stopped)) == (who, first.verdict, bool(first.stopped))


@pytest.mark.parametrize("n", [2, 3])
def test_a_report_says_what_the_comparison_said_where_the_judge_is_down(tmp_path: pathlib.Path, n: int) -> None:
    """Runs that were made are made, whether they could be judged or not."""
    path = written(tmp_path, COMPARISON.replace("score: equals", "score: {judge: {model: openai/judge}}"), n=n)
    models = {"ollama/m": shouts, "openai/judge": Down(0)}
    with contextlib.closing(loopworth.Store(tmp_path / "runs.db")) as store:
        first = compared(path, models=models, store=store)
        before = store.shelf().run(first.id)
        told = retelling.told(store.shelf(), before)[0]
    assert (told.verdict, bool(told.stopped)) == (first.verdict, bool(first.stopped))
    assert before.state == "unfinished"


def test_a_report_gives_no_verdict_where_reruns_were_cut_short(tmp_path: pathlib.Path) -> None:
    """By a budget, say: what an endpoint failed is made once more before there is one."""
    path = written(tmp_path, COMPARISON + "budget: {tokens: 30}\n")
    models = by_arm(path, warm=Down(3, turns=200), cold=Down(0, turns=0))
    with contextlib.closing(loopworth.Store(tmp_path / "runs.db")) as store:
        first = compared(path, models=models, store=store)
        told = everywhere(path, store, first.id)
    assert (len(first.trials), first.verdict) == (6, None)
    assert {result.verdict for result in told.values()} == {None}
