"""Where each number of a comparison is from: it was measured, recorded, estimated or assumed.

    measured    counted, timed or told in these runs, and what is computed of such numbers alone
    recorded    the same in runs that were made before: of a log, a replay, a rescore
    estimated   told by a model of the world: tokens of a call that was cut, list prices, forecasts, accuracy per step
    assumed     said by an author: prices, the smallest gain, the error, a seed, what was planned

What rests on several is as weak as the weakest of them, in this order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from loopworth.models.providers import OWN
from loopworth.runs.usage import Value

if TYPE_CHECKING:
    from loopworth.comparisons.arms import Arm
    from loopworth.comparisons.judge import Judge
    from loopworth.comparisons.result import Result
    from loopworth.models.spec import ModelSpec

Source = Literal["measured", "recorded", "estimated", "assumed"]
ORDER: tuple[Source, ...] = ("measured", "recorded", "estimated", "assumed")


class Sources(Value, frozen=True):
    """Where an arm's counts (and times), tokens, prices and, out of these, US dollars are from."""

    counts: Source = "measured"
    tokens: Source = "measured"
    price: Source = "measured"

    @property
    def usd(self) -> Source:
        return weakest(self.tokens, self.price)


def weakest(*sources: Source) -> Source:
    return max(sources, key=ORDER.index, default="measured")


def sources(result: Result, arm: Arm) -> Sources:
    """Those of an arm's runs."""
    counts: Source = "recorded" if result.replayed or arm.log is not None else "measured"
    cut = any(trial.usage.estimated for trial in result.runs if trial.arm == arm.name)
    return Sources(counts, weakest(counts, "estimated" if cut else counts), priced(arm.workflow.models.values()))


def sources_of_judge(result: Result, judge: Judge) -> Sources:
    """Those of what an LLM judge used, whatever it judged."""
    counts: Source = "recorded" if result.replayed else "measured"
    cut = any(trial.judging.estimated for trial in result.runs)
    return Sources(counts, weakest(counts, "estimated" if cut else counts), priced([judge.model]))


def priced(models: Iterable[ModelSpec]) -> Source:
    """Where the prices of models are from: the files, or a list of list prices; nothing is assumed of what is not
    billed, nor of what a program says it cost."""
    specs = [spec for spec in models if spec.provider not in OWN]
    found: list[Source] = ["estimated" if spec.price is None else "assumed" for spec in specs]
    return weakest(*found)


def every(parts: Iterable[Sources]) -> Sources:
    """The weakest of several arms' sources."""
    found = list(parts)
    return Sources(*(weakest(*(getattr(one, name) for one in found)) for name in Sources.__struct_fields__))


def told(block: Mapping[str, Any], source: Source, **others: Source) -> dict[str, Any]:
    """The block with its `provenance`: where the numbers under each of its keys are from. Blocks inside it that say so
    themselves are left to it."""
    found = dict[str, Source]()
    for key, value in block.items():
        plain = PLAIN.get(type(value))
        if numeric(value) if plain is None else plain:
            found[key] = others.get(key, source)
    return {**block, "provenance": found}


PLAIN: Mapping[type, bool] = {int: True, float: True, msgspec.Raw: True, str: False, bool: False, type(None): False}
"""The kinds that nearly all values are of, and whether they are numbers: of 30,000 trials each value is asked."""


def numeric(value: Any) -> bool:
    """Whether there is a number in it, or may be: data that are encoded already are not looked into."""
    if isinstance(value, msgspec.Struct):
        value = [getattr(value, name) for name in value.__struct_fields__]
    if isinstance(value, Mapping):
        return "provenance" not in value and any(map(numeric, value.values()))
    if isinstance(value, list | tuple):
        return any(map(numeric, value))
    return isinstance(value, int | float | msgspec.Raw) and not isinstance(value, bool)
