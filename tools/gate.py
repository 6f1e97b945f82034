"""Calls that stop for a person."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from loopworth.runs.decision import Question
from loopworth.runs.outcome import Failed

Names = Mapping[str, Any]
REJECT: Literal["reject"] = "reject"
DEFAULT = ("approve", REJECT)
"""What a person may say where a gate does not list it."""


@dataclass(frozen=True, slots=True)
class Gate:
    """One `approval` or `gate` block. No `condition` is: always. `ask` writes the question.

    Both see the workflow's inputs and `args`, the exact canonical arguments of the call. `remember`: a decision stands
    for equal calls of the run. After `timeout` seconds without one, `on_timeout` is decided.
    """

    condition: Callable[[Names], bool] | None = None
    ask: Callable[[Names], str] | None = None
    choices: tuple[str, ...] = DEFAULT
    remember: bool = False
    timeout: float | None = None
    on_timeout: Literal["approve", "reject"] = "reject"


def question(tool: str, gates: tuple[Gate, ...], names: Names, hash: str) -> Question | None:
    """The one question for a call, if any of its gates closes: all their texts, and the choices they all offer; a
    person may always reject. It is remembered if all of them say so, and expires as the strictest of them does.

    A gate whose expression fails stays closed for good: the author made a mistake, so nothing runs (`Failed`).
    """
    try:
        closed = [gate for gate in gates if gate.condition is None or gate.condition(names)]
        texts = [gate.ask(names) for gate in closed if gate.ask is not None]
    except Exception as fault:
        raise Failed(f"the gate of the tool {tool!r} cannot be decided: {fault}") from fault
    if not closed:
        return None
    arguments = dict(names["args"])
    text = "\n".join(dict.fromkeys(texts)) or f"May {tool} be called with {json.dumps(arguments, ensure_ascii=False)}?"
    offered = tuple(choice for choice in closed[0].choices if all(choice in gate.choices for gate in closed))
    offered = offered if REJECT in offered else (*offered, REJECT)
    remember = all(gate.remember for gate in closed)
    timeout, said = expiry(closed)
    return Question(tool, arguments, hash, text, offered, remember, timeout, said if said in offered else REJECT)


def expiry(gates: list[Gate]) -> tuple[float | None, Literal["approve", "reject"]]:
    """The shortest timeout, and what is decided then: an approval only where every gate that expires gives one."""
    limits = [gate for gate in gates if gate.timeout is not None]
    approved = limits and all(gate.on_timeout == "approve" for gate in limits)
    return min((gate.timeout or 0.0 for gate in limits), default=None), "approve" if approved else "reject"
