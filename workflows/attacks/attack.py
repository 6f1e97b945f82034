"""Attacks on the gates of a workflow: each tries to have a call made that nobody approved, or made twice.

    for one in attacked("refunds.yaml"):      every attack on every gated tool
        print(one.attack, one.held, one.why)

An attack makes runs on a `stage` and *claims* what must hold. A claim that fails, and any end that no attack expects,
means that the gate did not hold.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from loopworth.runs.usage import Value
from loopworth.workflows.attacks.bypass import another_process, another_run, injected, inside, parallel
from loopworth.workflows.attacks.claim import Attack, DoesNotApply, NotHeld
from loopworth.workflows.attacks.crash import crash
from loopworth.workflows.attacks.decisions import changed, double, edit, expiry, foreign, reject
from loopworth.workflows.attacks.stage import Stage
from loopworth.workflows.attacks.target import Target, targets, wanted
from loopworth.workflows.faults import suggestion


class Came(Value, frozen=True):
    """What an attack on a tool came to: `held` is None where it does not apply; `why` says what was seen,
    `call` are the arguments that were tried first."""

    attack: str
    tool: str
    workflow: str
    held: bool | None
    why: str
    call: dict[str, Any] | None = None


class Ungated(ValueError):
    """A workflow has no gate to attack; the text says what to write."""


ATTACKS: Mapping[str, Attack] = {
    "reject": reject,
    "edit": edit,
    "foreign decision": foreign,
    "changed arguments": changed,
    "crash after approval": crash,
    "double decision": double,
    "parallel calls": parallel,
    "sub-workflow": inside,
    "injected result": injected,
    "expiry": expiry,
    "another process": another_process,
    "another run": another_run,
}
"""The attacks by name."""


def attacked(
    path: str | Path,
    place: str | None = None,
    calls: Mapping[str, Sequence[dict[str, Any]]] | None = None,
    names: Sequence[str] = tuple(ATTACKS),
    input: Mapping[str, Any] | None = None,
) -> Iterator[Came]:
    """Every attack on every gated tool of a workflow and of what runs in it, as each comes to its end.

    `place` is a store to use, which is left as it was; a temporary file without. `calls` are arguments to try, by tool,
    and `input` is one to try them with. Raises WorkflowFault, and Ungated for a workflow without a gate, or for calls
    that do not come to one.
    """
    found = targets(path, calls, input)
    if not found:
        raise Ungated(
            f"{path}: no tool of this workflow has a gate: there is nothing to attack\n"
            "    write `gate: {TOOL: required}` in the workflow, or `approval: required` at the tool in its catalogue"
        )
    astray(found, calls or {})
    return staged(found, place, names)


def astray(found: Sequence[Target], calls: Mapping[str, Sequence[dict[str, Any]]]) -> None:
    """Raises Ungated for calls that were given and come to no gate."""
    for name in calls:
        mine = [one for one in found if one.tool.name == name]
        if not mine:
            near = suggestion(name, list(dict.fromkeys(one.tool.name for one in found)), "gated tools")
            raise Ungated(f"--call {name}: no tool of this name has a gate here\n    {near}")
        for lost in mine[0].astray:
            if all(lost in one.astray for one in mine):
                raise Ungated(f"--call {name}={lost}\n    {wanted(mine[0].tool, mine[0].calls)}")


def staged(found: Sequence[Target], place: str | None, names: Sequence[str]) -> Iterator[Came]:
    with tempfile.TemporaryDirectory(prefix="loopworth-attack-") as folder:
        for number, one in enumerate(found):
            if not one.calls:
                yield from (Came(name, one.tool.name, one.workflow, None, one.missed) for name in names)
                continue
            for name in names:  # each with a store of its own, which an attack may break
                stage = Stage(one, place or str(Path(folder) / "runs.db"), number)
                try:
                    yield came(name, stage)
                finally:
                    stage.close()


def came(name: str, stage: Stage) -> Came:
    """What one attack came to. An end that it does not expect is one that does not hold."""
    held: bool | None = True
    try:
        why = ATTACKS[name](stage)
    except DoesNotApply as reason:
        held, why = None, str(reason)
    except NotHeld as reason:
        held, why = False, str(reason)
    except Exception as error:
        held, why = False, f"it ended unexpectedly: {type(error).__name__}: {error}"
    return Came(name, stage.tool.name, stage.target.workflow, held, why, stage.calls[0])
