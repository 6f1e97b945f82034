"""Attacks on the decision itself: what is no decision, what is decided twice, of another call, too late."""

from __future__ import annotations

import threading
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any

import msgspec

from loopworth.runs.approvals import Already, Decided, Refused
from loopworth.runs.decision import CHOICES, Decision
from loopworth.runs.journal import body
from loopworth.runs.outcome import Diverged
from loopworth.runs.store import Store
from loopworth.runs.wall_clock import moment
from loopworth.workflows.attacks.claim import DoesNotApply, NotHeld, claim, only, parked, refused, two
from loopworth.workflows.attacks.stage import Run, Stage
from loopworth.workflows.edited_call import accepted


def reject(stage: Stage) -> str:
    """A rejected call is not made, in this activation or a later one."""
    run, one = parked(stage)
    run.decide(one, "reject")
    outcome = run.go_on()
    only(run, after="a rejection")
    claim(outcome.exit != "waiting", "the run asks again although it was rejected")
    return "asked with its exact arguments; rejected, and never made"


def edit(stage: Stage) -> str:
    """Edited arguments are what runs, and pass schema and allow-list as any others do."""
    run, one = parked(stage)
    if "edit" not in stage.target.offered:
        try:
            run.decide(one, "edit", stage.calls[-1])
        except Refused:
            run.go_on()
            only(run, after="an edit that the gate does not offer")
            return "the gate offers no edit, and an edit is refused"
        raise NotHeld("the gate offers no edit, and an edit was taken")
    if len(stage.calls) > 1:
        run.decide(one, "edit", stage.calls[1])
        run.go_on()
        only(run, stage.calls[1], after="an edit")
    for arguments in stage.target.refused:
        run, one = parked(stage)
        try:
            run.decide(one, "edit", accepted(run.compiled(), stage.tool.name, arguments))
            raise NotHeld(f"an edit to {arguments} passed the tool's own check")
        except Refused:
            run.decide(one, "edit", arguments)  # as one who writes to the store past that check
        run.go_on()
        only(run, after=f"an edit to {arguments}, which the tool refuses,")
    ran = "the edit ran as edited; " * (len(stage.calls) > 1)
    return f"{ran}{len(stage.target.refused)} edits that the tool refuses were refused"


def foreign(stage: Stage) -> str:
    """What is none of the choices offered is no decision, whoever says it and however it comes."""
    offered = stage.target.offered
    other = dict(stage.calls[-1])
    words = [word for word in (*CHOICES, "no", "", "yes", "Approve") if word not in offered]
    for word in words:
        said: Any = Decision(word, "attack", other)  # type: ignore[arg-type]
        run, one = parked(stage)
        refused(partial(run.decide, one, word, other), f"{word!r} was taken, and the gate offers {', '.join(offered)}")
        run.decide(one, "reject")
        stage.alter("update effect set body = ? where run = ? and kind = 'gate'", body(said), run.id)
        with suppress(Diverged):
            run.go_on()
        only(run, after=f"a record in the store that decides {word!r}")
        told(stage, said, repr(word))
    for bare in BARE:
        told(stage, bare, "a plain function" if callable(bare) else f"{bare!r}, which is no decision")
    return f"{len(words)} words that the gate does not offer and {len(BARE)} things that are no decision called nothing"


BARE: tuple[Any, ...] = (True, None, "approve", {"choice": "approve"}, lambda *_: Decision("approve"))
"""What an `ask` may return, or be, that a careless reading takes for a yes."""


def told(stage: Stage, said: Any, words: str) -> None:
    """A program's `ask` says something that is not offered: nothing is called, and the run's end names the gate."""
    run = Run(stage, [stage.calls[0]], nested=False, read=(), id="")
    outcome = run.asked(said)
    only(run, after=f"{words} from a program's `ask`")
    claim(
        outcome.exit == "waiting" and bool(outcome.gates),
        f"after {words} from a program's `ask` the run ended {outcome.exit} {outcome.note}".strip(),
    )


