"""What a model at an endpoint can, found out by asking it: no table of models is as true as the endpoint at hand."""

from __future__ import annotations

from typing import Any, Literal

from loopworth.agents.proof import CALL, MOST, NOTE, unread
from loopworth.models.endpoint import Hear
from loopworth.runs.message import Reply, Request, json_of, user
from loopworth.runs.outcome import Stop
from loopworth.runs.usage import Usage, Value

HELLO = "Say hello."
TWICE = "Note the words red and blue: call the tool note twice in one reply, once for each word."
MAUVE = {"answer": "mauve"}
SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string", "enum": ["mauve"]}},
    "required": ["answer"],
    "additionalProperties": False,
}


class Ability(Value, frozen=True):
    """`unknown` is what one question could not show."""

    name: str
    can: Literal["yes", "no", "unknown"]
    why: str


class Abilities(Value, frozen=True):
    """What was found, and what finding it took."""

    found: tuple[Ability, ...]
    calls: int
    usage: Usage


class Asking:
    """The questions to one model, counted. A question that the endpoint refuses is answered by its words."""

    def __init__(self, model: Any) -> None:
        self.model, self.calls, self.usage = model, 0, Usage()

    async def ask(self, said: str, hear: Hear | None = None, **more: Any) -> Reply:
        """One reply, whatever its end. Raises `Stop` where the endpoint fails."""
        self.calls += 1
        given = {"hear": hear} if hear is not None and getattr(self.model, "streams", False) else {}
        reply: Reply = await self.model.reply(Request([user(said)], max_tokens=MOST, **more), None, **given)
        self.usage += reply.usage
        return reply

    async def tried(self, said: str, **more: Any) -> Reply:
        """The same, where a refusal is an answer too: its words are the reply's note."""
        try:
            return await self.ask(said, **more)
        except Stop as stop:
            return Reply({}, finish="refused", usage=Usage(None, None), note=stop.note)


async def abilities(model: Any) -> Abilities:
    """Ask for a plain reply, for calls of a tool in three ways, and for an object under a schema: up to six calls.

    Raises `Stop` where the endpoint fails the first.
    """
    asking, heard = Asking(model), list[str]()
    plain = await asking.ask(HELLO, lambda text, _: heard.append(text))
    forced = await asking.tried(HELLO, tools=(NOTE,), tool_choice="required")
    asked = forced if forced.calls else await asking.tried(CALL, tools=(NOTE,))
    read = Reply({}) if asked.calls else await asking.tried(CALL)
    twice = await asking.tried(TWICE, tools=(NOTE,)) if asked.calls else None
    shaped = await asking.tried(HELLO, schema=SCHEMA)
    found = (
        tools(asked, read),
        choice(forced, asked),
        parallel(twice),
        schema(shaped),
        usage(plain),
        streaming(heard),
    )
    return Abilities(found, asking.calls, asking.usage)


def tools(asked: Reply, bare: Reply) -> Ability:
    if asked.calls:
        return Ability("tools", "yes", "it calls the tool that it is asked to call")
    if asked.finish == "refused":
        return Ability("tools", "no", asked.note)
    if why := unread(asked.usage.input, bare.usage.input):
        return Ability("tools", "no", why)
    return Ability("tools", "unknown", f"it reads tools, and called none: it said {said(asked)}")


def choice(forced: Reply, asked: Reply) -> Ability:
    if forced.calls:
        return Ability("forced tool choice", "yes", "it calls a tool where one is required")
    if forced.finish == "refused":
        return Ability("forced tool choice", "no", forced.note)
    if asked.calls:
        return Ability("forced tool choice", "no", "it ignores tool_choice: the loop enforces it")
    return Ability("forced tool choice", "unknown" if asked.finish != "refused" else "no", "no tool was called at all")


def parallel(twice: Reply | None) -> Ability:
    if twice is None or not twice.calls:
        return Ability("parallel calls", "unknown", "no call came")
    many = len(twice.calls)
    return Ability("parallel calls", "yes" if many > 1 else "unknown", f"{many} of 2 calls came in one reply")


def schema(shaped: Reply) -> Ability:
    """An object that nobody would say unless held to it."""
    if shaped.finish == "refused":
        return Ability("json_schema", "no", shaped.note)
    try:
        held = json_of(shaped.text) == MAUVE
    except ValueError:
        held = False
    return Ability("json_schema", "yes" if held else "no", f"it said {said(shaped)}")


def usage(plain: Reply) -> Ability:
    used = plain.usage
    if used.input is None or used.output is None:
        return Ability("usage", "no", "it does not say how many tokens a call took")
    return Ability("usage", "yes", f"{used.input} tokens in, {used.output} out")


def streaming(heard: list[str]) -> Ability:
    if not heard:
        return Ability("streaming", "no", "nothing was heard before the end")
    return Ability("streaming", "yes", f"the text came in {len(heard)} part{'s' * (len(heard) != 1)}")


def said(reply: Reply) -> str:
    text = " ".join(reply.text.split())
    shown = text if len(text) <= 60 else f"{text[:59]}…"
    return repr(shown) if shown else f"nothing ({reply.note or reply.finish})"
