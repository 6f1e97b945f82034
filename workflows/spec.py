"""What a workflow file and a tool catalogue may hold: the typed specs, one form per mapping of the language.

The five shapes share `Workflow`; a route, an `otherwise` and a step are bodies with one verb each. Texts with `{{ }}`,
expressions and types stay as they were written: `check` judges them and `compile` makes them run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, PrivateAttr, WithJsonSchema

from loopworth.workflows.document import Document
from loopworth.workflows.faults import Fault
from loopworth.workflows.form import Form, Kind, Later, Words
from loopworth.workflows.types import Type, parse_type

LONGEST = 876_000 * 3600.0
"""Seconds that a duration may have: a hundred years, which every clock and calendar can add."""
UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
VERSION = 1
LATER = "is not in this version"


def seconds(text: Any) -> Any:
    """A duration (`500ms 5s 2m 24h`) in seconds."""
    if isinstance(text, float):
        return text
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)", str(text))
    if match is None:
        number = re.fullmatch(r"[0-9]+(\.[0-9]+)?", str(text))
        raise ValueError(f"{text!r} is not a duration | {f'write {text}s' if number else 'write 500ms, 5s, 2m or 24h'}")
    found = float(match[1]) * UNITS[match[2]]
    if not 0 < found <= LONGEST:
        raise ValueError(f"a duration must be {'at most 876000h' if found else 'more than 0'}")
    return found


def day(text: str) -> str:
    """A date as ISO 8601 writes it."""
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise ValueError(f"{text!r} is not a date | write 2026-01-31") from None


def matching(pattern: str, kind: str) -> Any:
    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            fixed = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
            near = f" | write {fixed!r}" if re.fullmatch(pattern, fixed) else ""
            raise ValueError(f"{text!r} is not a name for {kind}: {pattern}{near}")
        return text

    return AfterValidator(check)


Text = Annotated[str, Words("a text", spelled=True)]
Prose = Annotated[str, Kind("prose")]
Expression = Annotated[str, Kind("expression")]
Template = Annotated[Any, Kind("template")]
TypeText = Annotated[Any, Kind("type"), WithJsonSchema({"type": ["string", "object", "array"]})]
Name = Annotated[str, matching("[a-z][a-z0-9_]*", "an input, a step, a tool or an arm")]
Label = Annotated[str, matching("[a-z][a-z0-9_-]*", "a label")]
ToolName = Annotated[str, matching("[a-zA-Z0-9_-]{1,64}", "a tool")]
Duration = Annotated[
    float,
    BeforeValidator(seconds),
    Words("a duration such as 500ms, 5s, 2m or 24h", spelled=True),
    WithJsonSchema({"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)?(ms|s|m|h)$"}),
]
Day = Annotated[str, AfterValidator(day), Words("a date such as 2026-01-31", spelled=True)]
Count = Annotated[int, Field(ge=1)]
Number = Annotated[float, Field(ge=0)]


class FileText(Form):
    """A text that stands in a file of its own."""

    title: ClassVar[str] = "in a `{file: …}`"
    file: Text
    _text: str | None = PrivateAttr(default=None)
    _document: Document | None = PrivateAttr(default=None)

    @property
    def text(self) -> str:
        """What the file holds; empty where it could not be read."""
        return self._text or ""


class ChatMessage(Form):
    """One message of a prompt that is a list of them."""

    title: ClassVar[str] = "in a message"
    role: Literal["system", "user", "assistant"]
    content: Template


Prompt = Annotated[str, Kind("prompt"), Words("a text", spelled=True)] | FileText | list[ChatMessage]


class Secret(Form):
    """A secret, by the name of the environment variable that holds it."""

    title: ClassVar[str] = "in a secret"
    env: Text


class Price(Form):
    """US dollars per million tokens, from a day on (UTC); what has no price here has an unknown cost."""

    title: ClassVar[str] = "in `price`"
    from_: Day | None = Field(default=None, alias="from")
    input: Number | None = None
    cached_input: Number | None = None
    output: Number | None = None


PARAMETERS = (
    *("top_p", "top_k", "min_p", "stop", "frequency_penalty", "presence_penalty", "repetition_penalty", "logit_bias"),
    *("parallel_tool_calls", "reasoning_effort", "reasoning", "thinking", "think", "response_format", "num_ctx"),
    *("max_completion_tokens", "service_tier", "stream_options", "chat_template_kwargs", "cache_prompt", "user"),
)
"""What endpoints know of beside the keys of a model."""


class ModelForm(Form):
    """A chat model and how it is called."""

    title: ClassVar[str] = "in `model`"
    elsewhere: ClassVar[dict[str, str]] = {name: f"write `extra: {{{name}: …}}`" for name in PARAMETERS}
    name: Text = Field(description="provider/name, such as ollama/qwen3.5:9b")
    base_url: Text | None = None
    api_key: Secret | None = None
    temperature: Annotated[float, Field(ge=0)] | None = None
    seed: int | None = None
    max_tokens: Count | None = None
    timeout: Duration | None = None
    retries: Annotated[int, Field(ge=0)] | None = None
    price: Price | list[Price] | None = None
    dialect: Literal["openai", "ollama", "anthropic"] | None = None
    file: Text | None = None
    extra: Annotated[dict[str, Any], Kind("arguments"), Words("a mapping")] = Field(default_factory=dict)
    concurrency: Count | None = None
    requests_per_minute: Count | None = None
    replies: list[Any] | dict[str, Any] | None = None


ModelName = Annotated[str, Words("a text: provider/name", spelled=True)]
ModelSpec = ModelName | ModelForm


class Budget(Form):
    """The limits of a run: `time` in seconds, `usd` in US dollars."""

    title: ClassVar[str] = "in `budget`"
    turns: Count | Literal["none"] | None = None
    tool_calls: Annotated[int, Field(ge=0)] | None = None
    tokens: Count | None = None
    usd: Number | None = None
    time: Duration | None = None
    unpriced: Literal["allow"] | None = None


class Gate(Form):
    """When a person is asked before a tool runs, and what the person may say."""

    title: ClassVar[str] = "in a gate"
    if_: Expression | None = Field(default=None, alias="if")
    ask: Template = None
    choices: Annotated[list[Literal["approve", "edit", "reject"]], Field(min_length=1)] | None = None
    timeout: Duration | None = None
    on_timeout: Literal["approve", "reject"] = "reject"
    remember: Literal["never", "run"] = "never"


GateSpec = Literal["required"] | Gate


class AllowPattern(Form):
    """A pattern the whole of an argument must match."""

    title: ClassVar[str] = "in `allow`"
    pattern: Text

    def rules(self) -> Iterator[Fault]:
        try:
            re.compile(self.pattern)
        except (re.error, AttributeError, TypeError) as error:
            if self.sound("pattern") and "pattern" in self.given:
                yield self.at("pattern").fault(f"not a pattern: {error}")


class Returns(Form):
    """How a tool's value is cut: `keep` shapes the value, `max_chars` only what a model reads of it."""

    title: ClassVar[str] = "in `returns`"
    keep: list[Text] | None = None
    max_chars: Count | None = None


