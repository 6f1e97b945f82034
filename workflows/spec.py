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

from loopworth.tools.pattern import allowing
from loopworth.workflows.document import Document
from loopworth.workflows.faults import Fault
from loopworth.workflows.form import Form, Kind, Later, Spoken, ToldElsewhere, Unfit, Unset, Words
from loopworth.workflows.literals import NAME, unset
from loopworth.workflows.type_expression import parse_type
from loopworth.workflows.types import Type

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
        raise Unfit(f"{text!r} is not a duration", f"write {text}s" if number else "write 500ms, 5s, 2m or 24h")
    found = float(match[1]) * UNITS[match[2]]
    if not 0 < found <= LONGEST:
        raise Unfit(f"a duration must be {'at most 876000h' if found else 'more than 0'}")
    return found


def day(text: str) -> str:
    """A date as ISO 8601 writes it."""
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise Unfit(f"{text!r} is not a date", "write 2026-01-31") from None


def matching(pattern: str, kind: str) -> Any:
    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            fixed = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
            instead = f"write {fixed!r}" if re.fullmatch(pattern, fixed) else ""
            raise Unfit(f"{text!r} is not a name for {kind}: {pattern}", instead)
        return text

    return AfterValidator(check)


Text = Annotated[str, Spoken(), Words("a text", spelled=True)]
Verbatim = Annotated[str, Words("a text", spelled=True)]
"""A text that is passed on as it stands, a blank one too."""
Prose = Annotated[str, Kind("prose"), Spoken()]
Expression = Annotated[str, Kind("expression"), Spoken(), Words("an expression")]
Template = Annotated[Any, Kind("template")]
Saying = Annotated[Template, Spoken(), Words("a text")]
"""What somebody is told, with templates."""
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
    """A file beside this one, whose text it is."""
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
    """Who says it."""
    content: Saying
    """A text with templates, or a list of content parts (`{type: text, …}`, `{type: image_url, …}`)."""


Prompt = (
    Annotated[str, Kind("prompt"), Spoken(), Words("a text", spelled=True)]
    | FileText
    | Annotated[list[ChatMessage], Field(min_length=1)]
)


class Secret(Form):
    """A secret, by the name of the environment variable that holds it."""

    title: ClassVar[str] = "in a secret"
    instead: ClassVar[str] = "write the name of the variable that holds it, as {env: OPENAI_API_KEY}"
    env: Text
    """The environment variable that holds it."""

    def rules(self) -> Iterator[Fault]:
        if self.sound("env") and "env" in self.given and not NAME.fullmatch(self.env):
            yield self.at("env").fault(*unset(self.env))


class Price(Form):
    """US dollars per million tokens, from a day on (UTC); what has no price here has an unknown cost."""

    title: ClassVar[str] = "in `price`"
    from_: Day | None = Field(default=None, alias="from")
    """The day that it begins, for a list of prices."""
    input: Number | None = None
    """Of input tokens."""
    cached_input: Number | None = None
    """Of input that is read from a cache."""
    output: Number | None = None
    """Of output tokens, reasoning among them."""


PARAMETERS = (
    *("top_p", "top_k", "min_p", "stop", "frequency_penalty", "presence_penalty", "repetition_penalty", "logit_bias"),
    *("parallel_tool_calls", "reasoning_effort", "reasoning", "thinking", "think", "response_format", "num_ctx"),
    *("max_completion_tokens", "service_tier", "stream_options", "chat_template_kwargs", "cache_prompt", "user"),
)
"""What endpoints know of beside the keys of a model."""


