"""Whether a workflow hangs together: names, tools, arguments, limits. Every fault is found, none stops the search."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from loopworth.runs.spelling import nearest
from loopworth.workflows import chat_model, fitting, later, loops, spec
from loopworth.workflows.calls import forbidden, passed
from loopworth.workflows.document import BROKEN
from loopworth.workflows.entries import Entries
from loopworth.workflows.faults import Fault, suggestion
from loopworth.workflows.files import Files
from loopworth.workflows.form import Form, Spotted
from loopworth.workflows.reach import reaches, unpriced, usable
from loopworth.workflows.scope import ANYTHING, Gap, Schema, Scope, condition, dotted, held, templates
from loopworth.workflows.templates import lone
from loopworth.workflows.type_expression import TypeFault, parse_type

RESERVED = frozenset(["item", "index", "last", "args", "answer", "calls", "observations"])
WORDS = frozenset(
    ["true", "false", "none", "not", "and", "or", "in", "is", "if", "else", "for", "range", "loop", "self"]
)
TEXT: Schema = {"type": "string"}


def faults(files: Files) -> list[Fault]:
    """What is wrong with the workflows and catalogues that were read, beyond what reading them showed."""
    entries = Entries(files)
    checking = Checking(files, entries)
    for catalogue in list(files.catalogues.values()):
        entries.judge(catalogue.tools)
        checking.found += later.faults(catalogue)
    for workflow in list(files.workflows.values()):
        checking.workflow(workflow)
    return checking.found + entries.found + list(unplaced(files))


def unplaced(files: Files) -> Iterator[Fault]:
    """The tools that a program brings which stand in for none and do not say what they do."""
    known = {name for workflow in files.workflows.values() for name in files.tools(workflow)}
    for name, entry in files.given.items():
        if name not in known:
            what = f"no catalogue has a tool {name!r}, and this one says no `effect`"
            near = nearest(name, known)
            effects = 'if it is new, say what it does: {"python": …, "effect": "read"}'
            yield entry.spot.fault(what, f"did you mean {near!r}?" if near else effects)


@dataclass
class Checking:
    """One check of a set of files."""

    files: Files
    entries: Entries
    found: list[Fault] = field(default_factory=list)

    def add(self, *faults: Fault) -> None:
        self.found += faults

    # --- a workflow as a whole

    def workflow(self, workflow: spec.Workflow) -> None:
        tools = self.files.tools(workflow)
        self.entries.judge(tools)
        self.found += later.faults(workflow)
        inputs = self.inputs(workflow)
        scope = Scope(inputs, reader="the workflow")
        self.found += templates(workflow.instructions, workflow.at("instructions"), scope.called("`instructions`"))
        self.type(workflow, "output")
        self.model(workflow)
        self.ends(workflow, scope)
        self.gates(workflow, tools, scope)
        self.found += priceless(workflow, self.files)
        self.found += fitting.faults(workflow, self.files)
        match workflow:
            case spec.Pipeline():
                self.pipeline(workflow, tools, scope)
            case spec.Router():
                self.router(workflow, tools, scope)
            case spec.Loop():
                self.loop(workflow, tools, scope)
        if workflow.otherwise is not None:
            self.body(workflow.otherwise, workflow, tools, scope.called("`otherwise`"), workflow.input)

    def inputs(self, workflow: spec.Workflow) -> dict[str, Schema]:
        schemas: dict[str, Schema] = {}
        for name, written in workflow.input.items():
            spot = workflow.at("input", name)
            if name in RESERVED or name in WORDS:
                self.add(spot.fault(f"{name!r} cannot be the name of an input: it has a meaning of its own", key=True))
            schemas[name] = self.read_type(written, spot)
        return schemas

    def type(self, form: Form, key: str) -> Schema:
        return self.read_type(form[key], form.at(key)) if key in form.given else TEXT

    def read_type(self, written: Any, spot: Spotted) -> Schema:
        """The JSON schema of a type; anything, with a fault, where it cannot be read."""
        if written is BROKEN:
            return ANYTHING
        try:
            return parse_type({"x": written}, spot.base).schema["properties"]["x"]  # type: ignore[no-any-return]
        except TypeFault as fault:
            if not isinstance(written, dict) or set(written) == {"json_schema"}:
                self.add(spot.below(*fault.path[1:]).fault(fault.what, fault.instead))
                return ANYTHING
        fields = {name: self.read_type(part, spot.below(name)) for name, part in written.items()}
        return {"type": "object", "properties": fields, "additionalProperties": False}

    def ends(self, workflow: spec.Workflow, scope: Scope) -> None:
        """`check`, `else` and `guard`: what is asked of the input, a call, or the answer."""
        output = self.quiet_type(workflow)
        answered = scope.plus(answer=output, calls=ANYTHING, observations=ANYTHING)
        self.found += condition(workflow.check, workflow.at("check"), answered.called("`check`"))
        self.found += templates(workflow.else_, workflow.at("else"), answered.called("`else`"))
        for guard in workflow.guard:
            call = scope.plus(tool=TEXT, args=ANYTHING)
            here = {"input": scope, "call": call}.get(guard.on, answered).called("`guard`")
            self.found += condition(guard.if_, guard.at("if"), here)
            self.found += templates(guard.else_, guard.at("else"), here)

    def quiet_type(self, workflow: spec.Workflow) -> Schema:
        """What is known of a workflow's answer; one that is not a loop may leave its type open."""
        if "output" not in workflow.given and not isinstance(workflow, spec.Loop):
            return ANYTHING
        try:
            return spec.output_type(workflow).schema
        except TypeFault:
            return named_only(workflow.output)

    def gates(self, workflow: spec.Workflow, tools: Mapping[str, spec.Tool], scope: Scope) -> None:
        written = workflow.at("gate").value if "gate" in workflow.given else {}
        for name in written if isinstance(written, dict) else {}:
            if name not in tools:
                spot, near = workflow.at("gate", name), suggestion(name, tools, "tools")
                self.add(spot.fault(f"a gate over {name!r}, which is no tool here", near, key=True))
            entry = tools.get(name) or tools.get(nearest(name, tools) or "")
            self.gate(workflow.gate.get(name), entry, name, scope)
        mine = usable(workflow, self.files)
        for name, tool in tools.items():
            self.gate(tool.approval, tool, name, scope if name in mine else replace(scope, open=True))

    def gate(self, gate: spec.GateSpec | None, entry: spec.Tool | None, name: str, scope: Scope) -> None:
        if not isinstance(gate, spec.Gate):
            return
        tool = self.entries.tool(name, entry) if entry is not None else None
        here = scope.plus(args=tool.parameters if tool is not None else ANYTHING).called("the gate")
        self.found += condition(gate.if_, gate.at("if"), here)
        self.found += templates(gate.ask, gate.at("ask"), here)

    # --- models and limits

    def model(self, form: spec.Workflow | spec.Body) -> None:
        self.found += chat_model.faults(form)

    def needs_model(self, form: Form, key: str, workflow: spec.Workflow) -> None:
        here = isinstance(form, spec.Body) and "model" in form.given
        if not here and "model" not in workflow.given:
            self.add(form.at(key).fault(f"`{key}` needs a model", "add `model: provider/name`", key=True))

    # --- the shapes

    def pipeline(self, workflow: spec.Pipeline, tools: Mapping[str, spec.Tool], scope: Scope) -> None:
        ids = [step.id for step in workflow.steps]
        for index, step in enumerate(workflow.steps):
            if step.id is not None:
                self.identity(step, ids[:index], workflow)
            below = frozenset(id for id in ids[index:] if id is not None and id not in scope.known)
            here = Scope(scope.known, below, scope.gaps, f"step {step.id!r}" if step.id else f"step {index + 1}")
            value = self.step(step, workflow, tools, here)
            if step.id is not None:
                scope = after(scope, step, value)
        if workflow.on_limit == "partial":
            for step in workflow.steps:
                scope = scope.gap(step.id, Gap(False, None)) if step.id is not None else scope
        self.found += templates(workflow.answer, workflow.at("answer"), scope.called("`answer`"))
        if isinstance(workflow.answer, dict):
            output = self.quiet_type(workflow)
            self.found += passed(workflow, "answer", workflow.answer, output, "the workflow's `output`", "answer")

    def identity(self, step: spec.Step, above: list[str | None], workflow: spec.Workflow) -> None:
        spot = step.at("id")
        if step.id in above:
            self.add(spot.fault(f"a step above has the id {step.id!r} already"))
        elif step.id in workflow.input:
            self.add(spot.fault(f"an input has the name {step.id!r} already"))
        elif step.id in ("item", "index", "last") or step.id in WORDS:
            self.add(spot.fault(f"{step.id!r} cannot be the id of a step: it has a meaning of its own"))

    def step(self, step: spec.Step, workflow: spec.Workflow, tools: Mapping[str, spec.Tool], scope: Scope) -> Schema:
        """Checks a step from its outermost modifier in; the schema of its value."""
        if "for_each" in step.given:
            scope = self.each(step, scope)
        self.found += condition(step.if_, step.at("if"), scope)
        value = self.body(step, workflow, tools, scope.when(step.if_))
        return {"type": "array", "items": value} if "for_each" in step.given else value

    def each(self, step: spec.Step, scope: Scope) -> Scope:
        """`for_each`, and the scope of what stands under it."""
        self.found += templates(step.for_each, step.at("for_each"), scope)
        schema = schema_of(step.for_each, scope)
        is_text = isinstance(step.for_each, str) and alone(step.for_each) is None
        kind = schema.get("type", "array")
        if is_text or not isinstance(step.for_each, str | list) or kind != "array":
            wanted = "write a list, or one `{{ … }}` that is a list"
            if step.for_each is not BROKEN and step.sound("for_each"):
                self.add(step.at("for_each").fault("`for_each` takes a list", wanted))
        items = schema.get("items")
        return scope.plus(item=items if isinstance(items, Mapping) else ANYTHING, index={"type": "integer"})

    def body(
        self,
        body: spec.Body,
        workflow: spec.Workflow,
        tools: Mapping[str, spec.Tool],
        scope: Scope,
        passed_on: Collection[str] = (),
    ) -> Schema:
        """One verb and its modifiers; the schema of its value. `passed_on` are inputs that what it runs is given by
        name."""
        if body.repeat is not None:
            own = {body.id: ANYTHING} if isinstance(body, spec.Step) and body.id else {}
            scope = scope.plus(last=ANYTHING).gap("last", Gap(False, None))
            self.found += condition(body.repeat.until, body.repeat.at("until"), scope.plus(**own))
        self.model(body)
        match body.verb:
            case "ask":
                return self.ask(body, workflow, scope)
            case "choose":
                self.found += similarity(body)
                return self.choose(body, workflow, scope)
            case "call":
                return self.call(body, tools, scope)
            case "set":
                self.found += templates(body.set_, body.at("set"), scope)
                return schema_of(body.set_, scope)
            case "check":
                self.found += condition(body.check, body.at("check"), scope)
                self.found += templates(body.else_, body.at("else"), scope)
            case "run":
                return self.run(body, workflow, scope, passed_on)
        return ANYTHING

    def ask(self, body: spec.Body, workflow: spec.Workflow, scope: Scope) -> Schema:
        self.needs_model(body, "ask", workflow)
        self.found += templates(body.ask, body.at("ask"), scope)
        return self.type(body, "output")

    def choose(self, body: spec.Body | spec.Router, workflow: spec.Workflow, scope: Scope) -> Schema:
        if body.by is None:
            self.needs_model(body, "choose", workflow)
        self.found += templates(body.choose, body.at("choose"), scope)
        labels = list(body.from_ or [])
        if "from" in body.given and body.sound("from") and not labels:
            self.add(body.at("from").fault("`from` is empty", "name at least one label", key=True))
        for index, label in enumerate(labels):
            if label in labels[:index]:
                self.add(body.at("from", index).fault(f"the label {label!r} is written twice"))
        return {"type": "string", "enum": labels}

    def call(self, body: spec.Body, tools: Mapping[str, spec.Tool], scope: Scope) -> Schema:
        self.found += templates(body.with_, body.at("with"), scope)
        if not isinstance(body.call, str):
            return ANYTHING
        if body.call not in tools:
            instead = suggestion(body.call, tools, "tools") if tools else "there are no tools here: add `tools:`"
            self.add(body.at("call").fault(f"there is no tool {body.call!r}", instead))
        name = body.call if body.call in tools else nearest(body.call, tools)
        if name is not None and (tool := self.entries.tool(name, tools[name])) is not None:
            whose = f"the tool {name!r}"
            self.found += passed(body, "call", body.with_, tool.parameters, whose, bound=tools[name].with_)
            self.found += forbidden(body, tool, body.with_)
        return ANYTHING

    def run(self, body: spec.Body, workflow: spec.Workflow, scope: Scope, passed_on: Collection[str]) -> Schema:
        self.found += templates(body.with_, body.at("with"), scope)
        try:
            part = self.files.workflow_at(body)
        except (KeyError, TypeError):
            return ANYTHING
        if reaches(part, workflow, self.files):
            self.add(body.at("run").fault(f"{body.run!r} runs this workflow again, without end"))
        try:
            schema = spec.input_type(part).schema
        except TypeFault:
            return ANYTHING
        given = {name for name in passed_on if name not in body.with_}
        schema = {**schema, "required": [name for name in schema.get("required", []) if name not in given]}
        read = str(Path(str(body.run)).with_name(self.files.key(body.path("run")).name))
        self.found += passed(body, "run", body.with_, schema, f"the workflow {read!r}")
        return self.quiet_type(part)

    def router(self, workflow: spec.Router, tools: Mapping[str, spec.Tool], scope: Scope) -> None:
        routes = workflow.from_ if isinstance(workflow.from_, dict) else {}
        self.found += similarity(workflow)
        if any("if" not in route.given for route in routes.values()):
            self.choose(workflow, workflow, scope.called("`choose`"))
        else:
            self.found += templates(workflow.choose, workflow.at("choose"), scope.called("`choose`"))
        for label, route in routes.items():
            here = scope.called(f"route {label!r}")
            self.found += condition(route.if_, route.at("if"), here)
            self.body(route, workflow, tools, here, workflow.input)

    def loop(self, workflow: spec.Loop, tools: Mapping[str, spec.Tool], scope: Scope) -> None:
        if near := next((key for key in ("prompt", "shape") if key in workflow.given and workflow.sound(key)), None):
            self.needs_model(workflow, near, workflow)
        self.found += templates(workflow.prompt, workflow.at("prompt"), scope.called("`prompt`"))
        self.found += loops.faults(workflow, tools)


