"""The program that a command begins with: one of the PATH, or a file by its path from the comparison's folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

from loopworth.workflows.faults import Fault
from loopworth.workflows.form import Spotted
from loopworth.workflows.neighbour import advice_for, neighbour


def absent(command: Spotted) -> Iterator[Fault]:
    """The fault of a command that cannot be started here: it is looked for as starting it does."""
    word = str(next(iter(command.value or ()), ""))
    path = command.base / word
    if not word.strip() or shutil.which(os.path.abspath(path) if os.path.dirname(word) else word) is not None:
        return
    if not os.path.dirname(word):
        beside = f"did you mean './{word}'?" if path.is_file() else "a file beside the YAML is written ./name"
        yield command.fault(f"there is no program {word!r} on the PATH", beside)
    elif path.is_file():
        yield command.fault(f"{word!r} may not be executed", f"chmod +x {word}, or name what runs it: [python, {word}]")
    else:
        yield command.fault(f"there is no file {str(path)!r}", advice_for(path, neighbour(path)))
