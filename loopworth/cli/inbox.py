"""`loopworth inbox`: the questions that wait for a person, and the decisions on them."""

from __future__ import annotations

import getpass
import json
import os
import shlex
from typing import Annotated, Any

import typer

from loopworth import front
from loopworth.cli.durable import Durable, facts, line, told
from loopworth.cli.status import DONE, FAILED, UserFault, alone, of_exit
from loopworth.cli.steps import steps
from loopworth.cli.store import Place, gathered, open_store
from loopworth.cli.sweeping import sweep
from loopworth.cli.terminal import AsJson, complain, headed, output, shown, write_json
from loopworth.runs import approvals
from loopworth.runs.approvals import Already, Approval, Came, Refused
from loopworth.runs.database import InUse
from loopworth.runs.decision import Decision
from loopworth.runs.home import home
from loopworth.runs.orphans import orphans
from loopworth.runs.shelf import Shelf, elsewhere
from loopworth.runs.store import Store
from loopworth.workflows.faults import WorkflowFault

app = typer.Typer(help="Questions of runs that wait for a person: list them, look, decide.", rich_markup_mode=None)
Name = Annotated[str, typer.Argument(metavar="ID", help="RUN.N, or the run where only one waits.", show_default=False)]
By = Annotated[str | None, typer.Option("--by", metavar="NAME", help="Who decides.", show_default="your user name")]
Note = Annotated[str, typer.Option("--note", metavar="TEXT", help="Why; the model reads it.", show_default=False)]
NoRun = Annotated[bool, typer.Option("--no-run", help="Only decide: another process goes on with the run.")]
SWEEP = "Go on with every run that is decided, has expired, or lost its process."


@app.callback(invoke_without_command=True)
def inbox(ctx: typer.Context, store: Place = None, as_json: AsJson = False) -> None:
    """List what waits for a person; with a command: look at a question, or decide it."""
    if alone(ctx):
        listing(store, as_json)


@app.command("list", short_help="List what waits for a decision.")
def listing(store: Place = None, as_json: AsJson = False) -> None:
    """List the questions that wait, the oldest first, each with its exact arguments."""
    where = home(store)
    found, ready = (approvals.waiting(Shelf(store)), approvals.ready(Shelf(store))) if where.there() else ([], [])
    if as_json:
        write_json([facts(one) for one in found])
    elif not found:
        near = elsewhere(where, approvals.waiting)
        output().print(shown(f"nothing waits in {where}{near}"), soft_wrap=True)
    for one in () if as_json else found:
        end = f", expires {one.expires}" if one.expires else ""
        output().print(shown(f"{one.name}  {one.workflow}, since {one.asked}{end}", "bold"), soft_wrap=True)
        output().print(shown(one.question.text, lines=False), soft_wrap=True)
        output().print(line(one), soft_wrap=True)
    for run in ready:
        complain(f"the run {run} is decided, and was not gone on with yet: loopworth run --durable --resume {run}")


@app.command("show", short_help="Show a question, and its run so far.")
def show(name: Name, store: Place = None, as_json: AsJson = False) -> None:
    """Show a question with its exact arguments, who tried to decide it, and its run so far."""
    shelf = Shelf(store)
    one = question(shelf, name)
    if as_json:
        write_json(facts(one))
        return
    ready = one.run in approvals.ready(shelf)
    for what, value in {**rows(one), "next": "\n         ".join(commands(one, store, ready))}.items():
        if value not in ("", None):
            output().print(headed(what, shown(value)), soft_wrap=True)
    output().print()
    [recording] = gathered(shelf, shelf.run(one.run))
    for step in steps(recording):
        output().print(step, soft_wrap=True)


def rows(one: Approval) -> dict[str, Any]:
    """What a person has to know to decide."""
    arguments = json.dumps(one.question.arguments, ensure_ascii=False, indent=2)
    expires = f"{one.expires}, then {one.question.on_timeout}" if one.expires else ""
    tries = [f"{b.decision.choice} by {b.by} at {b.at}{'' if b.won else ' (too late)'}" for b in one.ballots]
    return {
        "question": one.question.text,
        "tool": one.tool,
        "with": "\n         ".join(arguments.split("\n")),
        "id": one.name,
        "at": one.id,
        "workflow": f"{one.workflow} {one.file}",
        "asked": one.asked,
        "expires": expires,
        "choices": ", ".join(one.question.choices),
        "also": one.question.also,
        "state": "altered in the store since it was asked" if one.altered else one.state,
        "decided": "\n         ".join(tries),
        "why": one.decision.note if one.decision is not None else "",
    }


def commands(one: Approval, store: str | None, ready: bool) -> list[str]:
    """What to type: to decide in each way that is offered, or to go on with a run that is decided (`ready`)."""
    place = [] if store in (None, os.environ.get("LOOPWORTH_STORE")) else ["--store", str(home(store))]
    more = {
        "edit": [json.dumps(one.question.arguments, ensure_ascii=False)],
        "reject": ["--note", "WHY"],
        "answer": ["TEXT"],
    }
    offered = one.question.choices if one.state == "waiting" and not one.over else ()
    found = [["inbox", choice, one.name, *more.get(choice, [])] for choice in offered]
    found += [["run", "--durable", "--resume", one.run]] if ready else []
    return [shlex.join(["loopworth", *words, *place]) for words in found]