class ModelForm(Form):
    """A chat model and how it is called."""

    title: ClassVar[str] = "in `model`"
    misplaced: ClassVar[dict[str, str]] = {name: f"write `extra: {{{name}: …}}`" for name in PARAMETERS}
    name: Text
    """provider/name, such as ollama/qwen3.5:9b."""
    base_url: Annotated[Text | None, Unset("the provider's")] = None
    """Where the endpoint is: up to what stands before `/chat/completions`."""
    api_key: Annotated[Secret | None, Unset("the provider's variable")] = None
    """The variable that holds the endpoint's key; never the key itself."""
    temperature: Annotated[Annotated[float, Field(ge=0)] | None, Unset("the endpoint's")] = None
    """As the endpoint takes it."""
    seed: int | None = None
    """Each call's own seed is made of it and of its place in the run."""
    max_tokens: Annotated[Count | None, Unset("2,048; an embedded model stops at 512")] = None
    """The most output tokens of one reply."""
    timeout: Annotated[Duration | None, Unset("300s")] = None
    """For one attempt; while a reply streams, between two events."""
    retries: Annotated[Annotated[int, Field(ge=0)] | None, Unset("4")] = None
    """Further attempts where the endpoint is busy or fails."""
    price: Annotated[Price | list[Price] | None, Unset("as the price tables say")] = None
    """US dollars per million tokens, where the price tables have none or another."""
    dialect: Annotated[Literal["openai", "ollama", "anthropic"] | None, Unset("the provider's")] = None
    """The wire format of an endpoint that speaks another than its provider's."""
    file: Text | None = None
    """The GGUF file of `local/custom`."""
    extra: Annotated[dict[str, Any], Kind("arguments"), Words("a mapping")] = Field(default_factory=dict)
    """Added to every request, as `{reasoning_effort: low}` or `{cache_prompt: true}`; null leaves a key of ours out."""
    concurrency: Annotated[Count | None, Unset("the provider's, 8 for most")] = None
    """Calls under way at once, over all models of the endpoint."""
    requests_per_minute: Annotated[Count | None, Unset("no bound")] = None
    """Calls begun in a minute, evenly, over all models of the endpoint."""
    replies: list[Any] | dict[str, Any] | None = None
    """The replies of a `scripted` model: a list, or a list per step id."""


ModelName = Annotated[str, Spoken(), Words("a text: provider/name", spelled=True)]
ModelSpec = ModelName | ModelForm


class Budget(Form):
    """The limits of a run: `time` in seconds, `usd` in US dollars."""

    title: ClassVar[str] = "in `budget`"
    turns: Annotated[Count | Literal["none"] | None, Unset("no limit; a loop needs one")] = None
    """Model calls; `none` says that another limit ends a loop."""
    tool_calls: Annotated[Annotated[int, Field(ge=0)] | None, Unset("no limit")] = None
    """Calls that reach a tool."""
    tokens: Annotated[Count | None, Unset("no limit")] = None
    """Input and output tokens of all model calls."""
    usd: Annotated[Number | None, Unset("no limit")] = None
    """US dollars."""
    time: Annotated[Duration | None, Unset("no limit")] = None
    """Active time, without waits for a person."""
    unpriced: Annotated[Literal["allow"] | None, Unset("a fault")] = None
    """`allow` takes a limit in `usd` over a model whose price is unknown."""


class Gate(Form):
    """When a person is asked before a tool runs, and what the person may say."""

    title: ClassVar[str] = "in a gate"
    if_: Annotated[Expression | None, Unset("always")] = Field(default=None, alias="if")
    """When it closes: an expression over the inputs and `args`, the exact arguments of the call."""
    ask: Annotated[Saying, Unset("whether the call may be made, with its arguments")] = None
    """What the person is asked."""
    choices: Annotated[
        Annotated[list[Literal["approve", "edit", "reject"]], Field(min_length=1)] | None, Unset("[approve, reject]")
    ] = None
    """What the person may decide; `reject` is always offered."""
    timeout: Annotated[Duration | None, Unset("for ever")] = None
    """How long a decision is waited for."""
    on_timeout: Literal["approve", "reject"] = "reject"
    """What is decided when `timeout` is over."""
    remember: Literal["never", "run"] = "never"
    """`run`: a decision stands for equal calls of the same run."""


GateSpec = Literal["required"] | Gate


class AllowPattern(Form):
    """A pattern the whole of an argument must match."""

    title: ClassVar[str] = "in `allow`"
    pattern: Verbatim
    r"""A regular expression that the whole argument must match; `\d`, `\w`, `\s` and `(?i)` are those of ASCII."""

    def rules(self) -> Iterator[Fault]:
        try:
            allowing(self.pattern)
        except (ValueError, AttributeError, TypeError) as error:
            if self.sound("pattern") and "pattern" in self.given:
                yield self.at("pattern").fault(f"not a pattern: {error}")


class Returns(Form):
    """How a tool's value is cut: `keep` shapes the value, `max_chars` only what a model reads of it."""

    title: ClassVar[str] = "in `returns`"
    keep: Annotated[list[Text] | None, Unset("all")] = None
    """Dotted paths of the keys of the value that are kept (`[value, order.total]`)."""
    max_chars: Annotated[Count | None, Unset("20,000")] = None
    """The most characters of it that a model reads."""


