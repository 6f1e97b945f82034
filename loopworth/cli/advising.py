"""`loopworth advise` and `loopworth init`: where to start, as files."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from loopworth.cli.status import OUTSIDE, UserFault
from loopworth.cli.terminal import complain, headed, notices, output, shown, write_json
from loopworth.workflows.faults import WorkflowFault

if TYPE_CHECKING:
    from loopworth.comparisons.advice import Advice, Answers

Model = Annotated[
    str | None,
    typer.Option(metavar="PROVIDER/NAME", help="The model that loops ask.", show_default="local/smollm2-135m"),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print what is proposed, and why, as JSON.")]


def advise(
    answers: Annotated[
        Path | None, typer.Option("--answers", metavar="FILE", help="Read the answers from a YAML file.")
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option(
            "--to",
            metavar="FOLDER",
            help="Where the files go; by default a folder of the feature's name, but with --answers nowhere.",
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="The feature's name; by default the folder's.")
    ] = None,
    model: Model = None,
    as_json: AsJson = False,
) -> None:
    """Ask five questions, and write starting files for the rung of the ladder that they speak for, and a comparison."""
    # Imported here: `loopworth run` and `loopworth check` load nothing of comparisons.
    from loopworth.comparisons import advice

    mine = advice.NAME if to is None else advice.named(to)
    if answers is None:
        told = {"name": name or mine} | ({"model": model} if model else {})
        heard(told)  # what is wrong with a name is said before five questions are asked
        given = advice.said(asked() | told)
    elif name or model:
        raise UserFault(f"--answers {answers}: say `name` and `model` in this file, and not beside it")
    else:
        given = advice.answers(answers, mine)
    begin(advice.advise(given), to or Path(given.name), as_json, only_said=answers is not None and to is None)


def init(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where the files go.")] = Path(),
    model: Model = None,
    as_json: AsJson = False,
) -> None:
    """Write a starting project: what `advise` proposes where the question is open, a pipeline and a bounded loop."""
    from loopworth.comparisons import advice  # imported here, as above

    told = {"name": advice.named(folder)} | ({"model": model} if model else {})
    begin(advice.advise(heard(told)), folder, as_json)


def heard(told: dict[str, str]) -> Answers:
    """What options say, with answers that are taken for granted; a fault is told of its option."""
    from loopworth.comparisons import advice  # imported here, as above

    try:
        return advice.said({**told, **advice.DEFAULTS})
    except WorkflowFault as faults:
        first = faults.faults[0]
        option, word = list(told.items())[first.line - 1]
        raise UserFault(f"--{option} {shlex.quote(word)}: {first.what}\n    {first.instead}".rstrip()) from None


def asked() -> dict[str, str]:
    """The answers of a person at the terminal, one question after the other."""
    from loopworth.comparisons.advice import QUESTIONS  # imported here, as above

    if not sys.stdin.isatty():
        sample = "\n".join(f"    {key}: {' | '.join(choices)}" for key, (_, choices) in QUESTIONS.items())
        raise UserFault(f"nobody is there to ask: give the answers with --answers FILE, a YAML file with\n{sample}")
    return {key: answered(question, choices) for key, (question, choices) in QUESTIONS.items()}


def answered(question: str, choices: dict[str, str]) -> str:
    """One of the choices, by its word or the beginning of it; anything else is asked again."""
    notices().print(shown(question, "bold"))
    for word, meaning in choices.items():
        notices().print(Text(f"  {word:<10}", "cyan").append_text(shown(meaning, "dim")))
    while True:
        notices().print(Text(f"{' / '.join(choices)}? "), end="")
        if not (line := sys.stdin.readline()):
            raise UserFault("the questions were left open: nothing was written")
        fitting = [word for word in choices if line.strip() and word.startswith(line.strip().lower())]
        if len(fitting) == 1:
            return fitting[0]
        said = f"{line.strip()!r} is none of them" if line.strip() else "nothing was typed"
        notices().print(shown(f"  {said}: type one of the words, or its beginning", "yellow"))


def begin(advice: Advice, folder: Path, as_json: bool, only_said: bool = False) -> None:
    """Write the files, and say what is proposed and what decides; `only_said`: say it, and write nothing."""
    if not only_said:
        write(advice.files, folder)
    compare = shlex.join(["loopworth", "compare", str(folder / "comparison.yaml")])
    if as_json:
        files = [str(folder / name) for name in advice.files]
        told = {"rung": advice.rung, "reasons": advice.reasons, "files": files, "written": not only_said}
        write_json({**told, "next": compare})
        return
    output().print(headed("start with", shown(f" {advice.rung}", "bold")), soft_wrap=True)
    for reason in advice.reasons:
        output().print(headed("because", shown(reason, lines=False)), soft_wrap=True)
    listed = shown(f"{folder}: {', '.join(advice.files)}", lines=False)
    output().print(headed("would be" if only_said else "written", listed), soft_wrap=True)
    if only_said:
        complain(f"nothing was written: add {shlex.join(['--to', str(folder)])}")
        return
    output().print(headed("decide", shown(compare, lines=False)), soft_wrap=True)


def write(files: dict[str, str], folder: Path) -> None:
    """Write files that are not there yet; if one is, none is written."""
    if there := [name for name in files if (folder / name).exists() or (folder / name).is_symlink()]:
        raise UserFault(
            f"{folder}: {', '.join(there)} would be overwritten, and nothing was written\n    name another folder"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            with (folder / name).open("x", encoding="utf-8") as file:
                file.write(text)
    except OSError as error:
        complain(f"{folder}: cannot be written: {error.strerror or error}")
        raise typer.Exit(OUTSIDE) from None
