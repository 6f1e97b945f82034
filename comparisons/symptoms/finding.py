"""A finding of a diagnosis, and from where on something is one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, Literal, TypeAlias

from loopworth.comparisons.symptoms.conduct import Called, Conduct
from loopworth.runs.exit import Exit
from loopworth.runs.observation import FAILED
from loopworth.runs.usage import Value

Part = Literal["instructions", "tools", "state", "decision", "termination"]
SHARE = 0.2
"""From this share of the runs on, and from two runs on (or all there are), something is a habit."""
BAD_SHARE, BAD_CALLS = 0.2, 2
"""From this share of a tool's calls on, and from this number on, its bad calls are a habit."""
SHORT = 160
MADE = ("ok", *FAILED)
"""How a call ended that its tool was asked for."""


class Sign(Value, frozen=True):
    """What was seen in one run, and where: an effect of it, or "" for all of it."""

    run: str
    at: str
    said: str


class Finding(Value, frozen=True):
    """One thing to look at. `runs` of the `of` runs of the `subject` show it; `signs` has one sign or more for each.

    `change` is a line of YAML, a dotted path as `change:` of an arm takes it, with its new value; where `adds`, the
    value goes after what stands there. `why` says what the change does; where it is advice alone, `path` is "".
    """

    subject: str
    part: Part
    rule: str
    what: str
    runs: int
    of: int
    signs: tuple[Sign, ...]
    path: str
    value: Any
    why: str
    adds: bool = False

    @property
    def change(self) -> str:
        return f"{self.path}: {yaml(self.value)}" if self.path else ""


def yaml(value: Any) -> str:
    """A value as it stands in a line of YAML: plain words and numbers as they are, the rest as JSON."""
    if isinstance(value, str) and re.fullmatch(r"(?!(?:null|true|false)$)[a-z][a-z_]*|[0-9]+(?:ms|s|m|h)", value):
        return value
    if isinstance(value, list):
        return f"[{', '.join(map(yaml, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {yaml(part)}" for key, part in value.items()) + "}"
    return "".join(
        sign if sign.isprintable() else f"\\u{ord(sign):04x}" for sign in json.dumps(value, ensure_ascii=False)
    )


class Runs(Value, frozen=True, dict=True):
    """The runs of one arm or workflow that a rule looks at, out of the `of` that there are."""

    subject: str
    looked: tuple[Conduct, ...]
    of: int

    def __iter__(self) -> Iterator[Conduct]:
        return iter(self.looked)

    @cached_property
    def tools(self) -> list[str]:
        """The tools that these runs had, as far as their records tell."""
        known = {name for run in self for name in run.offered}
        return sorted(known | {call.tool for run in self for call in run.calls if call.came != "unknown_tool"})


Calls: TypeAlias = Sequence[tuple[Conduct, Called]]
Rule: TypeAlias = Callable[[Runs], Iterator[Finding]]


def habit(n: int, of: int) -> bool:
    return n > 0 and (n == of or (n > 1 and n >= SHARE * of))


def finding(
    runs: Runs,
    signs: Sequence[Sign],
    part: Part,
    rule: str,
    what: str,
    change: tuple[str, Any],
    why: str,
    *,
    adds: bool = False,
    least: Literal["habit", "any"] = "habit",
) -> Iterator[Finding]:
    """The finding, where as many runs show it as it takes."""
    seen = len({sign.run for sign in signs})
    if seen and (least == "any" or habit(seen, runs.of)):
        yield Finding(runs.subject, part, rule, what, seen, runs.of, tuple(signs), *change, why, adds)


def ended(run: Conduct, exit: Exit) -> Iterator[Sign]:
    """The sign of a run that ended so, or in part."""
    if (note := run.ends.get(exit)) is not None:
        yield Sign(run.id, run.last, brief(note))


def brief(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= SHORT else f"{text[: SHORT - 1]}…"


def around(run: Conduct) -> bool:
    """Whether the answer is a text in which the expected value, as the score's remark has it, stands as a word."""
    told = EXPECTED.match(run.remark)
    if told is None or not isinstance(run.answer, str):
        return False
    wanted = told[2].casefold()
    known = len(wanted) > 1 or wanted.isdigit()
    return known and re.search(rf"(?<!\w){re.escape(wanted)}(?!\w|[.,]\d)", run.answer.casefold()) is not None


EXPECTED = re.compile(r"expected (['\"]?)(.+?)\1, got ")


def spoken(call: Called) -> str:
    """A call for a reader."""
    return f"{call.tool}({brief(call.arguments)})"


def described(runs: Runs, tool: str, more: str) -> tuple[str, str]:
    """The change that adds to a tool's description; what stands there is kept, where it is known."""
    old = next((run.offered[tool] for run in runs if run.offered.get(tool)), "")
    return f"tools.{tool}.description", f"{' '.join(old.split())} {more}".strip()


def guarded(runs: Runs, on: str, part: Part, name: str, what: str, before: str) -> Iterator[Finding]:
    """Whether a guard `on` this keeps ending runs: then its cause has to be told to the model, `before` it goes on."""
    stopped = [(run, run.guard.why) for run in runs if run.end == "guardrail" and run.guard and run.guard.on == on]
    yield from finding(
        runs,
        [Sign(run.id, run.last, brief(run.note)) for run, _ in stopped],
        part,
        name,
        what,
        ("instructions", f"{before}, make sure of this: {brief(stopped[0][1])}" if stopped else ""),
        "what a guard refuses has to stand where the model can read it; read a sample, the guard may be wrong",
        adds=True,
    )


def by_tool(runs: Runs) -> dict[str, list[tuple[Conduct, Called]]]:
    """All calls of each tool, in the order in which the tools were first called."""
    found: dict[str, list[tuple[Conduct, Called]]] = {}
    for run in runs:
        for call in run.calls:
            found.setdefault(call.tool, []).append((run, call))
    return found


def made(calls: Calls) -> list[tuple[Conduct, Called]]:
    """The calls that reached their tool: what was refused, or answered as a repetition, says nothing of it."""
    return [(run, call) for run, call in calls if call.status in MADE]


def bad(calls: Calls, statuses: Sequence[str]) -> list[Sign]:
    """The calls of a tool that came to one of the statuses, where that is a habit of it."""
    return habitual([(run, call) for run, call in calls if call.came in statuses], len(calls))


def habitual(found: Calls, of: int, share: float = BAD_SHARE) -> list[Sign]:
    """The signs of bad calls, where they are a habit among so many calls of the tool."""
    if len(found) < BAD_CALLS or len(found) < share * of:
        return []
    return [Sign(run.id, call.at, f"{spoken(call)}: {call.status}: {brief(call.content)}") for run, call in found]
