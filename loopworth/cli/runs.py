"""`loopworth run`: one workflow, once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

import loopworth
from loopworth.cli.gate import TerminalGate
from loopworth.cli.inputs import given
from loopworth.cli.interruption import finish
from loopworth.cli.status import UserFault, of_exit
from loopworth.cli.terminal import complain, output, shown, write_json
from loopworth.models import ModelSpec, spec_faults
from loopworth.runs.message import Message
from loopworth.runs.outcome import Outcome, Said
from loopworth.runs.usage import Usage


def run(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(help="A workflow file.", show_default=False)],
    input: Annotated[
        list[str] | None, typer.Option("--input", "-i", help="name=value, a JSON object, or @file.json; repeatable.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="Use this model (provider/name) instead of the file's.")] = None,
    transcript: Annotated[bool, typer.Option("--transcript", help="Show every message of the run.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Run a workflow once and show its answer, exit reason, calls, tokens, cost and latency."""
    compiled = loopworth.compile(file, model=None if model is None else named(model))
    answers = given(input or (), compiled.input.schema)
    traceback = bool(ctx.find_root().params.get("traceback"))

    def tell(outcome: Outcome) -> int:
        if as_json:
            write_json(report(outcome))
        else:
            show(outcome, transcript)
        if outcome.traceback and traceback:
            complain(outcome.traceback)
        return of_exit(outcome.exit)

    finish(loopworth.run(compiled, answers, ask=TerminalGate()), tell)


def named(model: str) -> str:
    """The name of a model that can be asked."""
    for _, what, instead in spec_faults(ModelSpec(model)):
        raise UserFault(f"--model {model}: {what}\n    {instead}".rstrip())
    return model


def report(outcome: Outcome) -> dict[str, Any]:
    """Everything a run left, for `--json`. What is unknown is null, never 0."""
    return {
        "answer": outcome.answer,
        "exit": outcome.exit,
        "note": outcome.note,
        "route": outcome.route,
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


def show(outcome: Outcome, transcript: bool) -> None:
    console = output()
    if transcript:
        for said in outcome.transcript:
            console.print(line(said), soft_wrap=True)
        console.print()
    for name, value in facts(outcome).items():
        console.print(Text(f"{name:<9}", "dim").append_text(indented(value)), soft_wrap=True)


def facts(outcome: Outcome) -> dict[str, Text]:
    """What a person wants to know of a run, in reading order; what does not apply is left out."""
    rows = {
        "answer": shown(outcome.answer) if outcome.answered else Text("none", "dim"),
        "exit": Text(outcome.exit, "green" if outcome.exit == "success" else "red"),
        "why": shown(outcome.note),
        "route": shown(outcome.route or "", lines=False),
        "calls": Text(f"{outcome.model_calls} model, {outcome.tool_calls} tool"),
        "tokens": Text(tokens(outcome.usage)),
        "cost": Text(cost(outcome)),
        "latency": Text(f"{outcome.latency:.2f} s"),
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
    """US dollars; *unknown* is not 0, and a run without a billed call says so."""
    usd = outcome.usage.usd
    if usd is None:
        return "unknown"
    return f"${usd:.6f}".rstrip("0").rstrip(".") if usd else "$0 (nothing was billed)"


def line(said: Said) -> Text:
    """One message of a transcript: where, who, what."""
    role = str(said.message.get("role", "?"))
    text = Text().append_text(shown(said.at or "-", "dim", lines=False)).append("  ")
    return text.append_text(shown(role, "bold", lines=False)).append("  ").append_text(shown(content(said.message)))


def content(message: Message) -> str:
    """A message's text and its tool calls; parts that are not text are named by their type."""
    parts = message.get("content")
    if isinstance(parts, list):
        parts = " ".join(str(p.get("text") or f"[{p.get('type')}]") if isinstance(p, dict) else str(p) for p in parts)
    calls = [call.get("function", {}) for call in message.get("tool_calls") or ()]
    made = [f"{call.get('name')}({arguments(call.get('arguments'))})" for call in calls]
    return "\n".join(filter(None, [str(parts or ""), *made]))


def arguments(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)
