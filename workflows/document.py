"""YAML as loopworth reads it: plain values, where each of them stands, and every slip of the pen at once.

Scalars are `null ~` and nothing, `true false`, JSON numbers; everything else is the text that was written (`no`, `on`,
`0123`, dates). Numbers remember their spelling. Tags, tabs, duplicate and non-text keys are faults.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from loopworth.runs.secrets import Secrets
from loopworth.workflows.faults import Fault
from loopworth.workflows.literals import hidden
from loopworth.workflows.neighbour import advice_for, neighbour
from loopworth.workflows.syntax import DEEPEST, HOLE, QUOTE, compose, position

Key = str | int
Place = tuple[Key, ...]

LARGEST = 1 << 20  # bytes of one file
ENDINGS = (".yaml", ".yml", ".json", "")
"""How the name of a file ends in which a slip of YAML is looked for."""
MOST_ALIASED = 20_000  # values that aliases may add to a file

NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
TAGGED = re.compile(r"(?:&[^\s,\[\]{}]+\s+)?(!\S*)")
BRACES = re.compile(r"\{[{%].*?[%}]\}", re.DOTALL)
BREAKS = "\x85\u2028\u2029"  # YAML 1.1 ended lines there, 1.2 does not


class Int(int):
    """A whole number that remembers how it was written."""

    text: str


class Float(float):
    """A number that remembers how it was written: `3.10` stays `3.10` where a text is wanted."""

    text: str


class Broken:
    """A value that could not be read; its fault has been reported, so nothing more is said of it."""

    def __repr__(self) -> str:
        return "BROKEN"


BROKEN = Broken()


def spelled(value: Any) -> Any:
    """A plain scalar as the text that was written; any other value as it is."""
    if isinstance(value, bool):
        return str(value).lower()
    return getattr(value, "text", value)


def plain(value: Any, schema: Mapping[str, Any] | None = None) -> Any:
    """`value` of Python's own types alone; a number becomes its text where `schema` (a JSON schema) wants a text."""
    schema = schema or {}
    if isinstance(value, dict):
        fields = schema.get("properties") or {}
        return {key: plain(part, fields.get(key)) for key, part in value.items()}
    if isinstance(value, list):
        items = schema.get("items")
        return [plain(part, items if isinstance(items, dict) else None) for part in value]
    if isinstance(value, Int | Float) and schema.get("type") == "string":
        return value.text
    return int(value) if isinstance(value, Int) else float(value) if isinstance(value, Float) else value


class Mark(NamedTuple):
    """A position: `offset` from 0 into the text, `line` and `column` from 1."""

    offset: int
    line: int
    column: int


class Spot(NamedTuple):
    """Where a value stands, and where its key does."""

    key: Mark
    value: Mark
    end: int
    scalar: bool


