"""Files written for a test, loaded, and what is reported of them."""

from loopworth.comparisons.language import load

TOOLS = """
tools:
  lookup: {python: "functions:lookup", effect: read, allow: {field: [budget, staff]}}
  pay: {python: "functions:pay", effect: write}
  send: {python: "functions:send", effect: irreversible, approval: required}
"""
FUNCTIONS = '''
def lookup(code: str, field: str = "budget") -> int:
    """A figure of a project."""
    return 1

def pay(amount: float) -> str:
    """Pay."""
    return "paid"

def send(to: str, *, key: str = "") -> str:
    """Send."""
    return "sent"
'''
INNER = """
workflow: inner
shape: pipeline
input: {brief: str, size: int = 3}
output: {text: str, ok: bool}
model: ollama/m
steps:
  - id: made
    ask: "{{ brief }} {{ size }}"
    output: {text: str, ok: bool}
answer: "{{ made }}"
"""
TASKS = '{"id": 1, "q": "a", "expected": 1, "kind": "x"}\n{"id": 2, "q": "b", "expected": 2, "kind": "y"}\n'
PIPELINE = "workflow: w\nshape: pipeline\ninput: {q: str, late: bool = false}\nmodel: ollama/m\ntools: tools.yaml\n"
LOOP = "workflow: w\nshape: {shape}\ninput: {{q: str}}\nmodel: ollama/m\ntools: tools.yaml\nprompt: '{{{{ q }}}}'\n"


def faults(folder, text, name="w.yaml", **others):
    """What is reported of a text: `line:column what; instead`, of its own file alone, in order."""
    files = {"tools.yaml": TOOLS, "functions.py": FUNCTIONS, "inner.yaml": INNER, "tasks.jsonl": TASKS, name: text}
    for other, content in {**files, **{key.replace("_", "."): part for key, part in others.items()}}.items():
        (folder / other).write_text(content, "utf-8")
    return [
        f"{fault.line}:{fault.column} {fault.what}; {fault.instead}"
        for fault in load(folder / name).faults
        if fault.file == str(folder / name)
    ]


def steps(*lines, answer="1"):
    """A pipeline with these lines under `steps:`; the first of them is line 7."""
    return f"{PIPELINE}steps:\n" + "".join(f"{line}\n" for line in lines) + f"answer: {answer}\n"


def loop(shape, *lines):
    """A loop with these lines at its end; the first of them is line 7."""
    return LOOP.format(shape=shape) + "".join(f"{line}\n" for line in lines)
