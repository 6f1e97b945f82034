"""The files a workflow refers to, each read once, and the faults of all of them in one list."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loopworth.runs.spelling import nearest
from loopworth.workflows.builder import Builder
from loopworth.workflows.document import BROKEN, LARGEST, Document, Mark, Spot, read
from loopworth.workflows.faults import Fault, WorkflowFault, in_order, suggestion
from loopworth.workflows.form import Form, Spotted, beside
from loopworth.workflows.neighbour import advice_for, neighbour
from loopworth.workflows.overrides import loosened, merged, stand_in
from loopworth.workflows.spec import SHAPES, VERSION, Body, CatalogueFile, FileText, ModelForm, Tool, Workflow
from loopworth.workflows.vocabulary import meant

KINDS = {"workflow": "a workflow", "tools": "a tool catalogue", "comparison": "a comparison"}


@dataclass
class Files:
    """The files that were read, by resolved path. What could not be read is absent, and there is a fault for it.

    `given` are tools that a program brings: each stands in for those of its name, and is in every catalogue if it says
    its effect.
    """

    workflows: dict[Path, Workflow] = field(default_factory=dict)
    catalogues: dict[Path, CatalogueFile] = field(default_factory=dict)
    documents: dict[Path, Document] = field(default_factory=dict)
    found: list[Fault] = field(default_factory=list)
    meant: dict[Path, Path] = field(default_factory=dict)
    merged: dict[int, dict[str, Tool]] = field(default_factory=dict)
    variants: dict[int, Workflow] = field(default_factory=dict)
    differences: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    texts: set[Path] = field(default_factory=set)
    given: dict[str, Tool] = field(default_factory=dict)

    @property
    def faults(self) -> list[Fault]:
        """Every fault of every file, in order."""
        return in_order(self.found)

    def sound(self) -> Files:
        """These files; raises WorkflowFault with all their faults if there are any."""
        if self.found:
            raise WorkflowFault(self.found)
        return self

    @property
    def main(self) -> Workflow:
        """The first workflow that was asked for."""
        return next(iter(self.workflows.values()))

    def workflow_at(self, form: Form, key: str = "run") -> Workflow:
        """The workflow that a form refers to, or the variant made for it. KeyError if it could not be read."""
        if id(form) in self.variants:
            return self.variants[id(form)]
        return self.workflows[self.key(form.path(key))]

    def key(self, path: Path) -> Path:
        """A path as files are known by; a misspelt one that was reported stands for the one that was meant."""
        resolved = path.resolve()
        return self.meant.get(resolved, resolved)

    def present(self, path: Path, spot: Spotted) -> Path | None:
        """The file that is named at `spot`; with a fault for one that is not there, the nearest of its folder."""
        if path.is_file():
            return path
        near = neighbour(path)
        self.found.append(spot.fault(f"there is no file {str(path)!r}", advice_for(path, near)))
        if near is not None:
            self.meant[path.resolve()] = near.resolve()
        return near

    def tools(self, workflow: Workflow) -> dict[str, Tool]:
        """The tools a workflow sees: its catalogue, with what it overrides. An MCP tool stands under its full name."""
        if id(workflow) not in self.merged:
            made, faults = merged(self.layers(workflow))
            for name, tool in self.given.items():
                if name in made:
                    faults += loosened(name, made[name], tool)
                    made[name] = stand_in(made[name], tool)
                elif "effect" in tool.given:
                    made[name] = tool
            self.merged[id(workflow)] = made
            self.found += faults
        return self.merged[id(workflow)]

    def layers(self, workflow: Workflow) -> Iterator[tuple[dict[str, Tool], Spotted]]:
        """The entries of `tools:`, each with its place, in the order in which later ones override earlier ones."""
        written = workflow.tools
        if isinstance(written, list):
            for index, entry in enumerate(written):
                yield self.layer(entry, workflow.at("tools", index))
        elif written is not None:
            yield self.layer(written, workflow.at("tools"))

    def layer(self, entry: str | dict[str, Tool], spot: Spotted) -> tuple[dict[str, Tool], Spotted]:
        if isinstance(entry, dict):
            return entry, spot
        catalogue = self.catalogues.get(self.key(beside(spot.base, entry)))
        return (catalogue.tools if catalogue is not None else {}), spot

    def document(self, path: Path) -> Document:
        """A YAML file, read the first time it is asked for."""
        key = path.resolve()
        if key not in self.documents:
            self.documents[key] = document = read(path)
            self.found += document.faults
        return self.documents[key]

    def add(self, path: Path, spot: Spotted | None = None, kind: str | None = None) -> str | None:
        """Read a file and all it refers to, if that was not done before; what it is, or None for a file without use.

        `spot` is where the file is named and `kind` what is wanted there.
        """
        if spot is not None:
            if (there := self.present(path, spot)) is None:
                return None
            path = there
        document = self.document(path)
        if document.value is None or document.value is BROKEN:
            return None
        is_a = sort_of(document)
        if is_a is None or (kind is not None and is_a != kind):
            wanted = KINDS.get(kind or "", "a workflow, a tool catalogue or a comparison")
            what = f"is not {wanted}" + (f", it is {KINDS[is_a]}" if is_a else "")
            where = document.fault((), f"the file {what}", f"{wanted} starts with `{kind or 'workflow'}: …`")
            if spot is None or path.resolve() not in self.meant.values():
                self.found.append(where if spot is None else spot.fault(f"{str(path)!r} {what}"))
            return None
        if is_a == "workflow":
            self.add_workflow(path, document)
        elif is_a == "tools":
            self.add_catalogue(path, document)
        return is_a

    def add_workflow(self, path: Path, document: Document) -> None:
        if path.resolve() in self.workflows:
            return
        self.made(document, path.resolve())

    def made(self, document: Document, key: Path | None = None) -> Workflow:
        """The workflow of a document, known by `key` if one is given, with all that it names read."""
        builder = Builder(document)
        workflow = builder.form(shape_of(document, builder), document.value)
        self.found += builder.faults + list(newer(workflow))
        if key is not None:
            self.workflows[key] = workflow
        for name, spot in catalogues_of(workflow):
            self.add(beside(spot.base, name), spot, "tools")
        self.refer(workflow)
        return workflow

    def add_catalogue(self, path: Path, document: Document) -> None:
        if path.resolve() in self.catalogues:
            return
        builder = Builder(document)
        self.catalogues[path.resolve()] = catalogue = builder.form(CatalogueFile, document.value)
        self.found += builder.faults + list(newer(catalogue))
        if not isinstance(getattr(catalogue, "tools", None), dict):
            catalogue.tools = {}
        self.refer(catalogue)

    def refer(self, form: Form) -> None:
        """Read what a file's forms name: prompts, workflows, weights."""
        for part in form.forms():
            if isinstance(part, FileText) and readable(part, "file"):
                self.text(part)
            elif isinstance(part, Body | Tool) and readable(part, "run"):
                self.add(part.path("run"), part.at("run"), "workflow")
            elif isinstance(part, ModelForm) and readable(part, "file"):
                self.present(part.path("file"), part.at("file"))

    def text(self, form: FileText) -> None:
        """Fill in the text of a prompt that stands in its own file."""
        spot = form.at("file")
        if (path := self.present(form.path("file"), spot)) is None:
            return
        self.texts.add(path.resolve())
        raw = path.read_bytes()
        if len(raw) > LARGEST:
            self.found.append(spot.fault(f"{str(path)!r} is larger than 1 MiB"))
            return
        try:
            form._text = raw.decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError:
            self.found.append(spot.fault(f"{str(path)!r} is not UTF-8 text", "save it as UTF-8"))
            return
        if not form._text.strip():
            self.found.append(spot.fault(f"{str(path)!r} is blank", "write what it is to say, or name another file"))
        spot_of_all = Spot(Mark(0, 1, 1), Mark(0, 1, 1), len(form._text), True)
        form._document = Document(str(path), form._text, [], form._text, {(): spot_of_all})


