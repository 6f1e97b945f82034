"""One chat server: a shared client, a bounded number of calls at once, a pace, patience."""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar, cast

from loopworth.models.dialects import Dialect, Gathering
from loopworth.models.errors import Trouble
from loopworth.models.pace import PACE, Memory, Pace
from loopworth.models.streaming import LONGEST, Incoming, TooLong
from loopworth.runs.message import Attempt, readable
from loopworth.runs.secrets import hide, in_address, learn
from loopworth.runs.usage import Value

T = TypeVar("T")
Sleep = Callable[[float], Awaitable[None]]
Hear = Callable[[str, int], None]
"""Is told of text as it comes, and by which attempt: a later one begins anew."""
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
"""Seconds before the second attempt, doubled before each further one, and the most it grows to."""
HIGH = re.compile("[\ud800-\udbff]")
"""The first half of a surrogate pair: some servers send the two in two events."""
LONGEST_ASK = 300.0
"""Seconds a server may ask us to wait; past that the call ends."""
LINGER = 2.0
"""Seconds that a stream is still listened to after the end of the reply."""
DOWN_RETRIES = 2
"""Further attempts where nothing answers at all: a server that is not there stays away."""


class Patience(Value, frozen=True):
    """The seconds one attempt may take, and how many further ones may follow it."""

    seconds: float = 300.0
    retries: int = 4

    def tries(self, found: Trouble) -> int:
        """How many attempts may have failed and another still be made."""
        if not found.again or found.after > LONGEST_ASK:
            return 0
        return min(self.retries, DOWN_RETRIES) if found.kind == "down" else self.retries


class Exchange:
    """One model call under way: what it has tried, where it waited, what of an answer in flight has come.

    `hear` is told of new text, and of which attempt it is.
    """

    __slots__ = ("attempts", "clock", "flying", "half", "hear", "incoming", "start", "waited", "waits")

    def __init__(self, clock: Callable[[], float], hear: Hear | None = None) -> None:
        self.clock, self.start, self.hear = clock, clock(), hear
        self.incoming: Incoming | None = None
        self.attempts: list[Attempt] = []
        self.waits: list[tuple[float, float]] = []
        self.waited, self.flying, self.half = 0.0, False, ""

    @property
    def elapsed(self) -> float:
        """Seconds since the call began."""
        return self.clock() - self.start

    @property
    def service(self) -> float:
        """Seconds of the call that were no wait."""
        return max(0.0, self.elapsed - sum(end - start for start, end in self.waits))

    async def waiting(self, awaitable: Awaitable[T]) -> T:
        """Await, and note the span as a wait, also where it is cut."""
        start = self.elapsed
        try:
            return await awaitable
        finally:
            self.waits.append((start, self.elapsed))

    def begin(self, gathering: Gathering) -> Incoming:
        """A request goes out."""
        self.flying, self.incoming = True, Incoming(gathering)
        return self.incoming

    def feed(self, packet: bytes) -> Incoming:
        """Take the next bytes of the answer in, and tell of the text in them."""
        incoming = cast(Incoming, self.incoming)
        self.tell(incoming.feed(packet))
        return incoming

    def tell(self, text: str, last: bool = False) -> None:
        """Tell of new text; half of a surrogate pair at its end waits for the other, unless this is the `last`."""
        if self.hear is None:
            return
        text, self.half = self.half + text, ""
        if not last and HIGH.match(text[-1:]):
            text, self.half = text[:-1], text[-1]
        if text:
            self.hear(readable(text), len(self.attempts) + 1)

    def note(self, status: int | None, error: str = "", lost: bool = False) -> None:
        self.attempts.append(Attempt(status, error, self.waited, lost))
        self.waited, self.flying = 0.0, False

    def failed(self, status: int, found: Trouble) -> Trouble:
        """An answer that is trouble; had the model been at work, what it used is unknown."""
        began = self.incoming is not None and self.incoming.began and status < 400 and found.kind != "content_filter"
        self.note(status, found.words, began)
        return found

    def broke(self, error: BaseException, seconds: float) -> Trouble:
        """No answer, or half of one; what the model used is unknown, unless it was never asked."""
        chain = causes(error)
        code, words = cause_of(chain, seconds)
        self.note(None, words, not unsent(chain))
        return Trouble("down", words, code)

    @property
    def lost(self) -> int:
        """The attempts of which it is unknown what they used."""
        return sum(attempt.lost for attempt in self.attempts)


