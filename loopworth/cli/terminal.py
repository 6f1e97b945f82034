"""What reaches the terminal. Data (from models, tools, tasks and files) is shown as text, never obeyed, and without the
known secrets."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Annotated, Any, TextIO, cast

import msgspec
import typer
from rich.console import Console
from rich.text import Text

from loopworth.runs.characters import safe
from loopworth.runs.secrets import hide

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def shown(value: Any, style: str = "", lines: bool = True) -> Text:
    """Any value for a person: a text as itself, another value as its JSON; no markup, no control characters."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return Text(safe(hide(text), lines), style=style)


def headed(name: str, value: Text) -> Text:
    """A line of facts: what it tells, dimmed, and the value as it is."""
    return Text().append(f"{name:<9}", "dim").append_text(value)


def part() -> None:
    """Leave standard output to this process's own results: what a program that a tool starts, or a library, writes to
    its descriptor goes to standard error from now on."""
    stream, errors = sys.stdout, sys.stderr
    try:
        stream.flush()
        own = os.dup(stream.fileno())
        os.dup2(errors.fileno(), stream.fileno())
    except (AttributeError, OSError, ValueError):  # there is none, or no descriptor behind it
        return
    lines = 1 if os.isatty(own) else -1
    sys.stdout = open(own, "w", lines, encoding="utf-8", errors=stream.errors, closefd=False)  # noqa: SIM115 - to the end


class Aside:
    """Stands in for standard output while code of a user's runs: what a tool prints goes to standard error, without the
    secrets in it."""

    def __init__(self, results: TextIO) -> None:
        self.results = results

    def write(self, text: str) -> int:
        return sys.stderr.write(hide(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.stderr, name)


@contextmanager
def aside() -> Iterator[None]:
    """Keep standard output to `results`: a `print` in a tool would else stand in the middle of the JSON."""
    with redirect_stdout(cast(TextIO, Aside(results()))):
        yield


def results() -> TextIO:
    """Where results go: standard output, also while a user's code does not see it."""
    return sys.stdout.results if isinstance(sys.stdout, Aside) else sys.stdout


class Results(Console):
    def on_broken_pipe(self) -> None:
        """Nobody reads on: end with status 1, and write what is left nowhere. rich would close standard error while a
        user's code runs."""
        os.dup2(os.open(os.devnull, os.O_WRONLY), self.file.fileno())
        raise SystemExit(1)


def output() -> Console:
    """Results go here. Made anew each time, since tests and pipes change what standard output is."""
    return Results(file=results(), markup=False, emoji=False, highlight=False)


def notices() -> Console:
    """Progress, questions and complaints go here, so that `--json` leaves standard output to the JSON."""
    return Console(file=sys.stderr, markup=False, emoji=False, highlight=False)


def complain(message: str) -> None:
    """A message to standard error, unwrapped, so that `file:line:col` stays clickable."""
    notices().print(shown(message), soft_wrap=True)


def write_json(value: Any) -> None:
    """The one JSON document on standard output: plain ASCII, so nothing in it can reach the terminal raw."""
    text = json.dumps(hide(plain(value)), indent=2, default=str)
    results().write(text.replace("\x7f", "\\u007f") + "\n")
    results().flush()


def plain(value: Any) -> Any:
    """The value as JSON has it: our values with all their fields, the tagged with their type; nan is null."""
    if isinstance(value, msgspec.Struct):
        kind = {"type": type(value).__name__} if value.__struct_config__.tag else {}
        return kind | {name: plain(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, float) and value - value != 0:
        return None
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value
