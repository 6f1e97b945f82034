"""What a workflow comes to, with all that runs in it: other workflows, tools, writes, gates, models."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from loopworth.models import prices
from loopworth.runs.spelling import nearest
from loopworth.workflows import chat_model, spec
from loopworth.workflows.files import Files


def model_name(form: spec.Workflow | spec.Body) -> str:
    written = form.model
    return (written if isinstance(written, str) else written.name or "") if written is not None else ""


def bodies(workflow: spec.Workflow) -> list[spec.Body]:
    """The steps or routes of a workflow, and its `otherwise`."""
    return [form for form in workflow.forms() if isinstance(form, spec.Body)]


def inner(form: spec.Body | spec.Tool, files: Files) -> spec.Workflow | None:
    """The workflow that a body, or a tool, runs, if it could be read."""
    try:
        return files.workflow_at(form) if form.run is not None else None
    except (KeyError, TypeError):
        return None


def reached(workflow: spec.Workflow, files: Files, without: Collection[str] = ()) -> list[spec.Workflow]:
    """A workflow and all that run in it, as steps, routes or tools (but for those `without`), each once."""
    found = [workflow]
    for one in found:
        tools = [tool for name, tool in usable(one, files).items() if name not in without]
        forms: list[spec.Body | spec.Tool] = [*bodies(one), *tools]
        for form in forms:
            part = inner(form, files)
            if part is not None and not any(part is known for known in found):
                found.append(part)
    return found


def reaches(start: spec.Workflow, goal: spec.Workflow, files: Files) -> bool:
    return any(one is goal for one in reached(start, files))


def usable(workflow: spec.Workflow, files: Files) -> dict[str, spec.Tool]:
    """The tools that a workflow itself may call; a misspelt one counts as the one that was meant."""
    tools = files.tools(workflow)
    if isinstance(workflow, spec.Loop):
        names = tools if workflow.use is None or isinstance(workflow, spec.OpenLoop) else workflow.use
    else:
        names = [body.call for body in bodies(workflow) if body.call is not None]
    meant = (name if name in tools else nearest(name, tools) for name in names)
    return {name: tools[name] for name in meant if name is not None}


def writes(body: spec.Body, tools: Mapping[str, spec.Tool], files: Files) -> bool:
    """Whether a body may write: by its tool, or by the workflow it runs."""
    if body.call is not None:
        entry = tools.get(body.call)
        return entry is not None and entry.effect not in (None, "read")
    part = inner(body, files)
    return part is not None and bool(written(part, files))


def written(workflow: spec.Workflow, files: Files, without: Collection[str] = ()) -> dict[str, spec.Tool]:
    """The tools that write and that a workflow, or one that runs in it, may call, but for those `without`.

    A tool that runs a workflow writes by what it calls; it stands for itself only where that is nothing.
    """
    found: dict[str, spec.Tool] = {}
    for one in reached(workflow, files, without):
        for name, tool in usable(one, files).items():
            part = None if name in without else inner(tool, files)
            quiet = part is not None and bool(written(part, files))
            if name not in without and tool.effect not in (None, "read") and not quiet:
                found[name] = tool
    return found


def gated(workflow: spec.Workflow, files: Files) -> set[str]:
    """The tools that a person is asked about before they run, or by, in this workflow or below it."""
    return {
        name
        for one in reached(workflow, files)
        for name, tool in usable(one, files).items()
        if tool.approval is not None or name in one.gate or tool.builtin == "ask_human"
    }


def unpriced(workflow: spec.Workflow, files: Files, instead: str | None = None) -> Iterator[str]:
    """The models whose price is not known, of a workflow and all that run in it, or of `instead` in place of each."""
    for one in reached(workflow, files):
        forms: list[spec.Workflow | spec.Body] = [one, *bodies(one)]
        for form in forms:
            if form.model is not None and model_name(form) and not list(chat_model.faults(form)):
                model = chat_model.model_spec(form.model if instead is None else instead)
                if not prices.known(model):
                    yield model.name