class McpServer(Form):
    """An MCP server: a command with its arguments and environment, or a URL."""

    title: ClassVar[str] = "in `mcp`"
    command: Text | None = None
    """The server's command."""
    args: list[Verbatim] = Field(default_factory=list)
    """Its arguments."""
    env: dict[str, Verbatim | Secret] = Field(default_factory=dict)
    """Its environment."""
    url: Text | None = None
    """The server's address."""

    def rules(self) -> Iterator[Fault]:
        if len({"command", "url"} & self.given) != 1:
            yield self.spot.fault("an MCP server has either `command` or `url`", key=True)


class Tool(Form):
    """One entry of a catalogue. In an override (a later entry of `tools: […]`) every key is optional."""

    title: ClassVar[str] = "in a tool"
    python: Text | None = None
    """`module:function`, in a file beside this one or installed: its hints and docstring are the schema."""
    run: Text | None = None
    """A workflow's file: the tool runs it, its inputs are the arguments."""
    builtin: Literal["files", "http", "sqlite", "calculator", "today", "ask_human"] | None = None
    """One of the tools that come with loopworth."""
    mcp: Annotated[McpServer | None, Later()] = None
    """An MCP server whose tools these are; not in this version."""
    description: Annotated[Prose | None, Unset("the docstring, or the workflow's own")] = None
    """What a model is told of it."""
    with_: dict[str, Any] = Field(default_factory=dict, alias="with")
    """Arguments given in advance and hidden from the model; `{env: NAME}` is a secret."""
    effect: Literal["read", "write", "irreversible"] | None = None
    """What a call does to the world; required in a catalogue."""
    approval: GateSpec | None = None
    """A person is asked before each call: `required`, or when and how."""
    allow: dict[str, list[Any] | AllowPattern] = Field(default_factory=dict)
    """For an argument, the values that it may have, or the pattern that it must match; checked on every call."""
    returns: Returns | None = None
    """What is kept of its value, and how much a model reads of it."""
    timeout: Annotated[Duration | None, Unset("60s")] = None
    """For one call."""
    max_failures: Annotated[Count | None, Unset("3")] = None
    """In a loop, so many failures in a run end it as `tool_failures`."""
    repeatable: Annotated[bool | None, Unset("false; `today`: true")] = None
    """In a loop, whether the same call may be made again without being a repetition (clocks, polling)."""
    idempotent: Annotated[bool | None, Unset("false")] = None
    """Whether a write may be tried again with the same key, which the function gets as `key`."""
    inline: Annotated[bool | None, Unset("false; `calculator`, `today`, `ask_human`: true")] = None
    """Run a quick, pure function without a thread: cheaper, but all else waits for it and `timeout` cannot cut it."""
    use: Annotated[dict[ToolName, Tool] | None, Later()] = None
    """The server's tools that are used, each with its rules; not in this version."""

    SOURCES: ClassVar[tuple[str, ...]] = ("python", "run", "builtin", "mcp")
    misplaced: ClassVar[dict[str, str]] = {
        "env": "a secret is bound to an argument: write `with: {token: {env: NAME}}`",
        **dict.fromkeys(("schema", "input_schema"), "the arguments are those of the function: leave it out"),
    }


Catalogue = dict[Name, Tool]


class CatalogueFile(Form):
    """A tool catalogue: `tools.yaml`."""

    title: ClassVar[str] = "in a tool catalogue"
    loopworth: int = VERSION
    """The version of the language."""
    tools: Annotated[Catalogue, Words("a mapping of tool names")]
    """The tools by name."""


class Repeat(Form):
    """Rounds of a step."""

    title: ClassVar[str] = "in `repeat`"
    times: Count
    """Rounds at most."""
    until: Annotated[Expression | None, Unset("all rounds are made")] = None
    """Ends the rounds once it holds; reads the round's own value by the step's id."""
    wait: Annotated[Duration | None, Unset("at once")] = None
    """Between two rounds."""


class Retry(Form):
    """`attempts` in total, the first included."""

    title: ClassVar[str] = "in `retry`"
    attempts: Count
    """In total, the first included."""
    wait: Annotated[Duration | None, Unset("at once")] = None
    """Between two attempts."""


class Option(Form):
    """What a label of a `choose` step means."""

    title: ClassVar[str] = "in a label"
    description: Prose | None = None
    """What the label means."""
    examples: list[Prose] | None = None
    """Texts that belong to it, for `by: similarity`."""


