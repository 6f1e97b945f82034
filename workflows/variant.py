"""A workflow with some keys replaced: what `change:` makes of an arm's file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from loopworth.runs.usage import Value
from loopworth.workflows.builder import Builder
from loopworth.workflows.document import Document, Place, plain, spelled
from loopworth.workflows.faults import Fault, suggestion
from loopworth.workflows.files import Files
from loopworth.workflows.form import Spotted, names_of
from loopworth.workflows.overrides import laid_over, loosened
from loopworth.workflows.spec import Tool, Workflow

Part: TypeAlias = str | int
GUARDS = ("approval", "allow", "effect")
"""What a tool may not lose."""


class Difference(Value, frozen=True):
    """One key that a variant has otherwise; None is absent."""

    key: str
    before: Any
    after: Any

    def __str__(self) -> str:
        return f"{self.key}: {words(self.before)} → {words(self.after)}"


def settled(differences: Iterable[Difference]) -> tuple[Difference, ...]:
    """Changes that were made one after another as what they come to: each of a part that lies in no other one, from
    what stood there at first to what stands there at last; what came back to where it was is none."""
    found: dict[str, Difference] = {}
    for made in differences:
        around = next((key for key in found if inside(made.key, key)), None)
        if around is not None:
            found[around] = within(found[around], made.key, made.after)
            continue
        before = made.before
        for key in [key for key in found if key != made.key and inside(key, made.key)]:
            before = replaced(made.key, before, key, found.pop(key).before)
        found[made.key] = Difference(made.key, before, made.after)
    return tuple(one for one in found.values() if one.before != one.after)


def inside(key: str, other: str) -> bool:
    """Whether a path leads to another's part, or into it."""
    return key == other or key.startswith(f"{other}.")


def within(made: Difference, key: str, after: Any) -> Difference:
    """A difference of a part in which one more thing is otherwise."""
    return Difference(made.key, made.before, replaced(made.key, made.after, key, after))


def replaced(key: str, value: Any, inner: str, after: Any) -> Any:
    """The value of a part in which the part at a path into it is another one."""
    if key == inner:
        return after
    *_, last = key.split(".")
    draft = Draft({} if value is None else {last: value})
    try:
        draft.set((last, *inner.removeprefix(f"{key}.").split(".")), after)
    except KeyError:  # what is changed within it is gone with the rest
        return value
    return draft.value.get(last)


def words(value: Any) -> str:
    """A value as it may stand in a file."""
    if value is None:
        return "not set"
    return json.dumps(plain(value), ensure_ascii=False) if isinstance(value, dict | list) else str(spelled(value))


@dataclass(frozen=True, slots=True)
class Change:
    """A dotted path's new value (None removes), and where that is written. `everywhere`: for every arm that has it."""

    value: Any
    spot: Spotted
    everywhere: bool = False


@dataclass(frozen=True)
class Changed(Document):
    """A document of which some parts were written in another one."""

    parts: Mapping[Place, Spotted] = field(default_factory=dict)

    def home(self, path: Place) -> tuple[Document, Place]:
        for length in range(len(path), 0, -1):
            if (spot := self.parts.get(path[:length])) is not None:
                return spot.document.home((*spot.path, *path[length:]))
        return self, path

    def blamed(self, path: Place) -> tuple[Document, Place]:
        """Where it is told what is wrong with a part: where something in it was written in its place, there."""
        within = (spot for place, spot in self.parts.items() if path and place[: len(path)] == path)
        spot = None if path in self.parts else next(within, None)
        return self.home(path) if spot is None else spot.document.home(spot.path)

    def where(self, path: Place, key: bool = False) -> tuple[int, int]:
        document, at = self.home(path)
        return super().where(path, key) if document is self else document.where(at, key)

    def fault(self, path: Place, what: str, instead: str = "", key: bool = False) -> Fault:
        document, at = self.blamed(path)
        return super().fault(path, what, instead, key) if document is self else document.fault(at, what, instead, key)

    def find(self, path: Place, word: str) -> tuple[int, int]:
        document, at = self.home(path)
        return super().find(path, word) if document is self else document.find(at, word)

    def fault_in(self, path: Place, word: str, what: str, instead: str = "") -> Fault:
        document, at = self.home(path)
        if document is self:
            return super().fault_in(path, word, what, instead)
        return document.fault_in(at, word, what, instead)

    def line(self, path: Place, number: int) -> tuple[int, int]:
        document, at = self.home(path)
        return super().line(path, number) if document is self else document.line(at, number)

    def cut(self, path: Place) -> bool:
        document, at = self.home(path)
        return super().cut(path) if document is self else document.cut(at)


class Draft:
    """Nested mappings and lists while they are changed, and which of their parts came from elsewhere."""

    def __init__(self, value: Any, parts: Mapping[Place, Spotted] | None = None) -> None:
        self.value, self.parts = copied(value), dict(parts or {})

    def put(self, keys: Sequence[str], change: Change) -> Any:
        """Replace or remove the part that the keys lead to, as it was written elsewhere; what was there before."""
        before, place = self.set(keys, change.value)
        if change.value is not None:
            self.parts[place] = change.spot
        return before

    def set(self, keys: Sequence[str], value: Any) -> tuple[Any, Place]:
        """Replace or remove the part that the keys lead to; what was there before, and its place. KeyError names a key
        that leads nowhere."""
        holder, place = self.value, tuple[Part, ...]()
        for key in keys[:-1]:
            holder, part = entered(holder, key)
            place = (*place, part)
        last = index(holder, keys[-1])
        if isinstance(holder, list) and not isinstance(last, int):
            raise KeyError(last)
        before = holder[last] if isinstance(last, int) else holder.get(last)
        if value is None:
            holder.pop(last, None) if isinstance(holder, dict) else holder.pop(last)
        else:
            holder[last] = copied(value)
        return before, (*place, last)