class McpServer(Form):
    """An MCP server: a command with its arguments and environment, or a URL."""

    title: ClassVar[str] = "in `mcp`"
    command: Text | None = None
    args: list[Text] = Field(default_factory=list)
    env: dict[str, Text | Secret] = Field(default_factory=dict)
    url: Text | None = None

    def rules(self) -> Iterator[Fault]:
        if len({"command", "url"} & self.given) != 1:
            yield self.spot.fault("an MCP server has either `command` or `url`", key=True)


class Tool(Form):
    """One entry of a catalogue. In an override (a later entry of `tools: […]`) every key is optional."""

    title: ClassVar[str] = "in a tool"
    python: Text | None = None
    run: Text | None = None
    builtin: Literal["files", "http", "sqlite", "calculator", "today", "ask_human"] | None = None
    mcp: Annotated[McpServer | None, Later()] = None
    description: Prose | None = None
    with_: dict[str, Any] = Field(default_factory=dict, alias="with")
    effect: Literal["read", "write", "irreversible"] | None = None
    approval: GateSpec | None = None
    allow: dict[str, list[Any] | AllowPattern] = Field(default_factory=dict)
    returns: Returns | None = None
    timeout: Duration | None = None
    max_failures: Count | None = None
    repeatable: bool | None = None
    idempotent: bool | None = None
    inline: bool | None = None
    use: Annotated[dict[ToolName, Tool] | None, Later()] = None

    SOURCES: ClassVar[tuple[str, ...]] = ("python", "run", "builtin", "mcp")
    elsewhere: ClassVar[dict[str, str]] = {
        "env": "a secret is bound to an argument: write `with: {token: {env: NAME}}`",
        **dict.fromkeys(("schema", "input_schema"), "the arguments are those of the function: leave it out"),
    }


Catalogue = dict[Name, Tool]


class CatalogueFile(Form):
    """A tool catalogue: `tools.yaml`."""

    title: ClassVar[str] = "in a tool catalogue"
    loopworth: int = VERSION
    tools: Annotated[Catalogue, Words("a mapping of tool names")]


