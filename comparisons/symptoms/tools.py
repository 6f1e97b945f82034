"""What the model may call, and how it describes itself: refused arguments, unknown names, failures, empty results."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import ceil
from typing import Any

from loopworth.comparisons.numerals import Notation, number_in
from loopworth.comparisons.symptoms.circling import SAME_CALLS, empty
from loopworth.comparisons.symptoms.conduct import Called, Conduct
from loopworth.comparisons.symptoms.finding import (
    BAD_CALLS,
    SHORT,
    Calls,
    Finding,
    Runs,
    Sign,
    around,
    bad,
    brief,
    by_tool,
    described,
    finding,
    habitual,
    made,
    spoken,
)
from loopworth.runs.observation import FAILED
from loopworth.runs.spelling import nearest

PASSING = re.compile(
    r"connection|timed? ?out|temporar|unavailable|too many requests|\b(?:429|50[0234])\b", re.IGNORECASE
)
"""How a tool says that it may do better the next time."""
TO_A_PERSON = ("otherwise", {"set": "to a person"})
"""For a fixed path that cannot go on; to skip the step would leave what reads its value without one."""


def misread(runs: Runs) -> Iterator[Finding]:
    """Arguments that the schema or the allow-list refuses."""
    for tool, calls in by_tool(runs).items():
        signs = bad(calls, ("invalid_arguments", "not_allowed"))
        good = next((call.arguments for _, call in calls if call.status == "ok" and call.arguments), "")
        more = f"For example: {brief(good)}" if good else "Give every argument, exactly as its description says."
        yield from finding(
            runs,
            signs,
            "tools",
            "bad_arguments",
            f"{len(signs)} of {len(calls)} calls of {tool} have arguments that are refused",
            described(runs, tool, more),
            "the description is all that a model knows of the arguments",
        )


def unknown(runs: Runs) -> Iterator[Finding]:
    """Tools that are not there are called: the names do not say what there is."""
    signs = [
        Sign(run.id, call.at, f"{spoken(call)}: there is no such tool")
        for run in runs
        for call in run.calls
        if call.came == "unknown_tool"
    ]
    wanted = Counter(call.tool for run in runs for call in run.calls if call.came == "unknown_tool")
    if not wanted or len(signs) < BAD_CALLS or not runs.tools:
        return
    name = wanted.most_common(1)[0][0]
    tool = nearest(name, runs.tools) or runs.tools[0]
    said = f"Use it where you would look for {name!r}." if re.fullmatch(r"[\w-]{1,64}", name) else ""
    yield from finding(
        runs,
        signs,
        "tools",
        "unknown_tool",
        f"it calls tools that are not there: {', '.join(map(repr, wanted))}",
        described(runs, tool, said),
        "a tool is found by its name and description; say there when to use it",
    )


def overlapping(runs: Runs) -> Iterator[Finding]:
    """One tool is asked, has nothing, and another one is asked the very same: their names do not set them apart."""
    missed = [(run, first, then) for run in runs for first, then in pairwise(run.calls) if mistaken(first, then)]
    if len(missed) < BAD_CALLS:
        return
    wrong, right = Counter((first.tool, then.tool) for _, first, then in missed).most_common(1)[0][0]
    yield from finding(
        runs,
        [
            Sign(run.id, then.at, f"{spoken(first)}: {brief(first.content)}; then {spoken(then)}")
            for run, first, then in missed
        ],
        "tools",
        "wrong_tool",
        f"it asks one tool, and then another one the same: most often {wrong} before {right}",
        described(runs, wrong, f"For what {right} knows, call {right}."),
        "tools that overlap are mixed up: say of each when it is the one, or make one of two",
    )


def mistaken(first: Called, then: Called) -> bool:
    """Whether a call that brought nothing was made again with another tool, in a loop."""
    nothing = first.status == "not_allowed" or (first.status == "ok" and empty(first))
    same = first.arguments == then.arguments and first.arguments not in ("", "{}", "null")
    again = (same or first.values == then.values != []) and first.tool != then.tool
    told = then.status == "ok" and not then.partial
    return nothing and again and told and not empty(then) and first.loop is not None


def passed_on(run: Conduct, call: Called) -> bool:
    """Whether another tool was asked the same next, and had something."""
    return any(first is call and mistaken(first, then) for first, then in pairwise(run.calls))


def failing(runs: Runs) -> Iterator[Finding]:
    """A tool itself fails, or does not answer in time; where the run was right all the same, that is no finding."""
    for tool, calls in by_tool(runs).items():
        reached = made(calls)
        failed = [(run, call) for run, call in reached if call.status in FAILED and own(run, call)]
        ended = [Sign(run.id, call.at, brief(run.note)) for run, call in failed if ended_by(run, call)]
        if failed:
            on = " on what they are given" if misgiven(failed) else ""
            yield from finding(
                runs,
                habitual(failed, len(reached)) or ended,
                "tools",
                "tool_failures",
                f"{len(failed)} of {len(reached)} calls of {tool} fail{on}{persisted(failed)}",
                *(instructed(runs, tool, reached) if on else mended(tool, [call for _, call in failed])),
            )


def misgiven(failed: Calls) -> bool:
    """Whether the errors name what the calls were given, so that it is more likely wrong than the tool is."""
    named = [call for _, call in failed if names_its_values(call)]
    return 2 * len(named) >= len(failed)


def names_its_values(call: Called) -> bool:
    """Whether an error quotes an argument, and does not say that it may pass."""
    said = call.content.casefold()
    return PASSING.search(said) is None and any(len(value) > 1 and quoted(value, said) for value in call.given)


def quoted(value: str, said: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", said) is not None


def persisted(failed: Calls) -> str:
    """In how many runs a call that had failed was only made again until the run ended."""
    stuck = {run.id for run, call in failed if run.end == "repetition" and again(run, call)}
    runs = f"{len(stuck)} run{'s' * (len(stuck) != 1)} then make{'s' * (len(stuck) == 1)}"
    return f", and {runs} the same call again until `repetition`" if stuck else ""


def again(run: Conduct, call: Called) -> bool:
    """Whether a run made a call again that was not made because an equal one had been."""
    return any(one.key == call.key and one.status in ("repeated", "not_run") for one in run.calls)


def instructed(runs: Runs, tool: str, calls: Calls) -> tuple[tuple[str, Any], str]:
    """A description that says what may be given: by an example that was right, where there is one. In a step, where
    nobody reads one, what takes the case instead."""
    if all(call.loop is None for _, call in calls):
        why = "the errors name what was sent: see where the step takes it from; a model may have copied its prompt"
        return TO_A_PERSON, f"{why}. `otherwise` takes what finds nothing"
    good = next((call.arguments for _, call in calls if call.status == "ok" and call.arguments), "")
    more = f"For example: {brief(good)}" if good else "Give values that you were told or have read, not these words."
    why = "the errors name what was sent: see what the model gives before the tool; `allow` can list what there is"
    return described(runs, tool, more), why


def confessing(runs: Runs) -> Iterator[Finding]:
    """A tool gives its errors out as results: they count as done, and nothing ends for them."""
    for tool, calls in by_tool(runs).items():
        calls = made(calls)
        said = [(run, call) for run, call in calls if call.status == "ok" and confesses(call) and own(run, call)]
        yield from finding(
            runs,
            habitual(said, len(calls), MOST),
            "tools",
            "error_results",
            f"{len(said)} of {len(calls)} calls of {tool} return an error as if it were a result",
            described(runs, tool, "An error that it returns is no answer: say that it could not be found out."),
            "have the tool raise its errors: they are then told as such, and `max_failures` and `retry` see them",
        )


def confesses(call: Called) -> bool:
    """Whether a result is an error, by its keys or by how it begins, and nothing else."""
    full = call.full
    if isinstance(full, dict):
        failed = full.get("ok") is False or full.get("success") is False
        return ERROR_KEYS.issuperset(full) and (
            failed or any(full.get(key) for key in ("error", "errors", "exception"))
        )
    return isinstance(full, str) and len(full) <= 2 * SHORT and ERROR.match(full) is not None


MOST = 0.5
"""From this share of a tool's results on, they are its errors and not what it was asked for."""
ERROR = re.compile(
    r"\W*(?:(?:\w+ )?error\b|exception\b|traceback\b|failed to\b|failure:|request failed|"
    r"(?:http[ /])?(?:status )?[45]\d\d\b\W|\w+(?:Error|Exception):|access denied|permission denied|unauthori[sz]ed)",
    re.IGNORECASE,
)
REASONS = {"status", "status_code", "code", "message", "detail", "details", "type", "reason", "traceback", "hint"}
ERROR_KEYS = {"error", "errors", "exception", "ok", "success", *REASONS}