@dataclass(frozen=True)
class Document:
    """One YAML file: its plain `value`, the faults of reading it, and the place of each part by its path of keys."""

    file: str
    value: Any
    faults: list[Fault]
    text: str = ""
    spots: dict[Place, Spot] = field(default_factory=dict)

    def home(self, path: Place) -> tuple[Document, Place]:
        """The document in which the value at `path` was written, and its place there."""
        return self, path

    def where(self, path: Place, key: bool = False) -> tuple[int, int]:
        """Line and column, from 1, of the value at `path` (or of its key), else of the nearest thing above it."""
        while path and path not in self.spots:
            path = path[:-1]
        spot = self.spots.get(path)
        if spot is None:
            return 1, 1
        mark = spot.key if key else spot.value
        return mark.line, mark.column

    def fault(self, path: Place, what: str, instead: str = "", key: bool = False) -> Fault:
        """A fault at the value (or the key) that `path` names."""
        return Fault(self.file, *self.where(path, key), self.masked(what), self.masked(instead))

    @cached_property
    def hidden(self) -> Secrets | None:
        """The secrets that it spells out."""
        return hidden(self.value)

    def masked(self, text: str) -> str:
        """A text of a fault, without them."""
        return text if self.hidden is None else self.hidden.text(text)

    def find(self, path: Place, word: str) -> tuple[int, int]:
        """Where `word` first stands, as a word of its own, in the text at `path`; else where that text begins.

        Inside `{{ }}` and `{% %}` comes before the prose around them.
        """
        spot = self.spots.get(path)
        if spot is None:
            return self.where(path)
        start, source = spot.value.offset, self.text[spot.value.offset : spot.end]
        wanted = re.compile(rf"(?<![\w.]){re.escape(word)}(?!\w)")
        braces = [(found.start(), found[0]) for found in BRACES.finditer(source)]
        for offset, part in [*braces, (0, source)]:
            if found := wanted.search(part):
                return position(self.text, start + offset + found.start())
        return spot.value.line, spot.value.column

    def line(self, path: Place, number: int) -> tuple[int, int]:
        """Where line `number`, from 1, of the text at `path` begins."""
        spot = self.spots.get(path)
        if spot is None or not spot.scalar:
            return self.where(path)
        block = self.text.startswith(("|", ">"), spot.value.offset)
        if not block and number == 1:
            return spot.value.line, spot.value.column
        line = spot.value.line + number - (not block)
        lines = self.text.split("\n")
        if line > len(lines):
            return spot.value.line, spot.value.column
        return line, len(lines[line - 1]) - len(lines[line - 1].lstrip()) + 1

    def fault_in(self, path: Place, word: str, what: str, instead: str = "") -> Fault:
        """A fault at `word` inside the text at `path`."""
        return Fault(self.file, *self.find(path, word), self.masked(what), self.masked(instead))

    def cut(self, path: Place) -> bool:
        """Whether the unquoted text at `path` ends because ` #` cut it short, and not at a comment set apart from it.

        A comment stands two spaces or more away, or follows a single word, name, number or path with `# `.
        """
        spot = self.spots.get(path)
        if spot is None or not spot.scalar or self.text.startswith(("'", '"', "|", ">"), spot.value.offset):
            return False
        rest = re.compile(r"( +)#(.?)").match(self.text, spot.end)
        if rest is None:
            return False
        gap, words = len(rest[1]), len(self.text[spot.value.offset : spot.end].split())
        apart = rest[2] in ("", " ", "\n")
        return not apart or words > 1 if gap == 1 else words > 1 and not apart


def read(path: Path | str) -> Document:
    """The YAML file at `path`; what cannot be read at all is a document without a value and with one fault."""
    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        missing = Path(path) if isinstance(error, FileNotFoundError) else None
        instead = "" if missing is None else advice_for(missing, neighbour(missing))
        return Document(str(path), None, [Fault(str(path), 1, 1, f"cannot be read: {error.strerror}", instead)])
    if len(raw) > LARGEST:
        return Document(str(path), None, [too_large(str(path))])
    try:
        document = parse(raw.decode("utf-8-sig"), str(path))
        foreign = document.value is None and Path(path).suffix.lower() not in ENDINGS
        return Document(str(path), None, [no_yaml(str(path))]) if foreign else document
    except UnicodeDecodeError as error:
        line, column = position(raw[: error.start].decode("utf-8", "replace"), error.start)
        return Document(str(path), None, [Fault(str(path), line, column, "is not UTF-8 text", "save it as UTF-8")])


def too_large(file: str) -> Fault:
    return Fault(file, 1, 1, "is larger than 1 MiB", "split it into several files")


def no_yaml(file: str) -> Fault:
    return Fault(file, 1, 1, "this is no YAML file", "name the workflow, catalogue or comparison that it belongs to")


def empty(file: str) -> Fault:
    return Fault(file, 1, 1, "the file is empty")


