"""No known key leaves a run: not by its store, its outcome, its exports, nor by what a model is asked."""

from __future__ import annotations

import asyncio
import json
import pathlib
import sqlite3
import sys
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopworth import front
from loopworth.models import ScriptedModel
from loopworth.runs.decision import Decision, Question
from loopworth.runs.journal import body
from loopworth.runs.recording import Recording, line
from loopworth.runs.secrets import KNOWN, MASK
from loopworth.runs.shelf import Shelf
from loopworth.runs.store import Store
from loopworth.workflows.compile import Compiled, compile
from tests.spellings import SPELLINGS, left

CODE = '''
PLANTED = ""


def tell(about: str, *, token: str) -> dict:
    """Tell everything."""
    return {"planted": PLANTED, PLANTED: [about]}


def fail(about: str) -> str:
    """Fail."""
    raise ValueError(PLANTED)
'''
LOOP = """
workflow: leaky
shape: constrained_loop
input: {q: str}
model: {name: scripted, replies: []}
tools:
  tell: {python: "leak:tell", effect: read, with: {token: {env: LEAKED}}, returns: {max_chars: 300}}
  fail: {python: "leak:fail", effect: read}
use: [tell, fail]
prompt: "{{ q }}"
finish: text
budget: {turns: 5}
"""
KEY = 'sk-live-Qr7/+t"u&V<w>9\\x=='


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    made = tmp_path_factory.mktemp("leaky")
    (made / "leak.py").write_text(CODE, "utf-8")
    (made / "loop.yaml").write_text(LOOP, "utf-8")
    return made


def run(folder: pathlib.Path, key: str, planted: str) -> tuple[Compiled, ScriptedModel, Recording, bytes]:
    """A run into which a key was planted wherever something from outside comes in, and all that it left."""
    KNOWN.forget()
    compiled = compile(folder / "loop.yaml", environ={"LEAKED": key})
    module = next(m for m in list(sys.modules.values()) if getattr(m, "__file__", None) == str(folder / "leak.py"))
    module.PLANTED = planted  # type: ignore[attr-defined]
    replies = [
        {"calls": [{"tool": "tell", "arguments": json.dumps({"about": planted})}], "text": planted},
        {"calls": [{"tool": "fail", "arguments": {"about": planted}}, {"tool": planted, "arguments": planted}]},
        {"message": {"role": "assistant", "content": f"So: {planted}", "reasoning_content": planted}},
    ]
    file = folder / f"{len(list(folder.iterdir()))}.db"
    store, model = Store(file), ScriptedModel(replies)
    key_of = next(iter(compiled.models))
    asyncio.run(front.run(compiled, {"q": f"Is it {planted}?"}, models={key_of: model}, store=store))
    store.close()
    shelf = Shelf(file)
    kept = shelf.run("last")
    return compiled, model, Recording(kept, shelf.records(kept.id), shelf.outcome(kept.id)), raw(file)


def raw(file: pathlib.Path) -> bytes:
    """Everything in a store, as it lies on the disk and unpacked."""
    bodies = [row[0] for row in sqlite3.connect(file).execute("select body from transcript")]
    return b"\n".join([file.read_bytes(), *(zlib.decompress(one) for one in bodies)])


@pytest.mark.parametrize("name", SPELLINGS)
def test_a_planted_key_leaves_no_run(folder: pathlib.Path, name: str) -> None:
    """In the input, a reply's text, arguments, reasoning and tool's name, a result and an error, in any spelling."""
    _, model, recording, stored = run(folder, KEY, SPELLINGS[name](KEY))
    outcome = recording.outcome
    assert outcome is not None
    assert (outcome.exit, MASK in outcome.answer) == ("success", True)
    for place in (stored.decode("utf-8", "replace"), line(recording).decode(), body(outcome).decode()):
        assert left(KEY, place) == []
    assert left(KEY, "".join(body(request).decode() for request in model.requests)) == []


