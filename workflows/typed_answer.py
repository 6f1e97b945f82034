"""A typed answer of a model, through instructor: what it sends and asks again are our own model calls."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import msgspec

from loopworth.runs.effects import Effects
from loopworth.runs.message import Message, Reply, Request, assistant, json_of, unfenced, user
from loopworth.runs.outcome import Stop
from loopworth.runs.transcript import Transcript
from loopworth.workflows.type_expression import parse_type
from loopworth.workflows.types import Type, is_model, said

REASKS = 1
ANY_TEXT = "…"


def ready(*outputs: Type) -> None:
    """Load instructor and prepare the types, so that no run's latency holds an import. It takes a second at first: what
    is only checked, drawn or reported goes without."""
    for output in outputs:
        rehearsed()
        response_model(output)


@lru_cache(maxsize=1)
def rehearsed() -> None:
    """One typed answer of a made-up reply: instructor loads its last modules in its first call."""

    async def create(**_: Any) -> Any:
        return completion(Reply({}, text='{"answer": 1}'))

    call = patched()(create)(response_model=response_model(parse_type("int")), messages=[], max_retries=0)
    try:
        call.send(None)  # nothing in it waits, so it ends here
    except StopIteration:
        return
    finally:
        call.close()


async def typed_answer(
    output: Type, request: Request, log: Transcript, fx: Effects, read: Callable[[str], str] = unfenced
) -> Any:
    """The answer to `request` as plain data of the type `output`; the effects are `ask` and, asked again, `ask~2`.

    `read` makes JSON of a reply's text; where the type is no object, the value alone is its answer too.
    Raises `Stop("unparsable")` where the second answer is not of the type either, and whatever a model call raises.
    """
    asked = Asked(msgspec.structs.replace(request, schema=output.asked), log, fx, lambda text: held(output, read(text)))
    create = patched()(asked.create)
    try:
        made = await create(response_model=response_model(output), messages=[], max_retries=REASKS)
    except Exception as error:
        raise asked.end or ended(error) from None
    return output.plain(made)


class Asked:
    """The `create` that instructor calls. The conversation is ours; of instructor's messages only its re-ask is used,
    so that nothing of a prompt is rewritten. `end` is what a model call raised."""

    def __init__(self, request: Request, log: Transcript, fx: Effects, read: Callable[[str], str]) -> None:
        self.request, self.log, self.fx, self.read, self.calls = request, log, fx, read, 0
        self.end: Exception | None = None

    async def create(self, messages: list[Message], **_: Any) -> Any:
        self.calls += 1
        name = "ask" if self.calls == 1 else f"ask~{self.calls}"
        if messages:
            self.log.turn(*map(trimmed, messages[-2:]))
        try:
            reply = await self.fx.model(name, msgspec.structs.replace(self.request, messages=list(self.log.seen)))
        except Exception as end:
            self.end = end
            raise
        return completion(reply, self.read)


def held(output: Type, text: str) -> str:
    """A value that came alone, as JSON or as a bare word, in the object that was asked for: an endpoint may not hold
    its model to a schema, or not show it one."""
    if is_model(output.annotation):
        return text
    try:
        value = json_of(text)
    except ValueError:
        value = text
    broken = value is text and admits(output, ANY_TEXT)  # half of an object is a text as well
    inside = isinstance(value, dict) and "answer" in value
    return text if broken or inside or not admits(output, value) else json.dumps({"answer": value})


def admits(output: Type, value: Any) -> bool:
    try:
        output.check(value)
    except ValueError:
        return False
    return True


def trimmed(message: Message) -> Message:
    """A re-ask without pydantic's links to its own pages."""
    lines = str(message["content"]).splitlines()
    content = "\n".join(line for line in lines if "errors.pydantic.dev" not in line)
    return user(content) if message["role"] == "user" else assistant(content)


def completion(reply: Reply, read: Callable[[str], str] = unfenced) -> Any:
    """A reply in the shape that instructor reads: one choice, and a usage that it need not look for."""
    message = SimpleNamespace(role="assistant", content=read(reply.text), tool_calls=None)
    return SimpleNamespace(choices=[SimpleNamespace(message=message, finish_reason="stop")], usage=no_usage())


def ended(error: Exception) -> Exception:
    """What the end of instructor's attempts means; a bug stays what it is."""
    from instructor.core import InstructorRetryException
    from pydantic import ValidationError

    if not isinstance(error, InstructorRetryException):
        return error
    cause = error.__cause__
    why = said(cause) if isinstance(cause, ValidationError) else str(cause or error)
    return Stop("unparsable", None, f"the answer is not of its type: {why}")


@lru_cache(maxsize=1)
def patched() -> Callable[[Any], Any]:
    import instructor  # loads openai: on the first typed answer only

    # What instructor logs (a failed attempt, as an error) is in the run's events and outcome already.
    logging.getLogger("instructor").addHandler(logging.NullHandler())
    return lambda create: instructor.patch(create=create, mode=instructor.Mode.JSON_SCHEMA)


@lru_cache(maxsize=1)
def no_usage() -> Any:
    from openai.types import CompletionUsage

    return CompletionUsage(completion_tokens=0, prompt_tokens=0, total_tokens=0)


@lru_cache(maxsize=256)
def response_model(output: Type) -> Any:
    """The type's model as instructor prepares it, once: it would make a class and a schema for every call."""
    from instructor import openai_schema

    schema = output.asked

    class Answer(openai_schema(output.model)):  # type: ignore[misc]
        @classmethod
        def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
            return schema

    return Answer
