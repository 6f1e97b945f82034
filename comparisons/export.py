"""A comparison as one JSON document: everything it was, did and found."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import msgspec

from loopworth.comparisons.ablation import Ablation
from loopworth.comparisons.contrast import Contrast
from loopworth.comparisons.curve import Curve
from loopworth.comparisons.environment import environment
from loopworth.comparisons.figures import shown
from loopworth.comparisons.levels import level_text
from loopworth.comparisons.measures import Accuracy, Amount, Figures
from loopworth.comparisons.provenance import Source, Sources, every, told, weakest
from loopworth.comparisons.report import MEASURED, ArmFigures, ControlFigures, Judging, Recovery, Report, report
from loopworth.comparisons.result import Result
from loopworth.comparisons.spending import Batching, End, StepCost
from loopworth.comparisons.tasks import Task
from loopworth.comparisons.trace import Trace
from loopworth.comparisons.trial import Trial, encoded
from loopworth.comparisons.uncollected import uncollected
from loopworth.comparisons.verdict import Rule, Verdict
from loopworth.models.spec import ModelSpec
from loopworth.runs.secrets import hide
from loopworth.runs.usage import Usage
from loopworth.workflows.document import plain

MOST_ASKED = 120
"""Characters of a task's input."""


def to_json(result: Result) -> bytes:
    """Specification, provenance, order, every trial, all figures and the verdict, as UTF-8 JSON."""
    return bytes(encoded(hide(document(result))))


def read(document: bytes) -> dict[str, Any]:
    """What `to_json` wrote, also with halves of surrogate pairs, which msgspec does not read. Raises ValueError, and
    RecursionError where it lies deeper than any comparison."""
    with uncollected():
        try:
            found = msgspec.json.decode(document)
        except msgspec.DecodeError:
            found = json.loads(document)
    return found if isinstance(found, dict) else {}


def document(result: Result) -> dict[str, Any]:
    found, comparison = report(result), result.comparison
    panel = found.judging.sources if found.judging is not None else MEASURED
    tasks = {task.id: task for task in comparison.tasks}
    origin = {one.arm: one.sources for one in found.arms}
    verdict = None if result.verdict is None else judged(result.verdict, origin, comparison.rule)
    return {
        "comparison": comparison.name,
        "id": result.id or None,
        "file": comparison.file,
        "spec": comparison.spec,
        "seed": comparison.seed,
        "repeats": comparison.repeats,
        "provenance": provenance(result, every((*origin.values(), panel))),
        "interrupted": result.interrupted,
        "stopped": result.stopped,
        "seconds": result.seconds,
        "usd": result.usd,
        "replayed": result.id if result.replayed else None,
        "recorded_usd": result.recorded_usd,
        "arms": [arm(one) for one in found.arms],
        **levels(found, comparison.group_by, origin),
        "ends": [spent(one, origin[one.arm]) for one in found.ends],
        "steps": [spent(one, origin[one.arm]) for one in found.steps],
        "answer_seen": [told(msgspec.structs.asdict(one), origin[one.arm].counts) for one in found.seen],
        "batching": [batch(one, origin[one.arm]) for one in found.batching],
        "differences": [] if verdict is None else verdict["arms"],
        "verdict": verdict,
        "contrasts": [beside(one, every((origin[one.arm], origin[one.against]))) for one in found.contrasts],
        "pareto": [msgspec.structs.asdict(one) for one in found.standings],
        "any_differ": found.differ and told(found.differ._asdict(), every(origin.values()).counts),
        "ablation": [changed(one, every((origin[one.arm], origin[one.base]))) for one in found.ablation],
        "judge": found.judging and judge(found.judging, every((*origin.values(), panel))),
        "recoveries": [recovery(one, origin[one.arm]) for one in found.recoveries],
        "controls": [control(one, origin[one.of]) for one in found.controls],
        "stopped_early": stopped_early(result, origin),
        "warnings": found.warnings,
        "words": found.words,
        "order": result.order,
        "inputs": dict(inputs(result, tasks)),
        "trials": [trial(one, tasks[one.task], comparison.group_by, origin[one.arm], panel) for one in result.trials],
    }


