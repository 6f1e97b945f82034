"""The front door of the language: files in, typed specs and every fault out."""

from __future__ import annotations

from pathlib import Path

from loopworth.workflows.check import faults
from loopworth.workflows.faults import WorkflowFault
from loopworth.workflows.files import Files
from loopworth.workflows.spec import Workflow


def load(*paths: Path | str) -> Files:
    """Workflows and catalogues with all the files they refer to, each read once and checked.

    All faults of all files are in `Files.faults`; `Files.sound()` raises them.
    """
    files = Files()
    for path in paths:
        files.add(Path(path))
    files.found += faults(files)
    return files


def load_workflow(path: Path | str) -> tuple[Workflow, Files]:
    """One workflow and the files it refers to. Raises WorkflowFault."""
    files = load(path).sound()
    if not files.workflows:
        raise WorkflowFault([files.document(Path(path)).fault((), "the file is not a workflow")])
    return files.main, files
