"""Writes reference.md, the page of every key, from the forms that load the files and from what reads the rest.

A chore of development (`make reference`), and no part of the package.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from pydantic_core import PydanticUndefined

from loopworth.comparisons.named_scores import schemas
from loopworth.comparisons.spec import Arm, Comparison, Decide, Injected, Judge, Spend, Tasks
from loopworth.comparisons.tasks import COLUMNS
from loopworth.workflows import spec
from loopworth.workflows.form import Form, Kind, Unset, Words, later_keys, members, metadata, names_of, unwrapped

HEAD = """# Every key

What `loopworth check` reads and `loopworth schema` tells an editor ([how to attach it](define.md#in-your-editor)), as a
list. It is written from the same forms by `make reference`; a line is changed where its key stands, in
`workflows/spec.py` and `comparisons/spec.py`.

*default* is what holds where a key is left out; — is nothing, and a *required* key must be there. `a` or `b` is one of
these words. A *duration* is written `500ms`, `5s`, `2m` or `24h`, a *name* `[a-z][a-z0-9_]*`, and a *label* may have a
`-`. An *expression* is bare (`total > 3`), a text *with templates* has it in `{{ }}`. A file is named relative to the
one that names it. A key at the top of a file that begins with `x-` is free, for anchors.
"""


class Part(NamedTuple):
    """A section: its title, the form whose keys it lists, what is said above them; `own`: without inherited keys."""

    title: str
    form: type[Form]
    said: str = ""
    own: bool = False


PARTS: dict[str, tuple[Part, ...]] = {
    "Workflows": (
        Part("Workflow", spec.Workflow, "What all five shapes have."),
        Part("Pipeline", spec.Pipeline, "Fixed steps in their order.", own=True),
        Part(
            "Step",
            spec.Step,
            "One verb (`ask`, `choose`, `call`, `set`, `check`, `run`), its arguments, its modifiers.",
        ),
        Part("Router", spec.Router, "One decision from a closed set, then a fixed path.", own=True),
        Part(
            "Route",
            spec.Route,
            "A step's body under a label: a verb, as in a [step](#step) (but no `id`, `for_each`), and",
            own=True,
        ),
        Part(
            "Otherwise",
            spec.Otherwise,
            "A step's body: a verb, as in a [step](#step) (but no `id`, `for_each`, `if`).",
            own=True,
        ),
        Part("Loop", spec.Loop, "What the three loops have.", own=True),
        Part("Constrained loop", spec.ConstrainedLoop, own=True),
        Part("Open loop", spec.OpenLoop, "It has the whole catalogue, and no `use`.", own=True),
        Part("Gated loop", spec.GatedLoop, own=True),
    ),
    "Parts of a workflow": (
        Part("Budget", spec.Budget),
        Part("Gate", spec.Gate, "`required`, or:"),
        Part("Guard", spec.Guard),
        Part("Repeat", spec.Repeat),
        Part("Retry", spec.Retry),
        Part("Option", spec.Option),
        Part("On repeat", spec.OnRepeat),
        Part("Compact", spec.Compact),
        Part("Prompt file", spec.FileText),
        Part("Message", spec.ChatMessage, "A prompt may be a list of messages: earlier turns, examples, images."),
    ),
    "Models": (
        Part("Model", spec.ModelForm, "`provider/name` alone, or:"),
        Part("Price", spec.Price),
        Part("Secret", spec.Secret),
    ),
    "Tools": (
        Part("Catalogue", spec.CatalogueFile),
        Part("Tool", spec.Tool, "In an entry that overrides another one every key may be left out."),
        Part("Returns", spec.Returns),
        Part("Pattern", spec.AllowPattern),
    ),
    "Comparisons": (
        Part("Comparison", Comparison),
        Part("Task choice", Tasks, "A file's name, or:"),
        Part("Arm", Arm),
        Part("Decide", Decide),
        Part("Spend", Spend),
        Part("Injected failure", Injected),
        Part("Judge", Judge, "Under `score: {judge: …}`."),
    ),
}
NAMES: tuple[tuple[Any, str], ...] = ((spec.Name, "name"), (spec.ToolName, "tool"), (spec.Label, "label"))
LEAVES: dict[Any, str] = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "`true` or `false`",
    Any: "any value",
}
MARKED = {
    "template": "any value, with templates",
    "prompt": "text, with templates",
    "expression": "expression",
    "prose": "text",
    "type": "[type](define.md#types)",
    "arguments": "mapping",
}
BOUNDS = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}


def page() -> str:
    """The page, as Markdown."""
    parts = [HEAD]
    for title, sections in PARTS.items():
        parts += [f"## {title}\n", *(section(part) for part in sections)]
    return "\n".join([*parts, scores(), tasks()])


def section(part: Part) -> str:
    said = part.said or " ".join((part.form.__doc__ or "").split())
    return "\n".join([f"### {part.title}\n", f"{said}\n", *table("key type default", list(rows(part)))])


def rows(part: Part) -> Iterator[tuple[str, str, str, str]]:
    """One row of each key that this version has: the key, its type, what holds without it, what it is."""
    for key, name in names_of(part.form).items():
        inherited = part.own and name not in part.form.__annotations__
        if not inherited and key not in later_keys(part.form):
            info = part.form.model_fields[name]
            taken = Annotated[(info.annotation, *info.metadata)] if info.metadata else info.annotation
            yield f"`{key}`", kind(taken), default(info), info.description or ""


def kind(taken: Any) -> str:
    """What a field takes."""
    for mark in metadata(taken):
        if isinstance(mark, Kind):
            return MARKED[mark.name]
    words = [mark.text for mark in metadata(taken) if isinstance(mark, Words)]
    several = get_origin(unwrapped(taken)) in (Union, UnionType)
    if words and several and len(list(members(taken))) > 1:
        return plainly(words[0])
    return " or ".join(dict.fromkeys(one(option) for option in members(taken)))


def one(option: Any) -> str:
    """What one alternative of a field takes."""
    bare, marks = unwrapped(option), metadata(option)
    if known := [name for alias, name in NAMES if alias == option] + [MARKED[m.name] for m in marks if type(m) is Kind]:
        return known[0]
    if isinstance(bare, type) and issubclass(bare, Form):
        return link(bare)
    if get_origin(bare) is Literal:
        return " or ".join(f"`{word}`" for word in get_args(bare))
    if get_origin(bare) is list:
        item = kind(get_args(bare)[0])
        return f"list of ({item})" if " or mapping" in item else f"list of {item}"
    if get_origin(bare) is dict:
        return f"mapping of {kind(get_args(bare)[0])}: {kind(get_args(bare)[1])}"
    words = [plainly(mark.text) for mark in marks if isinstance(mark, Words)]
    return (words[0] if words else LEAVES[bare]) + "".join(bounds(marks))


def plainly(words: str) -> str:
    """Words of a message as a table says them: without the article and the examples, and YAML as such."""
    return re.sub("({.*})", r"`\1`", re.sub("^an? ", "", words).partition(" such as ")[0])


def bounds(marks: tuple[Any, ...]) -> Iterator[str]:
    """The limits of a number."""
    limits = [limit for mark in marks for limit in (mark, *getattr(mark, "metadata", ()))]
    for name, words in BOUNDS.items():
        for limit in limits:
            if (value := getattr(limit, name, None)) is not None:
                yield f", {words} {value:g}"


def link(form: type[Form]) -> str:
    """A form by the section that lists its keys."""
    title = next(part.title for sections in PARTS.values() for part in sections if part.form is form)
    return f"[{title.lower()}](#{title.lower().replace(' ', '-')})"


def default(info: Any) -> str:
    """What holds where a key is left out."""
    said = next((mark.text for mark in info.metadata if isinstance(mark, Unset)), None)
    if said is not None:
        return said
    if info.is_required():
        return "*required*"
    value = info.default
    if value is None or value is PydanticUndefined:
        return "—"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def scores() -> str:
    """The options of every score; `not-…` has the same."""
    found = [
        (f"`{name}`", f"`{option}`", choice(part), first(part))
        for name, schema in schemas().items()
        if not name.startswith("not-")
        for option, part in schema.get("anyOf", [{}, schema])[1]["properties"].items()
    ]
    said = (
        "`score: number`, or `score: {number: {tolerance: 0.5}}`: [what each does](scores.md). `not-…` takes the same."
    )
    return "\n".join(["### Score options\n", f"{said}\n", *table("score option type default", found)])


def choice(part: dict[str, Any]) -> str:
    options = part.get("anyOf", [part])
    kinds = {"string": "text", "number": "number", "boolean": "`true` or `false`", "array": "list of text"}
    return " or ".join(
        " or ".join(f"`{word}`" for word in one["enum"]) if "enum" in one else kinds.get(one.get("type"), "mapping")
        for one in options
    )


def first(part: dict[str, Any]) -> str:
    """The default of a score's option."""
    found = [one["default"] for one in part.get("anyOf", [part]) if "default" in one]
    if not found:
        return "*required*"
    said = found[0] if isinstance(found[0], str) else json.dumps(found[0])
    return f"`{said}`" if found[0] not in ("", [], ()) else "—"


def tasks() -> str:
    """The columns of a task file that have a meaning of their own."""
    said = "JSONL, CSV or YAML ([which is which](tasks.md)). A column of an input's name is that input; of the others:"
    found = [(f"`{name}`", *column) for name, column in COLUMNS.items()]
    found.append(("any other", "any value", "—", "A tag, for `where`, `group_by`, `cluster` and `harm`."))
    return "\n".join(["## Task files\n", f"{said}\n", *table("column type default", found)])


def table(head: str, found: Sequence[tuple[str, ...]]) -> list[str]:
    """A table of Markdown, with a last column that has no title; nothing without rows."""
    if not found:
        return []
    titles = head.split() + [""] * (len(found[0]) - len(head.split()))
    lines = [titles, ["---"] * len(titles), *found]
    return [*("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines), ""]


if __name__ == "__main__":
    print(page(), end="")