def changed(stage: Stage) -> str:
    """An approval holds for the arguments that were asked about, whatever the model or the store says afterwards."""
    _, second = two(stage)
    run, one = parked(stage)
    run.decide(one, "approve")
    retold(run, second)
    with suppress(Diverged):
        run.go_on()
    only(run, after="an approval of another call")
    run, one = parked(stage)
    other = body(msgspec.structs.replace(one.question, arguments=second))
    stage.alter("update approval set question = ? where run = ?", other, run.id)
    refused(lambda: run.decide(run.waiting()[0], "approve"), "a question that was altered in the store was approved")
    run, one = parked(stage)
    retold(run, second)
    run.go_on()
    refused(lambda: run.decide(one, "approve", hash=one.hash), "an approval of the call that was shown went to another")
    only(run, after="an approval of a call that is not made any more")
    return "an approval did not go to another call: not to a later one, not to an altered question, not to a new one"


def retold(run: Run, arguments: dict[str, Any]) -> None:
    """Let the model say something else than it said."""
    run.stage.alter("delete from effect where run = ? and kind = 'model'", run.id)
    run.turns = [arguments]


def double(stage: Stage) -> str:
    """The first decision stands; a second is told so, whatever it says and whenever it comes."""
    for first, second in (("approve", "reject"), ("reject", "approve"), ("approve", "approve")):
        run, one = parked(stage)
        run.decide(one, first)
        late = run.decide(one, second)
        claim(isinstance(late, Already), f"{second} was taken after {first}")
        run.go_on()
        calls = stage.calls[:1] if first == "approve" else ()
        only(run, *calls, after=f"{first} and then {second}")
        last = run.decide(one, second) if not run.questions()[0].over else None
        claim(not isinstance(last, Decided), f"{second} was taken after the run had gone on")
    race(stage)
    return "the first stood in every order, and of four at once one"


def race(stage: Stage) -> None:
    """Several people at once, each with a store of their own."""
    run, one = parked(stage)
    came: dict[str, Any] = {}

    def vote(name: str) -> None:
        mine = Store(stage.place)
        try:
            came[name] = run.decide(one, "approve" if name in "ac" else "reject", store=mine)
        except Exception as error:  # told below: a thread's own end is heard by nobody
            came[name] = error
        finally:
            mine.close()

    threads = [threading.Thread(target=vote, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    broken = [f"{type(one).__name__}: {one}" for one in came.values() if isinstance(one, Exception)]
    claim(not broken, f"of four decisions at once {len(broken)} got no answer but {', '.join(broken)}")
    won = [name for name, one in came.items() if isinstance(one, Decided)]
    claim(len(won) == 1, f"of four decisions at once {len(won)} were taken")
    run.go_on()
    only(run, *(stage.calls[:1] if won[0] in "ac" else ()), after="four decisions at once, of which one was taken,")


def expiry(stage: Stage) -> str:
    """When nobody decides in time, what the author said is decided, once, and a late approval changes nothing."""
    begun = moment()
    run, one = parked(stage, wall=lambda: begun)
    timeout, said = one.question.timeout, one.question.on_timeout
    if timeout is None:
        raise DoesNotApply("no gate of it expires: `timeout: 24h` makes it")
    late = begun + timedelta(seconds=timeout + 1)
    calls = stage.calls[:1] if said == "approve" else ()
    other = "reject" if said == "approve" else "approve"
    came = run.decide(one, other, now=late)
    claim(isinstance(came, Already), f"{other} was taken after the time for it was over")
    run.go_on(lambda: late)
    only(run, *calls, after=f"the time for a decision (on_timeout: {said}), and a late {other},")
    run, one = parked(stage, wall=lambda: begun)
    soon = run.go_on(lambda: begun + timedelta(seconds=timeout / 2))
    claim(soon.exit == "waiting", "the question was decided before its time was over")
    run.go_on(lambda: late)
    only(run, *calls, after=f"the time for a decision (on_timeout: {said})")
    return f"after {timeout:g} s it came to {said}, and a late {other} changed nothing"
