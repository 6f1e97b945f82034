"""Tasks on which an arm was right and the one it was compared with was not: what both did, from where they part."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from typing import Any, TypeAlias

from loopworth.comparisons.natural_order import natural
from loopworth.comparisons.pages.tables import Found
from loopworth.runs.steps import arguments, content
from loopworth.runs.usage import Value

Key: TypeAlias = tuple[str, str, int]
"""A run that was planned: arm, task, repeat."""

TRANSCRIPTS = 200
"""Disagreements that are shown with both transcripts."""


class Disagreement(Value, frozen=True):
    """Two runs on one task of which one was right. The challenger's stands first; `nth` says which of several it is."""

    task: str
    runs: tuple[Any, Any]
    nth: str = ""


class Line(Value, frozen=True):
    """One message: who speaks, and the text with its calls."""

    role: str
    text: str


class Sides(Value, frozen=True):
    """Two transcripts from the first divergence: `alike` messages came before it."""

    alike: int
    left: tuple[Line, ...]
    right: tuple[Line, ...]


def latest(found: Found) -> dict[Key, Found]:
    """The trials that count, by what was planned: the rerun where there is one."""
    in_turn = sorted(found["trials"], key=lambda trial: trial["attempt"])
    return {(trial["arm"], trial["task"], trial["repeat"]): trial for trial in in_turn}


def final(found: Found) -> dict[Key, Found]:
    """The same in the natural order of their tasks, whenever they ended."""
    trials = latest(found)
    places = {task: place for place, task in enumerate(sorted({task for _, task, _ in trials}, key=natural))}
    return dict(sorted(trials.items(), key=lambda one: (places[one[0][1]], one[0][2])))


def tasks(trials: Mapping[Key, Found]) -> list[str]:
    """The ids of the tasks that were run, in the order of the trials."""
    return list(dict.fromkeys(task for _, task, _ in trials))


def disagreements(found: Found, trials: Mapping[Key, Found]) -> Iterator[Disagreement]:
    """Of all pairs of arms that the verdict compares, by turns, so that the first few are of all of them."""
    of_pairs = (between(one["arm"], one["against"], trials, found) for one in found["differences"])
    return (one for one in chain.from_iterable(zip_longest(*of_pairs)) if one is not None)


def in_order(some: Iterable[Disagreement]) -> list[Disagreement]:
    """In the natural order of their tasks, as they are read."""
    return sorted(some, key=lambda one: (natural(one.task), natural(one.nth)))


def between(arm: str, other: str, trials: Mapping[Key, Found], found: Found) -> Iterator[Disagreement]:
    for (name, task, repeat), mine in trials.items():
        theirs = trials.get((other, task, repeat)) if name == arm else None
        if theirs is not None and {mine["right"], theirs["right"]} == {True, False}:
            yield Disagreement(task, (mine, theirs), nth(repeat, found))


def nth(repeat: int, found: Found) -> str:
    """Which of the runs of a task it is, where there are several."""
    return f" ({repeat + 1})" if found["repeats"] > 1 else ""


def sides(one: Disagreement) -> Sides:
    """Both transcripts as lines, and what came of them; where nothing parts them, all before that is alike."""
    left, right = (told(run) for run in one.runs)
    alike = common(left, right)
    return Sides(alike, (*left[alike:], came(one.runs[0])), (*right[alike:], came(one.runs[1])))


def told(run: Found) -> list[Line]:
    """What was said; where no model was asked, what was called."""
    said = [line(one["message"]) for one in run["transcript"] or ()]
    return said or [Line(str(one["tool"]), called(one)) for one in run["calls"] or ()]


def called(call: Found) -> str:
    """With what, where that is known, and what came back."""
    given = call.get("arguments")
    return call["content"] if given is None else f"{arguments(given)}\n{call['content']}"


def said(answer: Any) -> str:
    """An answer as it is read: a text as itself, one that shows no sign, and any other value, as its JSON."""
    return answer if isinstance(answer, str) and answer.strip() else json.dumps(answer, ensure_ascii=False)


def came(run: Found) -> Line:
    """The answer, or why there is none, with what the score says of it."""
    answer = said(run["answer"])
    end = answer if run["exit"] == "success" else f"{run['exit']}: {run['note']}"
    return Line("answer" if run["exit"] == "success" else "end", f"{end}\n({run['remark']})" if run["remark"] else end)


def common(left: Sequence[Line], right: Sequence[Line]) -> int:
    """How many lines both begin with."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((k for k, (mine, theirs) in pairs if mine != theirs), min(len(left), len(right)))


def line(message: dict[str, Any]) -> Line:
    return Line(str(message.get("role", "")), content(message))
