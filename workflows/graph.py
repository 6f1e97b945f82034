"""What waits for what in a pipeline, as a graph: data edges from names, barriers from checks and writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loopworth.workflows import reach, spec
from loopworth.workflows.document import plain
from loopworth.workflows.files import Files
from loopworth.workflows.pipeline import Step, needs
from loopworth.workflows.templates import expression, template

if TYPE_CHECKING:
    import networkx

FIRST, LAST = "(input)", "(answer)"
"""The nodes that are no steps."""


def graph(workflow: spec.Pipeline, files: Files) -> networkx.DiGraph[str]:
    """The steps of a checked pipeline between its input and its answer.

    A node is a step's id, or its number, and holds its `form` (None for the other two). An edge's `kind` is `data`,
    where a name is read, or `barrier`, where one only waits; waits that other edges imply already are left out.
    """
    import networkx  # slow to import, and only a drawing needs it

    forms = {step.id or str(number): step for number, step in enumerate(workflow.steps, 1)}
    made: networkx.DiGraph[str] = networkx.DiGraph()
    made.add_node(FIRST, form=None)
    made.add_nodes_from((id, {"form": form}) for id, form in forms.items())
    made.add_node(LAST, form=None)
    reads = {id: names_read(form) for id, form in forms.items()} | {LAST: template(plain(workflow.answer)).reads}
    for id, names in reads.items():
        above = [name for name in forms if name in names and name != id]
        start = [FIRST] if names & workflow.input.keys() else []
        made.add_edges_from(((source, id) for source in start + above), kind="data")
    waits = needs([shell(id, form, reads[id], workflow, files) for id, form in forms.items()])
    add_barriers(made, [(above, id) for id in waits for above in forms if above in waits[id]])
    made.add_edges_from([(FIRST, id) for id in forms if not made.in_degree(id)], kind="barrier")
    made.add_edges_from([(id, LAST) for id in forms if not made.out_degree(id)], kind="barrier")
    return made


def add_barriers(made: networkx.DiGraph[str], waits: list[tuple[str, str]]) -> None:
    """Add the waits that no data edge is, but for those that a path of others implies."""
    from networkx import has_path

    pairs = [pair for pair in waits if not made.has_edge(*pair)]
    made.add_edges_from(pairs, kind="barrier")
    for pair in pairs:
        made.remove_edge(*pair)
        if not has_path(made, *pair):
            made.add_edge(*pair, kind="barrier")


def shell(id: str, form: spec.Step, reads: frozenset[str], workflow: spec.Pipeline, files: Files) -> Step:
    """A step as the pipeline orders it, without what it does."""
    return Step(id, idle, reads, writes=writes(form, workflow, files), barrier=form.verb == "check")


def writes(form: spec.Body, workflow: spec.Workflow, files: Files) -> bool:
    return reach.writes(form, files.tools(workflow), files)


async def idle(names: Any, fx: Any) -> None:
    """Nothing: a graph is only looked at."""


def names_read(body: spec.Body) -> frozenset[str]:
    """Every name that the texts of a body read; those that only it knows (`item`, `last`) too."""
    prompts = [spec.prompt(part) for part in (body.ask, body.choose) if part is not None]
    values: list[Any] = [*prompts, plain(body.with_), plain(body.set_), plain(body.else_)]
    conditions = [body.check, body.repeat.until if body.repeat is not None else None]
    if isinstance(body, spec.Step):
        values.append(plain(body.for_each))
        conditions.append(body.if_)
    found = [template(value).reads for value in values]
    found += [expression(condition).reads for condition in conditions if condition is not None]
    return frozenset().union(*found)
