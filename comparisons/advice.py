"""Before anything is measured: which rung of the ladder to start from, by a few questions, and files to start with.

The rule: are the steps known? Then write them down. If not, does the next step depend on what was found? Then a model
has to choose it, and what a wrong step costs says how free it may be. The proposal is a guess; the comparison decides.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field

from loopworth.comparisons import starting
from loopworth.models import ModelSpec, spec_faults
from loopworth.runs.usage import Value
from loopworth.workflows.builder import Builder
from loopworth.workflows.document import Document, parse, read
from loopworth.workflows.faults import Fault, WorkflowFault
from loopworth.workflows.form import Form
from loopworth.workflows.spec import Name, Text

Rung = Literal["pipeline", "router", "constrained_loop", "open_loop", "gated_loop"]
NAME, MODEL = "feature", "local/smollm2-135m"


class Answers(Form):
    """What somebody says of a feature before it is built."""

    title: ClassVar[str] = "in the answers"
    steps: Literal["known", "unknown"] = Field(description="write steps: known | unknown")
    depends: Literal["yes", "no"] = Field(description="write depends: yes | no")
    paths: Literal["one", "few", "many"] = Field(description="write paths: one | few | many")
    wrong_step: Literal["cheap", "expensive"] = Field(description="write wrong_step: cheap | expensive")
    undo: Literal["yes", "no"] = Field(description="write undo: yes | no")
    name: Name = NAME
    model: Text = MODEL

    def rules(self) -> Iterator[Fault]:
        if self.sound("model") and "model" in self.given:
            for _, what, instead in spec_faults(ModelSpec(self.model)):
                yield self.at("model").fault(what, instead)

    @property
    def careful(self) -> bool:
        """Whether something must be protected from a wrong step."""
        return self.wrong_step == "expensive" or self.undo == "no"


QUESTIONS: dict[str, tuple[str, dict[str, str]]] = {
    "steps": (
        "Could you write the steps down, before the first case comes?",
        {"known": "yes, they are the same each time", "unknown": "no, they differ from case to case"},
    ),
    "depends": (
        "Does what comes next depend on what was found before?",
        {"yes": "a result decides where to look next", "no": "all that is needed can be fetched at once"},
    ),
    "paths": (
        "How many ways are there through a case?",
        {"one": "always the same", "few": "a handful that you can name", "many": "more than you can list"},
    ),
    "wrong_step": (
        "What does a wrong step cost?",
        {"cheap": "some seconds, or a wrong answer", "expensive": "money, trust, somebody's day"},
    ),
    "undo": (
        "Can a wrong step be undone?",
        {"yes": "it only reads, or can be taken back", "no": "what is sent, paid or deleted stays so"},
    ),
}
"""Each question, and what its answers mean."""
DEFAULTS: dict[str, str] = {"steps": "unknown", "depends": "yes", "paths": "few", "wrong_step": "cheap", "undo": "yes"}
"""What `loopworth init` takes for granted: the case in which the question is open."""


class Advice(Value, frozen=True):
    """A rung, why, and the starting files by name."""

    rung: Rung
    reasons: tuple[str, ...]
    files: dict[str, str]


def answers(path: Path, name: str = NAME) -> Answers:
    """The answers in a YAML file, which need not give a name. Raises `WorkflowFault` with every fault."""
    document = read(path)
    if not isinstance(document.value, dict):
        sample = "; ".join(f"{key}: {' | '.join(choices)}" for key, (_, choices) in QUESTIONS.items())
        raise WorkflowFault(document.faults or [document.fault((), "answers are a mapping", f"write {sample}")])
    return built({"name": name, **document.value}, document)


def built(value: dict[str, Any], document: Document) -> Answers:
    """Answers that stand in a document. Raises `WorkflowFault`."""
    builder = Builder(document)
    made = builder.form(Answers, value)
    if faults := [*document.faults, *builder.faults]:
        raise WorkflowFault(faults)
    return made


def named(folder: Path) -> str:
    """The name of a feature whose files stand in a folder: the folder's, as far as that makes one."""
    name = re.sub(r"[^a-z0-9_]+", "_", folder.resolve().name.lower()).strip("_")
    return name if name[:1].isalpha() else NAME


def said(words: Mapping[str, str]) -> Answers:
    """Answers as they were typed. Raises `WorkflowFault`."""
    document = parse("\n".join(f"{key}: {json.dumps(word)}" for key, word in words.items()), "the answers")
    return built(document.value, document)


def advise(given: Answers) -> Advice:
    """The rung to start from, the reasons, and the files."""
    rung, reasons = proposed(given)
    return Advice(rung, reasons, files(given, rung))


