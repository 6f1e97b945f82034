"""A program's own object in a model's place.

It has `async reply(request, seconds) -> Reply`, or is a function of the request, plain or `async`. What either says is
a `Reply`, an assistant's message in wire shape, or a text; of the last two nothing is known of what they used.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import msgspec

from loopworth.models.opening import Model, open_model
from loopworth.models.reading import read
from loopworth.models.spec import ModelSpec
from loopworth.runs import world
from loopworth.runs.journal import body, reader
from loopworth.runs.message import Message, Reply, Request
from loopworth.runs.outcome import Diverged, Stop
from loopworth.runs.spelling import nearest

written_down = reader(Reply)
CONCURRENCY = 4
"""Calls at once where the object does not say."""


Given: TypeAlias = world.Model | Callable[[Request], Any] | str
"""An object, whose `endpoint`, `concurrency` and `name` are read where it has them; a function; or the name
(`provider/model`) of a model to open."""


class GivenModel:
    """The program's own as any other model, with all that it has beside, such as `quote`. Closing it is left to the
    program, which opened it.

    A plain function runs in a thread, so that it holds up nothing else. What it raises, and what it says that is no
    reply, is an endpoint's failure.
    """

    def __init__(self, own: world.Model | Callable[[Request], Any]) -> None:
        self.own, self.name = own, name_of(own)
        self.endpoint: str = getattr(own, "endpoint", self.name)
        self.concurrency: int = getattr(own, "concurrency", CONCURRENCY)
        self.ours = ours(own)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.own, name)

    async def reply(self, request: Request, seconds: float | None, *place: str, **hear: Any) -> Reply:
        try:
            said = await self.said(request, seconds, *place, **hear)
            return said if self.ours else reply_of(said, request, self.name)
        except (Stop, Diverged):
            raise
        except Exception as error:
            if self.ours:
                raise
            why = str(error) if isinstance(error, NoReply) else f"{self.name}: {type(error).__name__}: {error}"
            raise Stop("provider_error", None, why) from error

    async def said(self, request: Request, seconds: float | None, *place: str, **hear: Any) -> Any:
        own: Any = self.own
        if hasattr(own, "reply"):
            return await own.reply(request, seconds, *place, **hear)
        if inspect.iscoroutinefunction(own):
            return await own(request)
        return await asyncio.to_thread(own, request)

    async def close(self) -> None:
        """Nothing of ours is open."""


class NoReply(TypeError):
    """What a model of the program's own returned is no reply; the text says what to return."""


def reply_of(said: Any, request: Request, name: str) -> Reply:
    """What was said, as a reply: a message is read as if it had come over the wire. Raises NoReply."""
    if isinstance(said, Reply):
        return whole(sound(said, name), request)
    message: Message | None = {"role": "assistant", "content": said} if isinstance(said, str) else said
    if not isinstance(message, dict) or "role" not in message:
        wanted = "a Reply, a text, or a message such as {'role': 'assistant', 'content': …}"
        keys = f" with {', '.join(map(repr, list(message)[:5]))}" if isinstance(message, dict) and message else ""
        raise NoReply(f"the model {name} returned {type(said).__name__}{keys}: it must return {wanted}")
    return read({"choices": [{"message": message}]}, request.max_tokens, len(request.messages))


def sound(reply: Reply, name: str) -> Reply:
    """A reply that a program made, which nothing has checked yet, as it would be read again. Raises NoReply."""
    try:
        return written_down(body(reply))
    except (TypeError, ValueError) as why:
        example = 'Reply({"role": "assistant", "content": "hi"}, text="hi")'
        raise NoReply(f"the model {name} returned a Reply that cannot be kept: {why}; such as {example} can") from None


def whole(reply: Reply, request: Request) -> Reply:
    """A reply with what its message says and its fields leave out: the calls, the text, and how it ended."""
    if reply.calls or reply.finish not in ("stop", "tool_calls") or (reply.text and "tool_calls" not in reply.message):
        return reply
    seen = read({"choices": [{"message": reply.message}]}, request.max_tokens, len(request.messages))
    return msgspec.structs.replace(
        reply,
        message=seen.message,
        calls=seen.calls,
        text=reply.text or seen.text,
        finish=seen.finish,
        note=reply.note or seen.note,
    )


def name_of(own: Any) -> str:
    """What a report calls it: its own `name`, else that of its class or function."""
    named = getattr(own, "name", None) or getattr(getattr(own, "spec", None), "name", None)
    return named if isinstance(named, str) else f"python/{getattr(own, '__name__', type(own).__name__)}"


def opened(own: Given) -> Model:
    """A given model, ready to be asked; one of ours as it is. Raises TypeError for what is none, ValueError for a name
    that cannot be."""
    if isinstance(own, str):
        return open_model(ModelSpec(own))
    if not (hasattr(own, "reply") or callable(own)):
        wanted = "an object with `async reply(request, seconds)`, a function of the request, or a name"
        raise TypeError(f"{own!r} is no model: give {wanted}")
    made: Any = own
    return made if ours(own) else GivenModel(own)


class Opened(dict[str, Model]):
    """Models by key. One that is not there was not given to whoever asks it, an executor of the program's own."""

    def __missing__(self, key: str) -> Model:
        raise LookupError(f"there is no model {key!r} here: give it as models={{{key!r}: …}}")


def ours(own: Any) -> bool:
    return type(own).__module__.partition(".")[0] == "loopworth"


def spec_of(own: Given, spec: ModelSpec) -> ModelSpec:
    """What a report knows of it, in the place of `spec`."""
    return ModelSpec(own) if isinstance(own, str) else msgspec.structs.replace(spec, name=name_of(own), replies=None)


def by_key(given: Mapping[str, Given], specs: Mapping[str, ModelSpec]) -> dict[str, Given]:
    """The given models by the keys that they stand for: one may be named by its key, or as the files name it.

    Raises LookupError for a name that no file has, TypeError for what names none.
    """
    mapped(given, next(iter(sorted(spec.name for spec in specs.values())), "provider/name"))
    for name in given:
        known = {*specs, *(spec.name for spec in specs.values())}
        if name not in known:
            raise LookupError(unused(name, sorted(spec.name for spec in specs.values())))
    return {key: given[name] for key, spec in specs.items() for name in (key, spec.name) if name in given}


def mapped(given: Any, example: str = "provider/name") -> None:
    """Raises TypeError where models are given by no name."""
    if not isinstance(given, Mapping):
        wanted = f"write models={{{example!r}: …}}, by the name that the file has"
        raise TypeError(f"models={given!r} does not say in whose place: {wanted}")


def unused(name: str, known: Iterable[str]) -> str:
    names = list(dict.fromkeys(known))
    if near := nearest(name, names):
        return f"nothing asks a model {name!r}: did you mean {near!r}?"
    return f"nothing asks a model {name!r}: " + (
        f"the models are {', '.join(names)}" if names else "none is asked here"
    )