class Endpoint:
    """A server and the one client that all models on it share.

    `client` is a user's own `AsyncOpenAI`; else one is made on first use, anew for every event loop. `clock` is
    monotonic, `now` the wall clock that dates in Retry-After are read against. `jitter` spreads pauses, if given.
    `pace` holds pauses and the rate for all who reach the server as `account`: all of this process, if none is given.
    """

    def __init__(
        self,
        base_url: str,
        key: str = "none",
        *,
        openai: bool = False,
        client: Any = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Sleep = asyncio.sleep,
        now: Callable[[], float] = time.time,
        jitter: random.Random | None = None,
        pace: Pace | None = None,
        account: str = "",
    ) -> None:
        self.base_url, self.key, self.openai, self.given = base_url, key, openai, client
        self.clock, self.sleep, self.now, self.jitter = clock, sleep, now, jitter
        real = client is None and clock is time.monotonic and sleep is asyncio.sleep
        self.shared, self.pace = pace, pace or (PACE if real else Memory(clock))
        self.concurrency, self.gap = 0, 0.0
        self.users = 0
        learn(key, *in_address(base_url))
        self.name = hide(f"{base_url} {account}".rstrip())
        self._loop: asyncio.AbstractEventLoop | None = None
        self._client: Any = None
        self._slots, self._turn = asyncio.Semaphore(), asyncio.Semaphore()
        self._raw: Any = None
        self._failures: tuple[type[Exception], ...] = ()

    def join(self, concurrency: int, per_minute: int | None = None) -> None:
        """One more model uses this server; the fewest calls at once, and a minute, that any of them allows hold."""
        self.users += 1
        self.concurrency = min(self.concurrency or concurrency, concurrency)
        self.gap = max(self.gap, 60 / per_minute if per_minute else 0.0)

    async def leave(self) -> None:
        """One model less; the last one closes the client, unless it is the user's own."""
        self.users -= 1
        client, self._client = (self._client, None) if self.users <= 0 else (None, self._client)
        if client is not None and client is not self.given and self._loop is asyncio.get_running_loop():
            await client.close()

    def connect(self) -> None:
        """A client and free slots for the running event loop."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            self._slots, self._turn = asyncio.Semaphore(self.concurrency or 1), asyncio.Semaphore()
            self._loop, self._client = loop, self.given or new_client(self.base_url, self.key, self.openai)
            self._raw, self._failures = raw_response(), failures()

    async def answer(self, body: bytes, exchange: Exchange, patience: Patience, dialect: Dialect) -> Any:
        """The decoded body of the first answer that is no trouble, else the last `Trouble`. Needs `connect` before."""
        async with held(self._slots, exchange):
            due = 0.0
            while True:
                await self.admit(exchange, due)
                found = await self.attempt(body, exchange, patience.seconds, dialect)
                if type(found) is not Trouble:
                    return found
                due = await self.told(found)
                if len(exchange.attempts) > patience.tries(found):
                    return found
                await self.pause(found, exchange)

    async def admit(self, exchange: Exchange, since: float) -> None:
        """Wait until the server may be asked, first come, first served; what it asked for until `since` was waited."""
        async with held(self._turn, exchange):
            due, now = await self.turn(exchange, since)
            while due > now:
                exchange.waited += due - now
                await exchange.waiting(self.sleep(due - now))
                due, now = await self.turn(exchange, due)

    async def turn(self, exchange: Exchange, since: float) -> tuple[float, float]:
        """What the pace says; to ask one that others share takes time, which is no time of the model's."""
        taken = self.pace.take(self.name, self.gap, since)
        return await (taken if self.shared is None else exchange.waiting(taken))

    async def told(self, found: Trouble) -> float:
        """Have everybody wait as long as the server asks, where that is waited for at all; until when."""
        if found.kind == "busy" and 0 < found.after <= LONGEST_ASK:
            return await self.pace.pause(self.name, found.after)
        return 0.0

    async def attempt(self, body: bytes, exchange: Exchange, seconds: float, dialect: Dialect) -> Any:
        """One request: the decoded body, or the `Trouble` it ended in."""
        incoming = exchange.begin(dialect.gather())
        headers: Mapping[str, str] = {}
        status = 200
        try:
            async with asyncio.timeout(seconds) as limit:
                response = await self.post(body, seconds, dialect)
                status, headers = response.status_code, response.headers
                await receive(response, exchange, limit, seconds)
        except TooLong:
            return exchange.failed(status, ENDLESS)
        except self._failures as error:
            exchange.tell(incoming.close(), last=True)
            if not incoming.whole:
                return exchange.broke(error, seconds)
        exchange.tell(incoming.close(), last=True)
        value, found = incoming.body(), moved(status, headers)
        if found is None and (found := dialect.trouble(status, value, headers, self.now())) is not None:
            # An error's words are cut to a length: keys have to be masked before, or half of one is left.
            found = dialect.trouble(status, hide(value), headers, self.now()) or found
        if found is not None:
            return exchange.failed(status, found)
        exchange.note(status)
        return value

    async def post(self, body: bytes, seconds: float, dialect: Dialect) -> Any:
        """The answer to one request, of whatever status, its body still to be read."""
        from openai import APIStatusError, Omit  # imported on first use: it is the slowest import

        said = dialect.headers(self.base_url, self.key)
        own = {name: Omit() if value is None else value for name, value in said.items()}
        options = {"headers": JSON | own, "timeout": seconds, "max_retries": 0, "follow_redirects": False}
        url = dialect.url(self.base_url)
        try:
            return await self._client.post(url, cast_to=self._raw, content=body, options=options, stream=True)
        except APIStatusError as error:
            return error.response

    async def pause(self, found: Trouble, exchange: Exchange) -> None:
        """Wait before the next attempt, longer each time and as long as the server asks; only such a wait is no
        time of ours."""
        grown = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** (len(exchange.attempts) - 1))
        if self.jitter is not None:
            grown *= self.jitter.uniform(0.5, 1.5)
        exchange.waited = max(found.after, grown)
        sleeping = self.sleep(exchange.waited)
        await (exchange.waiting(sleeping) if found.kind == "busy" else sleeping)


