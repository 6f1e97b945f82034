"""What a comparison is made of: every file of its Python counts, wherever that is named."""

import json

import pytest

from loopworth.comparisons.basis import changed, source
from loopworth.comparisons.comparison import load
from tests.workflows.test_python_import import written

FILES = {
    "c.yaml": """
comparison: c
tasks: tasks.jsonl
score: {python: "score:same"}
arms:
  asks: {workflow: asks.yaml}
  outer: {workflow: outer.yaml}
  own: {python: "arm:answer"}
""",
    "asks.yaml": """
workflow: asks
shape: pipeline
input: {question: str}
output: models:Answer
model: {name: scripted, replies: [a]}
tools: {look: {python: "tool:look", effect: read}, unused: {python: "unused:look", effect: read}}
steps:
  - {id: found, call: look, with: {code: "{{ question }}"}}
  - {id: typed, ask: "{{ question }}", output: "list[typed:Item]"}
answer: {text: "{{ found }}"}
""",
    "outer.yaml": """
workflow: outer
shape: pipeline
input: {question: str}
steps: [{id: said, run: parts/inner.yaml, with: {question: "{{ question }}"}}]
answer: "{{ said }}"
""",
    "parts/inner.yaml": """
workflow: inner
shape: pipeline
input: {question: str}
tools: {look: {python: "inner.tool:look", effect: read}}
steps: [{id: found, call: look, with: {code: "{{ question }}"}}]
answer: "{{ found }}"
""",
    "tasks.jsonl": json.dumps({"question": "q", "expected": "q"}),
    "score.py": "from scoring import same\n",
    "scoring.py": "import shared\ndef same(answer, expected): return True\n",
    "shared.py": "",
    "arm.py": "def answer(question):\n    from answering import answer\n    return answer(question)\n",
    "answering.py": "def answer(question): return question\n",
    "models.py": "from fields import Text\nfrom pydantic import BaseModel\nclass Answer(BaseModel):\n    text: Text\n",
    "fields.py": "Text = str\n",
    "typed.py": "from pydantic import BaseModel\nclass Item(BaseModel):\n    name: str\n",
    "tool.py": 'from . import looking\ndef look(code: str) -> str:\n    "Look."\n    return looking.found(code)\n',
    "looking.py": "def found(code): return code\n",
    "unused.py": 'def look(code: str) -> str:\n    "Look."\n    return code\n',
    "parts/inner/__init__.py": "",
    "parts/inner/tool.py": 'from .deep import data\ndef look(code: str) -> str:\n    "Look."\n    return code\n',
    "parts/inner/deep/data.py": "",
    "other.py": "",
}
COUNTED = {name for name in FILES if name not in ("unused.py", "other.py")}


@pytest.fixture
def folder(tmp_path):
    return written(tmp_path, FILES)


def test_every_file_of_the_python_counts_and_no_other_does(folder):
    """Those of tools, types, scores and arms, with all that they import beside their YAML."""
    assert set(load(folder / "c.yaml").files) == COUNTED


@pytest.mark.parametrize("name", ["tool.py", "looking.py", "fields.py", "shared.py", "answering.py", "unused.py"])
def test_a_change_of_any_of_them_is_told(folder, name):
    """By this list going on with a comparison is refused, and a worker of a fleet refuses work."""
    first = load(folder / "c.yaml")
    before = source(first)
    (folder / name).write_text(FILES[name] + "# changed\n")
    assert changed(before, load(folder / "c.yaml")) == ([name] if name in COUNTED else [])


@pytest.mark.parametrize(
    ("name", "told"), [("shared.py", []), ("score.py", ["score.py"]), ("asks.yaml", ["asks.yaml"])]
)
def test_of_what_an_older_version_kept_no_python_counts_but_what_it_counted(folder, name, told):
    """It counted the files of functions, and a comparison that it began is gone on with while they are the same."""
    before = source(load(folder / "c.yaml"))
    del before["given_arms"]
    before["files"] = {file: of for file, of in before["files"].items() if file not in ("shared.py", "models.py")}
    (folder / name).write_text(FILES[name] + "# changed\n")
    assert changed(before, load(folder / "c.yaml")) == told