@settings(max_examples=25)
@given(
    st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Zs")), min_size=12, max_size=30).filter(
        lambda text: len(set(text)) > 6
    ),
    st.sampled_from(sorted(SPELLINGS)),
)
def test_no_key_is_found_in_what_a_run_left(folder: pathlib.Path, key: str, name: str) -> None:
    """For any key."""
    _, model, recording, stored = run(folder, key, SPELLINGS[name](key))
    left_over = [*(body(request) for request in model.requests), line(recording), stored]
    assert [text for text in left_over if key in text.decode("utf-8", "replace")] == []


def test_a_run_without_its_keys_is_replayed_without_the_keys(folder: pathlib.Path) -> None:
    """What is recorded is what the model saw, so it does not matter which keys there are later."""
    compiled, _, recording, _ = run(folder, KEY, KEY)
    KNOWN.forget()
    outcome = asyncio.run(front.replay(compiled, recording))
    assert recording.outcome is not None
    assert (outcome.answer, outcome.transcript) == (recording.outcome.answer, recording.outcome.transcript)


def test_a_key_is_masked_before_a_result_is_cut(folder: pathlib.Path) -> None:
    """Half a key is a hint; the tool's 300 characters end in the middle of one."""
    _, model, _, _ = run(folder, KEY, "x" * 280 + KEY)
    assert KEY[:6] not in body(model.requests[1]).decode()


USE = '''
def use(about: str = "", *, token: str) -> int:
    """Use it."""
    return len(token)
'''


def ended(folder: pathlib.Path, *lines: str) -> Recording:
    """A pipeline over a tool that is bound to the key, run on the key, from the store."""
    (folder / "used.py").write_text(USE, "utf-8")
    tools = 'tools: {use: {python: "used:use", effect: read, with: {token: {env: LEAKED}}}}'
    text = "\n".join(["workflow: w", "shape: pipeline", "input: {q: str}", tools, *lines])
    (folder / "w.yaml").write_text(text, "utf-8")
    store = Store(folder / "w.db")
    compiled = compile(folder / "w.yaml", environ={"LEAKED": KEY})
    outcome = asyncio.run(front.run(compiled, {"q": KEY}, store=store, ask=approving))
    store.close()
    shelf = Shelf(folder / "w.db")
    kept = shelf.run("last")
    assert left(KEY, raw(folder / "w.db").decode("utf-8", "replace")) == []
    return Recording(kept, shelf.records(kept.id), outcome)


async def approving(question: Question, id: str) -> Decision:
    return Decision("approve", by=f"me, with {KEY}", note=KEY)


QUOTED = json.dumps(KEY)


def test_a_tool_is_given_its_key(tmp_path: pathlib.Path) -> None:
    """Only what comes back is masked."""
    recording = ended(tmp_path, "steps: [{id: n, call: use}]", 'answer: "{{ n }}"')
    assert recording.outcome is not None
    assert recording.outcome.answer == len(KEY)


def test_a_key_that_stands_in_a_file_is_kept_nowhere(tmp_path: pathlib.Path) -> None:
    """Though a file should never hold one: arguments, what a gate asks and decides, and the answer are masked."""
    steps = f"steps: [{{id: n, call: use, with: {{about: {QUOTED}}}}}]"
    recording = ended(tmp_path, "gate: {use: required}", steps, f"answer: {QUOTED}")
    assert recording.outcome is not None
    assert recording.outcome.answer == MASK
    assert [record.kind for record in recording.records.values()] == ["gate", "tool"]
    assert left(KEY, line(recording).decode()) == []


def test_a_key_in_the_input_is_in_no_event(tmp_path: pathlib.Path) -> None:
    """A guard that quotes what it was given."""
    guard = 'guard: [{on: input, if: "true", else: "no {{ q }}"}]'
    recording = ended(tmp_path, guard, "steps: [{id: n, call: use}]", "answer: 1")
    assert recording.outcome is not None
    assert recording.outcome.note == f"on input: no {MASK}"
    assert left(KEY, body(recording.outcome).decode()) == []