class Repeat(Form):
    title: ClassVar[str] = "in `repeat`"
    times: Count
    until: Expression | None = None
    wait: Duration | None = None


class Retry(Form):
    """`attempts` in total, the first included."""

    title: ClassVar[str] = "in `retry`"
    attempts: Count
    wait: Duration | None = None


class Option(Form):
    """What a label of a `choose` step means."""

    title: ClassVar[str] = "in a label"
    description: Prose | None = None
    examples: list[Text] | None = None


class Body(Form):
    """One verb, its arguments and its modifiers."""

    title: ClassVar[str] = "in a step"
    ask: Prompt | None = None
    output: TypeText = None
    choose: Prompt | None = None
    from_: list[Label] | dict[Label, Annotated[str, Kind("prose")] | Option] | None = Field(default=None, alias="from")
    by: Literal["similarity"] | None = None
    at_least: Annotated[float, Field(ge=0, le=1)] | None = None
    call: Text | None = None
    run: Text | None = None
    with_: Annotated[dict[str, Any], Kind("arguments"), Words("a mapping")] = Field(default_factory=dict, alias="with")
    set_: Template = Field(default=None, alias="set")
    check: Expression | None = None
    else_: Template = Field(default=None, alias="else")
    model: ModelSpec | None = None
    repeat: Repeat | None = None
    retry: Retry | None = None
    timeout: Duration | None = None
    on_error: Literal["fail", "skip"] = "fail"

    VERBS: ClassVar[tuple[str, ...]] = ("ask", "choose", "call", "set", "check", "run")
    WITH: ClassVar[dict[str, tuple[str, ...]]] = {
        "output": ("ask",),
        "from": ("choose",),
        "by": ("choose",),
        "at_least": ("choose",),
        "with": ("call", "run"),
        "else": ("check",),
        "model": ("ask", "choose"),
    }

    @property
    def verb(self) -> str | None:
        """The one thing this step does."""
        return next((verb for verb in self.VERBS if verb in self.given), None)

    def rules(self) -> Iterator[Fault]:
        verbs = [key for key in self.given_in_order() if key in self.VERBS]
        if not verbs:
            yield self.spot.fault(f"no verb {self.title}", f"one of {', '.join(self.VERBS)}", key=True)
        for verb in verbs[1:]:
            yield self.at(verb).fault(f"two verbs in one step: {verbs[0]!r} and {verb!r}", "make two steps", key=True)
        for key, takers in self.WITH.items():
            if key in self.given and verbs and not set(takers) & set(verbs):
                belongs = " and ".join(f"`{taker}`" for taker in takers)
                yield self.at(key).fault(f"`{key}` belongs to {belongs}, and this step is `{verbs[0]}`", key=True)
        if verbs[:1] == ["choose"] and "from" not in self.given:
            yield self.at("choose").fault("`choose` needs `from`", "a list of labels, or label: description", key=True)


class Step(Body):
    """A step of a pipeline."""

    id: Name | None = None
    for_each: Template = None
    max_concurrency: Count | None = None
    if_: Expression | None = Field(default=None, alias="if")

    elsewhere: ClassVar[dict[str, str]] = {
        **dict.fromkeys(("depends_on", "needs", "after"), "a step waits for the steps that it reads; leave it out"),
    }


class Route(Body):
    """A route of a router: a step body under a label."""

    title: ClassVar[str] = "in a route"
    description: Prose | None = None
    examples: list[Text] | None = None
    if_: Expression | None = Field(default=None, alias="if")


class Otherwise(Body):
    """What runs when the workflow itself comes to no good end."""

    title: ClassVar[str] = "in `otherwise`"


class Guard(Form):
    title: ClassVar[str] = "in a guard"
    on: Literal["input", "call", "answer"]
    if_: Expression = Field(alias="if")
    else_: Template = Field(default=None, alias="else")


class Workflow(Form):
    """What the five shapes share."""

    title: ClassVar[str] = "in a workflow"
    loopworth: int = VERSION
    workflow: Text
    shape: Text
    description: Prose | None = None
    input: dict[Name, TypeText] = Field(default_factory=dict)
    output: TypeText = "str"
    instructions: Prompt | None = None
    model: ModelSpec | None = None
    tools: Text | Catalogue | list[Text | Catalogue] | None = None
    budget: Budget | None = None
    on_limit: Literal["fail", "answer", "partial"] = "fail"
    gate: dict[ToolName, GateSpec] = Field(default_factory=dict)
    check: Expression | None = None
    else_: Template = Field(default=None, alias="else")
    guard: list[Guard] = Field(default_factory=list)
    otherwise: Otherwise | None = None

    def rules(self) -> Iterator[Fault]:
        if "else" in self.given and "check" not in self.given:
            yield self.at("else").fault("`else` without `check`: it says what is wrong when a check fails", key=True)


