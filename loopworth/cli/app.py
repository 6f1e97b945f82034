"""The command line: `loopworth …` and `python -m loopworth …`."""

from __future__ import annotations

import io
import logging
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from loopworth import __version__
from loopworth.cli import comparisons, files, kept, models, runs
from loopworth.cli.status import culprits


class Commands(TyperGroup):
    """All commands, each inside the one place that turns failures into messages and exit statuses."""

    def invoke(self, ctx: Any) -> Any:
        with culprits(bool(ctx.params.get("traceback"))):
            return super().invoke(ctx)


app = typer.Typer(
    cls=Commands,
    help="Is the loop worth it? Define a task's workflow, run it, and compare the pipeline with the agent.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.command("check")(files.check)
app.command("draw")(files.draw)
app.command("schema")(files.schema)
app.command("run")(runs.run)
app.command("compare")(comparisons.compare)
app.add_typer(kept.app, name="runs")
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
    _version: Annotated[bool, typer.Option("--version", callback=version, is_eager=True)] = False,
) -> None:
    """Exit status: 0 done, 1 a run or a required verdict failed, 2 faulty files, 3 the outside world failed, 4 waiting
    for a person, 130 interrupted."""
    if not traceback:  # what a library logs is no message of ours, and may quote a model
        logging.getLogger().addHandler(logging.NullHandler())


def main() -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8")  # what is reported is UTF-8, whatever the system's default is
    app(prog_name="loopworth")
