"""`loopworth check`, `loopworth draw` and `loopworth schema`: the files themselves, without running anything."""

from __future__ import annotations

import json
from collections.abc import Sized
from pathlib import Path
from typing import Annotated

import typer

import loopworth
from loopworth.cli.status import DONE, FAULTY, UserFault, saving
from loopworth.cli.terminal import complain, output, results, shown, write_json
from loopworth.cli.usage import a_file
from loopworth.workflows.faults import in_order


def check(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH", help="YAML files, or folders of them.", show_default=False)
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print the faults as JSON.")] = False,
) -> None:
    """Report every fault of every file: file:line:column, what is wrong, and what to write instead."""
    files = [file for path in paths for file in listed(path)]
    # Imported here, with the whole language: other commands need little of it.
    from loopworth.comparisons import language
    from loopworth.workflows.bare_names import bare
    from loopworth.workflows.silence import silent

    loaded = language.load(*files)
    faults = loaded.all_faults
    if as_json:
        write_json(faults)
    elif faults:
        for fault in faults:
            output().print(shown(str(fault)), soft_wrap=True)
        complain(f"{counted(faults, 'fault')} in {counted({fault.file for fault in faults}, 'file')}")
    else:
        output().print(f"no faults in {checked(files, loaded.read)}")
    for note in () if as_json else in_order([*silent(loaded.files), *bare(loaded.files)]):
        complain(f"note: {note}")
    raise typer.Exit(FAULTY if faults else DONE)


def draw(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A workflow file.", show_default=False)],
    to: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", callback=a_file, help="Write the drawing to this file."),
    ] = None,
) -> None:
    """Draw a workflow as a Mermaid flowchart: its steps and what waits for what, its routes, or its loop."""
    written(loopworth.draw(file), to)


def listed(path: Path) -> list[Path]:
    """The file itself, or the YAML files below a folder, save in its hidden folders."""
    if not path.is_dir():
        return [path]
    below = sorted(file for pattern in ("*.yaml", "*.yml") for file in path.rglob(pattern))
    found = [file for file in below if not any(part.startswith(".") for part in file.relative_to(path).parts)]
    if not found:
        raise UserFault(f"{path}: there is no YAML file in this folder")
    return found


def checked(files: list[Path], read: set[Path]) -> str:
    """How many files were checked: those that were named, and those that they refer to."""
    more = len(read - {file.resolve() for file in files})
    named = "it names" if len(files) == 1 else "they name"
    return counted(files, "file") + (f" and the {more} that {named}" if more else "")


def counted(things: Sized, name: str) -> str:
    return f"{len(things)} {name}{'' if len(things) == 1 else 's'}"


def schema(
    to: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", callback=a_file, help="Write the schema to this file."),
    ] = None,
) -> None:
    """Write the JSON Schema of the language, for editors."""
    from loopworth.comparisons.language import schema as made  # imported here, with the whole language

    written(json.dumps(made(), indent=2) + "\n", to)


def written(text: str, to: Path | None) -> None:
    """Print a text, or write it to a file and say so."""
    if to is None:
        results().write(text)
    else:
        with saving(to):
            to.write_text(text, "utf-8")
        complain(f"written to {to}")