def proposed(given: Answers) -> tuple[Rung, tuple[str, ...]]:
    """The lowest rung that can do it."""
    if given.steps == "known" or given.depends == "no":
        rung, why = fixed(given)
    elif given.careful:
        rung = "gated_loop"
        why = (UNKNOWN, f"{cost(given)}: the model proposes, a fixed workflow behind a gate executes")
    elif given.paths == "many":
        rung, why = "open_loop", (UNKNOWN, CHEAP, "there are more paths than can be listed: it has the whole catalogue")
    else:
        rung, why = "constrained_loop", (UNKNOWN, CHEAP, "there are few paths: it has few tools, and a cap")
    return rung, why


UNKNOWN = "the steps are not known, and each depends on what was found: only then does an agent buy something"
NOTHING = "no step depends on what was found: all can be fetched at once, in fixed steps"
CHEAP = "a wrong step is cheap and can be undone: the model may try"


def fixed(given: Answers) -> tuple[Rung, tuple[str, ...]]:
    """Steps that can be written down, or fetched at once: a path, or a choice among paths."""
    known = given.steps == "known"
    why = ["the steps are known: write them down" if known else NOTHING]
    if given.careful:
        why.append(f"{cost(given)}: the step that writes has a gate, whoever takes it")
    if given.paths == "one":
        return "pipeline", (*why, "there is one path")
    count = "few" if given.paths == "few" else "many"
    more = "" if count == "few" else "; with more than ten labels choose by similarity, or twice"
    return "router", (*why, f"there are {count} paths: one decision from a closed set, then fixed steps{more}")


def cost(given: Answers) -> str:
    parts = ["is expensive"] * (given.wrong_step == "expensive") + ["cannot be undone"] * (given.undo == "no")
    return f"a wrong step {' and '.join(parts)}"


# -- the files --------------------------------------------------------------------------------------------------------

ABOUT = {
    "constrained_loop": "The model decides at every step, over the tools that it names, up to a cap.",
    "open_loop": "The model decides at every step, over the whole catalogue, up to a cap.",
    "gated_loop": "The model proposes, and a person is asked before anything is closed.",
}


def files(given: Answers, rung: Rung) -> dict[str, str]:
    """The starting files: the rung, the simpler arms that hold the place against it, and what they share."""
    effect = "irreversible" if given.undo == "no" else "write"
    loop = rung if rung in ABOUT else "gated_loop" if given.careful else "constrained_loop"
    made = {
        "desk.py": starting.DESK + starting.CLOSE * given.careful,
        "tools.yaml": starting.TOOLS + starting.CLOSING.format(effect=effect) * given.careful,
        "pipeline.yaml": pipeline(given),
        "agent.yaml": agent(given, loop, effect),
        "tasks.jsonl": starting.tasks(given.depends == "yes", rung == "router"),
        "comparison.yaml": comparison(given, rung),
    }
    if rung == "router":
        made["router.yaml"] = starting.ROUTER.format(name=given.name, model=written(given.model))
    if given.careful:
        made["fakes.yaml"] = starting.FAKES.format(effect=effect)
        made["settle.yaml"] = starting.SETTLE.format(name=given.name)
    return made


def pipeline(given: Answers) -> str:
    """The steps as far as they can be written down."""
    second = given.steps == "known" and given.depends == "yes"
    cause = "(second or first).state" if second else "first.state"
    steps = starting.SECOND * second + starting.STEP.format(cause=cause) * given.careful
    gate = "gate: {close: required}\n" * given.careful
    return starting.PIPELINE.format(name=given.name, gate=gate, steps=steps, cause=cause)


def agent(given: Answers, shape: str, effect: str) -> str:
    """The loop."""
    gated = shape == "gated_loop"
    keys = {
        "constrained_loop": "use: [record]\n",
        "open_loop": "",
        "gated_loop": 'use: [record, settle]\ngate: {settle: {ask: "Close {{ args.code }} for {{ args.cause }}?"}}\n',
    }[shape]
    return starting.LOOP.format(
        about=ABOUT[shape],
        name=given.name,
        shape=shape,
        model=written(given.model),
        tools=f"[tools.yaml, {{settle: {{run: settle.yaml, effect: {effect}}}}}]" if gated else "tools.yaml",
        keys=keys + "protocol: json                 # the embedded model has no tool calls of its own\n" * local(given),
        more="  Then propose to close it for this cause.\n" * gated,
    )


def written(text: str) -> str:
    """A text as it stands in YAML, where a bare null is no text."""
    bare = re.fullmatch(r"[A-Za-z][\w./:-]*\w", text) is not None and text != "null"
    return text if bare else json.dumps(text)


def local(given: Answers) -> bool:
    return given.model.startswith("local/")


def comparison(given: Answers, rung: Rung) -> str:
    names = ["pipeline", "router", "agent"] if rung == "router" else ["pipeline", "agent"]
    arms = "".join(f"  {name}: {{workflow: {name}.yaml}}\n" for name in names)
    return starting.COMPARISON.format(name=written(given.name), arms=arms, writes=starting.WRITES * given.careful)