def own(run: Conduct, call: Called) -> bool:
    """Whether a failure counts against its tool: a comparison put none in, and no workflow that is a tool said no."""
    return not call.fault and run.right is not True and not (call.nested and run.exit == "success")


def ended_by(run: Conduct, call: Called) -> bool:
    """Whether the run ended because this call failed, or because it was made again and again after that."""
    last = run.exit in ("tool_failures", "step_failed") and call is run.calls[-1]
    return last or (run.end == "repetition" and again(run, call))


def mended(tool: str, failed: Sequence[Called]) -> tuple[tuple[str, Any], str]:
    """More time for a tool that is late; for one that fails an end in a loop, another attempt in a step."""
    late = [call.seconds for call in failed if call.status == "timed_out"]
    if 2 * len(late) >= len(failed):
        return (f"tools.{tool}.timeout", f"{max(1, ceil(2 * max(late)))}s"), "it needs longer than its `timeout` allows"
    if failed[0].loop is None:
        step = failed[0].at.partition("/")[0].partition("~")[0]
        if PASSING.search(failed[0].content):
            return (f"steps.{step}.retry", {"attempts": 2}), "what fails so may pass: where it only reads, try again"
        return TO_A_PERSON, "mend the tool; `otherwise` takes what it cannot do until then"
    return (f"tools.{tool}.max_failures", 2), "mend the tool; until then a run need not pay for more failures than two"


