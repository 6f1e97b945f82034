"""One-line faults made from a sound YAML file: every key misspelt, every reference and every closed word broken."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode

from loopworth.workflows.template_data import TemplateFault
from loopworth.workflows.templates import expression, template

FREE = (
    r"tools(/\d+)?/\w+",
    r"(input|arms)/\w+",
    r".*/?from/[\w-]+",
    r".*output/.*",
    r".*/set/.*",
    r"model/extra/.*",
    r".*/?replies/.*",
    r"x-.*",
)
"""Keys whose name is the author's own: a change shows where they are read, not where they stand."""

CLOSED = (
    r"shape|on_limit|finish|protocol|tool_choice|on_bad_call|writes|approvals|group_by|tools|tasks|tasks/file|score"
    r"|use/\d+|tools/\d+|.*/(call|run|file|workflow|python|effect|approval|role|cluster|unpriced|time|timeout|max_p95)"
    r"|.*/choices/\d+|gate/\w+|parallel|stop_early|.*/(repeatable|idempotent|inline|turns|tokens|usd|tell|stop)|seed"
    r"|repeats|(.*/)?(input/\w+|output|output/\w+)|.*/seed|.*/error|decide/(?!harm).*"
)
"""Values that are a word of the language, a number, a type, or that name something."""

TEXTS = r"(.*/)?(ask|choose|prompt|set|set/.*|with/.*|answer|else|for_each|content)"
CONDITIONS = r"(.*/)?(if|check|until|where|harm)"


class Slip(NamedTuple):
    """A change of `old` into `new` at an offset of the text, to be reported at `line` and `column` (from 1)."""

    offset: int
    old: str
    new: str
    line: int
    column: int


def swapped(word: str) -> str:
    """`word` of the same length, with its last two unequal neighbours swapped; or another last letter."""
    for i in range(len(word) - 1, 0, -1):
        if word[i] != word[i - 1] and word[i].isalpha() and word[i - 1].isalpha():
            return word[: i - 1] + word[i] + word[i - 1] + word[i + 1 :]
    return word[:-1] + ("z" if word[-1] == "q" else "q")


def doubled(word: str) -> str:
    return re.sub(r"([A-Za-z0-9])(?=[^A-Za-z0-9]*$)", r"\1\1", word, count=1)


def slips(text: str, wrong=swapped) -> list[Slip]:
    """Every slip of a file, in its order."""
    root = YAML(typ="safe", pure=True).compose(text)
    return sorted(found(root, "", text, wrong))


def found(node: Node, path: str, text: str, wrong) -> Iterator[Slip]:
    if isinstance(node, MappingNode):
        for key, value in node.value:
            below = f"{path}/{key.value}".lstrip("/")
            if not any(re.fullmatch(free, below) for free in FREE):
                yield slip(text, key.start_mark.index, key.value, wrong)
            yield from found(value, below, text, wrong)
    elif isinstance(node, ScalarNode):
        yield from in_scalar(node, path, text, wrong)
    else:
        for index, value in enumerate(node.value):
            yield from found(value, f"{path}/{index}", text, wrong)


def in_scalar(node: ScalarNode, path: str, text: str, wrong) -> Iterator[Slip]:
    source = text[node.start_mark.index : node.end_mark.index]
    if re.fullmatch(CONDITIONS, path) or re.fullmatch(TEXTS, path):
        yield from in_template(node, source, re.fullmatch(CONDITIONS, path) is not None, text, wrong)
    elif re.fullmatch(CLOSED, path):
        word = node.value.partition(":")[2] if path.endswith("python") else node.value
        word = re.match(r"[\w.-]+", word)[0] if not path.endswith("output") else re.search(r"\w+", word)[0]
        if wrong is swapped and re.fullmatch(r"[\d.]+\w?", word):
            new = "x" * len(word)
        else:
            new = wrong(word) if not re.fullmatch(r"[\d.]+", word) else f"{word}x"
        offset = node.start_mark.index + source.index(word)
        start = node.start_mark
        yield Slip(offset, word, new, start.line + 1, start.column + 1)


def in_template(node: ScalarNode, source: str, bare: bool, text: str, wrong) -> Iterator[Slip]:
    """The names that a template or an expression reads, each where it first stands."""
    try:
        reads = (expression if bare else template)(node.value).reads
    except TemplateFault:
        return
    for name in sorted(reads):
        parts = [(0, source)] if bare else [(m.start(), m[0]) for m in re.finditer(r"\{[{%].*?[%}]\}", source, re.S)]
        for offset, part in parts:
            if match := re.search(rf"(?<![\w.'\"]){name}(?!\w)", part):
                yield slip(text, node.start_mark.index + offset + match.start(), name, wrong)
                break


def slip(text: str, offset: int, word: str, wrong) -> Slip:
    at = offset + (text[offset] in "'\"")
    line, column = text.count("\n", 0, offset) + 1, offset - (text.rfind("\n", 0, offset) + 1) + 1
    return Slip(at, word, wrong(word), line, column)


def made(text: str, all_of: list[Slip]) -> str:
    """The text with each of these slips in it."""
    for one in sorted(all_of, reverse=True):
        assert text.startswith(one.old, one.offset)
        text = text[: one.offset] + one.new + text[one.offset + len(one.old) :]
    return text