def priceless(workflow: spec.Workflow, files: Files, instead: str | None = None) -> Iterator[Fault]:
    """A limit in dollars over a model whose price is unknown; `instead` is a model in place of all that files name."""
    budget = workflow.budget
    if budget is None or budget.usd is None or "unpriced" in budget.given:
        return
    for name in sorted({*unpriced(workflow, files, instead)}):
        what = f"a limit in usd, and the price of {name} is unknown"
        yield budget.at("usd").fault(what, "give the model a `price`, or write `unpriced: allow`", key=True)


def similarity(body: spec.Body | spec.Router) -> Iterator[Fault]:
    """Keys that mean something only to `by: similarity`, and one that means nothing to it."""
    if "by" in body.given:
        if isinstance(body, spec.Body) and "model" in body.given:
            yield body.at("model").fault("`by: similarity` asks no model of its own choice", "leave it out", key=True)
        return
    if "at_least" in body.given:
        yield body.at("at_least").fault("`at_least` belongs to `by: similarity`", "add `by: similarity`", key=True)
    for option in (body.from_ or {}).values() if isinstance(body.from_, dict) else ():
        if isinstance(option, spec.Option | spec.Route) and "examples" in option.given:
            what = "`examples` belong to `by: similarity`: a model is told the description alone"
            yield option.at("examples").fault(what, "put examples into the prompt", key=True)


