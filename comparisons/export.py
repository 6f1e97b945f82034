"""A comparison as one JSON document: everything it was, did and found."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import msgspec

from loopworth.comparisons.curve import Curve
from loopworth.comparisons.report import Accuracy, Amount, ArmFigures, ControlFigures, Figures, Report, report
from loopworth.comparisons.result import Result
from loopworth.comparisons.tasks import Task
from loopworth.comparisons.trace import Trace
from loopworth.comparisons.trial import Trial, encoded
from loopworth.models.spec import ModelSpec
from loopworth.runs.secrets import hide
from loopworth.runs.usage import Usage
from loopworth.workflows.document import plain

SHOWN = ("loopworth", "openai", "instructor", "pydantic", "jinja2", "scipy", "numpy", "xllamacpp")
"""The packages whose versions can change a result."""


def to_json(result: Result) -> bytes:
    """Specification, provenance, order, every trial, all figures and the verdict, as UTF-8 JSON."""
    return bytes(encoded(hide(document(result))))


def document(result: Result) -> dict[str, Any]:
    found, comparison = report(result), result.comparison
    tasks = {task.id: task for task in comparison.tasks}
    return {
        "comparison": comparison.name,
        "file": comparison.file,
        "spec": comparison.spec,
        "seed": comparison.seed,
        "repeats": comparison.repeats,
        "provenance": provenance(result),
        "interrupted": result.interrupted,
        "stopped": result.stopped,
        "seconds": result.seconds,
        "usd": result.usd,
        "replayed": result.id if result.replayed else None,
        "recorded_usd": result.recorded_usd,
        "arms": [arm(one) for one in found.arms],
        **levels(found, comparison.group_by),
        "ends": list(map(msgspec.structs.asdict, found.ends)),
        "steps": list(map(msgspec.structs.asdict, found.steps)),
        "answer_seen": list(map(msgspec.structs.asdict, found.seen)),
        "batching": [{**msgspec.structs.asdict(one), "source": "estimated"} for one in found.batching],
        "differences": [] if result.verdict is None else result.verdict.arms,
        "verdict": result.verdict,
        "controls": [control(one) for one in found.controls],
        "stopped_early": stopped_early(result),
        "warnings": found.warnings,
        "words": found.words,
        "order": result.order,
        "trials": [trial(one, tasks[one.task]) for one in result.trials],
    }


def control(found: ControlFigures) -> dict[str, Any]:
    fields = msgspec.structs.asdict(found)
    return {**fields, "figures": figures(found.figures), "agent": figures(found.agent)}


def stopped_early(result: Result) -> list[dict[str, Any]] | None:
    """What stopping early saved on each arm: runs that were not needed, and US dollars (estimated; null: unknown)."""
    if not result.spared:
        return None
    return [{"arm": s.arm, "made": s.made, "not_needed": s.runs, "usd_saved": s.usd} for s in result.spared]


def provenance(result: Result) -> dict[str, Any]:
    """What one needs to run it again, and to tell what has changed since."""
    specs = {key: spec for one in result.comparison.arms for key, spec in one.workflow.models.items()}
    return {
        "began": result.began,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "versions": {name: found for name in SHOWN if (found := installed(name))},
        "files": result.comparison.files,
        "models": [model(key, spec, result.prepared) for key, spec in specs.items()],
    }


def installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def model(key: str, spec: ModelSpec, prepared: Mapping[str, float]) -> dict[str, Any]:
    """A model as the files name it; its key is in every event of it."""
    return {"key": key, "prepared_seconds": prepared.get(key), **msgspec.structs.asdict(spec)}


def arm(found: ArmFigures) -> dict[str, Any]:
    return {
        "arm": found.arm,
        "shape": found.shape,
        "protocols": found.protocols,
        "models": found.models,
        "billed": found.billed,
        "changed": found.differences,
        "planned": found.planned,
        "made": found.made,
        "selected": found.selected,
        **figures(found.figures),
        "answered": found.answered,
        "passes": [msgspec.structs.asdict(one) for one in found.passes],
        "latency": {"p50": found.p50, "p95": found.p95, "note": found.p95_words},
        "exits": found.exits,
        "apart": found.apart,
        "route": None if found.route is None else accuracy(found.route),
        "routes": [{"expected": expected, "taken": taken or None, "n": n} for expected, taken, n in found.routes],
    }


def figures(found: Figures) -> dict[str, Any]:
    return {
        "accuracy": accuracy(found.accuracy),
        "model_calls": found.model_calls,
        "tool_calls": found.tool_calls,
        "tokens": amount(found.tokens),
        "usd": amount(found.usd),
    }


def accuracy(found: Accuracy) -> dict[str, Any]:
    return msgspec.structs.asdict(found)


def amount(found: Amount) -> dict[str, Any]:
    return {"mean": found.mean, **msgspec.structs.asdict(found)}


def levels(found: Report, group: str | None) -> dict[str, Any]:
    """The figures by `group_by`, where the file asks for them."""
    if group is None:
        return {}
    rows = [{"level": one.level, "arm": one.arm, **figures(one.figures)} for one in found.levels]
    curves = [curve(one) for one in found.curves]
    return {"group_by": group, "levels": rows, "curves": curves, "accepted": found.accepted}


def curve(found: Curve) -> dict[str, Any]:
    return {
        "arm": found.arm,
        "points": [msgspec.structs.asdict(point) for point in found.points],
        "trend": found.trend and found.trend._asdict(),
        "fit": found.fit and msgspec.structs.asdict(found.fit),
        "words": found.words,
    }


def trial(one: Trial, task: Task) -> dict[str, Any]:
    """A trial, with its task's expected answer beside what was answered."""
    fields = msgspec.structs.asdict(one)
    trace: Trace = fields.pop("trace")
    return {
        **fields,
        "expected": plain(task.expected),
        "expected_route": task.expected_route,
        "usage": usage(one.usage),
        "answered": trace.answered,
        "calls_after_answer_seen": trace.after,
    }


def usage(used: Usage) -> dict[str, Any]:
    return {**msgspec.structs.asdict(used), "tokens": used.tokens}