class Body(Form):
    """One verb, its arguments and its modifiers."""

    title: ClassVar[str] = "in a step"
    ask: Prompt | None = None
    """Verb: asks a model; the value is its text, or what `output` says."""
    output: Annotated[TypeText, Unset("text")] = None
    """With `ask`: the type of the answer."""
    choose: Prompt | None = None
    """Verb: lets a model choose one label of `from`."""
    from_: list[Label] | dict[Label, Prose | Option] | None = Field(default=None, alias="from")
    """With `choose`: the labels, or each label and what it means."""
    by: Annotated[Literal["similarity"] | None, Unset("a model chooses")] = None
    """With `choose`: `similarity` compares texts instead of asking a model."""
    at_least: Annotated[Annotated[float, Field(ge=0, le=1)] | None, Unset("the nearest is taken, however far")] = None
    """With `by: similarity`: under this similarity nothing is chosen."""
    call: Text | None = None
    """Verb: calls a tool of the catalogue."""
    run: Text | None = None
    """Verb: runs another workflow, of any shape."""
    with_: Annotated[dict[str, Any], Kind("arguments"), Words("a mapping")] = Field(default_factory=dict, alias="with")
    """With `call` and `run`: the arguments, with templates."""
    set_: Template = Field(default=None, alias="set")
    """Verb: any value, with templates in its texts."""
    check: Expression | None = None
    """Verb: an expression that must hold, or the step fails."""
    else_: Saying = Field(default=None, alias="else")
    """With `check`: what is said when it does not hold."""
    model: Annotated[ModelSpec | None, Unset("the workflow's")] = None
    """With `ask` and `choose`: another model than the workflow's."""
    repeat: Annotated[Repeat | None, Unset("made once")] = None
    """Make it again, each round reading the one before as `last`."""
    retry: Annotated[Retry | None, Unset("not tried again")] = None
    """Try it again when it fails."""
    timeout: Annotated[Duration | None, Unset("no limit")] = None
    """For one attempt."""
    on_error: Literal["fail", "skip"] = "fail"
    """`skip` goes on without a value when it fails."""

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
    """The name that later steps read its value by."""
    for_each: Template = None
    """Make it for each item of a list, as `item` and `index`; the value is a list."""
    max_concurrency: Annotated[Count | None, Unset("8")] = None
    """With `for_each`: items under way at once."""
    if_: Expression | None = Field(default=None, alias="if")
    """Skip it where this does not hold; with `for_each`, for each item."""

    misplaced: ClassVar[dict[str, str]] = {
        **dict.fromkeys(("depends_on", "needs", "after"), "a step waits for the steps that it reads; leave it out"),
    }


class Route(Body):
    """A route of a router: a step body under a label."""

    title: ClassVar[str] = "in a route"
    description: Prose | None = None
    """What the route is for: the model that chooses is told."""
    examples: list[Prose] | None = None
    """Texts that belong to it, for `by: similarity`."""
    if_: Expression | None = Field(default=None, alias="if")
    """Take the route where this holds, without a model; such routes are tried first, in order."""


class Otherwise(Body):
    """What runs when the workflow itself comes to no good end."""

    title: ClassVar[str] = "in `otherwise`"


class Guard(Form):
    """A check from outside, with its cause."""

    title: ClassVar[str] = "in a guard"
    on: Literal["input", "call", "answer"]
    """What it looks at: the inputs, each call (`tool`, `args`), or the answer."""
    if_: Expression = Field(alias="if")
    """Ends the run as `guardrail` where it holds."""
    else_: Saying = Field(default=None, alias="else")
    """The cause that is recorded."""


class Workflow(Form):
    """What the five shapes share."""

    title: ClassVar[str] = "in a workflow"
    loopworth: int = VERSION
    """The version of the language."""
    workflow: Text
    """The workflow's name."""
    shape: Text
    """Which of the five shapes it has."""
    description: Prose | None = None
    """What it does: what a model is told where it is a tool."""
    input: dict[Name, TypeText] = Field(default_factory=dict)
    """The inputs by name, each with its type; checked before anything is called."""
    output: TypeText = "str"
    """The type of the answer; checked before the answer counts."""
    instructions: Prompt | None = None
    """What the model is told before all else, in its system message."""
    model: Annotated[ModelSpec | None, Unset("none")] = None
    """The model that it asks."""
    tools: Text | Catalogue | list[Text | Catalogue] | None = None
    """A catalogue's file, a catalogue, or a list of them: later entries override earlier ones, key by key."""
    budget: Budget | None = None
    """The limits of a run."""
    on_limit: Literal["fail", "answer", "partial"] = "fail"
    """What a limit of its own leaves: no answer, one last call without tools (loops), or what there is."""
    gate: dict[ToolName, GateSpec] = Field(default_factory=dict)
    """For a tool, when a person is asked: beside what the catalogue says."""
    check: Expression | None = None
    """Must hold of `answer`, `calls` and `observations`, or the run ends as `check_failed`."""
    else_: Saying = Field(default=None, alias="else")
    """With `check`: what is said when it does not hold."""
    guard: list[Guard] = Field(default_factory=list)
    """Checks from outside, each of which ends the run as `guardrail`."""
    otherwise: Otherwise | None = None
    """A step body that runs when it ends in no good way."""

    def rules(self) -> Iterator[Fault]:
        if "else" in self.given and "check" not in self.given:
            yield self.at("else").fault("`else` without `check`: it says what is wrong when a check fails", key=True)


