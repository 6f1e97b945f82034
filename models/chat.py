"""A chat model at an endpoint, in whatever dialect it speaks."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import msgspec

from loopworth.models.concessions import Concession, conceded, concession
from loopworth.models.dialects import DIALECTS
from loopworth.models.endpoint import LONGEST_ASK, Endpoint, Exchange, Hear, Patience
from loopworth.models.errors import Trouble
from loopworth.models.prices import usd
from loopworth.models.quote import quote
from loopworth.models.room import room
from loopworth.models.spec import ModelSpec
from loopworth.models.truncation import dropped_part
from loopworth.models.wire import encode
from loopworth.runs.message import Reply, Request, assistant
from loopworth.runs.outcome import Stop
from loopworth.runs.secrets import hide
from loopworth.runs.usage import Quote, Usage


class ChatModel:
    """Asks one model at an endpoint. `most` is the most output of any call; None leaves it to the request."""

    streams = True

    def __init__(self, spec: ModelSpec, endpoint: Endpoint, most: int | None = None) -> None:
        self.spec = spec
        self.server = endpoint
        self.most = spec.max_tokens or most
        self.dialect = DIALECTS[spec.speaks]
        self.concessions: tuple[Concession, ...] = ()
        said = {"seconds": spec.timeout, "retries": spec.retries}
        self.patience = Patience(**{key: value for key, value in said.items() if value is not None})  # type: ignore[arg-type]
        self.open = False
        self.join()

    @property
    def endpoint(self) -> str:
        """Equal for models that share a server."""
        return self.server.base_url

    @property
    def concurrency(self) -> int:
        """The calls that may be under way at the endpoint at once."""
        return self.server.concurrency

    def join(self) -> None:
        """Be one of the endpoint's users, anew after `close`."""
        if not self.open:
            self.open = True
            self.server.join(self.spec.concurrency or self.spec.traits.concurrency, self.spec.requests_per_minute)

    async def close(self) -> None:
        if self.open:
            self.open = False
            await self.server.leave()

    def quote(self, request: Request) -> Quote:
        """What a call may come to, before it is made."""
        return quote(self.spec, request, self.server.now())

    async def reply(self, request: Request, seconds: float | None, hear: Hear | None = None) -> Reply:
        """One turn. Stops itself after `seconds`, queueing included; raises `Stop` where the endpoint fails.

        The answer is streamed where somebody is there to `hear` it; the reply is the same.
        """
        self.join()
        self.server.connect()
        exchange = Exchange(self.server.clock, hear)
        if seconds is None:
            return await self.ask(request, exchange)
        try:
            async with asyncio.timeout(seconds):
                return await self.ask(request, exchange)
        except TimeoutError:
            return self.cut(request, exchange)

    async def ask(self, request: Request, exchange: Exchange) -> Reply:
        limit = self.output_limit(request)
        found, sent, most = await self.answer(request, limit, exchange)
        if type(found) is Trouble:
            return self.ended(found, exchange)
        reply = self.dialect.read(found, most, len(request.messages))
        used = spent(reply.usage, exchange.lost, most)
        less = (f"the endpoint has room for {most:,} tokens of output only",) if most != limit else ()
        return msgspec.structs.replace(
            reply,
            warnings=(*(change.words for change in self.concessions), *less, *dropped_part(sent, reply.usage)),
            usage=msgspec.structs.replace(used, usd=usd(self.spec, used, self.server.now())),
            seconds=exchange.service,
            attempts=tuple(exchange.attempts),
            waits=tuple(exchange.waits),
        )

    async def answer(self, request: Request, most: int | None, exchange: Exchange) -> tuple[Any, bytes, int | None]:
        """What the endpoint says in the end, to what, and to how much output: what it will not take is left out, from
        then on, and it is asked for no more than it has room for."""
        while True:
            made = self.concessions
            asked = conceded(self.body(request, most, exchange), made)
            sent = encode(asked)
            found = await self.server.answer(sent, exchange, self.patience, self.dialect)
            if type(found) is not Trouble:
                return found, sent, most
            if (left := room(found, most)) is not None:
                most = left
            elif (change := concession(found, asked, made)) is not None:
                self.concessions = tuple(dict.fromkeys((*self.concessions, change)))
            else:
                return found, sent, most

    def body(self, request: Request, most: int | None, exchange: Exchange) -> dict[str, Any]:
        """The request on the wire, streamed where somebody hears it."""
        body = self.dialect.body(self.spec, request, most)
        return body if exchange.hear is None else self.dialect.streamed(body)

    def output_limit(self, request: Request) -> int | None:
        limits = [limit for limit in (request.max_tokens, self.most) if limit is not None]
        return min(limits, default=None)

    def ended(self, found: Trouble, exchange: Exchange) -> Reply:
        """A refusal of the content is the reply's own bad end; any other trouble is the endpoint's."""
        if found.kind not in ("content_filter", "context_overflow"):
            raise self.stop(found, exchange)
        usage = Usage() if found.kind == "context_overflow" else self.unknown()
        return self.bad(found.kind, found.message or found.words, usage, exchange)

    def unknown(self) -> Usage:
        """What a call used that does not say so: a filtered prompt may be billed all the same."""
        return Usage(None, None, usd=usd(self.spec, Usage(None, None)))

    def bad(self, finish: str, note: str, usage: Usage, exchange: Exchange) -> Reply:
        attempts, waits = tuple(exchange.attempts), tuple(exchange.waits)
        return Reply({}, (), "", finish, usage, exchange.service, note, attempts, waits)

    def cut(self, request: Request, exchange: Exchange) -> Reply:
        """The reply of a call that ran out of time, with what was said and used until then."""
        most = self.output_limit(request) or 0
        so_far = self.so_far(request, exchange, most)
        used = spent(so_far.usage, exchange.lost, most)
        if used != Usage():
            used = msgspec.structs.replace(used, usd=usd(self.spec, used, self.server.now()))
        if exchange.flying:
            exchange.note(None, "cut at the time limit")
        message = assistant(so_far.text) if so_far.text else {}
        return msgspec.structs.replace(self.bad("time_limit", "", used, exchange), message=message, text=so_far.text)

    def so_far(self, request: Request, exchange: Exchange, most: int) -> Reply:
        """What has come of a call: nothing while it waits; of an answer in flight the text so far, if it streams, and
        what it used: where it did not say so yet, all the output that was asked for."""
        if not exchange.flying:
            return Reply({})
        reply = Reply({}, usage=Usage(None, None))
        if exchange.incoming is not None and exchange.incoming.gathering.spoke:
            reply = self.dialect.read(hide(exchange.incoming.so_far()), most, len(request.messages))
        if reply.usage.output is None:
            held = msgspec.structs.replace(reply.usage, input=reply.usage.input or 0, output=most, estimated=True)
            return msgspec.structs.replace(reply, usage=held)
        return reply

    def stop(self, found: Trouble, exchange: Exchange) -> Stop:
        """The end of a call whose endpoint failed: what it said, and what to do about it."""
        many = f", after {len(exchange.attempts)} attempts" if len(exchange.attempts) > 1 else ""
        note = f"{self.spec.name} at {self.endpoint}: {found.words}{many}; {self.advice(found)}"
        return Stop("provider_error", None, hide(note), tuple(exchange.attempts))

    def advice(self, found: Trouble) -> str:
        """What to do about it."""
        variable = self.spec.api_key or self.spec.traits.key
        if found.after > LONGEST_ASK:
            return f"it asks to wait {found.after:.0f} s: try again later"
        by_status = {
            401: f"check the key in {variable}" if variable else "it wants a key: api_key: {env: NAME}",
            402: "check the account's credit",
            403: "check what the key may use",
            404: f"check that it serves {self.spec.model!r}, base_url and dialect",
        }
        if found.status is not None and found.status < 400:
            return f"check that base_url is that of a server that speaks {self.dialect.name}, or try again later"
        if found.kind == "down" and found.code == "timeout":
            return "raise the model's `timeout`, or see what holds the server up"
        if found.kind == "refused" and NO_TOOLS.search(found.message):
            return "a model without tool calls may do with `protocol: json` or `text`"
        by_kind = {
            "down": "is the server running?",
            "busy": "lower the model's concurrency, give it `requests_per_minute`, or try again later",
            "broken": "try again later",
        }
        return by_status.get(found.status or 0) or by_kind.get(found.kind, "it will not take this request")


NO_TOOLS = re.compile(
    r"support.{0,30}\b(tools?|function calling)\b|\btools?\b.{0,40}(not support|unsupported|requires)", re.I
)
"""What an endpoint says whose model, or whose settings, know no tools."""


def spent(usage: Usage, lost: int, most: int | None) -> Usage:
    """Usage with that of attempts that were lost when the model may have been at work: at most the same input each
    time, and all the output that was allowed."""
    for _ in range(lost):
        usage += Usage(usage.input, most, estimated=True)
    return usage
