"""What the model is told to do: it answers without looking, in the wrong form, or not at all."""

from __future__ import annotations

from collections.abc import Iterator

from loopworth.comparisons.symptoms.conduct import silent
from loopworth.comparisons.symptoms.finding import Finding, Runs, Sign, bad, brief, by_tool, finding


def unlooked(runs: Runs) -> Iterator[Finding]:
    """A loop that has tools answers, and called none before; where that was right, nothing is wrong with it."""
    signs = [
        Sign(run.id, run.last, f"answered {brief(str(run.answer))} without a call")
        for run in runs
        if run.exit in ("success", "check_failed") and run.right is not True and silent(run)
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
    signs = [Sign(run.id, run.last, brief(run.note)) for run in runs if run.exit == "unparsable"]
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
    signs = [Sign(run.id, run.last, f"{run.exit}: {brief(run.note)}") for run in runs if run.exit in DECLINED]
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


def unchecked(runs: Runs) -> Iterator[Finding]:
    """The workflow's own `check` keeps failing: what it wants is not said to the model."""
    signs = [Sign(run.id, run.last, brief(run.note)) for run in runs if run.exit == "check_failed" and not silent(run)]
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
    """People keep saying no to what it proposes."""
    for tool, calls in by_tool(runs).items():
        signs = bad(calls, ("rejected",))
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
