"""`loopworth run --durable`: a run that outlives this process, and waits at a gate without one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.text import Text

from loopworth import front
from loopworth.cli.following import Following
from loopworth.cli.interruption import finish
from loopworth.cli.outcome import report, show
from loopworth.cli.status import OUTSIDE, UserFault, of_exit
from loopworth.cli.store import found_run, open_store
from loopworth.cli.terminal import complain, headed, notices, output, shown, write_json
from loopworth.runs.approvals import Approval, of_run
from loopworth.runs.outcome import Outcome
from loopworth.runs.store import Store
from loopworth.workflows import durable
from loopworth.workflows.compile import Compiled
from loopworth.workflows.keys import keyed
from loopworth.workflows.source import Changed


@dataclass(frozen=True)
class Durable:
    """How a durable run is to be begun or gone on with, and shown."""

    resume: str | None
    store: str | None
    transcript: bool = False
    stream: bool = False
    as_json: bool = False
    write: Callable[[Any], None] = write_json

    def fits(self, file: Path | None, given: bool, replay: str | None, unkept: bool) -> None:
        """Raises UserFault for options that say something else."""
        if unkept or replay is not None:
            raise UserFault("--durable keeps the run in the store: leave out --no-store and --replay")
        if self.resume is not None and (given or file is not None):
            raise UserFault(f"--resume {self.resume}: the run has its file, input and model: leave them out")

    def begin(self, compiled: Compiled, input: dict[str, Any], model: str | None) -> None:
        """Enter the run and make it."""

        keyed(compiled.models, compiled.named)

        async def made(store: Store) -> tuple[str, Outcome]:
            id = durable.begin(store, compiled, input, model=model, given=())
            complain(f"if this is interrupted: loopworth run --durable --resume {id}")
            return id, await front.resume(store, id, compiled, **self.following())

        self.finished(made)

    def go_on(self, id: str, epoch: int | None = None) -> None:
        """Go on with a run of the store, by its id or the start of it; `epoch` is the one it was found with, where
        nobody asked for it."""

        async def made(store: Store) -> tuple[str, Outcome]:
            run = found_run(store.shelf(), id).id
            return run, await front.resume(store, run, epoch=epoch, **self.following())

        self.finished(made)

    def following(self) -> dict[str, Any]:
        follows = Following(notices() if self.as_json else output(), self.transcript and not self.as_json, self.stream)
        watched = follows.transcript or self.stream
        return {"watch": follows.say if watched else None, "hear": follows.hear if self.stream else None}

    def finished(self, made: Callable[[Store], Any]) -> None:
        """Make the run, and show what it came to, or what it waits for."""
        asked: list[Approval] = []
        trouble = False

        async def kept() -> tuple[str, Outcome]:
            nonlocal trouble
            with open_store(self.store) as store, told():
                id, outcome = await made(store)
                if not store.failed:
                    asked.extend(one for one in of_run(store.shelf(), id) if one.state == "waiting")
            trouble = store.trouble is not None
            return id, outcome

        def tell(came: tuple[str, Outcome]) -> int:
            id, outcome = came
            if self.as_json:
                self.write({**report(outcome, id, False), "waiting": [facts(one) for one in asked]})
            else:
                show(outcome, id, False)
                for one in asked if outcome.exit == "waiting" else ():
                    output().print(headed("waits", line(one)), soft_wrap=True)
            if outcome.exit in ("cancelled", "provider_error", "harness_error"):
                complain(f"it can be gone on with: loopworth run --durable --resume {id}")
            return OUTSIDE if trouble else of_exit(outcome.exit)

        finish(kept(), tell)


@contextmanager
def told() -> Iterator[None]:
    """A run that cannot be gone on with is the user's to put right."""
    try:
        yield
    except (LookupError, Changed) as why:
        raise UserFault(str(why.args[0])) from None


def line(one: Approval) -> Text:
    """A question in one line, with the command that shows what there is to know before it is decided."""
    text = shown(f"{one.tool} {shown(one.question.arguments).plain}", lines=False)
    return text.append(f": loopworth inbox show {one.name}")


def facts(one: Approval) -> dict[str, Any]:
    """A question as JSON."""
    said = {"name": one.name, "run": one.run, "at": one.id, "workflow": one.workflow, "file": one.file}
    question = one.question
    asks = {"tool": one.tool, "arguments": question.arguments, "hash": one.hash, "text": question.text}
    ends = {"asked": one.asked, "expires": one.expires, "on_timeout": question.on_timeout}
    decided = {"state": one.state, "decision": one.decision, "altered": one.altered}
    offers = {"choices": list(question.choices), "remember": question.remember}
    return {**said, **asks, **offers, **ends, **decided, "tries": one.ballots}