@app.command("approve", short_help="Let a call be made, and go on with its run.")
def approve(
    name: Name, note: Note = "", by: By = None, no_run: NoRun = False, store: Place = None, as_json: AsJson = False
) -> None:
    """Let the call be made with the arguments that were asked about, and go on with the run."""
    decided(name, Decision("approve", who(by), note=note), store, no_run, as_json)


@app.command("edit", short_help="Let a call be made with other arguments.")
def edit(
    name: Name,
    arguments: Annotated[str, typer.Argument(metavar="JSON", help="All arguments, as one JSON object.")],
    note: Note = "",
    by: By = None,
    no_run: NoRun = False,
    store: Place = None,
    as_json: AsJson = False,
) -> None:
    """Let the call be made with these arguments instead; schema and allow-list hold for them as well."""
    decided(name, Decision("edit", who(by), note=note), store, no_run, as_json, arguments)


@app.command("reject", short_help="Do not let a call be made.")
def reject(
    name: Name,
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="Why; the model reads it.", show_default=False)],
    by: By = None,
    no_run: NoRun = False,
    store: Place = None,
    as_json: AsJson = False,
) -> None:
    """Do not let the call be made: a loop goes on and reads why, a pipeline ends as `rejected`."""
    decided(name, Decision("reject", who(by), note=note), store, no_run, as_json)


@app.command("answer", short_help="Answer a question of `ask_human` in your own words.")
def answer(
    name: Name,
    words: Annotated[str, typer.Argument(metavar="TEXT", help="The answer.", show_default=False)],
    by: By = None,
    no_run: NoRun = False,
    store: Place = None,
    as_json: AsJson = False,
) -> None:
    """Answer a question that the workflow asks a person, and go on with the run."""
    decided(name, Decision("answer", who(by), note=words), store, no_run, as_json)


app.command("sweep", short_help=SWEEP)(sweep)


def who(by: str | None) -> str:
    """The name that is recorded: as given, or the user's."""
    try:
        return by or getpass.getuser()
    except (OSError, KeyError):  # a user without a name, as in some containers
        raise UserFault("nobody knows your user name: say --by NAME") from None


def question(shelf: Shelf, name: str) -> Approval:
    try:
        return approvals.found(shelf, name)
    except LookupError as error:
        raise UserFault(error.args[0]) from None


def decided(
    name: str, decision: Decision, place: str | None, no_run: bool, as_json: bool, arguments: str | None = None
) -> None:
    """Enter a decision, say whether it stands, and go on with the run."""
    with open_store(place) as store:
        one = question(store.shelf(), name)
        came = entered(store, one, decision, arguments)
        if isinstance(came, Already):
            complain(str(came))
            tell(store.shelf(), one, as_json)
            raise typer.Exit(FAILED)
        gone = came.approval.exit is not None or one.run in [orphan.run for orphan in orphans(store.shelf())]
        complain(f"{came.approval.name}: {decision.choice} by {decision.by}")
        if no_run or not gone:
            tell(store.shelf(), one, as_json)
    command = f"loopworth run --durable --resume {one.run}"
    if not gone:
        complain(f"the run is under way, and takes this up; if its process is gone: {command}")
    elif no_run:
        complain(f"to go on with the run: {command}")
    else:
        try:
            gone_on(one, place, as_json)
        except (UserFault, WorkflowFault):
            complain(f"what was decided stands: go on with the run later by {command}")
            complain(f"or end it: loopworth runs cancel {one.run}")
            raise


def gone_on(one: Approval, place: str | None, as_json: bool) -> None:
    """Go on with the run of a decision, unless somebody who sweeps was quicker; then its end so far is told."""
    try:
        Durable(one.run, place, as_json=as_json).go_on(one.run)
    except (InUse, UserFault) as why:
        kept = Shelf(place).run(one.run)
        over = kept.exit if kept.state == "done" else None
        if over is None and not isinstance(why, InUse):
            raise
        complain(f"another process goes on with the run: {over or 'it is under way'}")
        tell(Shelf(place), one, as_json)
        raise typer.Exit(DONE if over is None else of_exit(over)) from None


def tell(shelf: Shelf, one: Approval, as_json: bool) -> None:
    """A question as it is now, where JSON is asked for and no run follows."""
    if as_json:
        write_json(facts(approvals.found(shelf, one.name)))


def entered(store: Store, one: Approval, decision: Decision, arguments: str | None) -> Came:
    """What a decision came to; the arguments of an edit are held against the tool first. Raises UserFault."""
    try:
        approvals.reasoned(decision)
        with told():
            return front.decide(store, one, decision, arguments)
    except Refused as why:
        raise UserFault(str(why)) from None
