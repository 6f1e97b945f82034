"""How a run ended, and the signals that end one.

    Exception
    ├── Stop       a run's end that is not an answer: a limit, a refusal, an endpoint that is down
    ├── Waiting    a gate has no decision yet; the activation ends and a decision starts the next
    ├── Failed     a pipeline step failed, with its reason
    ├── Diverged   the journal holds another request under this id (a changed file, or a bug of ours)
    └── Fenced     a newer activation of this run owns the journal

`execute` (runs.executor) turns the first three into an `Outcome`; anything else is a bug and becomes `harness_error`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from loopworth.runs.events import AnyEvent, ModelCalled, RouteTaken, Spoke, ToolCalled
from loopworth.runs.exit import Exit
from loopworth.runs.message import Attempt, Message
from loopworth.runs.observation import RAN, Observation
from loopworth.runs.usage import Usage, Value


class Stop(Exception):
    """Ends a run with `exit`. `owner` is the path of the budget that was hit, or of the workflow whose guard tripped;
    None where it was no limit. `attempts` are the requests of an endpoint that failed."""

    def __init__(
        self, exit: Exit, owner: str | None = None, note: str = "", attempts: tuple[Attempt, ...] = ()
    ) -> None:
        super().__init__(exit, owner, note)
        self.exit: Exit = exit
        self.owner, self.note, self.attempts = owner, note, attempts

    def __str__(self) -> str:
        return f"{self.exit}: {self.note}" if self.note else self.exit


def passes(end: Exception, path: str) -> bool:
    """Whether the end of what ran at `path` is no failure of it, and so ends what it is part of: a limit of a budget
    above, a guard of the workflow around it, a person's no, an endpoint that is down."""
    if not isinstance(end, Stop):
        return False
    if end.owner is not None:
        return not end.owner.startswith(path)
    return end.exit in ("rejected", "provider_error", "guardrail")


class Waiting(Exception):
    """One or more gates wait for a person; `gates` are their effect ids, and `note` says why, where somebody was asked
    and nothing was decided."""

    def __init__(self, *gates: str, note: str = "") -> None:
        super().__init__(*gates)
        self.gates, self.note = gates, note


class Failed(Exception):
    """A pipeline step failed; the text names the step and the reason. `cause` is what it, or a step within it, ended
    for: `step_failed` itself where it failed for a reason of its own."""

    def __init__(self, why: str, cause: Exit = "step_failed") -> None:
        super().__init__(why)
        self.cause: Exit = cause


class Diverged(Exception):
    """A recorded effect was asked for with another request."""


class Fenced(Exception):
    """Another activation of this run has taken over its journal."""


class Said(Value, frozen=True):
    """One message of the transcript, and the place in the run where it was said."""

    at: str
    message: Message


class Outcome(Value, frozen=True):
    """What a run leaves, whatever ended it.

    An executor returns one with `answer`, `exit` and `note`; `execute` fills in the rest. `transcript` holds every
    message in program order, the dropped and the cut ones too; `calls` what every tool call came to, with the full
    value that the tool returned. `seconds` is the run's active time by the run clock. `cause` is that of the step that
    failed; None where none did, and in what a version before this one kept.
    """

    answer: Any = None
    exit: Exit = "success"
    note: str = ""
    gates: tuple[str, ...] = ()
    events: list[AnyEvent] = []
    transcript: list[Said] = []
    calls: list[Observation] = []
    seconds: float = 0.0
    traceback: str = ""
    cause: Exit | None = None

    @property
    def usage(self) -> Usage:
        """The sum over all model calls."""
        return sum((e.usage for e in self.events if type(e) is ModelCalled), Usage())

    @property
    def model_calls(self) -> int:
        return sum(type(e) is ModelCalled for e in self.events)

    @property
    def tool_calls(self) -> int:
        """Calls that a tool really answered: refused, repeated and unknown ones are not counted, and of a workflow that
        is a tool its own calls are."""
        return sum(type(e) is ToolCalled and e.status in RAN and not e.nested for e in self.events)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader should know of the replies, each once."""
        return tuple(dict.fromkeys(said for e in self.events if type(e) is ModelCalled for said in e.warnings))

    @property
    def path(self) -> tuple[str, ...]:
        """The tools called, in program order."""
        return tuple(e.tool for e in self.events if type(e) is ToolCalled)

    @property
    def route(self) -> str | None:
        """The label of the first route taken, if a router ran."""
        return next((e.label for e in self.events if type(e) is RouteTaken), None)

    @property
    def protocols(self) -> tuple[str, ...]:
        """The protocols that loops really spoke, each once."""
        return tuple(dict.fromkeys(e.protocol for e in self.events if type(e) is Spoke))

    @property
    def answered(self) -> bool:
        """Whether there is an answer to score (`on_limit` may leave one beside another exit reason)."""
        return self.answer is not None

    @property
    def latency(self) -> float:
        """Seconds the run took, without the spans in which all it did was queue or sleep off a rate limit."""
        return max(0.0, self.seconds - idle(self.events))


def idle(events: Iterable[AnyEvent]) -> float:
    """Seconds in which some call waited for its endpoint and nothing else was under way: the union of all waits less
    the union of all spans of work."""
    waits: list[tuple[float, float]] = []
    works: list[tuple[float, float]] = []
    for e in events:
        if type(e) is ModelCalled:
            waits += e.waits
            edges = [e.began, *(t for wait in e.waits for t in wait), e.began + e.seconds]
            works += zip(edges[::2], edges[1::2], strict=True)
        elif type(e) is ToolCalled and not e.nested:
            works.append((e.began, e.began + e.seconds))
    return covered(waits + works) - covered(works) if waits else 0.0


def covered(spans: Iterable[tuple[float, float]]) -> float:
    """The length of the union of spans."""
    total, reached = 0.0, float("-inf")
    for start, end in sorted(spans):
        total += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return total
