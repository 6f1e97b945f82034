"""What a judge left in a run: what it was sent, its calls, and its ruling."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeAlias

import msgspec

from loopworth.comparisons.scores import Score
from loopworth.runs.events import ModelCalled
from loopworth.runs.outcome import Outcome
from loopworth.runs.usage import Usage, Value
from loopworth.workflows.document import plain

PLACE = "~judge"
"""Where in a run the judge is asked; no step has such a name."""
UNJUDGED = "not scored: "
"""How the note of a row begins that the judge gave no verdict on."""
UNREACHED = f"{UNJUDGED}provider_error"
"""How it begins where its endpoint failed, so that it may be asked again."""
SPLIT = "the judge passes it in one order only"
Word: TypeAlias = Literal["pass", "fail"]


class Ruling(Value, frozen=True):
    """What the judge said of one answer: a verdict for each order that it gave one in, or the `error` instead. `after`
    is how many seconds the run itself had taken then."""

    verdicts: tuple[Word, ...] = ()
    reason: str = ""
    error: str = ""
    after: float | None = None

    @property
    def score(self) -> Score:
        if self.error or len(self.verdicts) < 2:
            return Score(None, f"{UNJUDGED}{self.error or 'the judge was not asked'}")
        if len(set(self.verdicts)) > 1:
            return Score(False, f"{SPLIT}: {self.reason}")
        right = self.verdicts[0] == "pass"
        return Score(right, "" if right else f"the judge: {self.reason}")


def ruling_in(outcome: Outcome) -> Ruling:
    """The judge's ruling on a run."""
    said = next((one.message["content"] for one in outcome.transcript if one.at == PLACE), None)
    return Ruling() if said is None else msgspec.json.decode(said, type=Ruling)


def was_judged(outcome: Outcome) -> bool:
    """Whether a judge was to say something of a run, whatever came of that."""
    return any(said.at == PLACE for said in outcome.transcript)


def asked_in(outcome: Outcome) -> Iterator[tuple[str, dict[str, Any]]]:
    """What a judge was sent of a run, in either order: the system's message, and the JSON of the other."""
    for place in (f"{PLACE}/1", f"{PLACE}/2"):
        texts = [str(said.message["content"]) for said in outcome.transcript if said.at == place]
        if len(texts) > 1:
            yield texts[0], json.loads(texts[1])


def asked_of(outcome: Outcome) -> str:
    """What it was asked, in words of its own that are the same in either order; "" where it was not."""
    return next((told_of(sent) for _, sent in asked_in(outcome)), "")


def told_of(parts: Mapping[str, Any]) -> str:
    """What the judge is told of a task, an answer and the like; no order counts."""
    return json.dumps(json.loads(data(parts)), sort_keys=True)


def calls_of_judge(outcome: Outcome) -> list[ModelCalled]:
    if not asked_last(outcome):
        return []
    return [event for event in outcome.events if type(event) is ModelCalled and part_of_judge(event.at)]


def part_of_judge(at: str) -> bool:
    """Whether an event or a message is the judge's."""
    return at == PLACE or at.startswith(f"{PLACE}/")


def asked_last(outcome: Outcome) -> bool:
    """Whether the last of a run was a judge's, which is all that need be looked at."""
    return any(some and part_of_judge(some[-1].at) for some in (outcome.events, outcome.transcript))


def without_judge(outcome: Outcome) -> Outcome:
    """The run alone: it ended where the judge began. The same object where no judge was to be asked."""
    if not asked_last(outcome):
        return outcome
    after = ruling_in(outcome).after
    if after is None:  # it was cut short, or is of an older version
        after = min((call.began for call in calls_of_judge(outcome)), default=outcome.seconds)
    return msgspec.structs.replace(
        outcome,
        events=[event for event in outcome.events if not part_of_judge(event.at)],
        transcript=[said for said in outcome.transcript if not part_of_judge(said.at)],
        seconds=min(after, outcome.seconds),
    )


def ruled_as(outcome: Outcome, recorded: Outcome | None) -> Outcome:
    """A replayed outcome with the recorded ruling, which tells the seconds and the words of then."""
    said = next((one for one in recorded.transcript if one.at == PLACE), None) if recorded is not None else None
    if said is None:
        return outcome
    return msgspec.structs.replace(outcome, transcript=[said if one.at == PLACE else one for one in outcome.transcript])


def judging(outcome: Outcome) -> tuple[int, Usage]:
    """The judge's model calls in a run, and what they used."""
    calls = calls_of_judge(outcome)
    return len(calls), sum((call.usage for call in calls), Usage())


def data(value: Any) -> str:
    """A value as ASCII JSON on one line."""
    return json.dumps(plain(value), default=str)
