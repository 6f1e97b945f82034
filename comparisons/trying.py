"""Whether a change that a diagnosis proposes passes `check` on the workflow that it is for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from msgspec import structs

from loopworth.comparisons.check import misplaced
from loopworth.comparisons.symptoms.finding import Finding
from loopworth.workflows.check import faults
from loopworth.workflows.document import Document, parse
from loopworth.workflows.faults import Fault
from loopworth.workflows.files import Files
from loopworth.workflows.form import Spotted
from loopworth.workflows.load import load
from loopworth.workflows.variant import Change, Variant


def tried(finding: Finding, file: Path) -> Finding:
    """The finding; without its change, which its words then have, where neither the workflow of this file nor one that
    it runs would pass `check` with it. Of a file that is not there, or has faults already, nothing is told.
    """
    files = load(file) if file.is_file() and file.suffix in (".yaml", ".yml") else Files()
    if files.found or not files.workflows:
        return finding
    found = [list(changed(files, key, parse(finding.change, file.name))) for key in files.workflows]
    if not all(found):
        return finding
    why = f"{finding.why}; `{finding.change}` alone would be a fault here: {found[0][0].what}"
    return structs.replace(finding, path="", value=None, why=why)


def changed(files: Files, key: Path, line: Document) -> Iterator[Fault]:
    """The faults of these files, sound as they are, with a line of `change:` in the workflow of this path."""
    [(path, value)] = line.value.items()
    spot = Spotted(line, (path,))
    if wrong := list(misplaced(files.workflows[key], path, spot)):
        yield from wrong
        return
    # What files know by identity is the trial's own: a later object may have that of one that is gone.
    trial = replace(files, workflows=dict(files.workflows), merged=dict(files.merged), found=[])
    made = Variant(files.workflows[key], trial)
    made.change(path, Change(value, spot))
    trial.workflows[key] = made.workflow()
    yield from trial.found
    yield from faults(trial)
