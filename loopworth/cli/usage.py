"""What is said of words that the command line cannot read: the option that was meant, by the one rule of spelling."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

OPTIONS: dict[str, str] = {
    "--output": "out o file save to",
    "--markdown": "md out output o save to",
    "--html": "page out output o save to",
    "--to": "out output o dir folder",
    "--input": "in inputs arg args param var text question prompt query message",
    "--most": "limit n last max",
    "--limit": "n max max_samples samples",
    "--model": "llm m",
    "--store": "db database home",
    "--json": "format as_json",
    "--transcript": "verbose v debug",
    "--resume": "continue",
    "--require": "assert fail_on expect",
}
"""An option → what other tools call it."""
PYDANTIC = "Value error, "
"""What typer leaves before a value that is none of the allowed words."""


@contextmanager
def reworded() -> Iterator[None]:
    """Let a usage error that is raised inside say which option was meant, and nothing that is typer's own."""
    try:
        yield
    except Exception as error:
        if hasattr(error, "possibilities") and getattr(error, "ctx", None) is not None:
            error.possibilities = meant(error.option_name, options(error.ctx))  # type: ignore[attr-defined]
        elif hasattr(error, "param_hint"):
            error.message = str(error.message).removeprefix(PYDANTIC)  # type: ignore[attr-defined]
        raise


def options(ctx: Any) -> list[str]:
    """The options of a command, by their long names."""
    params = ctx.command.get_params(ctx)
    return [opt for param in params for opt in (*param.opts, *param.secondary_opts) if opt.startswith("--")]


def meant(option: str, known: list[str]) -> list[str]:
    """Those of the options that an unknown one is likely to mean: what other tools call so, or else the nearest."""
    # Imported here: a command that is understood needs none of it.
    from loopworth.runs.spelling import nearest
    from loopworth.workflows.vocabulary import called

    word = option.lstrip("-")
    if theirs := [one for one in known if called(word, OPTIONS.get(one, ""))]:
        return theirs
    near = nearest(word, [one.lstrip("-") for one in known])
    return [] if near is None else [f"--{near}"]


def a_file(path: Path | None) -> Path | None:
    """A file that is to be written; no command takes `-` for standard output."""
    if path is not None and str(path) == "-":
        raise typer.BadParameter("`-` is no file: name one")
    return path
