"""The front door of the language: files in, typed specs and every fault out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from loopworth.workflows.check import faults
from loopworth.workflows.faults import WorkflowFault
from loopworth.workflows.files import Files
from loopworth.workflows.spec import Tool, Workflow


def load(*paths: Path | str, given: Mapping[str, Tool] | None = None) -> Files:
    """Workflows and catalogues with all the files they refer to, each read once and checked.

    `given` are tools that a program brings. All faults of all files are in `Files.faults`; `Files.sound()` raises them.
    """
    files = Files(given=dict(given or {}))
    for path in paths:
        files.add(Path(path))
    files.found += faults(files)
    return files


def load_workflow(path: Path | str, given: Mapping[str, Tool] | None = None) -> tuple[Workflow, Files]:
    """One workflow and the files it refers to. Raises WorkflowFault."""
    files = load(path, given=given).sound()
    if not files.workflows:
        instead = "a workflow starts with `workflow: …` and `shape: …`; a comparison is run by `loopworth compare`"
        raise WorkflowFault([files.document(Path(path)).fault((), "the file is not a workflow", instead)])
    return files.main, files
