"""A small comparison of which every text is hostile, and its JSON."""

from __future__ import annotations

import asyncio
import json
import pathlib
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from typing import Any

from loopworth.comparisons.comparison import load
from loopworth.comparisons.execution import compare
from loopworth.comparisons.export import read, to_json

HOSTILE = '<script>alert(1)</script>"\' onmouseover="alert(1)\x1b[2J\u202e</td></table></pre></svg>'
SPELLED = HOSTILE.replace("\x1b", "\\x1b").replace("\u202e", "\\u202e")
"""As a page shows it."""
ARM = """\
workflow: right
shape: pipeline
input: {question: str, n: int}
model: {name: scripted, replies: {said: {text: SAYS, usage: {prompt_tokens: 40, completion_tokens: 7}}}}
steps:
  - {id: said, ask: "NAME: {{ question }}"}
answer: "{{ said if (n % STRIDE) else 'wrong: ' ~ said }}"
"""
COMPARISON = """\
comparison: hostile
tasks: tasks.jsonl
score: equals
group_by: n
arms:
  one: {workflow: one.yaml}
  two: {workflow: two.yaml}
seed: 7
"""


def hostile(folder: pathlib.Path, tasks: int = 8, said: str = HOSTILE) -> dict[str, Any]:
    """The JSON of a comparison of two arms that say `said`, of which the second is wrong on every other task; the arms,
    the models and the level's column have a name like that, too, although no file can give them one."""
    return renamed(measured(files(folder, tasks, said)), said)


def files(folder: pathlib.Path, tasks: int = 8, said: str = HOSTILE) -> pathlib.Path:
    for name, stride in (("one", 1000), ("two", 2)):
        text = ARM.replace("SAYS", json.dumps(said)).replace("STRIDE", str(stride)).replace("NAME", name)
        (folder / f"{name}.yaml").write_text(text, "utf-8")
    rows = [{"id": f"{k} {said}", "question": f"{k}? {said}", "expected": said, "n": k % 4 + 1} for k in range(tasks)]
    (folder / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    file = folder / "comparison.yaml"
    file.write_text(COMPARISON, "utf-8")
    return file


def measured(file: pathlib.Path) -> dict[str, Any]:
    """In a thread of its own: a browser's driver has a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return read(to_json(pool.submit(asyncio.run, compare(load(str(file)), keep=True)).result()))


def renamed(found: Any, said: str) -> Any:
    """The same with hostile names."""
    names = {"one": f"one {said}", "two": f"two {said}", "scripted": f"scripted {said}"}
    if isinstance(found, dict):
        return {key: f"n {said}" if key == "group_by" else renamed(value, said) for key, value in found.items()}
    if isinstance(found, list):
        return [renamed(one, said) for one in found]
    return names.get(found, found) if isinstance(found, str) else found


class Page(HTMLParser):
    """An HTML file as a browser takes it: its elements in order, and the text in each kind of element."""

    VOID = ("meta", "link", "br", "img", "hr", "input")

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []
        self.texts: list[tuple[str, str]] = []
        self.faults: list[str] = []
        self.feed(text)
        self.close()
        self.faults += [f"{tag} is not closed" for tag in self.open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> closes nothing")

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append((self.open[-1] if self.open else "", data.strip()))

    @property
    def text(self) -> str:
        return "\n".join(text for tag, text in self.texts if tag != "style")
