"""How much the path of runs branches, and what a next arm to build would be.

A trace is a run's list of (tool, observation class). Replay shares leave out the run they judge, and a tie is a miss.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from math import log, log2
from typing import Literal, TypeAlias

from loopworth.runs.usage import Value

Step: TypeAlias = tuple[str, str]
Label = Literal["pipeline", "router", "constrained loop", "unexplained", "open loop"]
Decision: TypeAlias = tuple[Hashable, str]
"""What was known when a tool was chosen, and the tool; `END` where the run ended."""

END = ""
ENOUGH, FEW = 0.8, 16


class Branching(Value, frozen=True):
    """Entropies are in bits, all else in shares of runs (`step`, `step_blind`: of choices)."""

    distinct: int
    entropy_plugin: float
    entropy_miller_madow: float
    top1: float
    unseen: float
    replay_one_path: float
    replay_router: float
    replay_machine: float
    step: float
    step_blind: float
    label: Label


def branching(traces: Sequence[Sequence[Sequence[str]]], kinds: Sequence[str] | None = None) -> Branching | None:
    """The measures of some runs' paths and the structure they suggest; None without a run.

    `kinds` are the runs' kinds as known beforehand. Entropy after Miller 1955; unseen share after Good 1953,
    Biometrika 40:237. What the agent did is not what was needed: the comparison decides.
    """
    if not traces:
        return None
    runs, of_kind = [collapsed(trace) for trace in traces], list(kinds) if kinds else [""] * len(traces)
    paths = [tuple(tool for tool, _ in run) for run in runs]
    counts, n = Counter(paths), len(paths)
    entropy = plugin_entropy(counts.values())
    corrected = entropy + (len(counts) - 1) / (2 * n * log(2))
    seeing = [list(decisions(run, kind)) for run, kind in zip(runs, of_kind, strict=True)]
    blind = [list(decisions([(tool, "") for tool, _ in run], kind)) for run, kind in zip(runs, of_kind, strict=True)]
    hits = replayed(seeing)
    shares = {
        "replay_one_path": mean(all(run) for run in replayed([[("", path)] for path in map(str, paths)])),
        "replay_router": mean(
            all(run) for run in replayed([[(kind, str(path))] for kind, path in zip(of_kind, paths, strict=True)])
        ),
        "replay_machine": mean(all(run) for run in hits),
        "step": mean(hit for run in hits for hit in run),
        "step_blind": mean(hit for run in replayed(blind) for hit in run),
        "unseen": sum(count == 1 for count in counts.values()) / n,
    }
    return Branching(
        distinct=len(counts),
        entropy_plugin=entropy,
        entropy_miller_madow=corrected,
        top1=max(counts.values()) / n,
        label=structure(**shares, effective=2**corrected),
        **shares,
    )


def structure(
    replay_one_path: float,
    replay_router: float,
    replay_machine: float,
    step: float,
    step_blind: float,
    unseen: float,
    effective: float,
) -> Label:
    """The least structure that replays enough of the runs."""
    if replay_one_path >= ENOUGH:
        return "pipeline"
    if replay_router >= ENOUGH:
        return "router"
    if replay_machine >= ENOUGH or (step >= 0.9 and step - step_blind >= 0.05):
        return "constrained loop"
    if step >= 0.75 or (unseen <= 0.2 and effective <= FEW):
        return "unexplained"
    return "open loop"


def collapsed(trace: Sequence[Sequence[str]]) -> list[Step]:
    """The trace with an immediate retry of the same tool after an error counted once, as its last try."""
    steps: list[Step] = []
    for tool, seen in trace:
        if steps and steps[-1] == (tool, "error"):
            steps.pop()
        steps.append((tool, seen))
    return steps


def decisions(run: Sequence[Step], kind: str) -> Iterator[Decision]:
    """Each choice of a next tool, the end's too, with what a state machine would know then."""
    last: Step = ("", "")
    for step in run:
        yield (kind, *last), step[0]
        last = step
    yield (kind, *last), END


def replayed(runs: Sequence[Sequence[Decision]]) -> list[list[bool]]:
    """For each choice of each run, whether it is the one most often made in the same situation by the other runs."""
    counts: defaultdict[Hashable, Counter[str]] = defaultdict(Counter)
    for situation, choice in (decision for run in runs for decision in run):
        counts[situation][choice] += 1
    hits = []
    for run in runs:
        own: defaultdict[Hashable, Counter[str]] = defaultdict(Counter)
        for situation, choice in run:
            own[situation][choice] += 1
        hits.append([modal(counts[situation] - own[situation]) == choice for situation, choice in run])
    return hits


def modal(counts: Counter[str]) -> str | None:
    """The most frequent choice; None where there is none, or two that tie."""
    best = counts.most_common(2)
    return best[0][0] if best and (len(best) == 1 or best[0][1] > best[1][1]) else None


def observation_information(
    traces: Sequence[Sequence[Sequence[str]]], kinds: Sequence[str] | None = None
) -> float | None:
    """What the last observation tells of the next tool, given the tools so far and the kind: bits per choice, plug-in.

    It is biased upwards where prefixes are rare; None without a choice that follows an observation.
    """
    seen: list[tuple[Hashable, str, str]] = []
    for trace, kind in zip(traces, kinds or [""] * len(traces), strict=True):
        run = collapsed(trace)
        tools = [tool for tool, _ in run] + [END]
        seen += [((kind, *tools[: i + 1]), run[i][1], tools[i + 1]) for i in range(len(run))]
    if not seen:
        return None
    given_prefix = conditional_entropy((prefix, tool) for prefix, _, tool in seen)
    return given_prefix - conditional_entropy(((prefix, look), tool) for prefix, look, tool in seen)


def conditional_entropy(decisions: Iterable[Decision]) -> float:
    """H(choice | situation) in bits, plug-in."""
    groups: defaultdict[Hashable, Counter[str]] = defaultdict(Counter)
    for situation, choice in decisions:
        groups[situation][choice] += 1
    total = sum(counts.total() for counts in groups.values())
    return sum(counts.total() / total * plugin_entropy(counts.values()) for counts in groups.values())


def plugin_entropy(counts: Iterable[int]) -> float:
    """The entropy of observed shares, in bits."""
    values = list(counts)
    total = sum(values)
    return -sum(count / total * log2(count / total) for count in values if count) + 0.0


def mean(hits: Iterable[bool]) -> float:
    values = list(hits)
    return sum(values) / len(values) if values else 0.0
