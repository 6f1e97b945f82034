"""`loopworth compare`: several arms on the same tasks, and a verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from loopworth.cli.interruption import finish
from loopworth.cli.status import DONE, FAILED, UserFault
from loopworth.cli.terminal import output, write_json

if TYPE_CHECKING:
    from loopworth.comparisons.result import Result

Required = Literal["earns", "keeps"]


def compare(
    file: Annotated[Path, typer.Argument(help="A comparison file.", show_default=False)],
    task: Annotated[str | None, typer.Option(help="Run only the task with this id.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Run only the first N tasks.")] = None,
    require: Annotated[
        Required | None, typer.Option(help="Exit with 1 unless the challenger earns, or the holder keeps, its place.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Run every arm on every task, interleaved, and print accuracy, cost, latency and the verdict side by side."""
    # Imported here: `loopworth run` and `loopworth check` load nothing of comparisons.
    from loopworth.cli.progress import followed
    from loopworth.comparisons.comparison import load
    from loopworth.comparisons.execution import compare as measure

    try:
        comparison = load(file, task=task, limit=limit)
    except LookupError as error:
        raise UserFault(f"--task {task}: {error.args[0]}") from None

    async def measured() -> Result:
        with followed() as watch:
            return await measure(comparison, watch=watch, keep=as_json)

    finish(measured(), lambda result: tell(result, require, as_json))


def tell(result: Result, require: Required | None, as_json: bool) -> int:
    """Print a result; returns the exit status."""
    from loopworth.comparisons.export import to_json
    from loopworth.comparisons.table import render

    if as_json:
        write_json(json.loads(to_json(result)))
    else:
        output().print(render(result))
    if result.status != DONE or require is None:
        return result.status
    return DONE if met(result, require) else FAILED


def met(result: Result, require: Required) -> bool:
    """Whether the verdict is one of those that `--require` asks for."""
    from loopworth.comparisons.verdict import EARNS, KEEPS

    return result.verdict is not None and result.verdict.token in (EARNS if require == "earns" else KEEPS)
