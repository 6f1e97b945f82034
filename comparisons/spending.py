"""What an arm's runs were spent on: how they ended, which step took what, and what came after the answer was seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean

from loopworth.comparisons.arms import Arm
from loopworth.comparisons.trace import total
from loopworth.comparisons.trial import Trial
from loopworth.models import prices
from loopworth.runs.exit import LIMITS
from loopworth.runs.usage import Usage, Value


class End(Value, frozen=True):
    """The runs of an arm that ended for one reason: how many were right, and what they took in all.

    `wrong` counts the scored ones; runs that are counted apart are neither. None is unknown.
    """

    arm: str
    exit: str
    runs: int
    right: int
    wrong: int
    tokens: int | None
    usd: float | None


class StepCost(Value, frozen=True):
    """What one step took per run that came to it: of an arm, a pipeline's by its id, a loop's by its turn."""

    arm: str
    step: str
    runs: int
    model_calls: float
    tool_calls: float
    tokens: float | None
    usd: float | None


class Seen(Value, frozen=True):
    """In how many of the `runs` that called a tool the expected answer stood in an observation, the mean number of
    model calls after that, and how many of those that ended at a limit had it."""

    arm: str
    runs: int
    seen: int
    after: float | None
    capped: int
    capped_seen: int


class Batching(Value, frozen=True):
    """How many model calls an arm made for a tool call, and what asking for several at once is worth per run.

    The means are of the `runs`, of all `made`, in which its model asked for a tool. `tokens` and `usd` are estimated:
    the input of one call a turn less what was sent. None where it cannot be told.
    """

    arm: str
    model_calls: float
    tool_calls: float
    asking: float
    tokens: float | None
    usd: float | None
    runs: int
    made: int

    @property
    def ratio(self) -> float:
        return self.model_calls / self.tool_calls


def ends(arm: str, trials: Sequence[Trial]) -> list[End]:
    """The most frequent reason first."""
    reasons = Counter(trial.exit for trial in trials).most_common()  # of as many, in the order in which they came
    return [end(arm, reason, [t for t in trials if t.exit == reason]) for reason, _ in reasons]


def end(arm: str, reason: str, trials: Sequence[Trial]) -> End:
    right, wrong = (sum(trial.right is side for trial in trials) for side in (True, False))
    used = sum((trial.usage for trial in trials), Usage())
    return End(arm, reason, len(trials), right, wrong, used.tokens, used.usd)


def steps(arm: str, trials: Sequence[Trial]) -> list[StepCost]:
    found = []
    for name, spent in total(trial.trace for trial in trials).items():
        used, n = sum((one.usage for one in spent), Usage()), len(spent)
        tokens, usd = (None if used.tokens is None else used.tokens / n), (None if used.usd is None else used.usd / n)
        calls = (fmean(one.model_calls for one in spent), fmean(one.tool_calls for one in spent))
        found.append(StepCost(arm, name, n, *calls, tokens, usd))
    return sorted(found, key=lambda one: int(one.step)) if all(one.step.isdigit() for one in found) else found


def seen(arm: str, trials: Sequence[Trial]) -> Seen | None:
    """None where no run had anything to observe."""
    looked = [trial for trial in trials if trial.right is not None and trial.tool_calls]
    after = [trial.trace.after for trial in looked if trial.trace.after is not None]
    capped = [trial for trial in looked if trial.exit in LIMITS]
    if not looked or not any(trial.model_calls for trial in looked):
        return None
    had = sum(trial.trace.after is not None for trial in capped)
    return Seen(arm, len(looked), len(after), fmean(after) if after else None, len(capped), had)


def batching(arm: Arm, trials: Sequence[Trial]) -> Batching | None:
    """None for an arm that does not ask a model for its tool calls."""
    runs = [trial for trial in trials if trial.trace.batch.asking]
    tools = sum(trial.tool_calls for trial in runs)
    if not runs or not tools:
        return None
    more = [t.trace.batch.apart - t.trace.batch.input for t in runs if t.trace.batch.apart is not None]
    tokens = fmean(more) if len(more) == len(runs) else None
    calls = (fmean(trial.model_calls for trial in runs), fmean(trial.tool_calls for trial in runs))
    asking = fmean(trial.trace.batch.asking for trial in runs)
    usd = None if tokens is None else worth(arm, tokens)
    return Batching(arm.name, *calls, asking, tokens, usd, len(runs), len(trials))


def worth(arm: Arm, tokens: float) -> float | None:
    """So much input, at the price of the arm's model; None where it has several, or no price is known."""
    specs = list(arm.workflow.models.values())
    if len(specs) != 1:
        return None
    thousand = prices.usd(specs[0], Usage(1000, 0))
    return None if thousand is None else thousand * tokens / 1000
