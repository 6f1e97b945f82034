"""From a checked spec to something that runs: built objects, which have never seen YAML.

Everything that costs is done here, once: templates are compiled, functions imported, schemas made.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from loopworth.agents.compaction import Compaction
from loopworth.agents.last_word import OnLimit, fail, last_text, last_word
from loopworth.agents.loop import Loop
from loopworth.agents.proof import Proven
from loopworth.agents.protocols import PROTOCOLS
from loopworth.agents.speech import Speech
from loopworth.models.embedding import MINILM
from loopworth.models.spec import ModelSpec
from loopworth.router import Route, Router, Similarity
from loopworth.runs.budget import Limits
from loopworth.runs.executor import Executor
from loopworth.tools.tool import Tool
from loopworth.tools.toolbox import Toolbox
from loopworth.workflows import catalogue, chat_model, keys, modifiers, reach, rules, spec, verbs
from loopworth.workflows.check import priceless
from loopworth.workflows.contract import Contract
from loopworth.workflows.document import plain
from loopworth.workflows.fallback import Fallback
from loopworth.workflows.faults import WorkflowFault
from loopworth.workflows.files import Files
from loopworth.workflows.form import Spotted
from loopworth.workflows.load import load_workflow
from loopworth.workflows.opening import messages
from loopworth.workflows.pipeline import AT_ONCE, Pipeline, Step
from loopworth.workflows.templates import expression, template
from loopworth.workflows.type_expression import parse_type
from loopworth.workflows.types import Type
from loopworth.workflows.verbs import Names
from loopworth.workflows.workflow_tool import workflow_tool


@dataclass(frozen=True, slots=True)
class Compiled:
    """A workflow, ready to run any number of times.

    `executor` holds the whole contract: input, output, check. `models` are all that it and its sub-workflows use, by
    the key that their requests carry. `writes` and `gates` name the tools it can reach that write, and that ask.
    `code` are the Python files of all tools that may run in it and of its types, `every` these tools as they may be
    called in it, `typed` the types of its typed answers, and `read` the files that it was made of. `given` are the
    tools that came from a program, and not from a file. `named` says where the files name each model first.
    """

    name: str
    shape: str
    executor: Executor
    limits: Limits
    tools: Toolbox
    models: Mapping[str, ModelSpec]
    input: Type
    writes: tuple[str, ...] = ()
    gates: tuple[str, ...] = ()
    file: str = ""
    code: Collection[Path] = ()
    every: Sequence[Tool] = ()
    typed: Sequence[Type] = ()
    read: tuple[Path, ...] = ()
    given: tuple[str, ...] = ()
    named: Mapping[str, Spotted] = field(default_factory=dict)


def compile(
    path: str | Path,
    *,
    model: str | None = None,
    environ: Mapping[str, str] | None = None,
    tools: Mapping[str, spec.Tool] | None = None,
) -> Compiled:
    """Load, check and build the workflow in a file. `model` is used in place of every model that the files name, and
    `tools` in the place of those of the same name.

    Raises `WorkflowFault` with every fault of every file. Secrets are read from `environ` (the process's by default).
    """
    workflow, files = load_workflow(path, tools)
    made = build(workflow, files, model=model, environ=environ)
    read = tuple(sorted({*files.documents, *files.texts}))
    return replace(made, file=str(path), read=read, given=tuple(tools or ()))


def build(
    workflow: spec.Workflow, files: Files, *, model: str | None = None, environ: Mapping[str, str] | None = None
) -> Compiled:
    """Build a workflow whose files were checked. Raises `WorkflowFault` where a secret is missing, or where `model` has
    no price and a limit in dollars needs one."""
    if model and (found := [fault for one in reach.reached(workflow, files) for fault in priceless(one, files, model)]):
        raise WorkflowFault(found)
    return Compiler(files, os.environ if environ is None else environ, model).workflow(workflow)


@dataclass
class Compiler:
    """Builds a workflow and all that run in it, each once. `models` and `code` fill up with what they ask and
    call."""

    files: Files
    environ: Mapping[str, str]
    override: str | None = None
    models: dict[str, ModelSpec] = field(default_factory=dict)
    named: dict[str, Spotted] = field(default_factory=dict)
    code: set[Path] = field(default_factory=set)
    every: list[Tool] = field(default_factory=list)
    typed: list[Type] = field(default_factory=list)
    built: dict[int, Compiled] = field(default_factory=dict)

    def workflow(self, workflow: spec.Workflow) -> Compiled:
        if id(workflow) not in self.built:
            self.built[id(workflow)] = self.compiled(workflow)
        return self.built[id(workflow)]

    def compiled(self, workflow: spec.Workflow) -> Compiled:
        tools = self.toolbox(workflow)
        self.code |= spec.input_type(workflow).code | spec.output_type(workflow).code
        return Compiled(
            workflow.workflow,
            workflow.shape,
            Contract(
                self.executor(workflow, tools),
                tools,
                spec.input_type(workflow),
                promised(workflow),
                rules.condition(workflow),
                tuple(rules.guard(said) for said in workflow.guard),
                self.fallback(workflow, tools),
            ),
            rules.limits(workflow.budget),
            tools,
            self.models,
            spec.input_type(workflow),
            tuple(sorted(reach.written(workflow, self.files))),
            tuple(sorted(reach.gated(workflow, self.files))),
            code=self.code,
            every=self.every,
            typed=self.typed,
            named=self.named,
        )

    def executor(self, workflow: spec.Workflow, tools: Toolbox) -> Executor:
        match workflow:
            case spec.Pipeline():
                partial = workflow.on_limit == "partial"
                return Pipeline(self.steps(workflow, tools), template(plain(workflow.answer)), partial)
            case spec.Router():
                return self.router(workflow, tools)
            case spec.Loop():
                made = self.loop(workflow, tools)
                return Proven(made, made.model) if made.tools and made.protocol.tools else made
        raise AssertionError(workflow.shape)

    # -- tools and models ------------------------------------------------------------------------------------------

    def toolbox(self, workflow: spec.Workflow) -> Toolbox:
        """The tools that this workflow may call, behind the gates of the catalogue and its own."""
        return Toolbox([self.tool(name, entry, workflow) for name, entry in reach.usable(workflow, self.files).items()])

    def tool(self, name: str, entry: spec.Tool, workflow: spec.Workflow) -> Tool:
        """A tool behind its gates and the workflow's guards. `max_failures` is a rule for loops alone."""
        gates = [rules.gate(said) for said in (entry.approval, workflow.gate.get(name)) if said is not None]
        guards = tuple(rules.guard(said) for said in workflow.guard if said.on == "call")
        made = self.bare_tool(name, entry)
        most = made.max_failures if isinstance(workflow, spec.Loop) else None
        self.every.append(replace(made, gates=tuple(gates), guards=guards, max_failures=most))
        return self.every[-1]

    def bare_tool(self, name: str, entry: spec.Tool) -> Tool:
        if entry.run is None:
            made = catalogue.tool(name, entry, self.environ)
            self.code |= catalogue.code(entry)
            return made
        inner = self.files.workflow_at(entry)
        part = self.workflow(inner)
        tool, faults = workflow_tool(name, entry, inner, self.environ, part.executor, part.limits)
        if faults:
            raise WorkflowFault(faults)
        return tool

    def model(self, form: spec.Body | spec.Workflow) -> ModelSpec:
        """The model that a workflow or a step names, noted for the world; nothing where none is asked."""
        written: spec.ModelSpec | None = form.model
        asked = written if self.override is None else self.override
        made = chat_model.model_spec(asked if asked is not None else "")
        if made.name:
            self.models[made.key] = made
            if self.override is None:
                self.named.setdefault(made.key, keys.place(form, written))
        return made

    def similarity(self, body: spec.Body | spec.Router) -> Similarity | None:
        """What a `choose` with `by: similarity` compares with; nothing without, or where rules alone choose."""
        texts = spec.texts(body)
        if body.by is None or not texts:
            return None
        made = ModelSpec(MINILM, labels=texts)
        self.models[made.key] = made
        return Similarity(made.key, body.at_least)

    def chat(self, body: spec.Body, workflow: spec.Workflow) -> verbs.Chat:
        made = self.model(body if body.model is not None else workflow)
        return verbs.Chat(made.key, made.max_tokens, made.seed, made.provider == "local")

    # -- the shapes ------------------------------------------------------------------------------------------------

    def steps(self, workflow: spec.Pipeline, tools: Toolbox) -> list[Step]:
        ids = {step.id for step in workflow.steps if step.id is not None}
        return [self.step(number, step, workflow, tools, ids) for number, step in enumerate(workflow.steps, 1)]

    def step(self, number: int, step: spec.Step, workflow: spec.Workflow, tools: Toolbox, ids: set[str]) -> Step:
        each = None if step.for_each is None else template(plain(step.for_each))
        when = None if step.if_ is None else expression(step.if_)
        act, read = self.act(step, workflow, tools)
        if step.on_error == "skip":
            act = modifiers.forgiving(act)
        reads = read.union(*(part.reads for part in (each, when) if part is not None)) & ids
        line, _ = step.spot.document.where(step.spot.path)
        return Step(
            step.id or str(number),
            act,
            frozenset(reads),
            when=None if when is None else when.holds,
            each=each,
            writes=reach.writes(step, self.files.tools(workflow), self.files),
            barrier=step.verb == "check",
            title=f"step {step.id!r}" if step.id else f"step {number} ({step.verb}, line {line})",
            at_once=step.max_concurrency or AT_ONCE,
        )

    def act(self, body: spec.Body, workflow: spec.Workflow, tools: Toolbox) -> tuple[verbs.Act, frozenset[str]]:
        """What a body does under its `repeat`, `retry` and `timeout`, and the names that it reads."""
        act, read = self.verb(body, workflow, tools)
        retry, repeat = body.retry, body.repeat
        if retry is not None or body.timeout is not None:
            attempts, wait = (retry.attempts, retry.wait or 0.0) if retry is not None else (1, 0.0)
            act = modifiers.tried(act, attempts, wait, body.timeout)
        if repeat is not None:
            until = None if repeat.until is None else expression(repeat.until)
            holds, id = (None if until is None else until.holds), getattr(body, "id", None)
            act = modifiers.repeated(act, repeat.times, holds, repeat.wait or 0.0, id)
            read |= until.reads if until is not None else frozenset()
        return act, read

    def verb(self, body: spec.Body, workflow: spec.Workflow, tools: Toolbox) -> tuple[verbs.Act, frozenset[str]]:
        """What a body does, and the names that it reads."""
        match body.verb:
            case "call":
                return self.call(body, tools)
            case "run":
                made = self.workflow(self.files.workflow_at(body))
                same = {} if isinstance(body, spec.Step) else same_names(workflow, made)
                arguments = template({**same, **plain(body.with_)})
                return verbs.run(made.executor, arguments, made.limits), arguments.reads
            case "ask" | "choose":
                return self.asked(body, workflow)
            case "check":
                holds = expression(body.check or "")
                words, read = rules.otherwise_words(body)
                return verbs.check(holds.holds, words), holds.reads | read
        value = template(plain(body.set_))
        return verbs.assign(value), value.reads

    def call(self, body: spec.Body, tools: Toolbox) -> tuple[verbs.Act, frozenset[str]]:
        tool = tools[body.call or ""]
        fields = tool.parameters.get("properties", {})
        arguments = template({name: plain(value, fields.get(name)) for name, value in body.with_.items()})
        own = None
        if tool.writes and body.timeout is not None:  # no deadline cuts a write: the step's is its own timeout
            own = Toolbox([replace(tool, timeout=min(tool.timeout, body.timeout))])
        return verbs.call(tool.name, arguments, tool.writes, own), arguments.reads

    def asked(self, body: spec.Body, workflow: spec.Workflow) -> tuple[verbs.Act, frozenset[str]]:
        said = body.ask if body.verb == "ask" else body.choose
        if body.verb == "choose" and (similarity := self.similarity(body)) is not None:
            compared, read = messages(None, said)
            return verbs.choose_similar(compared, similarity), read
        opening, read = messages(workflow.instructions, said)
        chat = self.chat(body, workflow)
        if body.verb == "choose":
            return verbs.choose(opening, spec.labels(body), chat), read
        if body.output is None:
            return verbs.ask(opening, chat), read
        output = parse_type(body.output, body.at("output").base)
        self.typed.append(output)
        self.code |= output.code
        return verbs.ask(opening, chat, output), read

    def router(self, workflow: spec.Router, tools: Toolbox) -> Router:
        similarity = self.similarity(workflow)
        made = self.model(workflow) if similarity is None else ModelSpec("")
        return Router(
            {label: self.route(route, workflow, tools) for label, route in workflow.from_.items()},
            messages(workflow.instructions, workflow.choose)[0],
            made.key,
            otherwise=workflow.otherwise is not None,
            constrained=made.provider == "local",
            max_tokens=made.max_tokens,
            similarity=similarity,
        )

    def route(self, body: spec.Route, workflow: spec.Workflow, tools: Toolbox) -> Route:
        when = None if body.if_ is None else expression(body.if_).holds
        executor, limits, arguments = self.path(body, workflow, tools)
        return Route(executor, when, body.description, limits, arguments)

    def fallback(self, workflow: spec.Workflow, tools: Toolbox) -> Fallback | None:
        if workflow.otherwise is None:
            return None
        executor, limits, arguments = self.path(workflow.otherwise, workflow, tools)
        return Fallback(executor, arguments, limits)

    def path(
        self, body: spec.Body, workflow: spec.Workflow, tools: Toolbox
    ) -> tuple[Executor, Limits | None, Callable[[Names], dict[str, Any]]]:
        """What a route or an `otherwise` runs, under which limits, on which input made of the workflow's."""
        if body.verb == "run":
            made = self.workflow(self.files.workflow_at(body))
            given = template({**same_names(workflow, made), **plain(body.with_)})
            if not body.given & {"retry", "repeat", "timeout"}:
                return made.executor, made.limits, given
        act, _ = self.act(body, workflow, tools)
        return verbs.Alone(act), None, dict

    def loop(self, workflow: spec.Loop, tools: Toolbox) -> Loop:
        made, output = self.model(workflow), spec.output_type(workflow)
        speech: Speech = PROTOCOLS[workflow.protocol](list(tools.values()), output, spec.finish(workflow))
        compact = workflow.compact
        return Loop(
            messages(workflow.instructions, workflow.prompt)[0],
            made.key,
            tools,
            speech,
            max_tokens=made.max_tokens,
            on_repeat=rules.repetition(workflow.on_repeat),
            parallel=workflow.parallel,
            on_limit=on_limit(workflow, made, output),
            rollback=workflow.on_bad_call == "rollback",
            compact=None if compact is None else Compaction(compact.above, compact.keep_last),
            tool_choice=workflow.tool_choice,
        )


def on_limit(workflow: spec.Loop, model: ModelSpec, output: Type) -> OnLimit:
    """What a loop leaves at its own limit; the last word is spoken in its protocol, without its tools."""
    match workflow.on_limit:
        case "answer":
            return last_word(model.key, PROTOCOLS[workflow.protocol]([], output, "text"), model.max_tokens)
        case "partial":
            return last_text(output)
    return fail


def promised(workflow: spec.Workflow) -> Type | None:
    """The type that an answer is held to; a loop has read its own by it already."""
    if isinstance(workflow, spec.Loop):
        return None if workflow.otherwise is None else spec.output_type(workflow)
    return spec.output_type(workflow) if "output" in workflow.given else None


def same_names(outer: spec.Workflow, inner: Compiled) -> dict[str, str]:
    """The inputs that a route passes on by default: those of the same name."""
    return {name: f"{{{{ {name} }}}}" for name in inner.input.schema.get("properties", {}) if name in outer.input}
