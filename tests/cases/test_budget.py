"""The handed cases of kind budget, from files, against a server on the loopback. A second of a case is a tenth here."""

import asyncio
import pathlib
import re
import threading
import time
from typing import Any, NamedTuple

import pytest
from ruamel.yaml import YAML

from loopworth.models import open_model
from loopworth.runs.events import LimitHit, ModelCalled
from loopworth.runs.outcome import Outcome
from loopworth.runs.world import Live
from loopworth.workflows.activation import activate
from loopworth.workflows.compile import compile
from loopworth.workflows.faults import WorkflowFault
from tests.endpoint import Answer, FakeEndpoint, called, said

HERE = pathlib.Path(__file__)
ELSEWHERE = {"BU-08": "test_resume.py goes on with what is left"}
CASES = [case for case in YAML(typ="safe").load(HERE.with_name("budget.yaml"))["cases"] if case["id"] not in ELSEWHERE]
SECOND = 0.1
NAMES = {"max_steps": "turns", "max_cost_usd": "usd", "max_seconds": "time"}
LOOKUP = 'def lookup(code: str) -> int:\n    """Look a code up."""\n    return len(code)\n'
PRICE = 400.0
"""US dollars per million tokens: a branch that writes 1,000 of them costs 0.40."""


class Played(NamedTuple):
    given: dict[str, Any]
    folder: pathlib.Path
    outcome: Outcome | None
    faults: str
    requests: int
    seconds: float


def played(given: dict[str, Any], folder: pathlib.Path) -> Played:
    (folder / "code.py").write_text(LOOKUP, "utf-8")
    with FakeEndpoint(*script(given), last=said("late")) as fake:
        price = f"price: {{input: 0, output: {PRICE}}}"
        model = f"{{name: vllm/m, base_url: '{fake.base_url}', max_tokens: 1000, retries: 0, {price}}}"
        (folder / "w.yaml").write_text(workflow(given, model), "utf-8")
        try:
            compiled = compile(folder / "w.yaml")
        except WorkflowFault as fault:
            return Played(given, folder, None, str(fault), len(fake.requests), 0.0)
        began = time.monotonic()
        outcome = asyncio.run(ran(compiled))
        return Played(given, folder, outcome, "", len(fake.requests), time.monotonic() - began)


async def ran(compiled: Any) -> Outcome:
    models = {key: open_model(spec) for key, spec in compiled.models.items()}
    try:
        return await activate(compiled, {}, Live(models))
    finally:
        for model in models.values():
            await model.close()


def limit(given: dict[str, Any]) -> str:
    """The case's limit in our words."""
    [(name, value)] = [(name, value) for name, value in given["limits"].items() if name in NAMES]
    return f"{NAMES[name]}: {f'{value * SECOND:.3g}s' if name == 'max_seconds' else value}"


def workflow(given: dict[str, Any], model: str) -> str:
    """A loop; four steps that read nothing of each other where the case has branches."""
    top = f"workflow: w\nmodel: {model}\n"
    if "branches" in given.get("event", ""):
        steps = "".join(f"  - {{id: {name}, ask: {name}}}\n" for name in "abcd")
        return f"{top}shape: pipeline\nbudget: {{{limit(given)}}}\nsteps:\n{steps}answer: '{{{{ d }}}}'\n"
    turns = "" if "turns" in limit(given) else "turns: 9, "
    last = "on_limit: answer\n" if given["limits"].get("wrap_up_call") else ""
    tools = 'tools: {lookup: {python: "code:lookup", effect: read, inline: true}}\n'
    return f"{top}shape: open_loop\nprompt: go\n{tools}{last}budget: {{{turns}{limit(given)}}}\n"


def script(given: dict[str, Any]) -> list[Any]:
    if "branches" in given.get("event", ""):
        each = float(re.search(r"about ([\d.]+)", given["event"])[1])
        tokens = round(each / PRICE * 1_000_000)
        usage = {"prompt_tokens": 0, "completion_tokens": tokens, "total_tokens": tokens}
        return [Answer(200, said("x", usage=usage), delay=0.05)] * 4
    if "never answers" in given.get("server", ""):
        return [silent]
    steps = given["limits"]["max_steps"]
    return [called(("lookup", {"code": "A" * n})) for n in range(1, steps + 1)] + given.get("then", [])


def silent(received: Any) -> Answer:
    """Nothing, for longer than any test waits; the client is the one to hang up."""
    threading.Event().wait(2.0)
    return Answer(gone=True)


def named_and_no_call(found: Played) -> None:
    assert found.outcome is None
    assert "turns" in found.faults
    assert "w.yaml:" in found.faults
    assert found.requests == 0


def held(found: Played) -> None:
    assert found.outcome is not None
    most = found.given["limits"]["max_cost_usd"]
    costs = [event.usage.usd for event in found.outcome.events if isinstance(event, ModelCalled)]
    assert sum(costs) <= most + max(costs)
    assert sum(costs) - costs[-1] <= most
    refused = [event for event in found.outcome.events if isinstance(event, LimitHit)]
    assert len(costs) + len(refused) == 4
    assert {(event.limit, event.owner) for event in refused} == {("cost_limit", "")}
    assert refused
    assert found.outcome.exit == "cost_limit"
    assert "usd: 1.0" in found.outcome.note


def in_time(found: Played) -> None:
    assert found.outcome is not None
    seconds = found.given["limits"]["max_seconds"] * SECOND
    assert (found.outcome.exit, found.outcome.note) == ("time_limit", f"time: {seconds:g}s")
    assert seconds <= found.outcome.seconds < seconds + 1.0  # the server would hold it for two
    [call] = [event for event in found.outcome.events if isinstance(event, ModelCalled)]
    assert (call.finish, call.usage.output, call.usage.estimated) == ("time_limit", 1000, True)


def wrapped_up(found: Played) -> None:
    assert found.outcome is not None
    assert (found.outcome.exit, found.outcome.answer) == ("turn_limit", "late")
    asked = [event.at for event in found.outcome.events if isinstance(event, ModelCalled)]
    assert asked == ["1/ask", "2/ask", "3/ask", "4/ask", "limit/ask"]
    assert found.requests == 5
    down = Answer(500, {"error": {"message": "down"}})
    for broken, exit in ((down, "provider_error"), (said(None), "turn_limit"), (said("half", "length"), "turn_limit")):
        again = played({**found.given, "then": [broken]}, found.folder)
        assert again.outcome is not None
        assert again.requests == 5
        assert again.outcome.exit == exit
        assert "last word" in again.outcome.note
        assert "turns: 4" in again.outcome.note
        assert [seen.full for seen in again.outcome.calls] == [1, 2, 3, 4]
        assert len([said for said in again.outcome.transcript if said.message["role"] == "tool"]) == 4


EXPECTED = {
    "A config error that names max_steps, or a run with no model call and exit reason step limit; no crash.": (
        named_and_no_call
    ),
    "The total does not pass 1.0 by more than one call; branches not started say why.": held,
    "Ends close to 5 s with exit reason time limit.": in_time,
    "The wrap-up call is really made, counted as extra and marked; if it fails the work so far is still returned.": (
        wrapped_up
    ),
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_budget(case, tmp_path):
    """A limit is hard, whoever spends and however the server behaves."""
    found = played(case["given"], tmp_path)
    for line in case["expect"]:
        EXPECTED[line](found)
