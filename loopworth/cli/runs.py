"""`loopworth run`: one workflow, once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from msgspec import structs
from rich.text import Text

import loopworth
from loopworth import front
from loopworth.cli.following import Following
from loopworth.cli.gate import TerminalGate
from loopworth.cli.inputs import given
from loopworth.cli.interruption import finish
from loopworth.cli.status import OUTSIDE, UserFault, of_exit
from loopworth.cli.store import Place, Replayed, Unkept, one_run, open_store, recordings
from loopworth.cli.terminal import complain, headed, notices, output, shown, write_json
from loopworth.models import ModelSpec, spec_faults
from loopworth.runs.events import ModelCalled
from loopworth.runs.outcome import Outcome
from loopworth.runs.store import new_id
from loopworth.runs.usage import Usage


def run(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A workflow file.", show_default=False)],
    input: Annotated[
        list[str] | None,
        typer.Option("--input", "-i", metavar="INPUT", help="name=value, a JSON object, or @file.json; repeatable."),
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Use this model (provider/name) instead of the file's.")
    ] = None,
    transcript: Annotated[bool, typer.Option("--transcript", help="Show every message as it is said.")] = False,
    stream: Annotated[bool, typer.Option("--stream", help="Show the text of replies while it comes.")] = False,
    replay: Replayed = None,
    store: Place = None,
    no_store: Unkept = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Run a workflow once and show its answer, exit reason, calls, tokens, cost and latency."""
    compiled = loopworth.compile(file, model=None if model is None else named(model))
    answers = given(input or (), compiled.input.schema)
    recording = None if replay is None else one_run(recordings(replay, store), replay, compiled.name)
    if recording is not None and answers:
        recording = structs.replace(recording, kept=structs.replace(recording.kept, input=answers))
    traceback = bool(ctx.find_root().params.get("traceback"))
    id = recording.kept.id if recording is not None else new_id()
    unkept = no_store or recording is not None
    following = Following(notices() if as_json else output(), transcript and not as_json, stream)
    watch = following.say if following.transcript or stream else None
    trouble = False

    async def made() -> Outcome:
        nonlocal trouble
        if recording is not None:
            return await front.replay(compiled, recording, watch=watch)
        with open_store(store, unkept) as kept:
            people: dict[str, Any] = {"ask": TerminalGate(), "watch": watch, "hear": following.hear if stream else None}
            outcome = await loopworth.run(compiled, answers, store=kept, id=id, **people)
        trouble = kept is not None and kept.trouble is not None
        return outcome

    def tell(outcome: Outcome) -> int:
        following.end()
        if as_json:
            write_json(report(outcome, None if no_store else id, recording is not None))
        else:
            if watch is not None:
                output().print()
            show(outcome, "" if no_store else id, recording is not None)
        if outcome.exit == "invalid_input":
            complain(f"    the input is {compiled.input.text}: write --input name=value")
        if outcome.traceback and traceback:
            complain(outcome.traceback)
        return OUTSIDE if trouble else of_exit(outcome.exit)

    finish(made(), tell)


def named(model: str) -> str:
    """The name of a model that can be asked."""
    for _, what, instead in spec_faults(ModelSpec(model)):
        raise UserFault(f"--model {model}: {what}\n    {instead}".rstrip())
    return model


def report(outcome: Outcome, id: str | None, replayed: bool) -> dict[str, Any]:
    """Everything a run left, for `--json`. What is unknown is null, never 0; a replayed run spends nothing, and its
    usage is as recorded."""
    return {
        "id": id,
        "replayed": replayed,
        "spent_usd": 0.0 if replayed else outcome.usage.usd,
        "answer": outcome.answer,
        "exit": outcome.exit,
        "note": outcome.note,
        "warnings": outcome.warnings,
        "route": outcome.route,
        "protocols": outcome.protocols,
        "model_calls": outcome.model_calls,
        "tool_calls": outcome.tool_calls,
        "path": outcome.path,
        "usage": outcome.usage,
        "seconds": outcome.seconds,
        "latency": outcome.latency,
        "gates": outcome.gates,
        "events": outcome.events,
        "transcript": outcome.transcript,
    }


def show(outcome: Outcome, id: str, replayed: bool) -> None:
    console = output()
    rows = facts(outcome)
    if replayed:
        rows["cost"] = Text(f"$0 now: replayed; as recorded {cost(outcome)}")
    rows["run"] = shown(id, lines=False)
    for name, value in rows.items():
        if value.plain:
            console.print(headed(name, indented(value)), soft_wrap=True)


def facts(outcome: Outcome) -> dict[str, Text]:
    """What a person wants to know of a run, in reading order; what does not apply is left out."""
    rows = {
        "answer": shown(outcome.answer) if outcome.answered else Text("none", "dim"),
        "exit": Text(outcome.exit, "green" if outcome.exit == "success" else "red"),
        "why": shown(outcome.note),
        "warning": shown("\n".join(outcome.warnings)),
        "route": shown(outcome.route or "", lines=False),
        "calls": Text(f"{outcome.model_calls} model, {outcome.tool_calls} tool"),
        "tokens": Text(tokens(outcome.usage)),
        "cost": Text(cost(outcome)),
        "latency": Text(f"{outcome.latency:.2f} s"),
        "protocol": Text(", ".join(outcome.protocols)),
    }
    return {name: text for name, text in rows.items() if text.plain}


def indented(text: Text) -> Text:
    """The text with its further lines below its first."""
    return Text("\n" + " " * 9).join(text.split("\n"))


def tokens(usage: Usage) -> str:
    known = [f"{part:,}" if part is not None else "unknown" for part in (usage.input, usage.output)]
    cached = f" ({usage.cached:,} cached)" if usage.cached else ""
    return f"{known[0]} in{cached}, {known[1]} out" + (" (at most: a call was cut)" if usage.estimated else "")


def cost(outcome: Outcome) -> str:
    """US dollars; what is *unknown* is not 0, and a run without a billed call says so."""
    calls = [event.usage.usd for event in outcome.events if type(event) is ModelCalled]
    known = [usd for usd in calls if usd is not None]
    shown = f"${sum(known):.6f}".rstrip("0").rstrip(".")
    if len(known) < len(calls):
        more = f"the cost of {len(calls) - len(known)} of {len(calls)} model calls is unknown"
        return f"at least {shown}: {more}" if any(known) else "unknown"
    return shown if any(known) else "$0 (nothing was billed)"

