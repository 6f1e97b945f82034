"""What a comparison can show, and what it may cost, before it is run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil, inf
from statistics import fmean
from typing import Any

import msgspec

from loopworth.comparisons.arms import Arm
from loopworth.comparisons.comparison import Comparison
from loopworth.comparisons.estimate import ITEMS, MAX_CHARS, REPLY, RESULT, TURNS, Load
from loopworth.comparisons.power import gain_gate, n_fixed
from loopworth.comparisons.provenance import Source, told
from loopworth.comparisons.sequential import GATE
from loopworth.comparisons.stopping import DEARER
from loopworth.comparisons.trial import Trial
from loopworth.comparisons.unanswered import End, unanswered
from loopworth.comparisons.verdict import MIN_GAIN, share
from loopworth.models.local import MOST_OUTPUT as MOST_EMBEDDED
from loopworth.runs.effects import MOST_OUTPUT
from loopworth.runs.exit import APART
from loopworth.runs.usage import Value

POWER, BANK = 0.8, 1.35
"""The chance with which a true gain is to be settled; how many more tasks the plan may need than one look."""
BESIDE = 0.05
"""The share of tasks on which the arms are assumed to differ beside the gain, where nothing is said of it."""
GAINS = (0.0, 0.2, 0.3, 0.4, 0.5)
MOST = 1 << 20
FAR = 5
"""How many times what is expected the most is worth an advice."""


class Needed(Value, frozen=True):
    """How many tasks settle a true gain with a chance of 80 %; None where it is too near the smallest gain worth
    having. `differ` is the share of tasks on which the arms differ."""

    gain: float
    differ: float
    tasks: int | None


class Cost(Value, frozen=True):
    """What all runs of an arm are expected to take, and may take at most. `source` says where the expectation is from:
    `assumed` (the arm's files), `estimated` (a pilot), or `unknown`. None is unknown, `inf` no limit."""

    arm: str
    runs: int
    calls: float | None
    tokens: float | None
    usd: float | None
    worst_calls: float | None
    worst_tokens: float | None
    worst_usd: float | None
    source: str

    def document(self) -> dict[str, Any]:
        expected: Source = "estimated" if self.source == "estimated" else "assumed"
        return told(msgspec.structs.asdict(self), "assumed", calls=expected, tokens=expected, usd=expected)


class Outlook(Value, frozen=True):
    """`settles` is the smallest true gain that this many tasks are likely to settle, None where none is; `notes` say
    which arms hardly answered in a pilot, and how the costs are reckoned."""

    tasks: int
    min_gain: float
    assumed_gain: bool
    error: float
    settles: float | None
    suffices: bool
    needed: tuple[Needed, ...]
    gates: dict[str, int]
    costs: tuple[Cost, ...]
    words: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def document(self, pilot_usd: float | None = None) -> dict[str, Any]:
        """It as JSON, with where each number is from: what n can show is estimated of an assumed rule."""
        facts = {**msgspec.structs.asdict(self), "pilot_usd": pilot_usd}
        facts["needed"] = [told(msgspec.structs.asdict(one), "estimated", differ="assumed") for one in self.needed]
        facts["costs"] = [one.document() for one in self.costs]
        written: dict[str, Source] = dict.fromkeys(("tasks", "min_gain", "error"), "assumed")
        return told(facts, "estimated", pilot_usd="measured", **written)


def outlook(comparison: Comparison, pilot: Sequence[Trial] = (), gain: float | None = None) -> Outlook:
    """What can be told beforehand; `pilot` are some runs that were made, `gain` a true gain to ask after."""
    n, error = len(comparison.tasks), share(comparison.rule.error, len(comparison.arms))
    stated = comparison.rule.stated_gain
    delta = MIN_GAIN if stated is None else stated
    bank = BANK if comparison.stop_early else 1.0
    settles = smallest(n, delta, error, bank)
    none = needed(0.0, delta, error, bank)
    found = Outlook(
        tasks=n,
        min_gain=delta,
        assumed_gain=stated is None,
        error=error,
        settles=settles,
        suffices=none.tasks is not None and none.tasks <= n,
        needed=tuple(needed(one, delta, error, bank) for one in (GAINS if gain is None else (gain,))),
        gates=gates(comparison, delta, error),
        costs=tuple(cost(comparison, arm, pilot) for arm in comparison.arms),
        words=(),
    )
    said = (*silences(comparison, pilot), *notes(found.costs))
    return msgspec.structs.replace(found, words=tuple(words(found)), notes=said)


def needed(gain: float, delta: float, error: float, bank: float) -> Needed:
    """The tasks for a true gain."""
    differ = min(1.0, abs(gain) + (BESIDE if gain else 2 * BESIDE))
    tasks = None if abs(gain - delta) < 1e-9 else n_fixed(gain, differ, delta, error, POWER)
    return Needed(gain, differ, None if tasks is None or tasks > MOST else ceil(tasks * bank))


def smallest(n: int, delta: float, error: float, bank: float) -> float | None:
    """The smallest gain above `delta`, in steps of .01, that n tasks are likely to settle."""
    steps = range(ceil(100 * delta) + 1, 101)
    enough = (step / 100 for step in steps if 0 < (needed(step / 100, delta, error, bank).tasks or inf) <= n)
    return next(enough, None)


def gates(comparison: Comparison, delta: float, error: float) -> dict[str, int]:
    """How many failures of the first arm leave the later ones nothing to gain, where a gate will be used."""
    if not comparison.stop_early or comparison.repeats > 1 or comparison.clusters or not comparison.tasks:
        return {}
    most = gain_gate(len(comparison.tasks), delta, GATE * error)
    first, *later = comparison.arms
    return {arm.name: most for arm in later if most >= 0 and arm.dearer(first, DEARER)}


def cost(comparison: Comparison, arm: Arm, pilot: Sequence[Trial]) -> Cost:
    """All runs of an arm; one that is logged costs nothing more."""
    runs = len(comparison.tasks) * comparison.repeats if arm.log is None else 0
    tried = [trial for trial in pilot if trial.arm == arm.name]
    worst = None if arm.estimate is None else arm.estimate.worst
    expected = seen(tried) if tried else None if arm.estimate is None else arm.estimate.expected
    calls, tokens, usd = scaled(expected, runs)
    worst_calls, worst_tokens, worst_usd = scaled(worst, runs)
    cap = comparison.limits.usd
    if cap is not None:
        worst_usd = cap if worst_usd is None else min(worst_usd, cap)
    source = "estimated" if tried else "unknown" if expected is None else "assumed"
    return Cost(arm.name, runs, calls, tokens, usd, worst_calls, worst_tokens, worst_usd, source)


def seen(trials: Sequence[Trial]) -> Load:
    """The mean of some runs."""
    tokens = [t.usage.tokens for t in trials if t.usage.tokens is not None]
    usd = [t.usage.usd for t in trials if t.usage.usd is not None]
    mean = fmean(usd) if len(usd) == len(trials) else None
    return Load(fmean(t.model_calls for t in trials), fmean(tokens) if tokens else 0.0, mean)


def scaled(load: Load | None, n: int) -> tuple[float | None, float | None, float | None]:
    """The calls, tokens and dollars of n runs; of none there is no limit to tell."""
    if load is None:
        return (None, None, None)
    return (times(load.calls, n), times(load.tokens, n), None if load.usd is None else times(load.usd, n))


def times(value: float, n: int) -> float:
    return value * n if value and n else 0.0


def silences(comparison: Comparison, pilot: Sequence[Trial]) -> Iterator[str]:
    """Which arms hardly answered in a pilot, and why: to be mended before the others are run."""
    for arm in comparison.arms:
        runs = [trial for trial in pilot if trial.arm == arm.name and trial.exit not in APART]
        if words := unanswered([End(run.exit, run.note, run.trace.answered) for run in runs]):
            yield f"{arm.name}: in the pilot {words}"


def notes(costs: Sequence[Cost]) -> Iterator[str]:
    """How the expected and the most are reckoned, and what makes the most less."""
    asked = [one for one in costs if one.runs and one.worst_tokens]
    if any(one.source == "assumed" for one in asked):
        yield (
            f"assumed: a loop takes half of its turns ({TURNS} where it has no limit), each of which sends all before "
            f"it; a reply is {REPLY} tokens, a result {RESULT}, a `for_each` has {ITEMS} items. `--pilot 3` measures."
        )
    if asked:
        yield (
            "at most: every turn is taken, a reply is as long as `max_tokens` allows (else "
            f"{MOST_OUTPUT:,} tokens, of the embedded model {MOST_EMBEDDED}), and of each result a model reads "
            f"`returns.max_chars` (else {MAX_CHARS:,} characters)."
        )
    wide = [one for one in asked if (one.worst_tokens or 0.0) > FAR * (one.tokens or 0.0)]
    if wide:
        arms = ", ".join(f"{one.arm} ({each(one)})" for one in wide)
        yield f"`budget: {{tokens: …}}` in the workflow makes it less, and every run is held to it: {arms}."


def each(one: Cost) -> str:
    most = (one.worst_tokens or 0.0) / one.runs
    return "no limit now" if most == inf else f"{most:,.0f} tokens a run now"


def words(found: Outlook) -> list[str]:
    """What n can show, in plain words."""
    n, delta = f"With {found.tasks:,} task{'' if found.tasks == 1 else 's'}", f"{found.min_gain:.3g}"
    said = []
    if not found.tasks:
        return ["There is no task, so nothing can be shown."]
    if found.settles is None:
        said.append(f"{n} no gain of any size is likely to be settled: every verdict would be undecided.")
    else:
        said.append(
            f"{n} only true gains of about {found.settles:.2f} or more are settled, with a chance of 80 %, where the "
            f"smallest gain worth having is {delta}."
        )
    enough = "is likely to be shown" if found.suffices else "is not likely to be shown"
    said.append(f"That the first arm suffices where there is no gain at all {enough}.")
    if found.assumed_gain:
        said.append(f"The smallest gain will follow from the prices and what the runs cost; {delta} is assumed here.")
    for arm, most in found.gates.items():
        said.append(f"If the first arm fails at most {most} of {found.tasks}, {arm} will not be run at all.")
    return said