class Pipeline(Workflow):
    """Steps in a fixed order."""

    title: ClassVar[str] = "in a pipeline"
    shape: Literal["pipeline"]
    steps: Annotated[list[Step], Field(min_length=1), Words("a list of steps")]
    answer: Template


class Router(Workflow):
    """One decision from a closed set, then a fixed path."""

    title: ClassVar[str] = "in a router"
    shape: Literal["router"]
    choose: Prompt
    from_: Annotated[dict[Label, Route], Words("a mapping of label: route")] = Field(alias="from")
    by: Literal["similarity"] | None = None
    at_least: Annotated[float, Field(ge=0, le=1)] | None = None


class OnRepeat(Form):
    title: ClassVar[str] = "in `on_repeat`"
    tell: Annotated[int, Field(ge=2)] | Literal["never"] = 2
    stop: Annotated[int, Field(ge=2)] | Literal["never"] = 3


class Compact(Form):
    title: ClassVar[str] = "in `compact`"
    above: Count
    keep_last: Count = 6


class Loop(Workflow):
    """What the three loops share."""

    title: ClassVar[str] = "in a loop"
    prompt: Prompt
    use: list[Text] | None = None
    finish: Literal["submit", "text"] | None = None
    protocol: Literal["native", "json", "text", "react"] = "native"
    tool_choice: Literal["auto", "required", "required_first"] = "auto"
    parallel: bool = True
    on_bad_call: Literal["tell", "rollback"] = "tell"
    on_repeat: OnRepeat | None = None
    compact: Compact | None = None


class ConstrainedLoop(Loop):
    """A loop over the tools it names."""

    title: ClassVar[str] = "in a constrained_loop"
    shape: Literal["constrained_loop"]
    use: list[Text]


class OpenLoop(Loop):
    """A loop over the whole catalogue."""

    title: ClassVar[str] = "in an open_loop"
    shape: Literal["open_loop"]


class GatedLoop(Loop):
    """A loop whose gate is required."""

    title: ClassVar[str] = "in a gated_loop"
    shape: Literal["gated_loop"]
    gate: dict[ToolName, GateSpec]


SHAPES: dict[str, type[Workflow]] = {
    "pipeline": Pipeline,
    "router": Router,
    "constrained_loop": ConstrainedLoop,
    "open_loop": OpenLoop,
    "gated_loop": GatedLoop,
}


def prompt(value: Prompt) -> str | list[dict[str, Any]]:
    """A prompt as `template` takes it: a text, or chat messages; texts are stripped at the ends."""
    if isinstance(value, list):
        return [{"role": message.role, "content": stripped(message.content)} for message in value]
    return value.text.strip() if isinstance(value, FileText) else value.strip()


def stripped(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value


def labels(body: Body | Router) -> dict[str, str | None]:
    """The labels of a `choose`, each with what it means."""
    if not isinstance(body.from_, dict):
        return dict.fromkeys(body.from_ or [])
    return {label: option if isinstance(option, str) else option.description for label, option in body.from_.items()}


def texts(body: Body | Router) -> dict[str, tuple[str, ...]]:
    """The texts of each label of a `choose` that is compared by similarity: what it means and its examples; its name
    where it has neither. Of a router only the routes that are left to the choice: those with `if` need such a text."""
    found = {}
    for label, option in (body.from_ if isinstance(body.from_, dict) else dict.fromkeys(body.from_ or [])).items():
        said = [option] if isinstance(option, str) else []
        if isinstance(option, Option | Route):
            said = [text for text in (option.description, *(option.examples or ())) if text is not None]
        if said or not (isinstance(option, Route) and option.if_ is not None):
            found[label] = tuple(said) or (re.sub("[-_]", " ", label),)
    return found


def input_type(workflow: Workflow) -> Type:
    """The object that a workflow takes. Raises TypeFault."""
    return parse_type(workflow.input, workflow.at("input").base)


def output_type(workflow: Workflow) -> Type:
    """What a workflow answers with. Raises TypeFault."""
    return parse_type(workflow.output, workflow.at("output").base)


def finish(workflow: Loop) -> Literal["submit", "text"]:
    """How a loop ends that speaks in native tool calls: as it says, else by its output."""
    return workflow.finish or ("text" if workflow.output == "str" else "submit")
