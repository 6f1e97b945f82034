"""The command line: `loopworth …` and `python -m loopworth …`."""

from __future__ import annotations

import io
import logging
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from loopworth import __version__
from loopworth.cli import (
    advising,
    attacking,
    comparisons,
    diagnosing,
    files,
    fleet,
    inbox,
    kept,
    models,
    planning,
    reporting,
    rescoring,
    runs,
    serving,
    store,
)
from loopworth.cli.status import culprits
from loopworth.cli.terminal import aside, part
from loopworth.cli.usage import reworded


class Commands(TyperGroup):
    """All commands, each inside the one place that turns failures into messages and exit statuses."""

    def make_context(self, *args: Any, **given: Any) -> Any:
        with reworded():
            return super().make_context(*args, **given)

    def invoke(self, ctx: Any) -> Any:
        with reworded(), culprits(bool(ctx.params.get("traceback"))):
            return super().invoke(ctx)


class Runs(TyperCommand):
    """A command that runs, or imports, code of the user's: what that prints is no result."""

    def invoke(self, ctx: Any) -> Any:
        with aside():
            return super().invoke(ctx)


app = typer.Typer(
    cls=Commands,
    help="Is the loop worth it? Define a task's workflow, run it, and compare the pipeline with the agent.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    epilog="Exit status: 0 done, 1 a run or a required verdict failed, 2 faulty files, 3 the outside world failed, "
    "4 waiting for a person, 130 interrupted. Not in this version: paths, distill, serve --mcp.",
)
app.command("check", cls=Runs, short_help="Report every fault of every file.")(files.check)
app.command("draw", cls=Runs, short_help="Draw a workflow as a Mermaid flowchart.")(files.draw)
app.command("schema")(files.schema)
app.command("run", cls=Runs, short_help="Run a workflow once.")(runs.run)
app.command("compare", cls=Runs, short_help="Run arms on the same tasks, and give a verdict.")(comparisons.compare)
app.command("worker", cls=Runs, short_help="Make the runs of comparisons of a fleet.")(fleet.worker)
app.command("plan", cls=Runs, short_help="What a comparison can show, and may cost.")(planning.plan)
app.command("rescore", cls=Runs, short_help="Another score, price or rule for kept runs.")(rescoring.rescore)
app.command("report", cls=Runs, short_help="A kept comparison as a page to forward.")(reporting.report)
app.command("diagnose", short_help="Which part of a workflow to look at, from its runs.")(diagnosing.diagnose)
app.command("advise", short_help="Five questions, and files to start with.")(advising.advise)
app.command("attack", cls=Runs, short_help="What the gates of a workflow hold against.")(attacking.attack)
app.command("init", short_help="Write a starting project.")(advising.init)
app.add_typer(kept.app, name="runs", short_help="List the runs that are kept, show them, export them.")
app.add_typer(inbox.app, name="inbox", short_help="What waits for a person: list, show, approve, edit, reject.")
app.add_typer(store.app, name="store", short_help="Make or bring up to date the tables of a run store.")
app.command("serve", cls=Runs, short_help="The inbox, runs and comparisons in a browser.")(serving.serve)
app.add_typer(models.app, name="models")


def version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"loopworth {__version__}")
        raise typer.Exit


@app.callback()
def options(
    traceback: Annotated[
        bool, typer.Option("--traceback", envvar="LOOPWORTH_TRACEBACK", help="Show where a failure of ours happened.")
    ] = False,
    _version: Annotated[
        bool, typer.Option("--version", callback=version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """What holds of every command."""
    if not traceback:  # what a library logs is no message of ours, and may quote a model
        logging.getLogger().addHandler(logging.NullHandler())


def main() -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8")  # what is reported is UTF-8, whatever the system's default is
    part()
    app(prog_name="loopworth")