class Variant:
    """A workflow's document while it is changed. `workflow` builds what came of it; `differences` lists what differs.

    A path through a list names an element by its `id`, or by its number from 0. Under `tools`, a path leads to a tool
    of the catalogue, whichever file that is in; what guards a tool may only be tightened.
    """

    def __init__(self, workflow: Workflow, files: Files) -> None:
        self.files, self.base, self.document = files, workflow, workflow.spot.document
        self.draft, self.known = Draft(self.document.value), files.tools(workflow)
        self.tools: list[tuple[str, list[str], Change]] = []
        self.differences: list[Difference] = []

    def change(self, path: str, change: Change) -> bool:
        """Put a value in its place; whether this workflow has the place. Faults are left with the files."""
        first, *rest = path.split(".")
        if first == "tools" and rest and not isinstance(self.draft.value.get("tools"), dict):
            return self.change_tool(path, rest, change)
        if change.everywhere and rest and first not in self.draft.value:
            return False
        self.put(self.draft, (first, *rest), change)
        return True

    def put(self, draft: Draft, keys: Sequence[str], change: Change, above: Sequence[str] = ()) -> None:
        path = ".".join((*above, *named(draft.value, keys)))
        try:
            before = plain(draft.put(keys, change))
        except KeyError as key:
            self.fault(change, f"{path!r} leads through {key}, which is not there")
            return
        if before != plain(change.value):
            self.differences.append(Difference(path, before, plain(change.value)))

    def fault(self, change: Change, what: str, instead: str = "") -> None:
        self.files.found.append(change.spot.fault(what, instead, key=True))

    def change_tool(self, path: str, rest: list[str], change: Change) -> bool:
        name, *keys = rest
        if name not in self.known:
            if not change.everywhere:
                self.fault(change, f"there is no tool {name!r} to change", suggestion(name, self.known, "tools"))
            return not change.everywhere
        if not keys:
            self.fault(change, f"{path!r} is a whole tool", f"name one of its keys: {path}.timeout")
        elif change.value is None and keys[0] in GUARDS:
            self.fault(change, f"`{keys[0]}` of {name!r} may only be tightened", "leave it as it is")
        else:
            self.tools.append((name, keys, change))
        return True

    def workflow(self) -> Workflow:
        """The changed workflow, with all that it names read; faults are left with the files."""
        old = self.document
        document = Changed(old.file, self.draft.value, old.faults, old.text, old.spots, self.draft.parts)
        made = self.files.made(document)
        entries = dict(self.files.tools(made))
        for name, keys, change in self.tools:
            if name in entries:
                entries[name] = self.changed_tool(name, entries[name], keys, change)
        self.files.merged[id(made)] = entries
        return made

    def changed_tool(self, name: str, entry: Tool, keys: list[str], change: Change) -> Tool:
        """A tool with one key, or a part of one, replaced; what is not changed stands where it was written."""
        key = keys[0]
        draft = Draft({key: entry.at(key).value}, {(key,): entry.at(key)}) if key in entry.given else Draft({})
        self.put(draft, keys, change, above=("tools", name))
        if not draft.value:
            return without(entry, key)
        builder = Builder(Changed(change.spot.file, draft.value, [], parts=draft.parts))
        above = builder.form(Tool, draft.value)
        self.files.found += [*builder.faults, *loosened(name, entry, above)]
        return laid_over(entry, above)


def without(entry: Tool, key: str) -> Tool:
    """A tool without a key: it is as if nobody had written it."""
    field = names_of(Tool)[key]
    made = entry.model_copy(update={field: Tool.model_fields[field].get_default(call_default_factory=True)})
    made._spots = {name: spot for name, spot in entry._spots.items() if name != key}
    return made


def entered(holder: Any, key: str) -> tuple[Any, Part]:
    """What a path goes on in, made where it is absent, and its key; a model's name stands for the whole of it."""
    part = index(holder, key)
    if isinstance(holder, dict):
        if key == "model" and isinstance(holder.get(key), str):
            holder[key] = {"name": holder[key]}
        below = holder.setdefault(part, {})
    elif isinstance(part, int):
        below = holder[part]
    else:
        raise KeyError(key)
    if not isinstance(below, dict | list):
        raise KeyError(key)
    return below, part


def named(value: Any, keys: Sequence[str]) -> list[str]:
    """A path in which an element of a list that has an `id` goes by that, however it was written."""
    found = list[str]()
    for key in keys:
        part = index(value, key) if isinstance(value, dict | list) else key
        value = value[part] if isinstance(part, int) else value.get(part) if isinstance(value, dict) else None
        id = value.get("id") if isinstance(part, int) and isinstance(value, dict) else None
        found.append(key if id is None else str(id))
    return found


def index(holder: Any, key: str) -> Part:
    """The key of a mapping; of a list, the number of the element with that `id`, or that number."""
    if not isinstance(holder, list):
        return key
    ids = [one.get("id") if isinstance(one, dict) else None for one in holder]
    if key in ids:
        return ids.index(key)
    return int(key) if key.isdigit() and int(key) < len(holder) else key


def copied(value: Any) -> Any:
    """Mappings and lists anew; what stands in them as it was written."""
    if isinstance(value, dict):
        return {key: copied(part) for key, part in value.items()}
    return [copied(part) for part in value] if isinstance(value, list) else value
