"""Workflows written for a test, run from YAML, and replayed from their recording each time."""

import asyncio

from loopworth.models import open_model
from loopworth.runs.journal import MemoryJournal
from loopworth.runs.replay import Replayed
from loopworth.runs.world import Live
from loopworth.workflows.activation import activate
from loopworth.workflows.compile import compile
from loopworth.workflows.python_name import module

CODE = '''
import asyncio

LOG = []
FAILING = {}


def lookup(code: str) -> int:
    """Look a number up."""
    LOG.append(code)
    if FAILING.get(code, 0) > 0:
        FAILING[code] -= 1
        raise LookupError(f"no {code}")
    return len(code)


async def slow(code: str) -> int:
    """Never answers where the code says so."""
    LOG.append(code)
    if code.startswith("hang"):
        await asyncio.Event().wait()
    return len(code)


def pay(amount: int, *, key: str = "") -> str:
    """Pay."""
    LOG.append(("pay", amount, key.partition("/")[2]))
    if FAILING.get(amount, 0) > 0:
        FAILING[amount] -= 1
        raise OSError("down")
    return f"paid {amount}"


async def hang(amount: int) -> str:
    """Pay, some day."""
    LOG.append(("hang", amount))
    await asyncio.Event().wait()
'''
TOOLS = """
tools:
  lookup: {python: "code:lookup", effect: read, inline: true}
  slow: {python: "code:slow", effect: read}
  pay: {python: "code:pay", effect: write, inline: true, idempotent: true}
  hang: {python: "code:hang", effect: write, idempotent: true}
"""


class Played:
    """One run: its outcome, what the tools saw, what was slept, and the records it left."""

    def __init__(self, folder, text, input=None, ask=None, failing=None, **others):
        (folder / "code.py").write_text(CODE, "utf-8")
        for name, content in {"tools": TOOLS, "w": text, **others}.items():
            (folder / f"{name}.yaml").write_text(content, "utf-8")
        self.compiled = compile(folder / "w.yaml")
        seen = vars(module("code", folder))
        seen["LOG"].clear()
        seen["FAILING"] |= failing or {}
        self.slept, self.asked, self.journal = [], [], MemoryJournal()
        models = {key: open_model(spec) for key, spec in self.compiled.models.items()}
        world = Live(models, None if ask is None else self.asking(ask), sleep=self.sleep)
        self.outcome = asyncio.run(activate(self.compiled, input or {}, world, self.journal))
        self.log, self.requests = list(seen["LOG"]), {key: model.requests for key, model in models.items()}
        self.replay(input or {}, seen)

    async def sleep(self, seconds):
        self.slept.append(seconds)

    def asking(self, ask):
        async def asked(question, id):
            self.asked.append(id)
            return ask(question)

        return asked

    def replay(self, input, seen):
        """The recording gives the same outcome, and nothing is called or slept for it."""
        before = self.outcome
        world = Replayed(before)
        again = asyncio.run(activate(self.compiled, input, world, MemoryJournal(self.journal.records)))
        assert (again.exit, again.answer) == (before.exit, before.answer)
        assert again.note == before.note or before.exit == "provider_error"
        assert again.transcript == before.transcript
        assert [untimed(event) for event in again.events] == [untimed(event) for event in before.events]
        assert [(one.status, one.full) for one in again.calls] == [(one.status, one.full) for one in before.calls]
        assert seen["LOG"] == self.log
        assert {event.at for event in again.events} >= self.journal.records.keys()

    def at(self, *kinds):
        """Where the events of some kinds happened."""
        return [event.at for event in self.outcome.events if type(event).__name__ in kinds]


def untimed(event):
    """An event without the times of what no record holds."""
    fields = {name: getattr(event, name) for name in event.__struct_fields__}
    return type(event).__name__, {key: value for key, value in fields.items() if key not in ("began", "seconds")}


def pipeline(*steps, answer, top=""):
    """A pipeline with these steps, over the tools and a scripted model."""
    lines = "\n".join(f"  - {step}" for step in steps)
    return f"workflow: w\nshape: pipeline\ntools: tools.yaml\n{top}\nsteps:\n{lines}\nanswer: {answer}\n"


def scripted(*replies):
    return "model: {name: scripted, replies: [" + ", ".join(replies) + "]}"
