"""`loopworth run`: one workflow, once."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from msgspec import structs

import loopworth
from loopworth import front
from loopworth.cli.durable import Durable
from loopworth.cli.following import Following
from loopworth.cli.gate import TerminalGate
from loopworth.cli.inputs import given
from loopworth.cli.interruption import finish
from loopworth.cli.outcome import report, show
from loopworth.cli.status import OUTSIDE, UserFault, of_exit
from loopworth.cli.store import Place, Replayed, Unkept, one_run, open_store, recordings, tell_changed
from loopworth.cli.terminal import complain, notices, output, write_json
from loopworth.models import ModelSpec, Unavailable, spec_faults
from loopworth.runs.outcome import Outcome
from loopworth.runs.store import new_id
from loopworth.workflows import origin
from loopworth.workflows.compile import Compiled
from loopworth.workflows.edited_call import accepted
from loopworth.workflows.keys import keyed


def run(
    ctx: typer.Context,
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="A workflow file.", show_default=False)] = None,
    input: Annotated[
        list[str] | None,
        typer.Option("--input", "-i", metavar="INPUT", help="name=value, a JSON object, or @file.json; repeatable."),
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Use this model (provider/name) instead of the file's.")
    ] = None,
    transcript: Annotated[bool, typer.Option("--transcript", help="Show every message as it is said.")] = False,
    stream: Annotated[bool, typer.Option("--stream", help="Show the text of replies while it comes.")] = False,
    durable: Annotated[
        bool, typer.Option("--durable", help="Keep the run so that it outlives this process, and waits at a gate.")
    ] = False,
    resume: Annotated[
        str | None, typer.Option(metavar="RUN", help="With --durable: go on with this run.", show_default=False)
    ] = None,
    replay: Replayed = None,
    store: Place = None,
    no_store: Unkept = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Run a workflow once and show its answer, exit reason, calls, tokens, cost and latency."""
    wanted = Durable(resume, store, transcript, stream, as_json)
    if durable or resume is not None:
        wanted.fits(file, bool(input or model), replay, no_store)
    if resume is not None:
        return wanted.go_on(resume)
    if file is None:
        raise UserFault("name a workflow file: loopworth run FILE")
    compiled = loopworth.compile(file, model=None if model is None else named(model))
    if model is not None and replay is None:
        unlocked(compiled, model)
    answers = given(input or (), compiled.input.schema)
    if durable:
        return wanted.begin(compiled, answers, model)
    recording = None
    if replay is not None:
        recording = one_run(recordings(replay, store, "run", compiled.name), replay, compiled.name)
    if recording is not None:
        tell_changed(recording.kept.id, *origin.then_and_now(recording.kept.source, compiled))
    if recording is not None and answers:
        recording = structs.replace(recording, kept=structs.replace(recording.kept, input=answers))
    traceback = bool(ctx.find_root().params.get("traceback"))
    id = recording.kept.id if recording is not None else new_id()
    following = Following(notices() if as_json else output(), transcript and not as_json, stream)
    watch = following.say if following.transcript or stream else None
    trouble = False

    async def made() -> Outcome:
        nonlocal trouble
        if recording is not None:
            return await front.replay(compiled, recording, watch=watch)
        with nullcontext() if no_store else open_store(store) as kept:
            people: dict[str, Any] = {
                "ask": TerminalGate(partial(accepted, compiled)),
                "watch": watch,
                "hear": following.hear if stream else None,
            }
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
            complain(f"    the input is {compiled.input.text}: write --input name=value, as JSON where it is no text")
        if outcome.traceback and traceback:
            complain(outcome.traceback)
        return OUTSIDE if trouble else of_exit(outcome.exit)

    return finish(made(), tell)


def unlocked(compiled: Compiled, model: str) -> None:
    """Hold the model of `--model` to having its key: no file names it, so none is to blame."""
    try:
        keyed(compiled.models, compiled.named)
    except Unavailable as why:
        raise UserFault(f"--model {model}: {why}") from None


def named(model: str) -> str:
    """The name of a model that can be asked."""
    for _, what, instead in spec_faults(ModelSpec(model)):
        raise UserFault(f"--model {model}: {what}\n    {instead}".rstrip())
    return model