def named_only(written: Any) -> Schema:
    """What is known of an object whose fields' types could not all be read: their names."""
    if not isinstance(written, dict) or set(written) == {"json_schema"}:
        return ANYTHING
    return {"type": "object", "properties": dict.fromkeys(written, ANYTHING), "additionalProperties": False}


def after(scope: Scope, step: spec.Step, value: Schema) -> Scope:
    """The scope below a step."""
    known, gaps = {**scope.known, str(step.id): value}, dict(scope.gaps)
    gaps.pop(str(step.id), None)
    if "if" in step.given or step.on_error == "skip":
        alone = step.if_.strip() if isinstance(step.if_, str) and step.on_error != "skip" else None
        gaps[str(step.id)] = Gap("for_each" in step.given, alone)
    return Scope(known, scope.below, gaps, scope.reader)


def alone(text: str) -> Any:
    """The expression of a text that is exactly one `{{ … }}`."""
    try:
        return lone(text)
    except Exception:  # a faulty template is reported where it is judged
        return None


def schema_of(value: Any, scope: Scope) -> Schema:
    """What is known of the value that a template comes to."""
    if isinstance(value, dict):
        return {
            "type": "object",
            "properties": {key: schema_of(part, scope) for key, part in value.items()},
            "additionalProperties": False,
        }
    if not isinstance(value, str):
        return ANYTHING
    if "{{" not in value and "{%" not in value:
        return TEXT
    node = alone(value)
    path = dotted(node) if node is not None else None
    return held(scope.known[path[0]], path[1:]) if path is not None and path[0] in scope.known else ANYTHING