def parse(text: str, file: str) -> Document:
    """The YAML in `text`, as if it stood in `file`."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if len(text.encode()) > LARGEST:
        return Document(file, None, [too_large(file)])
    stand_ins = dict(zip(BREAKS, unused(text), strict=True))
    root, faults = compose(text.translate({ord(broken): sign for broken, sign in stand_ins.items()}), file)
    if root is None:
        return Document(file, None, faults or [empty(file)], text)
    reader = Reader(text, file, {ord(sign): broken for broken, sign in stand_ins.items()})
    value = reader.value(root, ())
    if value is None:
        return Document(file, None, [*faults, *reader.faults] or [empty(file)], text)
    if isinstance(value, dict):
        value = {key: part for key, part in value.items() if not key.startswith("x-")}
    return Document(file, value, faults + reader.faults, text, reader.spots)


def unused(text: str) -> list[str]:
    """Signs to stand in for `BREAKS`, none of which is in the text, also not as an escape."""
    if not any(sign in text for sign in BREAKS):
        return list(BREAKS)
    lower = text.lower()
    free = (code for code in range(0xF0000, 0xFFFFE) if chr(code) not in text and f"{code:x}" not in lower)
    return [chr(next(free)) for _ in BREAKS]


class Reader:
    """The constructor: nodes to plain values, with the place of each; collects what is not loopworth's YAML."""

    def __init__(self, text: str, file: str, signs: Mapping[int, str]) -> None:
        self.text, self.file, self.signs = text, file, signs
        self.faults: list[Fault] = []
        self.spots: dict[Place, Spot] = {}
        self.seen: set[int] = set()
        self.aliased = 0
        self.open: list[int] = []

    def fault(self, mark: Any, what: str, instead: str = "") -> None:
        self.faults.append(Fault(self.file, mark.line + 1, mark.column + 1, what, instead))

    def value(self, node: Any, path: Place, key: Any = None) -> Any:
        """The value of a node, whose place is noted under `path`."""
        mark = node.start_mark
        at = key.start_mark if key is not None else mark
        scalar = node.id == "scalar"
        self.spots[path] = Spot(spot(at), spot(mark), node.end_mark.index, scalar)
        if id(node) in self.open:
            self.fault(at, "the value contains itself")
            return BROKEN
        if len(self.open) >= DEEPEST:
            self.fault(at, f"nested more than {DEEPEST} levels deep")
            return BROKEN
        if id(node) in self.seen and (too_many := self.alias(at)):
            return too_many
        self.seen.add(id(node))
        if tag := TAGGED.match(self.text, mark.index, node.end_mark.index):
            return self.tagged(mark, tag[1])
        if scalar:
            return self.scalar(node)
        self.open.append(id(node))
        try:
            return self.sequence(node, path) if node.id == "sequence" else self.mapping(node, path)
        finally:
            self.open.pop()

    def alias(self, at: Any) -> Broken | None:
        self.aliased += 1
        if self.aliased <= MOST_ALIASED:
            return None
        if self.aliased == MOST_ALIASED + 1:
            self.fault(at, f"aliases make more than {MOST_ALIASED:,} values", "write them out, or use fewer")
        return BROKEN

    def tagged(self, mark: Any, tag: str) -> Broken:
        name = tag.lstrip("!").split(":")[0]
        wanted = f"write `not {name}`" if name.isidentifier() and not tag.startswith("!!") else "leave the tag out"
        self.fault(mark, f"tags are not allowed: {tag}", f"{wanted}, or put a text that starts with ! in quotes")
        return BROKEN

    def scalar(self, node: Any) -> Any:
        if node.value == HOLE and not node.style:
            return BROKEN
        text = self.whole(node)
        if node.anchor and node.anchor.startswith("&"):
            self.fault(node.start_mark, "`&&` is YAML's anchor here", "write `and`, and wrap all in '…'")
            return BROKEN
        return text if node.style else plain_scalar(text)

    def whole(self, node: Any) -> str:
        """The text of a scalar, with the halves of `\\ud83d\\ude00` joined; a half alone is no character."""
        text = str(node.value).translate(self.signs)
        try:
            return text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            self.fault(node.start_mark, "half of a surrogate pair is no character", "write the character itself")
            return ""

    def sequence(self, node: Any, path: Place) -> list[Any]:
        return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]

    def mapping(self, node: Any, path: Place) -> Any:
        if node.flow_style and len(node.value) == 1 and node.value[0][0].id == "mapping":
            self.fault(node.start_mark, "an unquoted `{{` is YAML's own brace", QUOTE)
            return BROKEN
        own: dict[str, Any] = {}
        merged: list[Any] = []
        lines: dict[str, int] = {}
        for key, item in node.value:
            if key.value == "<<" and not key.style and key.id == "scalar":
                merged += self.merged(key, item)
            elif (name := self.key(key)) is None:
                continue
            elif name in own:
                self.fault(key.start_mark, f"the key {name!r} is written twice", f"the first is in line {lines[name]}")
            elif node.flow_style and bare(key, item, self.text):
                self.fault(key.start_mark, f"{name!r} is a key without a value", "quote the text: it has a comma")
            else:
                own[name], lines[name] = self.value(item, (*path, name), key), key.start_mark.line + 1
        for key, item in merged:
            name = self.key(key)
            if name is not None and name not in own:
                own[name] = self.value(item, (*path, name), key)
        return own

    def merged(self, key: Any, item: Any) -> list[Any]:
        """The entries that `<<` brings: of a mapping, or of several, the first of which wins."""
        sources = item.value if item.id == "sequence" else [item]
        if any(source.id != "mapping" for source in sources):
            self.fault(key.start_mark, "`<<` takes a mapping, or a list of mappings")
            return []
        if any(id(source) in self.open for source in sources):
            self.fault(key.start_mark, "the value contains itself")
            return []
        entries: list[Any] = []
        for source in sources:
            for inner, value in source.value:
                self.aliased += 1
                entries += self.merged_once(inner, value) if inner.value == "<<" else [(inner, value)]
        return entries if self.aliased <= MOST_ALIASED else []

    def merged_once(self, key: Any, item: Any) -> list[Any]:
        self.open.append(id(item))
        try:
            return self.merged(key, item) if len(self.open) < DEEPEST else []
        finally:
            self.open.pop()

    def key(self, node: Any) -> str | None:
        """The text of a key; None, with a fault, for a key that is not a text."""
        if node.id != "scalar":
            self.fault(node.start_mark, "a key must be a text", "put it in quotes")
            return None
        if tag := TAGGED.match(self.text, node.start_mark.index, node.end_mark.index):
            self.tagged(node.start_mark, tag[1])
            return None
        if not node.style and not isinstance(plain_scalar(node.value), str):
            shown = node.value or "nothing"
            self.fault(node.start_mark, f"a key must be a text, and {shown} is not", f"quote it: '{node.value}'")
            return None
        return self.whole(node)


def spot(mark: Any) -> Mark:
    return Mark(mark.index, mark.line + 1, mark.column + 1)


def bare(key: Any, item: Any, text: str) -> bool:
    """Whether an entry of `{ }` was written without a colon, as what follows a comma in an unquoted text is."""
    return item.value == "" and ":" not in text[key.end_mark.index : item.end_mark.index + 1] and not item.style


def plain_scalar(text: str) -> Any:
    """What an unquoted scalar means."""
    if text in ("", "~", "null"):
        return None
    if text in ("true", "false"):
        return text == "true"
    if not NUMBER.fullmatch(text) or len(text) > 300:
        return text
    number: Int | Float = Int(text) if text.lstrip("-").isdigit() else Float(text)
    if math.isinf(number):
        return text
    number.text = text
    return number


def leaves(value: Any, path: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Each scalar below `value`, with its path."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from leaves(part, (*path, key))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from leaves(part, (*path, index))
    else:
        yield path, value
