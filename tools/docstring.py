"""What a docstring says to a model: the description of a function and of each argument.

Reads the three usual styles: Google (`Args:`), NumPy (`Parameters` underlined) and Sphinx (`:param name:`).
"""

from __future__ import annotations

import inspect
import re
from typing import NamedTuple

ARGUMENTS = ("args", "arguments", "parameters", "other parameters", "keyword args", "keyword arguments")
OTHERS = ("returns", "return", "yields", "raises", "example", "examples", "note", "notes", "see also", "references")
ENTRY = re.compile(r"\*{0,2}(\w+)(?:\s*\(.*?\))?\s*:\s*(.*)")
FIELD = re.compile(r":\w+(?:\s[^:]+)?:")
PARAM = re.compile(r":(?:param|parameter|arg|argument)\s+(?:[^:]+\s+)?(\w+):\s*(.*)")


class Docstring(NamedTuple):
    text: str
    arguments: dict[str, str]


class Section(NamedTuple):
    """A title, in lower case, and the lines below it. `style` is `google`, `numpy` or `sphinx`."""

    title: str
    style: str
    lines: list[str]


def described(docstring: str | None) -> Docstring:
    """The text above the first section, and a description by argument."""
    first, *others = sections(inspect.cleandoc(docstring or "").splitlines())
    arguments: dict[str, str] = {}
    for section in others:
        if section.title in ARGUMENTS or section.style == "sphinx":
            arguments |= entries(section)
    return Docstring(re.sub(r"\n{3,}", "\n\n", "\n".join(first.lines)).strip(), arguments)


def sections(lines: list[str]) -> list[Section]:
    """The text, which has no title, and the sections after it; each Sphinx field is one."""
    found = [Section("", "", [])]
    for line, below in zip(lines, [*lines[1:], ""], strict=False):
        title = line.strip().rstrip(":").lower()
        if FIELD.match(line):
            found.append(Section("", "sphinx", [line]))
        elif line[:1].isspace() or title not in ARGUMENTS + OTHERS:
            found[-1].lines.append(line)
        elif re.fullmatch("-{3,}", below.strip()):
            found.append(Section(title, "numpy", []))
        elif line.rstrip().endswith(":"):
            found.append(Section(title, "google", []))
        else:
            found[-1].lines.append(line)
    return found


def entries(section: Section) -> dict[str, str]:
    """The descriptions by argument, each on one line."""
    found: dict[str, list[str]] = {}
    names: list[str] = []
    for line in inspect.cleandoc("\n".join(["", *section.lines])).splitlines():
        if not line.strip() or line[0].isspace():
            for name in names:
                found[name].append(line.strip())
        else:
            names, text = heading(line, section.style)
            found |= {name: [text] for name in names}
    return {name: " ".join(filter(None, texts)) for name, texts in found.items() if any(texts)}


def heading(line: str, style: str) -> tuple[list[str], str]:
    """The names that a line introduces, and the text behind them."""
    if style == "numpy":
        return ([] if line.startswith("---") else re.findall(r"\w+", line.partition(":")[0])), ""
    entry = (PARAM if style == "sphinx" else ENTRY).match(line)
    return ([entry[1]], entry[2]) if entry else ([], "")