def readable(form: Form, key: str) -> bool:
    return key in form.given and form.sound(key) and isinstance(form[key], str)


def sort_of(document: Document) -> str | None:
    """Which kind of file this is, by its top key: `workflow`, `tools` or `comparison`, misspelt perhaps."""
    if not isinstance(document.value, dict):
        return None
    keys = document.value
    for kind in ("comparison", "workflow"):
        if kind in keys:
            return kind
    if any(key in keys for key in ("arms", "tasks")):
        return "comparison"
    if any(key in keys for key in ("shape", "steps", "choose", "prompt", "answer")):
        return "workflow"
    if "tools" in keys:
        return "tools"
    return next((kind for kind in KINDS if any(nearest(key, KINDS) == kind for key in keys)), None)


def shape_of(document: Document, builder: Builder) -> type[Workflow]:
    """The form for a workflow's shape; where that is missing or misspelt, the form its other keys speak for."""
    value = document.value
    key = next((key for key in value if key == "shape"), None)
    key = key or next((key for key in value if key not in Workflow.model_fields and nearest(key, ["shape"])), None)
    word = value[key] if key is not None else None
    if isinstance(word, str) and word in SHAPES:
        return SHAPES[word]
    near = meant(word, SHAPES) if isinstance(word, str) else None
    if key is not None and word is not BROKEN:
        builder.fault((key,), f"there is no shape {word!r}", suggestion(str(word), SHAPES, "shapes", near))
        document.value[key] = BROKEN
    if key is None:
        builder.fault((), "'shape' is missing in a workflow", f"one of {shapes_in_words()}", key=True)
        document.value["shape"] = BROKEN
    if near is None:
        near = "pipeline" if "steps" in value else "router" if "from" in value else "open_loop"
        near = "constrained_loop" if "use" in value else near
    return SHAPES[near]


def shapes_in_words() -> str:
    """The shapes, each with what it is."""
    said = {name: str(form.model_fields["shape"].description) for name, form in SHAPES.items()}
    return ", ".join(f"{name} ({text[0].lower()}{text[1:].rstrip('.')})" for name, text in said.items())


def newer(form: Any) -> Iterator[Fault]:
    """The fault of a file that is written for a later version of the language."""
    if "loopworth" in form.given and form.sound("loopworth") and form.loopworth != VERSION:
        what = f"version {form.loopworth} of the language is not known"
        yield form.at("loopworth").fault(what, f"write `loopworth: {VERSION}`")


def catalogues_of(workflow: Workflow) -> Iterator[tuple[str, Spotted]]:
    """The catalogue files that `tools:` names, and where."""
    if isinstance(workflow.tools, str):
        yield workflow.tools, workflow.at("tools")
    elif isinstance(workflow.tools, list):
        for index, entry in enumerate(workflow.tools):
            if isinstance(entry, str):
                yield entry, workflow.at("tools", index)
