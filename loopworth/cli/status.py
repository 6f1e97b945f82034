"""The exit statuses of the command line, and who is to blame for each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import format_exc
from typing import Any

import typer

from loopworth.cli.terminal import complain
from loopworth.runs.exit import Exit
from loopworth.runs.outcome import Diverged, Fenced

DONE = 0
FAILED = 1
"""A run ended without success, or a verdict that `--require` asks for was not reached."""
FAULTY = 2
"""The files, or the words on the command line, are faulty."""
OUTSIDE = 3
"""The world outside failed (endpoint, network, disk, weights), or loopworth itself did."""
WAITING = 4
INTERRUPTED = 130

BY_EXIT: dict[Exit, int] = {
    "success": DONE,
    "waiting": WAITING,
    "cancelled": INTERRUPTED,
    "provider_error": OUTSIDE,
    "harness_error": OUTSIDE,
}


def of_exit(exit: Exit) -> int:
    """The exit status of a run that ended for this reason."""
    return BY_EXIT.get(exit, FAILED)


class UserFault(Exception):
    """What was typed on the command line cannot be done; the text says what to type instead."""


def alone(ctx: typer.Context) -> bool:
    """Whether a word that has commands stands without one. Raises UserFault for an option before a command, which would
    be read by neither."""
    if ctx.invoked_subcommand is None:
        return True
    sources = [ctx.get_parameter_source(name) for name in ctx.params]
    if any(source is not None and source.name == "COMMANDLINE" for source in sources):
        raise UserFault(f"options of `{ctx.info_name} {ctx.invoked_subcommand}` stand after it, and not before")
    return False


@contextmanager
def saving(to: Path) -> Iterator[None]:
    """Say which file could not be written, and why."""
    try:
        yield
    except OSError as error:
        complain(f"--output {to}: cannot be written: {error.strerror or error}")
        raise typer.Exit(OUTSIDE) from None


@contextmanager
def culprits(traceback: bool) -> Iterator[None]:
    """Turn what went wrong inside into one message and an exit status; a traceback only where it is asked for."""
    # Imported here: `--help` and `--version` then load neither the models nor the language.
    from loopworth.models import Unavailable
    from loopworth.workflows.faults import WorkflowFault

    try:
        yield
    except (UserFault, WorkflowFault) as fault:
        complain(str(fault))
        raise typer.Exit(FAULTY) from None
    except KeyboardInterrupt:
        complain("interrupted")
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        raise
    except Diverged as divergence:
        complain(f"this is not the recorded run: {divergence}")
        raise typer.Exit(FAILED) from None
    except Fenced as fence:
        complain(str(fence))
        raise typer.Exit(OUTSIDE) from None
    except (Unavailable, OSError) as error:
        complain(format_exc() if traceback else str(error))
        raise typer.Exit(OUTSIDE) from None
    except Exception as bug:
        if belongs_to_typer(bug):
            raise
        said = f"loopworth itself failed: {type(bug).__name__}: {bug}\n    `loopworth --traceback …` shows where"
        complain(format_exc() if traceback else said)
        raise typer.Exit(OUTSIDE) from None


def belongs_to_typer(error: Any) -> bool:
    """Whether an exception is the command line's own way to end: an exit, an abort, a usage error."""
    return isinstance(error, typer.Abort) or hasattr(error, "exit_code")
