"""Whether modifiers, gates and limits stand where they can do what they say."""

from __future__ import annotations

from collections.abc import Iterator

from loopworth.workflows import reach, spec
from loopworth.workflows.faults import Fault
from loopworth.workflows.files import Files


def faults(workflow: spec.Workflow, files: Files) -> Iterator[Fault]:
    """The keys of a workflow that would be without effect, or would do a write twice."""
    yield from limited(workflow)
    for name, entry in reach.usable(workflow, files).items():
        part = reach.inner(entry, files)
        if part is not None and reach.reaches(part, workflow, files):
            yield entry.at("run").fault(f"the tool {name!r} runs {entry.run!r}, which calls it again, without end")
    for form in workflow.forms():
        if isinstance(form, spec.Body):
            yield from modified(form, workflow, files)
        elif isinstance(form, spec.Gate):
            yield from expiring(form)


def limited(workflow: spec.Workflow) -> Iterator[Fault]:
    """`on_limit` acts at a limit of the workflow's own, in a shape that has something to answer from."""
    said, spot = workflow.on_limit, workflow.at("on_limit")
    if said == "fail" or not workflow.sound("on_limit"):
        return
    if isinstance(workflow, spec.Router):
        yield spot.fault(f"a router has nothing to give for `on_limit: {said}`", "write it into what its routes run")
    elif said == "answer" and isinstance(workflow, spec.Pipeline):
        yield spot.fault("`on_limit: answer` is a loop's: a pipeline has no conversation", "write `on_limit: partial`")
    elif workflow.budget is None and isinstance(workflow, spec.Pipeline):
        yield spot.fault("`on_limit` without `budget`: no limit can be hit", "add `budget: {time: 60s}`", key=True)


def modified(body: spec.Body, workflow: spec.Workflow, files: Files) -> Iterator[Fault]:
    yield from again(body, workflow, files)
    if isinstance(body, spec.Step):
        yield from concurrent(body, workflow, files)
    elif body.on_error == "skip":
        yield body.at("on_error").fault(
            "`on_error: skip` is for a step: nothing reads a skipped answer", "leave it out"
        )


def concurrent(step: spec.Step, workflow: spec.Workflow, files: Files) -> Iterator[Fault]:
    if step.max_concurrency is None:
        return
    spot = step.at("max_concurrency")
    if "for_each" not in step.given:
        yield spot.fault("`max_concurrency` without `for_each`: one step is one at a time", "leave it out", key=True)
    elif step.max_concurrency > 1 and reach.writes(step, files.tools(workflow), files):
        yield spot.fault("a `for_each` over a write runs one item at a time", "leave `max_concurrency` out")


def again(body: spec.Body, workflow: spec.Workflow, files: Files) -> Iterator[Fault]:
    """A write is not done twice, unless its tool says that it may be."""
    tools = files.tools(workflow)
    if body.call is not None:
        entry = tools.get(body.call)
        mine = {body.call: entry} if entry is not None and reach.writes(body, tools, files) else {}
    else:
        part = reach.inner(body, files)
        mine = {} if part is None else dict(reach.written(part, files))
    twice = sorted(name for name, entry in mine.items() if entry is not None and not entry.idempotent)
    for key in ("retry", "repeat"):
        if key in body.given and twice:
            what = f"`{key}` over a write ({', '.join(twice)}), which may then happen twice"
            yield body.at(key).fault(what, "leave it out, or mark the tool `idempotent: true` if it is", key=True)


def expiring(gate: spec.Gate) -> Iterator[Fault]:
    if "on_timeout" in gate.given and "timeout" not in gate.given:
        yield gate.at("on_timeout").fault("`on_timeout` without `timeout`", "add `timeout: 24h`", key=True)
    if gate.on_timeout == "approve" and gate.choices is not None and "approve" not in gate.choices:
        what = f"`on_timeout: approve`, and `choices` offers {' and '.join(gate.choices)} only"
        yield gate.at("on_timeout").fault(what, "write `on_timeout: reject`, or add approve to `choices`")
