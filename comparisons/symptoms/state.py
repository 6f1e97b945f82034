"""What the transcript holds: results that fill it, are cut or left out, or stand there and are not recognised."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from loopworth.comparisons.symptoms.circling import fetched_again, round_of
from loopworth.comparisons.symptoms.conduct import Called, Conduct
from loopworth.comparisons.symptoms.finding import (
    Finding,
    Runs,
    Sign,
    by_tool,
    described,
    ended,
    finding,
    spoken,
)
from loopworth.comparisons.trace import leaves

LARGE, BIG, BIG_SHARE = 2_000, 4_000, 0.5
"""From so many characters on a result is large; so many have a run's large results together, and this share of all that
was said."""
LARGE_AT_LIMIT, BIG_AT_LIMIT = 500, 1_000
"""The same in a run that came to its limit of tokens: it had room for less."""
REFETCHED = 2
"""Calls of a run that are made again after `compact` left their results out."""
KEY = re.compile(r"[A-Za-z_]\w*")
CUT = re.compile(r"… \(cut: the first (\d+) of (\d+) characters\)$")


def big(runs: Runs) -> Iterator[Finding]:
    """Results that fill the transcript, which every later turn sends again."""
    for tool, calls in by_tool(runs).items():
        heavy = [
            (run, call)
            for run, call in calls
            if len(call.content) >= room(run)[0] and call.loop is not None and run.said
        ]
        size = Counter[str]()
        for run, call in heavy:
            size[run.id] += len(call.content)
        signs = [
            Sign(run.id, call.at, f"{len(call.content):,} characters from {spoken(call)}")
            for run, call in heavy
            if size[run.id] >= max(room(run)[1], BIG_SHARE * run.said)
        ]
        yield from finding(
            runs,
            signs,
            "state",
            "big_results",
            f"what {tool} returns is most of the transcript, and is sent again in every later turn",
            reduced(tool, heavy),
            "a tool is an information reducer: return what the next step needs",
        )


def room(run: Conduct) -> tuple[int, int]:
    """From how many characters on a result of this run is large, and what they have to come to."""
    return (LARGE_AT_LIMIT, BIG_AT_LIMIT) if "token_limit" in run.ends else (LARGE, BIG)


def reduced(tool: str, calls: Sequence[tuple[Conduct, Called]]) -> tuple[str, Any]:
    """Keep the keys of a result that was made use of; where none can be told, less of its text."""
    if used := [key for run, call in calls for key in keys(call.full, made_of(run))]:
        return f"tools.{tool}.returns.keep", list(dict.fromkeys(used))
    most = max((len(call.content) for _, call in calls), default=BIG)
    return f"tools.{tool}.returns.max_chars", min(BIG // 2, most // 2)


def made_of(run: Conduct) -> str:
    """Where a result shows that was made use of: the answer, and the arguments of calls."""
    return " ".join([str(run.answer), *(call.arguments for call in run.calls)])


def keys(full: Any, used: str) -> Iterator[str]:
    """The keys of a mapping, or of each in a list, whose value stands in a text; none if all do."""
    for part in full if isinstance(full, list) else [full]:
        if isinstance(part, dict):
            found = [key for key, value in part.items() if KEY.fullmatch(key) and stands(value, used)]
            yield from found if len(found) < len(part) else ()


def stands(value: Any, used: str) -> bool:
    told = [str(leaf) for leaf in leaves(value) if not isinstance(leaf, bool) and str(leaf).strip()]
    return any(re.search(rf"(?<!\w){re.escape(leaf)}(?!\w)", used) for leaf in told if leaf in used)


def cut(runs: Runs) -> Iterator[Finding]:
    """What a run that came to no good end read of a result was only its beginning."""
    for tool, calls in by_tool(runs).items():
        found = [
            (run, call, int(match[2]))
            for run, call in calls
            if (run.right is False or run.exit != "success") and (match := CUT.search(call.content)) is not None
        ]
        signs = [Sign(run.id, call.at, f"{spoken(call)}: {call.content[-60:]}") for run, call, _ in found]
        longest = max((length for *_, length in found), default=0)
        yield from finding(
            runs,
            signs,
            "state",
            "cut_results",
            f"runs that fail read only the beginning of what {tool} returns",
            (f"tools.{tool}.returns.max_chars", min(longest, 2 * BIG)),
            "what is needed may stand behind the cut; better still, return less with `returns: {keep: […]}`",
        )


def forgotten(runs: Runs) -> Iterator[Finding]:
    """What `compact` left out is fetched again."""
    signs, apart = list[Sign](), 0
    for run in runs:
        again = list(refetched(run))
        if len(again) >= REFETCHED:
            signs += [Sign(run.id, call.at, f"{spoken(call)}, which was left out") for call, _ in again]
            apart = max(apart, *(distance for _, distance in again))
    yield from finding(
        runs,
        signs,
        "state",
        "forgotten",
        "it fetches again what `compact` had left out",
        ("compact.keep_last", apart + 1),
        "keep as many results as a run still needs; raise `above` with it",
    )


def refetched(run: Conduct) -> Iterator[tuple[Called, int]]:
    """Each call whose equal was left out before, and how many calls lie between them."""
    seen: dict[tuple[str, str], int] = {}
    for k, call in enumerate(run.calls):
        if (before := seen.get(call.key)) is not None and run.calls[before].at in run.elided and call.status == "ok":
            yield call, k - before
        seen[call.key] = k


def circles(runs: Runs) -> Iterator[Finding]:
    """The same call again and again though its result stands in the transcript: what came back is not recognised."""
    again = [found for run in runs if (found := repeats(run)) is not None]
    if not again:
        return
    signs = [Sign(run.id, call.at, said) for run, call, said in again]
    tool = Counter(call.tool for _, call, _ in again).most_common(1)[0][0]
    yield from finding(
        runs,
        signs,
        "state",
        "same_call",
        f"{tool} is called again for what stands in the transcript already: it is not recognised there",
        *recognised(runs, tool, not any(map(untold, (run for run, *_ in again)))),
    )


def repeats(run: Conduct) -> tuple[Conduct, Called, str] | None:
    """The call that a run makes again, in a row or between others, and how often it did so."""
    if (found := round_of(run)) is not None:
        calls, times = found
        return (run, calls[0], f"{spoken(calls[0])} {times} times in a row") if len(calls) == 1 else None
    if not (again := fetched_again(run)):
        return None
    return (
        run,
        again[-1],
        f"{spoken(again[-1])}: {len(again)} of {len(run.calls)} calls bring what had been read before",
    )


def untold(run: Conduct) -> bool:
    """Whether the same call came in a row, and no note said so."""
    return round_of(run) is not None and not any(call.status == "repeated" for call in run.calls)


def recognised(runs: Runs, tool: str, told: bool) -> tuple[tuple[str, Any], str]:
    """What makes a result seen: a note at the second equal call, or where that says nothing the tool's own words."""
    if not told:
        why = "the second equal call is then answered with where its result is"
        return ("on_repeat", {"tell": 2, "stop": 3}), why
    more = "The result of the same call does not change: call it once, then use it."
    why = "a note in the transcript is not enough, or does not come: make the result tell what it answers"
    return described(runs, tool, more), why


def overflown(runs: Runs) -> Iterator[Finding]:
    signs = [sign for run in runs if run.looped for sign in ended(run, "context_overflow")]
    yield from finding(
        runs,
        signs,
        "state",
        "overflow",
        "the conversation no longer fits the model",
        ("compact", {"above": 12000}),
        "the oldest results are left out where there is no more room; what the tools return is the other place to look",
    )
