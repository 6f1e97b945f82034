"""What a run left, for a person or as JSON."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from loopworth.cli.terminal import headed, output, shown
from loopworth.runs.events import ModelCalled
from loopworth.runs.figures import count, dollars
from loopworth.runs.outcome import Outcome
from loopworth.runs.usage import Usage


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
        "cause": outcome.cause,
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
        rows["cost"] = Text(f"nothing now: replayed; as recorded {cost(outcome)}")
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
    known = [count(usage.input), count(usage.output)]
    cached = f" ({usage.cached:,} cached)" if usage.cached else ""
    return f"{known[0]} in{cached}, {known[1]} out" + (" (at most: a call was cut)" if usage.estimated else "")


def cost(outcome: Outcome) -> str:
    """US dollars; what is *unknown* is not 0, and a run without a billed call says so."""
    calls = [event.usage.usd for event in outcome.events if type(event) is ModelCalled]
    known = [usd for usd in calls if usd is not None]
    if len(known) < len(calls):
        more = f"the cost of {len(calls) - len(known)} of {len(calls)} model calls is unknown"
        return f"at least {dollars(sum(known))}: {more}" if any(known) else "unknown"
    return dollars(sum(known))
