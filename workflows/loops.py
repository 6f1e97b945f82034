"""What a loop must have: a limit, tools that it may use, a gate where it is a gated one, a protocol that can end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loopworth.workflows import spec
from loopworth.workflows.faults import Fault, suggestion
from loopworth.workflows.reach import model_name


def faults(workflow: spec.Loop, tools: Mapping[str, spec.Tool]) -> Iterator[Fault]:
    """What is wrong with a loop beyond what any workflow may lack; `tools` are those of its catalogue."""
    yield from unlimited(workflow)
    yield from unused(workflow) if isinstance(workflow, spec.OpenLoop) else used(workflow, tools)
    yield from spoken(workflow)
    if isinstance(workflow, spec.GatedLoop):
        yield from ungated(workflow, tools)


def unlimited(workflow: spec.Loop) -> Iterator[Fault]:
    """A loop ends: it has `turns`, or is limited in time or tokens."""
    budget = workflow.budget
    if not workflow.sound("budget"):
        return
    if budget is None or "turns" not in budget.given:
        form, key = (budget, "") if budget is not None else (workflow, "shape")
        yield form.at(key).fault("a loop needs a limit of its turns", "write `budget: {turns: 10}`", key=True)
    elif budget.turns == "none" and not budget.given & {"time", "tokens"}:
        yield budget.at("turns").fault("`turns: none` needs `time` or `tokens`", "add `time: 60s`")


def unused(workflow: spec.OpenLoop) -> Iterator[Fault]:
    if "use" in workflow.given:
        what = "an open_loop has the whole catalogue, `use` is not for it"
        yield workflow.at("use").fault(what, "leave it out, or write `shape: constrained_loop`", key=True)


def used(workflow: spec.Loop, tools: Mapping[str, spec.Tool]) -> Iterator[Fault]:
    names = workflow.use or []
    if "use" in workflow.given and workflow.sound("use") and not names:
        yield workflow.at("use").fault("`use` is empty", suggestion("", tools, "tools"), key=True)
    for index, name in enumerate(names):
        spot = workflow.at("use", index)
        if name not in tools:
            yield spot.fault(f"there is no tool {name!r}", suggestion(name, tools, "tools"))
        elif name in names[:index]:
            yield spot.fault(f"the tool {name!r} is named twice")


def ungated(workflow: spec.GatedLoop, tools: Mapping[str, spec.Tool]) -> Iterator[Fault]:
    """A gated loop says itself which tools a person is asked about, whatever its catalogue says of them."""
    if "gate" in workflow.given and workflow.at("gate").value != {}:
        return
    what = "the gate of a gated_loop is empty" if "gate" in workflow.given else f"'gate' is missing {workflow.title}"
    used = [name for name in (tools if workflow.use is None else workflow.use) if name in tools]
    approved = [name for name in used if tools[name].approval is not None]
    writing = [name for name in used if tools[name].effect not in (None, "read")]
    named = ", ".join(f"{name}: required" for name in approved or writing or ["<tool>"])
    also = ": the catalogue's `approval` is not enough" if approved else ""
    yield workflow.at("gate").fault(what, f"write `gate: {{{named}}}`{also}", key=True)


def spoken(workflow: spec.Loop) -> Iterator[Fault]:
    """The native protocol is one that the model speaks, and in which the loop can end."""
    if workflow.protocol != "native":
        return
    if (name := model_name(workflow)).startswith("local/"):
        key = "protocol" if "protocol" in workflow.given else "model"
        yield workflow.at(key).fault(f"{name} has no native tool calls", "write `protocol: json`")
    if workflow.tool_choice == "required" and spec.finish(workflow) == "text":
        key = "finish" if "finish" in workflow.given else "tool_choice"
        what = "with `tool_choice: required` a text is never taken for the answer"
        yield workflow.at(key).fault(what, "write `finish: submit`, or `tool_choice: required_first`")