def judged(verdict: Verdict, origin: Mapping[str, Sources], rule: Rule) -> dict[str, Any]:
    """The verdict: what each arm's rests on is as weak as the weaker of the two that it compares."""
    arms = []
    for one in verdict.arms:
        both = every((origin[one.arm], origin[one.against]))
        points = both.counts if rule.stated_gain is not None else weakest(both.usd, "assumed")
        said: dict[str, Source] = dict.fromkeys(("error", "min_gain", "break_even"), "assumed")
        said |= {"more": "estimated", "earns_below": points, "suffices_above": points}
        arms.append(told(msgspec.structs.asdict(one), both.counts, **said))
    return {**msgspec.structs.asdict(verdict), "arms": arms}


def spent(found: End | StepCost, source: Sources) -> dict[str, Any]:
    return told(msgspec.structs.asdict(found), source.counts, tokens=source.tokens, usd=source.usd)


def beside(found: Contrast, source: Sources) -> dict[str, Any]:
    money = dict.fromkeys(("usd", "usd_median", "usd_per_right"), source.usd)
    return told(msgspec.structs.asdict(found), source.counts, **money)


def batch(found: Batching, source: Sources) -> dict[str, Any]:
    return told(msgspec.structs.asdict(found), source.counts, tokens="estimated", usd=weakest("estimated", source.usd))


def control(found: ControlFigures, source: Sources) -> dict[str, Any]:
    both = {name: spread(figures(getattr(found, name)), source) for name in ("figures", "agent")}
    return told({**msgspec.structs.asdict(found), **both}, source.counts)


def changed(found: Ablation, source: Sources) -> dict[str, Any]:
    """What an arm has otherwise than its base, and what that was worth."""
    return told(msgspec.structs.asdict(found), source.counts, usd=source.usd, changed="assumed")


def judge(found: Judging, source: Sources) -> dict[str, Any]:
    """Whose word every `right` is: an LLM's, with how far it agrees with people."""
    known = found.agreement
    agreed = {
        **msgspec.structs.asdict(known),
        "share": known.share,
        "interval": known.interval,
        "kappa": known.kappa,
        "kappa_interval": known.kappa_interval,
    }
    fields = {**msgspec.structs.asdict(found), "agreement": agreed}
    own: Sources = fields.pop("sources")
    return told(fields, source.counts, tokens=own.tokens, usd=own.usd)


def recovery(found: Recovery, source: Sources) -> dict[str, Any]:
    both = {name: accuracy(getattr(found, name)) for name in ("struck", "others")}
    return told({**msgspec.structs.asdict(found), **both}, source.counts)


def stopped_early(result: Result, origin: Mapping[str, Sources]) -> list[dict[str, Any]] | None:
    """What stopping early saved on each arm: runs that were not needed, and US dollars (null: unknown)."""
    if not result.spared:
        return None
    found = []
    for one in result.spared:
        saved = {"arm": one.arm, "made": one.made, "not_needed": one.runs, "usd_saved": one.usd}
        usd = weakest("estimated" if one.made else "assumed", origin[one.arm].usd)
        found.append(told(saved, origin[one.arm].counts, usd_saved=usd))
    return found


def provenance(result: Result, source: Sources) -> dict[str, Any]:
    """What one needs to run it again, and to tell what has changed since; under `numbers` where those of the document
    itself are from. The `environment` is that of the run; of one that kept none it is where it was told again."""
    written: dict[str, Source] = dict.fromkeys(("seed", "repeats", "spec", "order"), "assumed")
    specs = {key: spec for one in result.comparison.arms for key, spec in one.workflow.models.items()}
    specs |= {} if (judge := result.comparison.panel) is None else {judge.model.key: judge.model}
    return {
        "began": result.began,
        **(result.environment or environment()),
        "environment": "told again" if result.replayed and not result.environment else "run",
        "files": result.comparison.files,
        "models": [model(key, spec, result.prepared) for key, spec in specs.items()],
        "numbers": {**written, "seconds": source.counts, "usd": source.usd, "recorded_usd": source.usd},
    }


def model(key: str, spec: ModelSpec, prepared: Mapping[str, float]) -> dict[str, Any]:
    """A model as the files name it; its key is in every event of it."""
    fields = {"key": key, "prepared_seconds": prepared.get(key), **msgspec.structs.asdict(spec)}
    return told(fields, "assumed", prepared_seconds="measured")


