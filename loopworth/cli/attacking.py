"""`loopworth attack`: what the gates of a workflow hold against."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from loopworth.cli.inputs import given
from loopworth.cli.status import FAILED, FAULTY, UserFault
from loopworth.cli.terminal import AsJson, complain, notices, output, shown, write_json
from loopworth.runs.message import json_of
from loopworth.workflows.faults import suggestion

if TYPE_CHECKING:
    from loopworth.workflows.attacks.attack import Came
    from loopworth.workflows.types import Type

WORDS = {True: "held", False: "NOT HELD", None: "does not apply"}
STYLES = {True: "green", False: "bold red", None: "dim"}
WIDEST = 22
"""Columns that the name of an attack takes."""


def attack(
    workflow: Annotated[Path, typer.Argument(metavar="WORKFLOW", help="A workflow file.", show_default=False)],
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="NAME", help="Only this attack; may be given again.")
    ] = None,
    call: Annotated[
        list[str] | None,
        typer.Option("--call", metavar="TOOL=JSON", help="Arguments to try, where none that are made reach a gate."),
    ] = None,
    input: Annotated[
        list[str] | None,
        typer.Option("--input", "-i", metavar="INPUT", help="The workflow's input, where a gate looks at it."),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(
            "--store", metavar="FILE", help="A store for the runs: a file, or postgresql://…; else a temporary file."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Attack every gate of a workflow, and say what held. Every tool is a fake and the model a script: nothing real is
    called. Ends with 1 where a gate did not hold, and with 2 where no attack could show whether one does."""
    # Imported here: no other command loads the suite.
    from loopworth.workflows.attacks.attack import ATTACKS, Ungated, attacked
    from loopworth.workflows.load import load_workflow
    from loopworth.workflows.spec import input_type

    names = only or list(ATTACKS)
    if unknown := next((name for name in names if name not in ATTACKS), None):
        raise UserFault(f"--only {unknown}: there is no such attack\n    {suggestion(unknown, ATTACKS, 'attacks')}")
    try:
        with_input = of(input_type(load_workflow(workflow)[0]), input) if input else None
        found = made(attacked(workflow, store, calls(call or []), names, with_input))
    except Ungated as why:
        raise UserFault(str(why)) from None
    if as_json:
        write_json(found)
    else:
        for line in lines(found):
            output().print(line, soft_wrap=True)
    lost = [one for one in found if one.held is False]
    complain(summed(found, lost))
    raise typer.Exit(FAILED if lost else FAULTY if unshown(found) else 0)


def unshown(found: Sequence[Came]) -> list[str]:
    """The tools of whose gates nothing was shown: no call came to one, or no attack applies."""
    held = {(one.tool, one.workflow) for one in found if one.held is not None}
    return list(dict.fromkeys(one.tool for one in found if (one.tool, one.workflow) not in held))


def of(takes: Type, words: Sequence[str]) -> dict[str, Any]:
    """The input that was typed. Raises UserFault for one that the workflow does not take."""
    typed = given(words, takes.schema)
    try:
        return dict(takes.check(typed))
    except ValueError as why:
        raise UserFault(f"--input: {why}\n    the input is {takes.text}") from None


def calls(given: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """Arguments by tool, as they were typed."""
    found: dict[str, list[dict[str, Any]]] = {}
    for one in given:
        tool, _, text = one.partition("=")
        try:
            arguments = json_of(text)
        except ValueError as error:
            raise UserFault(f'--call {one}: {error}\n    write TOOL={{"argument": value}}') from None
        if not isinstance(arguments, dict):
            raise UserFault(f'--call {one}: the arguments are one JSON object\n    write TOOL={{"argument": value}}')
        found.setdefault(tool, []).append(arguments)
    return found


def made(attacks: Any) -> list[Came]:
    """All of them, with what is under way where somebody watches."""
    console = notices()
    if not console.is_terminal:
        return list(attacks)
    found: list[Came] = []
    with console.status("attacking") as status:
        for one in attacks:
            found.append(one)
            status.update(shown(f"{one.tool}: {one.attack}: {WORDS[one.held]}"))
    return found


def lines(found: Sequence[Came]) -> Iterator[Text]:
    """Each tool with the call that was tried, and below it what every attack came to."""
    last = ""
    for one in found:
        head = f"{one.tool} ({one.workflow})"
        if head != last:
            call = "" if one.call is None else f", called with {json.dumps(one.call, ensure_ascii=False)}"
            yield shown(head, "bold", lines=False).append_text(shown(call, "dim", lines=False))
            if one.call is None:  # the reason is that of all its attacks
                yield shown(f"  {'not attacked':<16}", "bold red").append_text(shown(one.why))
        last = head
        if one.call is None:
            continue
        line = shown(f"  {WORDS[one.held]:<16}", STYLES[one.held])
        yield line.append_text(shown(f"{one.attack:<{WIDEST}}")).append_text(shown(one.why, lines=False))


def summed(found: Sequence[Came], lost: Sequence[Came]) -> str:
    """The end in one line; a tool for which there was no call is named, since nothing is known of its gate."""
    tools = len({(one.tool, one.workflow) for one in found})
    absent = sum(one.held is None for one in found)
    of = f"{len(found)} attack{'s' * (len(found) != 1)} on {tools} gated tool{'s' * (tools != 1)}"
    apart = f", {absent} did not apply" if absent else ""
    unknown = ", ".join(unshown(found))
    nothing = f"; nothing was shown of the gate of {unknown}" if unknown else ""
    return f"{of}: {len(lost) or 'none'} got through{apart}{nothing}"
