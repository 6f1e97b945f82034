"""Everything that can happen in a run, one small class each. All that is reported is a fold over these.

`at` is the effect's id or the place's path, and (type, at) is unique in a run. Times are seconds on the run's clock.
"""

from __future__ import annotations

from typing import TypeAlias

from loopworth.runs.exit import Exit
from loopworth.runs.message import Attempt
from loopworth.runs.usage import Usage, Value


class Event(Value, frozen=True, tag=True):
    at: str


class ModelCalled(Event, frozen=True):
    """A model was asked. `finish` is the reply's, or `cancelled`, or the exit reason of an endpoint that failed.

    `seconds` is the whole span since `began`; `waits` are the parts of it spent queueing or sleeping off a rate limit.
    `note` is the reply's: why it ended badly, or a finish reason that nobody knows; so are `warnings`.
    """

    model: str = ""
    usage: Usage = Usage()
    finish: str = "stop"
    began: float = 0.0
    seconds: float = 0.0
    attempts: tuple[Attempt, ...] = ()
    waits: tuple[tuple[float, float], ...] = ()
    note: str = ""
    warnings: tuple[str, ...] = ()


class ToolCalled(Event, frozen=True):
    """A tool call got its one answer, whether or not the tool ran (`status`).

    `nested`: the tool is a workflow, whose own calls have events of their own.
    """

    tool: str = ""
    status: str = "ok"
    began: float = 0.0
    seconds: float = 0.0
    nested: bool = False


class GateAsked(Event, frozen=True):
    tool: str = ""


class GateDecided(Event, frozen=True):
    choice: str = ""
    by: str = ""


class StepDone(Event, frozen=True):
    """A pipeline step ended: `done`, `skipped`, `failed` or `waiting`."""

    state: str = "done"


class RouteTaken(Event, frozen=True):
    """A router chose. `rule` says how: `if`, `model`, `similarity`, `otherwise`; `said` is the model's own
    text, or the score, if it was asked."""

    label: str = ""
    rule: str = ""
    said: str = ""


class LimitHit(Event, frozen=True):
    """A limit was reached. `owner` is the path of the budget it belongs to ("" is the run's own)."""

    limit: str = ""
    owner: str = ""


class Compacted(Event, frozen=True):
    """Before this model call, results were left out of what the model sees; the record has them.

    `elided` are the ids of the calls. `before` and `after` are the estimated tokens of the request, and `uncached`
    those behind the first change, which the endpoint had read and has to read again.
    """

    elided: tuple[str, ...] = ()
    before: int = 0
    after: int = 0
    uncached: int = 0


class Spoke(Event, frozen=True):
    """A loop ended: the protocol that it spoke with the model, and how many tools it offered. `ignored` counts the
    replies without a call where the endpoint was told that one is required, `repeatable` are the tools that may be
    called again with the same."""

    protocol: str = ""
    model: str = ""
    tools: int = 0
    ignored: int = 0
    repeatable: tuple[str, ...] = ()


class GuardTripped(Event, frozen=True):
    """A guard ended a workflow. `on` is what it looked at: `input`, `call` or `answer`."""

    on: str = ""
    why: str = ""


class FellBack(Event, frozen=True):
    """A workflow ended for `exit`, and its `otherwise` ran at this place instead; `cause` is as in an outcome."""

    exit: Exit
    note: str = ""
    cause: Exit | None = None


AnyEvent: TypeAlias = (
    ModelCalled
    | ToolCalled
    | GateAsked
    | GateDecided
    | StepDone
    | RouteTaken
    | LimitHit
    | Compacted
    | Spoke
    | GuardTripped
    | FellBack
)