def monotone(runs: Runs) -> Iterator[Finding]:
    """A tool has nothing to say whatever it is asked: time and again in one run, or in run after run that is wrong."""
    for tool, calls in by_tool(runs).items():
        signs = [sign for run in runs if run.right is not True for sign in same_answer(run, tool)]
        what = f"{tool} returns nothing new, and is called again and again"
        if not signs:
            none = [(run, call) for run, call in calls if run.right is False and barren(call)]
            signs = habitual([(run, call) for run, call in none if not passed_on(run, call)], len(calls), MOST)
            what = f"{tool} returns nothing, in run after run"
        more = "Where there is nothing to find it returns nothing: then ask otherwise, or answer that there is none."
        yield from finding(
            runs,
            signs,
            "tools",
            "says_nothing",
            what,
            described(runs, tool, more),
            "a result must say what was looked for, and what to do where nothing was found",
        )


def same_answer(run: Conduct, tool: str) -> Iterator[Sign]:
    """The first row of calls of a tool, in one loop, that were all answered with nothing, and with nothing new."""
    row: list[Called] = []
    for call in [one for one in run.calls if one.tool == tool and one.loop is not None]:
        again = call.status == "repeated" and bool(row)
        new = bool(row) and bare(call) != bare(row[0])
        row = [*row, call] if again or (barren(call) and not new) else [call] if barren(call) else []
        if len(row) == SAME_CALLS:
            yield Sign(run.id, call.at, f"{spoken(row[0])} to {spoken(call)}: each time {brief(row[0].content)}")
            return


def barren(call: Called) -> bool:
    """Whether a call in a loop was answered with nothing; an error that says what there is not is none."""
    return call.status == "ok" and call.loop is not None and empty(call) and not confesses(call)


def bare(call: Called) -> str:
    """A result without what was asked for: `nothing on box 1` is `nothing on box 2`, if these were asked for."""
    text = call.content.casefold()
    for value in filter(None, call.values):
        text = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", "", text)
    return text


def combining(runs: Runs) -> Iterator[Finding]:
    """A wrong number that no result holds, where several were looked up: it was worked out, and not by a tool."""
    signs = [
        Sign(run.id, run.last, f"answered {brief(str(run.answer))}, with {len(run.figures)} numbers that it looked up")
        for run in runs
        if run.right is False and run.exit == "success" and (own := number_in(run.answer, Notation())) is not None
        if len(run.figures) > 1 and own.value not in run.numbers and not around(run)
    ]
    yield from finding(
        runs,
        signs,
        "tools",
        "works_out",
        "the number that it makes of those that it looked up is wrong, and no result holds it",
        ("tools.calculator", {"builtin": "calculator", "effect": "read"}),
        "models read better than they calculate: give it the tool (and name it in `use`), or let a fixed step combine",
    )
