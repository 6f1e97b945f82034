"""Who is to blame decides the exit status, and nobody sees a traceback that they did not ask for."""

from __future__ import annotations

from typing import get_args

import pytest
import typer

from loopworth.cli.status import UserFault, culprits, of_exit
from loopworth.models import Unavailable
from loopworth.runs.exit import Exit
from loopworth.runs.secrets import learn
from loopworth.workflows.faults import Fault, WorkflowFault

FAULT = WorkflowFault([Fault("a.yaml", 3, 5, "unknown key 'shap'", "did you mean 'shape'?")])


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (FAULT, 2, "a.yaml:3:5  unknown key 'shap'\n    did you mean 'shape'?\n"),
        (UserFault("--input x: write name=value"), 2, "--input x: write name=value\n"),
        (Unavailable("the weights cannot be fetched"), 3, "the weights cannot be fetched\n"),
        (PermissionError(13, "Permission denied", "out.json"), 3, "[Errno 13] Permission denied: 'out.json'\n"),
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (ZeroDivisionError("[bold]\x1b[2J"), 3, "loopworth itself failed: ZeroDivisionError: [bold]\\x1b[2J"),
    ],
)
def test_each_culprit_has_its_status(
    error: BaseException, status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The author of a file: 2; the world outside, and we ourselves: 3; Ctrl-C: 130. One message, no traceback."""
    with pytest.raises(typer.Exit) as end, culprits(traceback=False):
        raise error
    shown = capsys.readouterr()
    assert (end.value.exit_code, shown.out) == (status, "")
    assert shown.err.startswith(said)
    assert "Traceback" not in shown.err


@pytest.mark.parametrize("error", [typer.Exit(4), typer.BadParameter("no"), typer.Abort()])
def test_the_command_lines_own_ends_pass(error: Exception) -> None:
    """A usage error, or a command's own exit status, is left to the command line."""
    with pytest.raises(type(error)), culprits(traceback=False):
        raise error


@pytest.mark.parametrize("kind", [ZeroDivisionError, Unavailable])
def test_a_traceback_is_shown_where_asked_for(kind: type[Exception], capsys: pytest.CaptureFixture[str]) -> None:
    """`--traceback` shows where a failure happened, with the same status, no secret and no control characters."""
    learn("sk-1234567890")
    with pytest.raises(typer.Exit) as end, culprits(traceback=True):
        raise kind("the key is sk-1234567890\x1b[2J")
    shown = capsys.readouterr().err
    assert end.value.exit_code == 3
    assert shown.startswith("Traceback (most recent call last):\n")
    assert f"{kind.__name__}: the key is ***\\x1b[2J" in shown
    assert "test_status.py" in shown


def test_every_exit_reason_has_a_status() -> None:
    """0 is success alone; what says nothing about the workflow is 3, 4 or 130; all the rest is a failed run."""
    statuses = {exit: of_exit(exit) for exit in get_args(Exit)}
    assert [exit for exit, status in statuses.items() if status == 0] == ["success"]
    apart = {exit: status for exit, status in statuses.items() if status > 1}
    assert apart == {"waiting": 4, "cancelled": 130, "provider_error": 3, "harness_error": 3}
