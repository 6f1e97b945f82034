"""`faults:` of a comparison: failures put into the calls of a tool, the same for all arms.

Whether the n-th call of a tool in a run is struck depends on the seed, the task, the repeat and n alone, so that every
arm meets the same bad luck. A fake stands in a tool's place for a whole comparison; a fault comes and goes by call.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Any

from loopworth.comparisons import spec
from loopworth.runs.usage import Value
from loopworth.runs.world import Strike
from loopworth.workflows.document import plain


class Injected(Value, frozen=True):
    """The fault of one tool: what strikes, and which calls: a share of them, or the one call `at` (from 1)."""

    strike: Strike
    rate: float = 1.0
    at: int | None = None

    @property
    def words(self) -> str:
        """As the author wrote it."""
        strike = self.strike
        what = "" if strike.kind == "delay" else f"{strike.kind} {json.dumps(strike.what, ensure_ascii=False)}"
        delay = f"delay {strike.delay:g} s" if strike.delay else ""
        where = f"at call {self.at}" if self.at is not None else f"at a rate of {self.rate:g}"
        return f"{' after '.join(filter(None, (what, delay)))} {where}"


def injected(form: spec.Injected) -> Injected:
    """The fault that a file describes."""
    delay = form.delay or 0.0
    if form.error is not None:
        strike = Strike("error", form.error, delay)
    elif "value" in form.given:
        strike = Strike("value", plain(form.value), delay)
    else:
        strike = Strike("delay", None, delay)
    return Injected(strike, 1.0 if form.rate is None else form.rate, form.at_)


class Faults:
    """The faults of one run, which counts the calls of each tool."""

    def __init__(self, injected: Mapping[str, Injected], *run: Any) -> None:
        self.injected, self.run = injected, run
        self.calls = Counter[str]()

    def strike(self, tool: str) -> Strike | None:
        """What strikes the next call of a tool, if anything does."""
        one = self.injected.get(tool)
        if one is None:
            return None
        self.calls[tool] += 1
        n = self.calls[tool]
        struck = n == one.at if one.at is not None else drawn(*self.run, tool, n) < one.rate
        return one.strike if struck else None


def drawn(*key: Any) -> float:
    """A number from 0 to 1 (exclusive) that depends on the key alone."""
    return int.from_bytes(blake2b(json.dumps(key).encode(), digest_size=7).digest()) / (1 << 56)


def told_of(injected: Mapping[str, Injected]) -> Iterator[str]:
    """What the reader of a report has to know: its figures are those of a harder world."""
    if injected:
        said = "; ".join(f"{tool}: {one.words}" for tool, one in injected.items())
        yield f"faults were put into tools, in all arms alike: {said}; all figures and the verdict hold under these"