@asynccontextmanager
async def held(slots: asyncio.Semaphore, exchange: Exchange) -> AsyncIterator[None]:
    """One of the slots; the time until it is free is a wait."""
    if slots.locked():
        await exchange.waiting(slots.acquire())
    else:
        await slots.acquire()
    try:
        yield
    finally:
        slots.release()


JSON: dict[str, Any] = {"Content-Type": "application/json"}
ENDLESS = Trouble("refused", f"the answer goes on past {LONGEST:,} bytes", status=200)


def moved(status: int, headers: Mapping[str, str]) -> Trouble | None:
    """The trouble of an answer that sends us elsewhere."""
    if not 300 <= status < 400:
        return None
    where = headers.get("location", "nowhere")
    return Trouble("refused", f"it redirects to {where}: write that address", status=status)


def new_client(base_url: str, key: str, openai: bool) -> Any:
    """An `AsyncOpenAI` that leaves retries to us, on aiohttp where it is installed (a third of the CPU per call).

    The organisation and project of the environment go to OpenAI only, and no proxy stands before this machine.
    """
    from openai import AsyncOpenAI, DefaultAioHttpClient, DefaultAsyncHttpxClient, Omit

    proxies: Any = {"trust_env": not base_url.startswith(("http://127.0.0.1", "http://localhost", "http://[::1]"))}
    try:
        http = DefaultAioHttpClient(**proxies)
    except RuntimeError:  # aiohttp is not installed
        http = DefaultAsyncHttpxClient(**proxies)
    own: Any = {} if openai else {"OpenAI-Organization": Omit(), "OpenAI-Project": Omit()}
    return AsyncOpenAI(base_url=base_url, api_key=key, max_retries=0, http_client=http, default_headers=own)


def raw_response() -> Any:
    """The class that asks the client for the answer as it came, not read into its own models."""
    import httpx2  # the HTTP library of openai 3

    return httpx2.Response


def failures() -> tuple[type[Exception], ...]:
    """What the HTTP libraries raise where there is no answer, or only a part of one."""
    import httpx2
    from openai import APIConnectionError

    return (APIConnectionError, httpx2.HTTPError, httpx2.StreamError, OSError)


async def receive(response: Any, exchange: Exchange, limit: asyncio.Timeout, seconds: float) -> None:
    """Take an answer in as it comes. `limit` is moved on by every event of a stream; after the end of the reply what
    it used may still come, for a short while."""
    now, events, over = asyncio.get_running_loop().time, 0, False
    try:
        async for packet in response.aiter_bytes():
            incoming = exchange.feed(packet)
            if incoming.whole and not over:
                limit.reschedule(now() + LINGER)
            elif incoming.events > events and not over:
                limit.reschedule(now() + seconds)
            events, over = incoming.events, incoming.whole
    finally:
        await response.aclose()


UNSENT = {"ConnectError", "ClientConnectorError", "PoolTimeout", "ConnectionTimeoutError"}
"""The names of the errors of both HTTP libraries that come before a request could be sent."""


def unsent(chain: list[BaseException]) -> bool:
    """Whether a request failed before it was sent."""
    return any(kind.__name__ in UNSENT for cause in chain for kind in type(cause).__mro__)


def causes(error: BaseException) -> list[BaseException]:
    """The chain of causes, from the top."""
    chain = [error]
    while (below := chain[-1].__cause__ or chain[-1].__context__) is not None and below not in chain:
        chain.append(below)
    return chain


def cause_of(chain: list[BaseException], seconds: float) -> tuple[str, str]:
    """Why no answer came, as a code (`timeout` or none) and in words, from the bottom of the chain of causes: the
    upper ones are often wrong about it."""
    if any(isinstance(e, TimeoutError) for e in chain):
        return "timeout", f"none came within {seconds:g} s"
    said = (" ".join(str(e).split()) for e in (*chain[1:], chain[0]))
    words = next(filter(None, said), "")
    if not words or words.startswith("<"):  # an object of the library's own, which says nothing
        words = type(chain[-1]).__name__
    refused = any(isinstance(e, ConnectionRefusedError) for e in chain)
    return "", "connection refused" if refused else hide(words)[:300]
