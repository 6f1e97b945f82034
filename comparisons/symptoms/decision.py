"""Speak or act, and which tool: claims of calls that were not made, circles between calls, wrong routes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from loopworth.comparisons.numerals import Notation, number_in
from loopworth.comparisons.symptoms.circling import round_of
from loopworth.comparisons.symptoms.claims import claimed, looked
from loopworth.comparisons.symptoms.conduct import LOOPED, Conduct
from loopworth.comparisons.symptoms.finding import Finding, Runs, Sign, around, brief, finding, guarded, spoken
from loopworth.comparisons.trace import leaves


def cycles(runs: Runs) -> Iterator[Finding]:
    """It goes to and fro between two to four calls that bring nothing new."""
    around = [(run, *found) for run in runs if (found := round_of(run)) is not None and len(found[0]) > 1]
    signs = [
        Sign(run.id, calls[-1].at, f"{', '.join(map(spoken, calls))} {times} times in a row")
        for run, calls, times in around
    ]
    yield from finding(
        runs,
        signs,
        "decision",
        "cycle",
        "it goes round between the same calls (A, B, A, B)",
        ("instructions", "Make no call whose result you have: when two results bring nothing new, answer with them."),
        "say what to do when a call brings nothing new; tools whose descriptions overlap invite it",
        adds=True,
    )


def claims(runs: Runs) -> Iterator[Finding]:
    """The answer says that something was done, and no call did it. One run is enough."""
    signs, first = list[Sign](), ("", "")
    for run in runs:
        read = " ".join([str(run.input), *(call.content for call in run.calls)])
        texts = [leaf for leaf in leaves(run.answer) if isinstance(leaf, str)]
        signs += [
            Sign(run.id, run.last, f"{brief(said)!r}, and no tool was called") for said in unlooked(run, runs, texts)
        ]
        undone = [tool for tool in runs.tools if not run.done(tool)]
        ran, told = len(undone) < len(runs.tools), dict[str, tuple[str, str]]()
        for tool, word, sentence in (c for text in texts for c in claimed(text, undone, read, looked=ran)):
            told.setdefault(tool, (word, sentence))
        for tool, (word, sentence) in told.items():
            signs.append(Sign(run.id, run.last, f"{brief(sentence)!r}, and no call of {tool} {how(run, tool)}"))
            first = first if first[0] else (tool, word)
    made = f"calls | selectattr('tool', 'equalto', '{first[0]}') | selectattr('status', 'equalto', 'ok') | list"
    held = f"'{first[1]}' not in answer | string | lower or {made}" if first[0] else ANY_CALL
    yield from finding(
        runs,
        signs,
        "decision",
        "claims",
        "the answer claims a call that was not made",
        ("check", held),
        "a model says so by its nature: hold the answer against the calls",
        least="any",
    )


def inventing(runs: Runs) -> Iterator[Finding]:
    """A wrong number that no result holds, where it cannot well be made of those that were looked up: it is a guess."""
    signs = [
        Sign(run.id, run.last, f"answered {brief(str(run.answer))}, which no result holds")
        for run in runs
        if run.right is False and run.exit == "success" and (own := number_in(run.answer, Notation())) is not None
        if len(run.figures) < 2 and run.numbers and own.value not in run.numbers and not around(run)
    ]
    yield from finding(
        runs,
        signs,
        "decision",
        "guesses",
        "it answers with a number that no result holds",
        ("instructions", "Give no figure that a tool has not returned; where none has it, say so."),
        "a guess looks like an answer: say what to do where the results do not hold it",
        adds=True,
    )


def proposing(runs: Runs) -> Iterator[Finding]:
    """A guard keeps stopping its calls."""
    what = "a guard keeps stopping its calls"
    return guarded(runs, "call", "decision", "guarded_calls", what, "Before you call a tool")


def unlooked(run: Conduct, runs: Runs, texts: Sequence[str]) -> list[str]:
    """The sentences of a run in which something was looked up, where it had tools and none of them ran."""
    idle = any(loop.tools for loop in run.loops) and not any(map(run.done, runs.tools))
    return [said for text in texts if (said := looked(text)) is not None] if idle and run.right is not True else []


ANY_CALL = "calls | selectattr('status', 'equalto', 'ok') | list"


def how(run: Conduct, tool: str) -> str:
    ends = [call.status for call in run.calls if call.tool == tool]
    return f"was done ({', '.join(dict.fromkeys(ends))})" if ends else "was made"


def ignoring(runs: Runs) -> Iterator[Finding]:
    """The endpoint was told that a call is required, and the model spoke instead."""
    signs = [
        Sign(run.id, loop.at, f"{loop.ignored} of its replies had no call, where one was required")
        for run in runs
        for loop in run.loops
        if loop.ignored
    ]
    yield from finding(
        runs,
        signs,
        "decision",
        "speaks",
        "it speaks where it has to act: there are replies without a call, though one is required",
        ("protocol", "json"),
        "every turn is then one object, held to a schema: a call, or the answer",
    )


def misrouted(runs: Runs) -> Iterator[Finding]:
    """A router's choice is wrong: the confusion that is seen most. Routes that an `if` of the file took are none."""
    wrong: dict[tuple[str, ...], list[Conduct]] = {}
    for run in runs:
        if run.route is not None and run.route.said and (match := WRONG_ROUTE.fullmatch(run.remark)) is not None:
            wrong.setdefault(match.groups(), []).append(run)
    if not wrong:
        return
    pairs = sorted(wrong.items(), key=lambda found: -len(found[1]))
    (took, expected), confused = pairs[0]
    sample = brief(str(next(leaves(confused[0].input), "")))
    similar = confused[0].route is not None and confused[0].route.rule == "similarity"
    yield from finding(
        runs,
        [Sign(run.id, run.route.at if run.route else "", run.remark) for _, some in pairs for run in some],
        "decision",
        "wrong_route",
        f"wrong routes are chosen, most often {took} for {expected} ({len(confused)} times)",
        (f"from.{expected}.examples", [sample]) if similar else (f"from.{expected}.description", f"Such as: {sample}"),
        f"a label is chosen by what stands with it: say there what sets {expected} apart from {took}",
        adds=True,
    )


WRONG_ROUTE = re.compile(r"took route '([a-z0-9_-]+)', expected '([a-z0-9_-]+)'")


def stuck(runs: Runs) -> Iterator[Finding]:
    """A fixed path ends at a step of its own: these cases need another way."""
    fixed = [run for run in runs if not run.foreign]
    ended = [run for run in fixed if run.end == "step_failed" or (run.end in LOOPED and not run.loops)]
    steps = Counter(run.note.partition(":")[0] for run in ended)
    signs = [Sign(run.id, run.last, brief(run.note)) for run in ended]
    most = f", most often at {brief(steps.most_common(1)[0][0])}" if steps else ""
    yield from finding(
        runs,
        signs,
        "decision",
        "step_failed",
        f"the fixed path comes to an end before the answer{most}",
        ("otherwise", {"set": "to a person"}),
        "what the steps do not cover goes there; `otherwise: {run: …}` names another workflow, if you have one",
    )


def unrouted(runs: Runs) -> Iterator[Finding]:
    signs = [Sign(run.id, run.last, brief(run.note)) for run in runs if run.end == "no_route"]
    yield from finding(
        runs,
        signs,
        "decision",
        "no_route",
        "no route is found",
        ("otherwise", {"set": "to a person"}),
        "what fits no label goes there; or say in the labels' descriptions what belongs to them",
    )
