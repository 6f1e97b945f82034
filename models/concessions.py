"""What an endpoint will not take, and how the same request goes without it.

An endpoint that names what it does not know is asked once more without it, and then told so for every call: what was
left out may change what a model does. Its limits and its tools are never left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from loopworth.models import changes
from loopworth.models.changes import RENAMED, SCHEMAS, Body
from loopworth.models.dialects.history import SYSTEM
from loopworth.models.errors import ALTERNATING, NO_SUCH_ID, NO_SYSTEM, SYSTEM_FIRST, Trouble
from loopworth.runs.message import Message
from loopworth.runs.usage import Value

NEEDED = {"model", "messages", "system", "tools", "options", "num_predict", *RENAMED}
"""What a request cannot go without."""
ADDED = ("reasoning_content", "reasoning", "reasoning_details", "thinking", "refusal", "annotations", "audio")
"""What providers add to a message and others do not take back."""
ALSO = {"thinking": "think", "reasoning": "reasoning_effort", "structured output": "response_format"}
"""What an endpoint may call a parameter."""
UNSUPPORTED = {"unsupported_parameter", "unknown_parameter", "unsupported_value", "extra_forbidden"}
UNSUPPORTED_WORDS = re.compile(
    r"unsupported|not (currently |be )?(supported|permitted|recognized|available|allowed|specified|included)"
    r"|n.t (support|accept|recognize)|not support|unavailable|unrecognized|only (allowed|the default)|deprecated"
    r"|may not be enabled"
    r"|unknown (name|parameter|field|argument)|(extra|additional|unexpected) (inputs?|fields?|keyword|propert)"
    r"|no \w+ found that support|cannot both|use .{0,3}max_\w*tokens",
    re.I,
)
NO_CONTENT = re.compile(r"\bcontent\b.{0,60}(required|missing|string|null|none)|missing.{0,30}\bcontent\b", re.I)
EMPTY_CONTENT = re.compile(r"\bcontent\b.{0,60}(empty|blank|either)|(empty|blank|either).{0,30}\bcontent\b", re.I)
AFTER_RESULT = re.compile(r"role .?user.? after role .?tool", re.I)
NOT_UNIQUE = re.compile(r"\bids? must be unique|duplicate (value for .{0,3}tool_call_id|ids?\b)", re.I)
WITHOUT_TOOLS = re.compile(r"must define tools|without .?tools=|toolConfig field must be defined", re.I)
KEYWORDS = (
    *("additionalProperties", "$schema", "default", "examples", "title", "format", "pattern", "strict"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength"),
    *("minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "deprecated", "propertyNames"),
)
"""What narrows or explains a schema, and can go: arguments and answers are checked here in any case."""
STATUSES = (400, 404, 422, 500, 501)
"""Those of a refusal that may be about a part of the request."""
OF_BODY: dict[str, tuple[Callable[[Body, str], Body], str]] = {
    "leave_out": (changes.left_out, "does not take {name}: it was left out"),
    "rename": (changes.renamed, "does not take {name}: it was sent under its other name"),
    "declare": (changes.declared, "wants to know the {name} of the history: they were named, and none may be called"),
    "unkey": (changes.unkeyed, "does not take {name} in schemas: it was left out there"),
}
OF_MESSAGES: dict[str, tuple[Callable[[list[Message], str], list[Message]], str]] = {
    "strip": (changes.stripped, "does not take back {name} in messages: it was left out"),
    "lead": (changes.led, "takes one {name} message, the first: others were joined to it, or said by the user"),
    "fold": (changes.folded, "takes no {name} message: it was said by the user"),
    "merge": (changes.merged, "wants roles to alternate: {name} of one role were joined"),
    "bridge": (changes.bridged, "wants the model to speak after a result: an empty word of its own was put there"),
    "number": (changes.unique, "wants {name} to be unique: those that come again were numbered"),
    "shorten": (changes.shortened, "wants {name} in another form: each was sent as nine letters and digits"),
    "fill": (changes.filled, "wants {name} in every message: an empty one was sent where there is none"),
    "blank": (changes.unblanked, "takes no empty {name}: it was sent as …, or not at all beside calls"),
}
"""The changes, each with its words."""


class Concession(Value, frozen=True):
    """One change of a request: the kind, and the parameter, the field or the role that it is about."""

    kind: str
    name: str

    @property
    def words(self) -> str:
        _, words = OF_BODY.get(self.kind) or OF_MESSAGES[self.kind]
        said = ", and the schema said in words" if self.name in SCHEMAS else ""
        return f"the endpoint {words.format(name=self.name)}{said}"

    def changed(self, body: Body) -> Body:
        """The body with this change; the same where there is nothing to change."""
        if self.kind in OF_BODY:
            return OF_BODY[self.kind][0](body, self.name)
        return body | {"messages": OF_MESSAGES[self.kind][0](body["messages"], self.name)}


def conceded(body: Body, made: Iterable[Concession]) -> Body:
    for change in made:
        body = change.changed(body)
    return body


def concession(found: Trouble, body: Body, before: Iterable[Concession]) -> Concession | None:
    """The change that the trouble asks for; None where there is none, so that the same request is never made again."""
    if found.kind not in ("refused", "broken") or found.status not in STATUSES:
        return None
    new = (change for change in asked(found, body) if change not in (*before, *undone(before)))
    return next((change for change in new if change.changed(body) != body), None)


def undone(before: Iterable[Concession]) -> Iterator[Concession]:
    """Renaming back is no way on."""
    yield from (Concession("rename", RENAMED[change.name]) for change in before if change.kind == "rename")


def asked(found: Trouble, body: Body) -> Iterator[Concession]:
    """What the words of an endpoint may ask for, the likeliest first: of two parameters that do not go together the
    choice among tools, which the loop itself holds to, else the first that is named."""
    yield from roles(found, body)
    contents = [message.get("content") for message in body["messages"]]
    if None in contents and NO_CONTENT.search(found.message):
        yield Concession("fill", "content")
    if "" in contents and EMPTY_CONTENT.search(found.message):
        yield Concession("blank", "content")
    if AFTER_RESULT.search(found.message):
        yield Concession("bridge", "messages")
    if NOT_UNIQUE.search(found.message):
        yield Concession("number", "ids of calls")
    if NO_SUCH_ID.search(found.message):
        yield Concession("shorten", "ids of calls")
    if WITHOUT_TOOLS.search(found.message):
        yield Concession("declare", "tools")
    if found.code not in UNSUPPORTED and not UNSUPPORTED_WORDS.search(found.message):
        return
    keys = changes.keywords(body)
    for name in KEYWORDS:
        if name in keys and re.search(rf"['\"`]{re.escape(name)}['\"`]", found.message):
            yield Concession("unkey", name)
    for name in ADDED:
        if named(name, found) and any(name in message for message in body["messages"]):
            yield Concession("strip", name)
    for name in sorted(parameters(body), key=lambda name: (name != "tool_choice", place(name, found))):
        if named(name, found):
            yield Concession("rename" if name in RENAMED else "leave_out", name)


def roles(found: Trouble, body: Body) -> Iterator[Concession]:
    """What may help where an endpoint does not take who speaks. Some templates that know no system message only say
    that roles must alternate, or which there are."""
    alternating = ALTERNATING.search(found.message)
    if alternating:
        yield Concession("merge", "messages")
    if not any(message.get("role") in SYSTEM for message in body["messages"]):
        return
    if alternating or SYSTEM_FIRST.search(found.message):
        yield Concession("lead", "system")
    if alternating or NO_SYSTEM.search(found.message) or subject(found.param) == "role":
        yield Concession("fold", "system")


def parameters(body: Body) -> Iterator[str]:
    """What may be left out or renamed; what stands in `options` is named `options.…`."""
    yield from (key for key in body if key not in NEEDED or key in RENAMED)
    options = body.get("options")
    yield from (f"options.{key}" for key in (options if isinstance(options, dict) else ()) if key not in NEEDED)


def named(name: str, found: Trouble) -> bool:
    """Whether the trouble is about this parameter: by its own word for it, else by the text."""
    if found.param:
        return subject(found.param) == name.rpartition(".")[2]
    return place(name, found) < len(found.message)


def subject(param: str) -> str:
    """The parameter, or the field of a message, that a path such as `messages[2].reasoning` is about."""
    parts = re.findall(r"\w+", param.removeprefix("body."))
    return parts[-1 if parts[0] == "messages" else 0] if parts else param


def place(name: str, found: Trouble) -> int:
    """Where the text names a parameter; its length where it does not."""
    words = [name.rpartition(".")[2], *(word for word, ours in ALSO.items() if ours == name)]
    patterns = (rf"(?<!\w){re.escape(word).replace('_', '_?')}(?!\w)" for word in words)
    places = (re.search(pattern, found.message, re.I) for pattern in patterns)
    return min((match.start() for match in places if match), default=len(found.message))