class Pipeline(Workflow):
    """Steps in a fixed order."""

    title: ClassVar[str] = "in a pipeline"
    shape: Literal["pipeline"]
    """Fixed steps."""
    steps: Annotated[list[Step], Field(min_length=1), Words("a list of steps")]
    """The steps, in order."""
    answer: Template
    """The answer, with templates over the inputs and the steps."""


class Router(Workflow):
    """One decision from a closed set, then a fixed path."""

    title: ClassVar[str] = "in a router"
    shape: Literal["router"]
    """One decision, then a fixed path."""
    choose: Prompt
    """What the model that chooses is asked."""
    from_: Annotated[dict[Label, Route], Words("a mapping of label: route")] = Field(alias="from")
    """The routes by label."""
    by: Annotated[Literal["similarity"] | None, Unset("a model chooses")] = None
    """`similarity` compares texts instead of asking a model."""
    at_least: Annotated[Annotated[float, Field(ge=0, le=1)] | None, Unset("the nearest is taken, however far")] = None
    """With `by: similarity`: under this similarity `otherwise` is taken."""


class OnRepeat(Form):
    """What equal calls lead to."""

    title: ClassVar[str] = "in `on_repeat`"
    tell: Annotated[int, Field(ge=2)] | Literal["never"] = 2
    """Which equal call is answered `repeated`, and not made: 2 is the second."""
    stop: Annotated[int, Field(ge=2)] | Literal["never"] = 3
    """Which equal call ends the run as `repetition`."""


class Compact(Form):
    """When old results are left out of requests."""

    title: ClassVar[str] = "in `compact`"
    above: Count
    """When a request is larger than so many tokens, old results are left out of it."""
    keep_last: Count = 6
    """So many results stay."""


class Loop(Workflow):
    """What the three loops share."""

    title: ClassVar[str] = "in a loop"
    prompt: Prompt
    """What the model is asked."""
    use: list[Text] | None = None
    """The tools of the catalogue that it may call."""
    finish: Annotated[Literal["submit", "text"] | None, Unset("submit; text where `output` is str")] = None
    """How it ends: by calling `submit`, or by a plain text."""
    protocol: Literal["native", "json", "text", "react"] = "native"
    """How it speaks with its model."""
    tool_choice: Literal["auto", "required", "required_first"] = "auto"
    """Whether it must call a tool: never, in every turn, or before its answer."""
    parallel: bool = True
    """Whether several calls of one turn are made; false makes the first alone."""
    on_bad_call: Literal["tell", "rollback"] = "tell"
    """A call that cannot be made is told to the model, or its whole turn is taken back."""
    on_repeat: Annotated[OnRepeat | None, Unset("{tell: 2, stop: 3}")] = None
    """What equal calls lead to."""
    compact: Annotated[Compact | None, Unset("nothing is left out")] = None
    """Old results that are left out of long requests."""


class ConstrainedLoop(Loop):
    """A loop over the tools it names."""

    title: ClassVar[str] = "in a constrained_loop"
    shape: Literal["constrained_loop"]
    """A loop over the tools that it names."""
    use: list[Text]
    """The tools of the catalogue that it may call."""


class OpenLoop(Loop):
    """A loop over the whole catalogue."""

    title: ClassVar[str] = "in an open_loop"
    shape: Literal["open_loop"]
    """A loop over the whole catalogue."""


class GatedLoop(Loop):
    """A loop whose gate is required."""

    title: ClassVar[str] = "in a gated_loop"
    shape: Literal["gated_loop"]
    """A loop whose gate is required."""
    gate: Annotated[dict[ToolName, GateSpec], ToldElsewhere()]
    """For a tool, when a person is asked: beside what the catalogue says."""


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
