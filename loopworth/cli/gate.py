"""A gate asked on the terminal: the tool, its exact canonical arguments, and one word of a person.

What lets a call be made is typed out in full, as it is offered; what does not may be short.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from typing import Any, TypeAlias

from rich.panel import Panel
from rich.text import Text

from loopworth.cli.terminal import notices, shown
from loopworth.runs.approvals import Refused
from loopworth.runs.decision import Decision, Question
from loopworth.runs.outcome import Waiting

Accept: TypeAlias = Callable[[str, str], dict[str, Any]]
"""The arguments of a tool that a person typed, held to schema and allow-list. Raises Refused."""
REJECT = {"reject", "r", "no", "n"}
NOBODY = "nobody was there to ask: standard input is not a terminal"


class TerminalGate:
    """Asks one question at a time. No answer, the end of input, or no terminal at all is a rejection; but where a
    person's own words are asked for and there is no terminal, the run waits."""

    def __init__(self, accept: Accept) -> None:
        self.turn, self.accept = asyncio.Lock(), accept

    async def __call__(self, question: Question, id: str) -> Decision:
        async with self.turn:
            notices().print(drawn(question, id))
            if "answer" in question.choices:
                return await answered(id)
            if not sys.stdin.isatty():
                notices().print(shown(f"rejected: {NOBODY}"))
                return Decision("reject", "nobody", note=NOBODY)
            return await self.decided(question)

    async def decided(self, question: Question) -> Decision:
        """The decision typed; what is none of the choices, or an edit that its tool does not take, is asked again."""
        *words, last = question.choices
        offered = f"{', '.join(words)} or {last}" if words else last
        while True:
            notices().print(Text(f"{offered}? (a reason may follow `reject`) [reject] "), end="")
            line = await typed_line()
            try:
                if (decision := read(line, question, self.accept)) is not None:
                    return decision
            except Refused as why:
                notices().print(shown(str(why)))
            notices().print(Text("please type " + " or ".join(HOW[word] for word in question.choices)))


HOW = {
    "approve": "`approve` alone, for the call as it is",
    "edit": '`edit {"…": …}` with all arguments as one JSON object',
    "reject": "`reject`, and why",
}


async def answered(id: str) -> Decision:
    """The words of one line. Raises `Waiting` where nobody can type any."""
    if not sys.stdin.isatty():
        raise Waiting(id)
    notices().print(Text("your answer: [none] "), end="")
    line = (await typed_line()).strip()
    return Decision("answer", "terminal", note=line) if line else Decision("reject", "terminal")


def drawn(question: Question, id: str) -> Panel:
    """The question, with the arguments as the JSON that the decision is bound to."""
    body = Text()
    if question.text:
        body.append_text(shown(question.text)).append("\n\n")
    arguments = json.dumps(question.arguments, ensure_ascii=False, sort_keys=True, indent=2, default=str)
    body.append_text(shown(question.tool, "bold", lines=False)).append(" ").append_text(shown(arguments))
    if question.also:
        body.append(f"\n\n{question.also}", "dim")
    title = "a question" if "answer" in question.choices else "may this run?"
    return Panel(body, title=shown(f"{title} {id}", lines=False), title_align="left")


def read(line: str, question: Question, accept: Accept) -> Decision | None:
    """What a typed line decides; None where it is none of the choices. Nothing, or the end of input, rejects.

    More words than `approve` may be a condition: they are no approval. Raises Refused for an edit that is not taken.
    """
    word, _, rest = line.strip().partition(" ")
    word = word.lower().rstrip(":,.")
    if word == "approve" and not rest and "approve" in question.choices:
        return Decision("approve", "terminal")
    if word == "edit" and rest.strip() and "edit" in question.choices:
        return Decision("edit", "terminal", accept(question.tool, rest))
    if not word or word in REJECT:
        return Decision("reject", "terminal", note=rest.strip())
    return None


async def typed_line() -> str:
    """One line from standard input, "" at its end. It can be cancelled, which a thread that reads cannot."""
    loop, file = asyncio.get_running_loop(), sys.stdin.fileno()
    came: asyncio.Future[str] = loop.create_future()

    def ready() -> None:
        if not came.done():
            came.set_result(os.read(file, 65536).decode("utf-8", "replace"))

    try:
        loop.add_reader(file, ready)
    except NotImplementedError:  # Windows' event loop watches no files
        return await asyncio.to_thread(sys.stdin.readline)
    try:
        return await came
    finally:
        loop.remove_reader(file)