def spread(fields: dict[str, Any], source: Sources, **others: Source) -> dict[str, Any]:
    """A block with an arm's figures, each with its source."""
    return told(fields, source.counts, tokens=source.tokens, usd=source.usd, **others)


def arm(found: ArmFigures) -> dict[str, Any]:
    fields = {
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
        "latency": msgspec.structs.asdict(found.latency),
        "exits": found.exits,
        "apart": found.apart,
        "harm": None if found.harm is None else dict(zip(("harmful", "runs"), found.harm, strict=True)),
        "route": None if found.route is None else accuracy(found.route),
        "routes": [{"expected": expected, "taken": taken or None, "n": n} for expected, taken, n in found.routes],
    }
    return spread(fields, found.sources, planned="assumed", changed="assumed")


def figures(found: Figures) -> dict[str, Any]:
    return {
        "accuracy": accuracy(found.accuracy),
        "model_calls": found.model_calls,
        "model_calls_interval": found.model_calls_interval,
        "tool_calls": found.tool_calls,
        "tool_calls_interval": found.tool_calls_interval,
        "tokens": amount(found.tokens),
        "usd": amount(found.usd),
    }


def accuracy(found: Accuracy) -> dict[str, Any]:
    return msgspec.structs.asdict(found)


def amount(found: Amount) -> dict[str, Any]:
    return {"mean": found.mean, **msgspec.structs.asdict(found)}


def levels(found: Report, group: str | None, origin: Mapping[str, Sources]) -> dict[str, Any]:
    """The figures by `group_by`, where the file asks for them."""
    if group is None:
        return {}
    rows = [
        spread({"level": one.level, "arm": one.arm, **figures(one.figures)}, origin[one.arm]) for one in found.levels
    ]
    curves = [curve(one, origin[one.arm].counts) for one in found.curves]
    return {"group_by": group, "levels": rows, "curves": curves, "accepted": found.accepted}


def curve(found: Curve, source: Source) -> dict[str, Any]:
    fields = {
        "arm": found.arm,
        "points": [told(msgspec.structs.asdict(point), source, per_step="estimated") for point in found.points],
        "trend": found.trend and found.trend._asdict(),
        "fit": found.fit and msgspec.structs.asdict(found.fit),
        "words": found.words,
    }
    return told(fields, source, fit="estimated")


def trial(one: Trial, task: Task, group: str | None, source: Sources, panel: Sources) -> dict[str, Any]:
    """A trial, with its task's level of `group` and its expected answer beside what was answered."""
    fields = msgspec.structs.asdict(one)
    trace: Trace = fields.pop("trace")
    found = {
        **fields,
        "level": None if group is None else level_text(task.fields.get(group)),
        "expected": plain(task.expected),
        "expected_route": task.expected_route,
        "usage": usage(one.usage, source),
        "judging": usage(one.judging, panel) if one.judge_calls else None,
        "queued": one.queued,
        "answered": trace.answered,
        "calls_after_answer_seen": trace.after,
    }
    return told(found, source.counts)


def inputs(result: Result, tasks: Mapping[str, Task]) -> Iterator[tuple[str, str]]:
    """What each task that was run asks, on one line, shortened: transcripts have all of it."""
    columns = {name for arm in result.comparison.arms for name in arm.inputs}
    return ((id, asked(tasks[id], columns)) for id in dict.fromkeys(trial.task for trial in result.trials))


def asked(task: Task, columns: Collection[str]) -> str:
    """Its columns that an arm takes; where there are several, by name."""
    texts = {
        name: value if isinstance(value, str) else json.dumps(plain(value), ensure_ascii=False, default=str)
        for name, value in task.fields.items()
        if name in columns
    }
    lines = texts.values() if len(texts) == 1 else (f"{name}: {text}" for name, text in texts.items())
    return shown(", ".join(lines), MOST_ASKED)


def usage(used: Usage, source: Sources) -> dict[str, Any]:
    tokens = weakest(source.counts, "estimated" if used.estimated else source.counts)
    return told({**msgspec.structs.asdict(used), "tokens": used.tokens}, tokens, usd=weakest(tokens, source.price))
