"""What is still to be run, and what is settled, where a comparison stops early (`stop_early: true`).

Every arm meets the units (tasks, or clusters of them) in one seeded order. A pair of arms is read in that order; a unit
that an endpoint broke is read at the end of its stage. What is settled depends on the trials alone, not on when they
ended, so that a comparison that goes on, or is replayed, settles as it did.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from math import inf
from statistics import fmean

import msgspec

from loopworth.comparisons.comparison import Comparison
from loopworth.comparisons.evidence import Evidence
from loopworth.comparisons.failures_gate import Gate
from loopworth.comparisons.pair_reading import Measure, Reading, measure
from loopworth.comparisons.power import gain_gate
from loopworth.comparisons.repeats import Alike, missing
from loopworth.comparisons.result import Result, Spared, known_costs, measured
from loopworth.comparisons.schedule import Planned, rotated, units
from loopworth.comparisons.sequential import GATE, Course, Running, Shut, split
from loopworth.comparisons.trial import Trial
from loopworth.comparisons.verdict import EARNS, Match, Measured, Verdict, decide, judge, paired, share

DEARER = 3.0
"""How many times as much as the holder an arm must be expected to cost for a gate to pay."""


class Stopping:
    """A comparison that stops early, under way or over."""

    def __init__(self, comparison: Comparison) -> None:
        self.comparison, self.rule = comparison, comparison.rule
        self.names = [arm.name for arm in comparison.arms]
        self.error = share(self.rule.error, len(self.names))
        self.units = units(comparison.stages, comparison.seed, comparison.clusters)
        stage_units = (len(units([stage], 0, comparison.clusters)) for stage in comparison.stages)
        self.ends = list(accumulate(stage_units))
        self.planned = self.ends[0]
        self.runs: dict[tuple[str, str], dict[int, Trial]] = {}
        self.measures: dict[tuple[str, str], Measure] = {}
        self.trials: dict[tuple[Planned, int], Trial] = {}
        self.alike = Alike(comparison)
        self.started: set[Planned] = set()
        self.gates = dict(self.gated())
        self.queues = {name: self.queue(name) for name in self.names}
        self.heads = {name: next(queue, None) for name, queue in self.queues.items()}
        self.readings: dict[tuple[str, str], Reading] = {}
        self.walk = self.walked()

    def gated(self) -> Iterator[tuple[str, Gate]]:
        """The gates of the arms that are dear enough, where the tasks are enough for one and each is run once."""
        comparison, delta = self.comparison, self.rule.stated_gain
        if delta is None or comparison.repeats > 1 or comparison.clusters:
            return
        most = gain_gate(self.planned, delta, GATE * self.error)
        for arm in comparison.arms[1:]:
            if most >= 0 and arm.dearer(comparison.arms[0], DEARER):
                yield arm.name, Gate(comparison.stages[0], most)

    def queue(self, arm: str) -> Iterator[tuple[int, Planned]]:
        """All runs of an arm in order, each with the place of its unit: a task's repeats follow each other."""
        repeats = range(self.comparison.repeats)
        return ((at, Planned(arm, task, r)) for at, unit in enumerate(self.units) for task in unit for r in repeats)

    # -- what was run -------------------------------------------------------------------------------------------------

    def take(self, trial: Trial) -> None:
        """A run has ended."""
        self.started.add(trial.planned)
        self.trials[trial.planned, trial.attempt] = trial
        self.runs.setdefault((trial.arm, trial.task), {})[trial.repeat] = trial
        shown = self.alike.take(trial)
        for task in [task for arm, task in self.runs if arm == trial.arm] if shown else [trial.task]:
            self.meet(trial.arm, task)
        for reading in self.walk:
            if trial.arm in (reading.arm, reading.holder):
                self.read_on(reading)
        self.walk = self.walked()

    def meet(self, arm: str, task: str) -> None:
        """An arm has met a task once all its runs on it have ended; of one that always does the same the first is
        enough."""
        runs = self.runs[arm, task]
        once = arm in self.alike.shown
        if (0 not in runs) if once else len(runs) < self.comparison.repeats:
            return
        found = self.measures[arm, task] = measure([runs[0]] if once else list(runs.values()))
        if found.final:
            self.tell_gates(arm, task, found.right)

    def tell_gates(self, arm: str, task: str, right: float | None) -> None:
        """What an arm came to on a task, once nothing of it is to be made again."""
        for name, gate in self.gates.items():
            if arm == self.names[0]:
                gate.holder(task, right)
            elif arm == name:
                gate.arm(task, right)

    def read_on(self, reading: Reading) -> None:
        """Read the units that both arms have met, in order."""
        while not self.settled(reading):
            if reading.place in self.ends and reading.closed < reading.place and not self.close(reading):
                return
            if reading.place == len(self.units):
                return
            both = self.both(reading, reading.place)
            if both is None:
                return
            if any(one.late for two in both for one in two):
                reading.late.append(reading.place)
            else:
                self.read(reading, reading.place)
            reading.place += 1

    def both(self, reading: Reading, place: int) -> list[tuple[Measure, Measure]] | None:
        """Both arms on each task of a unit; None while there is one that they have not both met."""
        found = []
        for task in self.units[place]:
            arm, holder = (self.measures.get((name, task)) for name in (reading.arm, reading.holder))
            if arm is None or holder is None:
                return None
            found.append((arm, holder))
        return found

    def read(self, reading: Reading, place: int) -> None:
        price = self.rule.price if self.rule.stated_gain is None else None
        found = [reading.add(arm, holder, price) for arm, holder in self.both(reading, place) or ()]
        pairs = [one for one in found if one is not None]
        if not pairs:
            reading.dropped.append(place)
            return
        reading.read.append(place)
        costs = [more for _, more in pairs if more is not None]
        reading.course.read(fmean(x for x, _ in pairs), fmean(costs) if len(costs) == len(pairs) else None)

    def close(self, reading: Reading) -> bool:
        """The end of a stage: the units that an endpoint broke, and after the first stage the look."""
        late = [one for place in reading.late for two in self.both(reading, place) or () for one in two]
        if not all(one.final for one in late):
            return False
        while reading.late and not self.settled(reading):
            self.read(reading, reading.late.pop(0))
        reading.closed = reading.place
        if reading.place == self.planned and reading.looked is None:
            reading.looked = len(reading.read)
            reading.course.look()
        return True

    def give_up(self) -> bool:
        """What an endpoint failed is not made again before the comparison goes on. Whether any of it was missing."""
        lost = {key: one for key, one in self.measures.items() if not one.final}
        self.measures |= {key: msgspec.structs.replace(one, final=True) for key, one in lost.items()}
        for (arm, task), one in lost.items():
            self.tell_gates(arm, task, one.right)
        for reading in self.walk if lost else ():
            self.read_on(reading)
        self.walk = self.walked()
        return bool(lost)

    # -- what is settled ----------------------------------------------------------------------------------------------

    def walked(self) -> list[Reading]:
        """Each challenger against whichever arm holds the place by what was read so far."""
        holder, walk = self.names[0], list[Reading]()
        for name in self.names[1:]:
            walk.append(self.reading(name, holder))
            holder = name if self.takes(walk[-1]) else holder
        return walk

    def reading(self, arm: str, holder: str) -> Reading:
        key = (arm, holder)
        if key not in self.readings:
            gated = holder == self.names[0] and arm in self.gates
            shares, most = split(self.error, self.planned, gated), (self.most(arm), self.most(holder))
            reading = self.readings[key] = Reading(arm, holder, Course(shares, self.rule.stated_gain, most))
            self.read_on(reading)
        return self.readings[key]

    def most(self, arm: str) -> float:
        """What a run of the arm may cost, as a gain of accuracy."""
        caps = next(one.most for one in self.comparison.arms if one.name == arm)
        return inf if self.rule.price is None else self.rule.price.most(*caps)

    def takes(self, reading: Reading) -> bool:
        """Whether the arm has earned the place."""
        if reading.taken is None and self.settled(reading):
            found = reading.course.found == "earns" and not self.capped
            reading.taken = found or (self.complete(reading) and self.judged(reading))
        return bool(reading.taken)

    def judged(self, reading: Reading) -> bool:
        by_arm = {one.arm: one for one in self.measured()}
        return judge(self.match(by_arm[reading.arm], by_arm[reading.holder]), self.rule, False).token in EARNS

    @property
    def capped(self) -> bool:
        """Whether an arm has more to show than its answers; the caps are looked at once, at the end of the stage."""
        return any(cap is not None for cap in (self.rule.max_cost_ratio, self.rule.max_p95, self.rule.max_harm))

    def complete(self, reading: Reading) -> bool:
        return reading.closed == len(self.units)

    def shut(self, reading: Reading) -> bool:
        return reading.holder == self.names[0] and reading.arm in self.gates and self.gates[reading.arm].shut

    def settled(self, reading: Reading) -> bool:
        """Whether no further run could change what is said of this pair, or none is left."""
        if self.complete(reading) or self.shut(reading):
            return True
        match reading.course.found:
            case "undecided":
                return False
            case "earns":
                return not self.capped
            case "suffices" if reading.cheaper:
                return False
        return reading.any_right and not reading.tied

    @property
    def over(self) -> bool:
        """Whether every pair that matters is settled."""
        return all(self.settled(reading) for reading in self.walk)

    # -- what is to be run --------------------------------------------------------------------------------------------

    def due(self, ahead: Mapping[str, int]) -> Planned | None:
        """The next run to start, of arms that may be so many units `ahead` of what was read."""
        heads = [head for arm, most in ahead.items() for head in self.head(arm, most)]
        turn = lambda head: (head[0], rotated(self.names, head[0]).index(head[1].arm))
        return min(heads, key=turn)[1] if heads else None

    def start(self, planned: Planned) -> None:
        self.started.add(planned)

    def head(self, arm: str, ahead: int) -> Iterator[tuple[int, Planned]]:
        """The run that this arm should make now, if any."""
        open = [reading for reading in self.walk if arm in (reading.arm, reading.holder) and not self.settled(reading)]
        gate = self.gates.get(arm) if any(r.arm == arm and r.holder == self.names[0] for r in open) else None
        if gate is not None and not gate.passed:
            if (planned := gate.due(arm, self.started)) is not None:
                yield -1, planned
            return
        while (head := self.heads[arm]) is not None and (head[1] in self.started or self.alike.skips(head[1])):
            self.heads[arm] = next(self.queues[arm], None)
        if head is None or not open:
            return
        waiting = (self.gates.get(reading.arm) for reading in open if reading.holder == arm == self.names[0])
        gates = any(gate is not None and not gate.passed for gate in waiting)
        if head[0] < min(reading.place for reading in open) + ahead or (gates and head[0] < self.planned):
            yield head

    # -- the verdict --------------------------------------------------------------------------------------------------

    def verdict(self) -> Verdict:
        """The verdict on what was run; nothing more will be."""
        self.give_up()
        for reading in list(self.readings.values()):
            self.read_on(reading)
        self.walk = self.walked()
        return decide(self.measured(), self.rule, match=self.match)

    def concluded(self, result: Result) -> Result:
        """The result with its verdict, what was spared, and which tasks the figures of each arm are of."""
        verdict = self.verdict()
        spared = tuple(self.spared(name, len(result.order) // len(self.names), result.final) for name in self.names)
        counted = {name: self.figured(name) for name in self.names}
        return result.but(verdict=verdict, spared=spared, counted=counted)

    def spared(self, arm: str, planned: int, trials: Sequence[Trial]) -> Spared:
        runs = [trial for trial in trials if trial.arm == arm]
        costs = known_costs(runs)
        left = planned - len(runs)
        usd = fmean(costs) * left if len(costs) == len(runs) and runs else self.assumed(arm, left)
        return Spared(arm, planned, len(runs), usd)

    def assumed(self, arm: str, runs: int) -> float | None:
        """What so many runs would cost by the arm's files."""
        made = next(one.estimate for one in self.comparison.arms if one.name == arm)
        return None if made is None or made.expected.usd is None else made.expected.usd * runs

    def figured(self, arm: str) -> frozenset[str] | None:
        """The tasks that an arm's figures are of; None where it ran on selected tasks alone."""
        if arm == self.names[0]:
            return frozenset(task.id for task in self.comparison.tasks)
        mine = [reading for reading in self.walk if arm in (reading.arm, reading.holder)]
        tasks = frozenset(task for reading in mine for task in self.counted(reading))
        selected = arm in self.gates and all(self.shut(reading) for reading in mine)
        return None if selected or not tasks else tasks

    def measured(self) -> list[Measured]:
        latest = {planned: trial for (planned, _), trial in sorted(self.trials.items(), key=lambda one: one[0][1])}
        return measured(self.comparison, latest.values())

    def match(self, arm: Measured, holder: Measured) -> Match:
        """Two arms on the tasks that count between them."""
        reading = self.reading(arm.arm, holder.arm)
        if self.shut(reading):
            return arm, holder, self.shut_gate(reading)
        tasks = self.counted(reading)
        arm, holder = (only(one, tasks) for one in (arm, holder))
        return arm, holder, self.evidence(reading, arm, holder)

    def evidence(self, reading: Reading, arm: Measured, holder: Measured) -> Evidence:
        pairs, course = paired(arm, holder, self.rule, self.comparison.clusters), reading.course
        return Running(pairs, self.error, course.shares, course.found, course.by, course.at, reading.looked)

    def counted(self, reading: Reading) -> list[str]:
        """The tasks that the verdict on a pair rests on, in the order in which they were read: up to where it was
        settled, and those that were left out on the way."""
        places = [*reading.read, *reading.dropped, *(place for place in reading.late if self.broken(reading, place))]
        return [task for place in places for task in self.units[place]]

    def broken(self, reading: Reading, place: int) -> bool:
        """Whether a unit stays without a pair that can be judged."""
        return all(arm.right is None or holder.right is None for arm, holder in self.both(reading, place) or ())

    def shut_gate(self, reading: Reading) -> Shut:
        gate = self.gates[reading.arm]
        return Shut(
            error=self.error,
            level=GATE * self.error,
            planned=gate.planned,
            failed=len(gate.failed),
            ran=gate.tried,
            gained=gate.gained,
            left_out=gate.missing,
            most=gate.most,
        )


def whole(comparison: Comparison, order: Iterable[Planned], trials: Iterable[Trial]) -> bool:
    """Whether nothing that was planned for the arms is left to be made, so that there is a verdict, also where an
    endpoint failed or a budget is spent: what was cut short and what an endpoint failed is to be made once more."""
    made = [trial for trial in trials if trial.exit != "cancelled"]
    if not comparison.early:
        return not missing(comparison, order, made)
    stopping, last = Stopping(comparison), {trial.planned: trial for trial in sorted(made, key=lambda one: one.attempt)}
    for trial in made:
        stopping.take(trial)
    if not any(trial.owed for trial in last.values()):
        stopping.give_up()
    return stopping.over


def only(one: Measured, tasks: Iterable[str]) -> Measured:
    """What an arm came to on these tasks."""
    kept = list(tasks)
    return msgspec.structs.replace(
        one,
        right={task: one.right.get(task) for task in kept},
        usd={task: one.usd.get(task) for task in kept},
        seconds={task: one.seconds[task] for task in kept if task in one.seconds},
        harmful=None if one.harmful is None else {t: one.harmful[t] for t in kept if t in one.harmful},
    )
