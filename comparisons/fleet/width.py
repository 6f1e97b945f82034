"""How many runs may be under way on all workers together: an endpoint takes no more calls of a fleet than of one host.

Arms that share an endpoint share a queue. Of an endpoint that takes 8 calls at once, 8 chunks are under way at once,
each with one run after another; of one that takes 64, 8 with 8 runs at once.
"""

from __future__ import annotations

from collections.abc import Iterable

from loopworth.comparisons.arms import Arm
from loopworth.comparisons.endpoints import WITHOUT_MODEL
from loopworth.models import ModelSpec
from loopworth.models.opening import address
from loopworth.models.providers import OWN
from loopworth.runs.journal import digest
from loopworth.runs.usage import Value

SPREAD = 8
"""The most chunks that one bound is divided into."""


class Width(Value, frozen=True):
    """A queue, how many of its chunks may be under way at once (None: as many as workers take), and how many runs of
    each."""

    queue: str
    chunks: int | None
    runs: int


def widths(arms: Iterable[Arm]) -> dict[str, Width]:
    """Each arm's; arms that reach an endpoint in common have the same."""
    found = dict[str, Width]()
    for group in sharing(arms):
        specs = [spec for arm in group for spec in arm.workflow.models.values()]
        for arm in group:
            found[arm.name] = width(specs)
    return found


def sharing(arms: Iterable[Arm]) -> list[list[Arm]]:
    """The arms in groups that have no endpoint in common."""
    groups = list[tuple[set[str], list[Arm]]]()
    for arm in arms:
        ends, members = {endpoint(spec) for spec in arm.workflow.models.values()}, [arm]
        for group in [group for group in groups if group[0] & ends or not (group[0] or ends)]:
            groups.remove(group)
            ends, members = ends | group[0], group[1] + members
        groups.append((ends, members))
    return [members for _, members in groups]


def width(specs: list[ModelSpec]) -> Width:
    most = min((spec.concurrency or spec.traits.concurrency for spec in specs), default=WITHOUT_MODEL)
    shared = sorted({endpoint(spec) for spec in specs if spec.provider not in OWN})
    if not shared:
        return Width(f"runs-own-{most}", None, most)
    chunks = min(most, SPREAD)
    return Width(f"runs-{digest(shared)}", chunks, most // chunks)


def endpoint(spec: ModelSpec) -> str:
    """Where a model is."""
    return spec.provider if spec.provider in OWN else address(spec)
