"""When a run may stop: too early, at an output limit, or at its cap."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import ceil
from typing import Any

from loopworth.comparisons.symptoms.claims import announced
from loopworth.comparisons.symptoms.conduct import Called, Conduct, within
from loopworth.comparisons.symptoms.finding import Finding, Runs, Sign, brief, ended, finding, spoken
from loopworth.comparisons.trace import leaves
from loopworth.runs.effects import MOST_OUTPUT
from loopworth.runs.events import LimitHit
from loopworth.runs.exit import Exit
from loopworth.runs.going_round import endless
from loopworth.runs.outcome import Outcome

MARGIN, LEAST_MARGIN = 0.5, 2
"""What a proposed cap allows above the 95th percentile of the healthy runs."""


def promises(runs: Runs) -> Iterator[Finding]:
    """It ends with what it is going to do: a reply without a call was taken for the answer."""
    signs = [
        Sign(run.id, run.last, brief(said))
        for run in runs
        if run.exit == "success" and run.looped and (answer := spoken_last(run)) is not None
        if (said := announced(answer, runs.tools)) is not None
    ]
    yield from finding(
        runs,
        signs,
        "termination",
        "stops_early",
        "it stops with what it is about to do: a reply without a call is taken for the answer",
        ("finish", "submit"),
        "finishing is then a call of its own, and not the absence of one",
    )


def spoken_last(run: Conduct) -> str | None:
    """The answer, where it is a text, or the one of several in it that its model said last: no plan that it was asked
    for."""
    if isinstance(run.answer, str):
        return run.answer
    return next((leaf for leaf in leaves(run.answer) if isinstance(leaf, str) and leaf == run.ending.strip()), None)


def hasty(runs: Runs) -> Iterator[Finding]:
    """A wrong answer is the one result that it looked up: it was done with the first thing that it found."""
    signs = [
        Sign(
            run.id, run.last, f"answered {brief(str(run.answer))}, which is what {call.tool} returned, and made no more"
        )
        for run in runs
        if run.right is False and run.exit == "success" and (call := only(run)) is not None
        if any(str(leaf) == str(run.answer) for leaf in (call.content, *leaves(call.full)))
    ]
    yield from finding(
        runs,
        signs,
        "termination",
        "first_result",
        "it stops at the first result: wrong answers are what one call returned",
        ("instructions", "You are done only when everything that is asked for has been looked up."),
        "the criterion for being done is vague: say what must have been seen before the answer",
        adds=True,
    )


def lingering(runs: Runs) -> Iterator[Finding]:
    """It had the answer, and went on to look for what nobody had asked about."""
    signs = [
        Sign(
            run.id, beyond[0].at, f"{len(beyond)} calls after {brief(str(run.answer))} stood there: {spoken(beyond[0])}"
        )
        for run in runs
        if run.exit == "success" and run.right is not False and len(beyond := idle(run)) >= MOST_IDLE
    ]
    yield from finding(
        runs,
        signs,
        "termination",
        "lingers",
        "it goes on after it has seen the answer, with calls that nothing before has led to",
        ("instructions", "As soon as a result holds what is asked for, answer with it, and make no further call."),
        "the criterion for being done is vague: it pays for calls that change nothing",
        adds=True,
    )


MOST_IDLE = 3


def idle(run: Conduct) -> list[Called]:
    """The calls of later turns than the one that brought the answer, none of which it can have needed.

    What the question or a result names may be wanted, to compare or to make sure; and so may all where the answer came
    by such a call itself. No calls if one of them may have been wanted.
    """
    read, beyond, turn = str(run.input).casefold(), list[Called](), ""
    for call in run.calls:
        held = call.status == "ok" and any(str(leaf) == str(run.answer) for leaf in leaves(call.full))
        if turn and turn != call.at.rpartition("/")[0]:
            if held or call.loop is None or wanted(call, read):
                return []
            beyond.append(call)
        elif held and not turn:
            if not wanted(call, read):
                return []
            turn = call.at.rpartition("/")[0]
        read += f" {call.content.casefold()}"
    return beyond


def wanted(call: Called, read: str) -> bool:
    """Whether what it asks for stands in what was read before."""
    return not call.values or any(value in read for value in call.values)


def only(run: Conduct) -> Called | None:
    """The one call that was made in the loops of a run."""
    made = [call for call in run.calls if call.status == "ok" and call.loop is not None]
    return made[0] if len(made) == 1 else None


def hollow(runs: Runs) -> Iterator[Finding]:
    signs = [sign for run in runs if run.looped for sign in ended(run, "empty")]
    yield from finding(
        runs,
        signs,
        "termination",
        "empty",
        "it ends with a reply that holds neither text nor a call",
        ("finish", "submit"),
        "finishing is then a call of its own; if that changes nothing, look at the endpoint's chat template",
    )


def truncated(runs: Runs) -> Iterator[Finding]:
    """Replies that come to no end by themselves: for want of room, or because they say the same for ever."""
    cut = [run for run in runs if "truncated" in run.ends]
    round_again = [run for run in cut if endless(run.ending)]
    most = max((within(run).usage.output or 0 for run in cut), default=0)
    if 2 * len(round_again) > len(cut):
        change: tuple[str, Any] = ("model.extra", {"frequency_penalty": 0.5})
        what = "replies say the same over and over, until they are cut at their output limit"
        why = (
            "more room would cost more and end the same way: try a penalty where the endpoint has one, or another model"
        )
    else:
        change = ("model.max_tokens", max(1024, 2 * (most or MOST_OUTPUT)))
        what = "replies are cut at their output limit"
        why = "a reply that is cut is no end; with a reasoning model, see what reasoning used of it"
    ends = [(run, rounds(run.ending) if run in round_again else run.ends["truncated"]) for run in cut]
    signs = [Sign(run.id, run.last, brief(end)) for run, end in ends]
    yield from finding(runs, signs, "termination", "truncated", what, change, why)


def rounds(text: str) -> str:
    """What a text that is endless says, a few times."""
    said = endless(text)
    return f"…{said * max(2, 20 // len(said))}…, over and over"


METERS: Mapping[Exit, tuple[str, Callable[[Outcome], float | None]]] = {
    "turn_limit": ("turns", lambda part: part.model_calls),
    "tool_call_limit": ("tool_calls", lambda part: part.tool_calls),
    "token_limit": ("tokens", lambda part: part.usage.tokens),
    "cost_limit": ("usd", lambda part: part.usage.usd),
    "time_limit": ("time", lambda part: part.seconds),
}
"""The key of `budget` behind each limit, and what a run, or a part of one, used of it."""


def caps(runs: Runs) -> Iterator[Finding]:
    """A cap is hit as a habit. The one to set instead comes from the runs that ended well, plus a margin."""
    for limit, (key, used) in METERS.items():
        hit = [run for run in runs if limit in run.ends]
        if not hit:
            continue
        signs = [
            Sign(run.id, run.last, f"{brief(run.ends[limit])}; {', '.join(call.tool for call in run.calls[-6:])}")
            for run in hit
        ]
        place = Counter(owner(run, limit) for run in hit).most_common(1)[0][0]
        well = [run for run in runs if run.exit == "success" and run.right is not False and limit not in run.ends]
        known = sorted(amount for run in well for part in parts(run, place) if (amount := used(part)) is not None)
        change, why = cap(key, known) if known else unmeasured(hit)
        yield from finding(
            runs,
            signs,
            "termination",
            "cap",
            f"the cap on {key}{place and f' of {place[:-1]}'} is hit as a habit, without going round in circles: the "
            "criterion for being done is vague, or the cap too low",
            change,
            why,
            adds=change[0] == "instructions",
        )


def owner(run: Conduct, limit: Exit) -> str:
    """Whose limit it was: the place of a part, whatever the item or the turn; "" of the run itself."""
    owners = [event.owner for event in run.events if type(event) is LimitHit and event.limit == limit]
    return NUMBER.sub("0", owners[-1]) if owners else ""


def parts(run: Conduct, place: str) -> Iterator[Outcome]:
    """What was done at a place of a run, each time that it came there."""
    pattern = re.compile(NUMBER.sub(r"\\d+", re.escape(place)))
    found = (pattern.match(event.at) for event in run.events)
    return (within(run, at) for at in dict.fromkeys(match[0] for match in found if match is not None))


NUMBER = re.compile("[0-9]+")


def cap(key: str, known: Sequence[float]) -> tuple[tuple[str, Any], str]:
    """The cap by what runs that ended well are known to have used."""
    top = known[ceil(0.95 * len(known)) - 1]
    return (f"budget.{key}", capped(key, top)), among(known, top, key)


def unmeasured(hit: Sequence[Conduct]) -> tuple[tuple[str, Any], str]:
    """What to try where no run says what cap is right: an answer at the cap, or where that is given another end."""
    if any(run.last.endswith("limit/ask") for run in hit):
        change = "As soon as the results hold what is asked for, answer with it, and make no further call."
        return ("instructions", change), "no run came to an end of its own: say when it is done"
    why = "no run ended well, so none says what cap is right: have it answer from what it has, and read that"
    return ("on_limit", "answer" if any(run.loops for run in hit) else "partial"), why


def capped(key: str, top: float) -> Any:
    """A cap above the healthy runs."""
    if key == "usd":
        return float(f"{top * (1 + MARGIN):.2g}")
    cap = ceil(max(top * (1 + MARGIN), top + LEAST_MARGIN))
    return f"{cap}s" if key == "time" else cap


def among(known: Sequence[float], top: float, key: str) -> str:
    """Where a proposed cap comes from."""
    return (
        f"of the {len(known)} runs that ended well 95 % used at most {top:,.4g} ({key}); the cap leaves half as much "
        "again. Runs that pass even this are stuck: read their transcripts before you raise it"
    )
