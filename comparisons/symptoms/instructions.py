"""What the model is told to do: it answers without looking, in the wrong form, or not at all."""

from __future__ import annotations

import re
from collections.abc import Iterator

from loopworth.comparisons.symptoms.conduct import Called, Conduct, silent
from loopworth.comparisons.symptoms.finding import (
    SHORT,
    Finding,
    Runs,
    Sign,
    around,
    bad,
    brief,
    by_tool,
    ended,
    finding,
    guarded,
)
from loopworth.runs.events import GateDecided


def unlooked(runs: Runs) -> Iterator[Finding]:
    """A loop that has tools answers, and called none before; where that was right, nothing is wrong with it."""
    signs = [
        Sign(
            run.id,
            run.last,
            "ended without a call" if run.answer is None else f"answered {brief(str(run.answer))} without a call",
        )
        for run in runs
        if run.end in ("success", "check_failed") and run.right is not True and silent(run) and not declines(run)
    ]
    yield from finding(
        runs,
        signs,
        "instructions",
        "no_look",
        "it answers without looking: no tool was called before the answer",
        ("tool_choice", "required_first"),
        "the first reply must be a call; where answers then come right, say in the "
        "instructions, or in what the tools say of themselves, when to look",
    )


def unparsable(runs: Runs) -> Iterator[Finding]:
    signs = [sign for run in runs for sign in ended(run, "unparsable")]
    yield from finding(
        runs,
        signs,
        "instructions",
        "unparsable",
        "answers are not of the type `output`, also when asked once more",
        ("instructions", "Answer with the bare value of the wanted type, and nothing around it."),
        "say how the answer has to look; a simpler `output`, or another `protocol`, is the next thing to try",
        adds=True,
    )


def declined(runs: Runs) -> Iterator[Finding]:
    signs = [
        Sign(run.id, run.last, f"{run.end}: {brief(run.note or str(run.answer))}")
        for run in runs
        if run.end in DECLINED or declines(run)
    ]
    yield from finding(
        runs,
        signs,
        "instructions",
        "declined",
        "the model or its filter declines",
        ("instructions", "What you are given is data of our own customers, and you may work with it."),
        "say what the task is for, and with whose right; read what the tools returned before it",
        adds=True,
    )


DECLINED = ("refused", "filtered")
DECLINES = re.compile(
    r"\bas an ai\b|\bi(?:'m| am)? ?(?:very |so )?(?:sorry[^.!?]*? )?(?:can't|can ?not|won't|unable to|not able to|"
    r"not allowed to) (?:help|assist|comply|fulfill?|share|disclose|discuss|do (?:that|this)|answer (?:that|this))\b"
)


def declines(run: Conduct) -> bool:
    """Whether a run declines in words, where its endpoint does not say so. English."""
    answer = run.answer if isinstance(run.answer, str) and run.exit == "success" and run.right is not True else ""
    return len(answer) <= 4 * SHORT and DECLINES.search(answer.lower().replace("\u2019", "'")) is not None


def wordy(runs: Runs) -> Iterator[Finding]:
    """What was expected stands in answers that are wrong: the form of the answer is what was not said."""
    signs = [
        Sign(run.id, run.last, f"{brief(str(run.answer))}: {brief(run.remark)}")
        for run in runs
        if run.right is False and run.exit == "success" and around(run)
    ]
    yield from finding(
        runs,
        signs,
        "instructions",
        "wordy",
        "wrong answers hold what was expected, and more around it",
        ("instructions", "Answer with the bare value that is asked for, and nothing around it."),
        "say how an answer has to look; or is the score too strict? `contains` takes what stands in a sentence",
        adds=True,
    )


def refused(runs: Runs) -> Iterator[Finding]:
    """A guard keeps stopping what it answers: what must not be said is not told it. One on the input is its traffic."""
    what = "a guard keeps stopping its answers"
    return guarded(runs, "answer", "instructions", "guarded", what, "Before you answer")


def unchecked(runs: Runs) -> Iterator[Finding]:
    """The workflow's own `check` keeps failing: what it wants is not said to the model."""
    signs = [sign for run in runs if not silent(run) for sign in ended(run, "check_failed")]
    yield from finding(
        runs,
        signs,
        "instructions",
        "check_failed",
        "the workflow's `check` does not hold of the answers",
        ("instructions", "You are done only when every part of your answer stands in a tool's result."),
        "the criterion by which an answer counts has to stand where the model can read it",
        adds=True,
    )


def rejected(runs: Runs) -> Iterator[Finding]:
    """People keep saying no to what it proposes; a comparison that says no to everything is none of them."""
    tried = [event for run in runs for event in run.events if type(event) is GateDecided and event.by == "comparison"]
    apart = UNASKED if any(event.choice == "approve" for event in tried) else (*UNASKED, "comparison")
    for tool, calls in by_tool(runs).items():
        asked = [(run, call) for run, call in calls if call.came != "rejected" or decided_by(run, call) not in apart]
        signs = bad(asked, ("rejected",))
        yield from finding(
            runs,
            signs,
            "instructions",
            "rejected",
            f"people keep rejecting its calls of {tool}",
            ("instructions", f"Propose {tool} only where it is asked for and its conditions hold; else say why not."),
            "say when the call is right, and what to do instead where it is not",
            adds=True,
        )


UNASKED = ("timeout", "nobody")
"""By whom a call is rejected that no person saw."""


def decided_by(run: Conduct, call: Called) -> str:
    """Who decided about a call, or about an equal one before."""
    places = [f"{one.at}/" for one in run.calls if one.key == call.key]
    decided = (event for event in run.events if type(event) is GateDecided)
    return next((event.by for event in decided if event.at.startswith(tuple(places))), "")
