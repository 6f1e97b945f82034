"""One run of one arm on one task, and what it scored."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import blake2b
from typing import Any

import msgspec

from loopworth.comparisons.ruling import UNJUDGED, UNREACHED, judging, without_judge
from loopworth.comparisons.schedule import Planned
from loopworth.comparisons.scores import FAILED, Score
from loopworth.comparisons.trace import Trace
from loopworth.runs.exit import APART, Exit
from loopworth.runs.observation import Observation
from loopworth.runs.outcome import Outcome
from loopworth.runs.secrets import hide
from loopworth.runs.usage import Usage, Value

ENCODER = msgspec.json.Encoder(enc_hook=str)
NOTHING = msgspec.Raw(b"null")
UNTRACED = Trace()
UNUSED = Usage()


class Trial(Value, frozen=True):
    """What is left of a run. All figures of a report are folds over these.

    `right` is None where the run says nothing about its arm (`runs.outcome.APART`). `attempt` is 1 for the rerun of a
    provider error. `began` is when the run got its slot, in seconds since the comparison began: until then it queued.
    `latency` is `seconds` without what the run spent queueing or sleeping off a rate limit. `answer`, `transcript`,
    `events` and `calls` are JSON, encoded when the run ended, and null where nobody asked to keep them. `digest` is the
    same for runs that did the same, `warnings` what a reader should know of their replies. `judging` is what an LLM
    judge used on it, in so many `judge_calls`: no part of the run's own figures.
    """

    arm: str
    task: str
    repeat: int
    attempt: int
    exit: Exit
    note: str
    right: bool | None
    remark: str
    route: str | None
    model_calls: int
    tool_calls: int
    usage: Usage
    latency: float
    seconds: float
    began: float
    harmful: bool | None
    traceback: str
    answer: msgspec.Raw
    transcript: msgspec.Raw
    events: msgspec.Raw
    calls: msgspec.Raw
    trace: Trace = UNTRACED
    digest: str = ""
    warnings: tuple[str, ...] = ()
    judging: Usage = UNUSED
    judge_calls: int = 0

    @property
    def unscored(self) -> bool:
        """Whether it is wrong because the score of the user's own failed on it."""
        return self.remark.startswith(FAILED)

    @property
    def unjudged(self) -> bool:
        """Whether the judge gave no verdict on it: an error of the judge's, which says nothing about the arm."""
        return self.right is None and self.remark.startswith(UNJUDGED)

    @property
    def unreached(self) -> bool:
        """Whether that is because its endpoint failed: asked again, the judge may say something."""
        return self.right is None and self.remark.startswith(UNREACHED)

    @property
    def owed(self) -> bool:
        """Whether an endpoint failed it, so that it is to be made once more."""
        return self.exit == "provider_error" and not self.attempt

    @property
    def spent(self) -> Usage:
        """What the run used, and its judge."""
        return self.usage + self.judging if self.judge_calls else self.usage

    @property
    def queued(self) -> float:
        """Seconds that it waited: for its slot in the comparison, and then for its endpoint or a rate limit."""
        return self.began + max(0.0, self.seconds - self.latency)

    @property
    def planned(self) -> Planned:
        return Planned(self.arm, self.task, self.repeat)


def tried(
    planned: Planned,
    outcome: Outcome,
    score: Score | None,
    *,
    attempt: int = 0,
    began: float = 0.0,
    harmful: bool | None = None,
    keep: bool = True,
    trace: Trace = UNTRACED,
) -> Trial:
    """The trial that a run leaves; without a score it is counted apart."""
    (judge_calls, judge_used), outcome = judging(outcome), without_judge(outcome)
    return Trial(
        arm=planned.arm,
        task=planned.task,
        repeat=planned.repeat,
        attempt=attempt,
        exit=outcome.exit,
        note=clean(outcome.note),
        right=None if score is None else score.right,
        remark="" if score is None else clean(score.note),
        route=outcome.route,
        model_calls=outcome.model_calls,
        tool_calls=outcome.tool_calls,
        usage=outcome.usage,
        latency=outcome.latency,
        seconds=outcome.seconds,
        began=began,
        harmful=harmful,
        traceback=clean(outcome.traceback),
        answer=encoded(outcome.answer) if keep else NOTHING,
        transcript=encoded(outcome.transcript) if keep else NOTHING,
        events=encoded(outcome.events) if keep else NOTHING,
        calls=encoded(outcome.calls) if keep else NOTHING,
        trace=trace,
        digest=digest(outcome),
        warnings=tuple(map(clean, outcome.warnings)),
        judging=judge_used,
        judge_calls=judge_calls,
    )


def digest(outcome: Outcome) -> str:
    """Of what a run did: its answer and end, its calls, and the tokens that they took."""
    calls = [(call.tool, call.arguments, call.status) for call in outcome.calls]
    used = outcome.usage
    did = (outcome.answer, outcome.exit, outcome.route, calls, outcome.model_calls, (used.input, used.output))
    return blake2b(bytes(encoded(did)), digest_size=8).hexdigest()


class Left(Value, frozen=True):
    """What a run leaves for the controls: its answer, and what it found if it is the first on its task."""

    answer: Any = None
    found: tuple[Observation, ...] = ()


def left_by(planned: Planned, outcome: Outcome) -> Left:
    return Left(outcome.answer, () if planned.repeat else tuple(outcome.calls))


def scored(outcome: Outcome, judge: Callable[[Outcome], Score]) -> Score | None:
    """None for an end that says nothing about the arm; wrong without an answer; else as `judge` finds it."""
    if outcome.exit in APART:
        return None
    return judge(outcome) if outcome.answered else Score(False, f"no answer: {outcome.exit}")


def by_route(outcome: Outcome, expected: str) -> Score:
    """The score of a task that has an `expected_route` and no `expected`."""
    if outcome.route is None:
        return Score(False, f"no route was taken, expected {expected!r}")
    right = outcome.route == expected
    return Score(right, "" if right else f"took route {outcome.route!r}, expected {expected!r}")


def encoded(value: Any) -> msgspec.Raw:
    """JSON of anything a run leaves, also of the half surrogate pairs that a model may send."""
    try:
        return msgspec.Raw(ENCODER.encode(value))
    except UnicodeEncodeError:
        return msgspec.Raw(json.dumps(msgspec.to_builtins(value, enc_hook=decoded)).encode())


def decoded(value: Any) -> Any:
    """What msgspec has no form for: JSON that is already encoded, and what has only its text."""
    if not isinstance(value, msgspec.Raw):
        return str(value)
    try:
        return msgspec.json.decode(value)
    except msgspec.DecodeError:  # halves of surrogate pairs
        return json.loads(bytes(value))


def clean(text: str) -> str:
    """Text that can be written out: half surrogate pairs become question marks, and secrets are masked."""
    return hide(text).encode("utf-8", "replace").decode()
