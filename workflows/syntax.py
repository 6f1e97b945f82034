"""The syntax of YAML: the tree of nodes of a text, and what the parser says of its slips in plain words."""

from __future__ import annotations

import re
from typing import Any

from loopworth.workflows.faults import Fault

DEEPEST = 60  # nested lists and mappings
ENTRY = re.compile(r"(?P<lead>\s*(?:- +)*(?:[\w.\"'-]+\s*:\s+|- +))(?P<value>\S.*?)\s*$")
HOLE = "\ue000hole\ue000"  # stands for a value that could not be read, so that the rest of the file still is
QUOTE = 'put it in quotes: "{{ … }}"'
JSON_BRACES = "JSON braces are single here: `{{` starts a template"


def position(text: str, index: int) -> tuple[int, int]:
    """Line and column, from 1, of a place in a text."""
    return text.count("\n", 0, index) + 1, index - (text.rfind("\n", 0, index) + 1) + 1


def compose(text: str, file: str) -> tuple[Any, list[Fault]]:
    """The node tree, and the faults of syntax; a slip that one line holds is mended, so that the others show too."""
    # ruamel.yaml takes 40 ms to import: only when a file is read.
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    faults: list[Fault] = []
    while True:
        try:
            return YAML(typ="safe", pure=True).compose(text), faults
        except RecursionError:
            return None, [*faults, Fault(file, 1, 1, f"is nested more than {DEEPEST} levels deep")]
        except MarkedYAMLError as error:
            fault, mendable = syntax_fault(error, text, file)
            faults.append(fault)
            lines = text.split("\n")
            entry = ENTRY.match(lines[fault.line - 1]) if mendable and fault.line <= len(lines) else None
            if entry is None or HOLE in lines[fault.line - 1]:
                return None, faults
            lines[fault.line - 1] = entry["lead"] + HOLE
            text = "\n".join(lines)
        except YAMLError as error:
            at = getattr(error, "position", 0)
            what = f"{text[at : at + 1]!a} is not allowed in YAML"
            return None, [*faults, Fault(file, *position(text, at), what, "remove it")]


def syntax_fault(error: Any, text: str, file: str) -> tuple[Fault, bool]:
    """A parser's error in plain words, and whether one line holds the whole of it."""
    mark = error.problem_mark or error.context_mark
    lines = text.split("\n")
    line = lines[mark.line] if mark.line < len(lines) else ""
    what, instead, mendable, mark = slip(error, line, mark)
    return Fault(file, mark.line + 1, mark.column + 1, what, instead), mendable


def slip(error: Any, line: str, mark: Any) -> tuple[str, str, bool, Any]:
    """(what is wrong, what to write, whether it is this line's alone, where) for one error of the parser."""
    problem, context, start = error.problem or "", error.context or "", error.context_mark
    entry = ENTRY.match(line)
    value = entry["value"] if entry else line.strip()
    if "'\\t'" in problem:
        return "tabs are not allowed", "indent with spaces", False, mark
    if words := of_one_line(problem, context, value, start is None or start.line == mark.line):
        return *words, True, mark
    if "mapping values are not allowed" in problem and entry and entry.start("value") < mark.column:
        return "the text has `: ` in it", "quote it, or use |", True, mark
    if "mapping values are not allowed" in problem:
        return "a key is not possible here", "keys of one mapping start in one column", False, mark
    if "flow" in context:
        return f"the `{'[' if 'sequence' in context else '{'}` here is not closed", "close it", False, start or mark
    if "quoted scalar" in context:
        return "the quote here is not closed", "close it", False, start or mark
    if "another document" in problem:
        return "a second document starts here", "one document a file", False, mark
    if "<block end>" in problem:
        return "this line does not fit the lines above it", "check the indentation", False, mark
    what = f"{context} {problem}".strip().removesuffix(" here")
    return what, "start a new line, or put the text in quotes", False, mark


def of_one_line(problem: str, context: str, value: str, here: bool) -> tuple[str, str] | None:
    """What is wrong and what to write, for a slip that one line holds the whole of; `here`: it begins on that line."""
    if "escape character" in problem:
        return f"{problem} in double quotes", "write patterns in single quotes: '[0-9]\\d'"
    if re.search(r'\{\{\s*"[^"{}]*"\s*:', value):
        return "`{{` starts a template, and this is not one", f"{JSON_BRACES}; put the text in '…' or use |"
    if value.startswith("{{"):
        return "an unquoted `{{` is YAML's own brace", QUOTE
    if "flow" in context and here and re.search(r"got '(\{|\[|<scalar>)'", problem):
        return "the text inside { } is cut short here", "inside { } quote it, or use one line per key"
    if "found '<scalar>'" in problem and value[:1] in ("'", '"'):
        return "text after the closing quote", "wrap all in '…'"
    if "undefined alias" in problem:
        return problem.replace("found ", ""), "put a text that starts with * in quotes"
    if "cannot start any token" in problem:
        return f"an unquoted text cannot start with {problem.split()[2]}", "put it in quotes"
    if "node content" in problem:
        return f"nothing is open that {problem.split()[-1]} could close", "put it in quotes"
    return None
