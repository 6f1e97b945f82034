"""A workflow as a Mermaid flowchart: steps, barriers and data; routes; a loop with its tools, budget and gates."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from loopworth.workflows import reach, spec
from loopworth.workflows.document import spelled
from loopworth.workflows.files import Files
from loopworth.workflows.graph import FIRST, LAST, graph, writes
from loopworth.workflows.load import load_workflow

INPUT, ANSWER = "input", "answer"
LONGEST = 60
"""Characters of one line of a label."""
SHAPES = {
    "box": '["{}"]',
    "double": '[["{}"]]',
    "round": '("{}")',
    "ends": '(["{}"])',
    "hexagon": '{{{{"{}"}}}}',
    "diamond": '{{"{}"}}',
}
"""How Mermaid writes the shape of a node around its label."""
STYLES = ("classDef write stroke-width:3px", "classDef gate stroke-dasharray:4 3")


def draw(path: str | Path) -> str:
    """The flowchart of the workflow in a file. Raises WorkflowFault with every fault of the file and all it names.

    Solid arrows are data and calls, dotted ones only wait, or are taken at a limit or a bad end. What writes has a
    thick edge, and what a person is asked about a dashed one.
    """
    workflow, files = load_workflow(path)
    return "\n".join(["flowchart TD", *(f"    {line}" for line in [*drawn(workflow, files), *STYLES])]) + "\n"


def drawn(workflow: spec.Workflow, files: Files) -> Iterator[str]:
    yield node(INPUT, "ends", *inputs(workflow))
    first = INPUT
    if guards := [one for one in workflow.guard if one.on == "input"]:
        yield node("guard_input", "hexagon", *(f"guard: not {one.if_}" for one in guards))
        yield arrow(INPUT, "guard_input")
        first = "guard_input"
    match workflow:
        case spec.Pipeline():
            yield from pipeline(workflow, files, first)
        case spec.Router():
            yield from router(workflow, files, first)
        case spec.Loop():
            yield from loop(workflow, files, first)
    yield from ending(workflow, files)


def ending(workflow: spec.Workflow, files: Files) -> Iterator[str]:
    """The answer, what must hold of it, and what runs otherwise."""
    promises = [f"guard: not {one.if_}" for one in workflow.guard if one.on == "answer"]
    promises += [f"check: {workflow.check}"] if workflow.check is not None else []
    output = spec.output_type(workflow).text
    yield node(ANSWER, "ends", "answer", *([output] if "output" in workflow.given else []), *promises)
    if workflow.otherwise is not None:
        yield body("otherwise", workflow.otherwise, workflow, files, "otherwise")
        yield arrow(INPUT, "otherwise", "a bad end", dotted=True)
        yield arrow("otherwise", ANSWER)


# -- pipeline ----------------------------------------------------------------------------------------------------------


def pipeline(workflow: spec.Pipeline, files: Files, first: str) -> Iterator[str]:
    made = graph(workflow, files)
    for id, form in made.nodes(data="form"):
        if form is not None:
            yield body(f"s_{id}", form, workflow, files, form.id or f"step {id}")
    place = {FIRST: first, LAST: ANSWER}
    for above, below, kind in made.edges(data="kind"):
        yield arrow(place.get(above, f"s_{above}"), place.get(below, f"s_{below}"), dotted=kind == "barrier")
    if limits := budget(workflow):
        yield node("limits", "hexagon", *limits)


def body(id: str, form: spec.Body, workflow: spec.Workflow, files: Files, title: str) -> str:
    """One step, route or `otherwise`: its name, what it does, and its modifiers from outside in."""
    gated = form.call is not None and gate_of(form.call, workflow, files) is not None
    shape = {"ask": "round", "choose": "round", "check": "hexagon", "run": "double"}.get(form.verb or "", "box")
    style = "gate" if gated else "write" if writes(form, workflow, files) else ""
    return node(id, shape, title, *modifiers(form), *verb(form), *(["gate: a person"] if gated else []), style=style)


def verb(form: spec.Body) -> Iterator[str]:
    match form.verb:
        case "call" | "run":
            yield f"{form.verb} {form[form.verb]}"
        case "choose":
            yield f"choose: {' | '.join(form.from_ or ())}"
        case "check":
            yield f"check {form.check}"
        case "ask" | "set" as word:
            yield word


def modifiers(form: spec.Body) -> Iterator[str]:
    if isinstance(form, spec.Step) and form.for_each is not None:
        yield f"for each of {form.for_each}"
    if isinstance(form, spec.Step | spec.Route) and form.if_ is not None:
        yield f"if {form.if_}"
    if form.on_error == "skip":
        yield "on error: skip"
    if form.repeat is not None:
        yield f"repeat: {form.repeat.times} times" + (f" or until {form.repeat.until}" if form.repeat.until else "")
    if form.retry is not None:
        yield f"retry: {form.retry.attempts} attempts"
    if form.timeout is not None:
        yield f"timeout {form.timeout:g}s"


# -- router and loops --------------------------------------------------------------------------------------------------


def router(workflow: spec.Router, files: Files, first: str) -> Iterator[str]:
    how = "by: similarity" if workflow.by is not None else reach.model_name(workflow)
    yield node("choose", "diamond", "choose", *([how] if how else []))
    yield arrow(first, "choose")
    for number, (label, route) in enumerate(workflow.from_.items()):
        yield body(f"r_{number}", route, workflow, files, label)
        yield arrow("choose", f"r_{number}", "a rule" if route.description is None and route.if_ else route.description)
        yield arrow(f"r_{number}", ANSWER)


def loop(workflow: spec.Loop, files: Files, first: str) -> Iterator[str]:
    yield node("model", "round", reach.model_name(workflow) or "model", *budget(workflow))
    yield arrow(first, "model")
    for name, entry in reach.usable(workflow, files).items():
        yield from offered(name, entry, workflow, files)
    yield arrow("model", ANSWER, workflow.finish or "the answer")
    if workflow.on_limit != "fail":
        yield node("limit", "round", f"on_limit: {workflow.on_limit}")
        yield arrow("model", "limit", "at a limit", dotted=True)
        yield arrow("limit", ANSWER)


def offered(name: str, entry: spec.Tool, workflow: spec.Workflow, files: Files) -> Iterator[str]:
    """A tool that the model may call, behind its gate if it has one."""
    effect = entry.effect or "read"
    runs = [f"run {entry.run}"] if entry.run is not None else []
    yield node(f"t_{name}", "double" if runs else "box", name, effect, *runs, style="" if effect == "read" else "write")
    before = "model"
    if (gate := gate_of(name, workflow, files)) is not None:
        before = f"g_{name}"
        yield node(before, "diamond", f"gate: {name}", *([f"if {gate}"] if gate else []), style="gate")
        yield arrow("model", before)
        yield arrow(before, "model", "rejected", dotted=True)
    yield arrow(before, f"t_{name}")
    yield arrow(f"t_{name}", "model")


def gate_of(name: str, workflow: spec.Workflow, files: Files) -> str | None:
    """When a person is asked before a tool runs: a condition, or always (empty); None is never."""
    entry = files.tools(workflow).get(name)
    said = [gate for gate in (entry.approval if entry else None, workflow.gate.get(name)) if gate is not None]
    if not said:
        return None
    conditions = [gate.if_ if isinstance(gate, spec.Gate) else None for gate in said]
    return "" if None in conditions else " or ".join(str(condition) for condition in conditions)


def budget(workflow: spec.Workflow) -> list[str]:
    limits = workflow.budget
    if limits is None:
        return []
    spot = {
        key: limits.at(key).value for key in ("turns", "tool_calls", "tokens", "usd", "time") if key in limits.given
    }
    return [f"{key}: {spelled(value)}" for key, value in spot.items()]


def inputs(workflow: spec.Workflow) -> list[str]:
    kinds = {name: kind if isinstance(kind, str) else "object" for name, kind in workflow.input.items()}
    return [f"{name}: {kind}" for name, kind in kinds.items()] or ["input"]


# -- Mermaid -----------------------------------------------------------------------------------------------------------


def node(id: str, shape: str, *lines: str, style: str = "") -> str:
    label = "<br/>".join(escaped(line) for line in lines)
    return f"{id.replace('-', '_')}{SHAPES[shape].format(label)}" + (f":::{style}" if style else "")


def arrow(above: str, below: str, label: str | None = None, dotted: bool = False) -> str:
    line = "-.->" if dotted else "-->"
    said = f'|"{escaped(label)}"|' if label else ""
    return f"{above.replace('-', '_')} {line}{said} {below.replace('-', '_')}"


def escaped(text: object) -> str:
    """A line of a label: nothing in it is read as Mermaid or as HTML."""
    line = " ".join(str(text).split())
    line = line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
    return "".join(c if c.isalnum() or c in " .,:_-/=+'()?!…" else f"#{ord(c)};" for c in line)
