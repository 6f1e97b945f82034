"""The built-in `http`: one request to a host that the author allows, never to a private address.

The name is looked up once and the connection goes to the address that was checked, so a name server that answers
differently the second time changes nothing. A redirect is checked like the first URL. Nothing is taken from the
environment: no proxy, no cookies, no passwords.
"""

from __future__ import annotations

import asyncio
import http
import json
import socket
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from loopworth.runs.message import json_of
from loopworth.tools import address
from loopworth.tools.arguments import ArgumentFault
from loopworth.tools.destination import Destination, Hosts, destination
from loopworth.tools.fault import ToolFault
from loopworth.tools.made import Made
from loopworth.tools.names import brief, listed

if TYPE_CHECKING:
    import ssl

    import httpcore2

MOST_BYTES = 1_000_000
"""Bytes of an answer where the catalogue does not say."""
MOST_REDIRECTS = 5
MOST_SAID = 500
"""Characters of a refusal's own text that are told."""
REDIRECTS = (301, 302, 303, 307, 308)
OWN = ("host", "content-length", "transfer-encoding", "connection", "accept-encoding", "upgrade")
"""Headers that belong to the connection."""

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Body = dict[str, Any] | list[Any] | str | None
Resolve = Callable[[str, int], Awaitable[list[str]]]
"""The addresses of a host, as texts: (host, port) → addresses."""


class BadAnswer(Exception):
    """The host could not be reached, or answered with what is of no use."""


async def resolve(host: str, port: int) -> list[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(place[0]) for *_, place in found))


def network() -> httpcore2.AsyncNetworkBackend:
    # The HTTP library of openai, with a seam where a connection is opened: only when a request is made.
    import httpcore2

    return httpcore2.AnyIOBackend()


def by(resolve: Resolve, network: Callable[[], httpcore2.AsyncNetworkBackend] = network) -> Callable[..., Made]:
    """The maker of `http` that looks names up by `resolve` and opens connections by `network`."""

    def http(
        *,
        hosts: list[str],
        method: Method = "GET",
        headers: dict[str, str] | None = None,
        private: Literal["allow", "refuse"] = "refuse",
        max_bytes: int = MOST_BYTES,
        redirects: int = MOST_REDIRECTS,
    ) -> Made:
        allowed = Hosts.of(hosts, private == "allow")
        client = Client(allowed, method, checked(headers or {}), max_bytes, redirects, resolve, network)
        return Made(client.get) if method == "GET" else Made(client.send, writes="method")

    return http


def checked(headers: Mapping[str, str]) -> dict[str, str]:
    """Raises `ToolFault` for a header that is not the author's to set."""
    for name, value in headers.items():
        if name.lower() in OWN:
            raise ToolFault(f"the header {name!r} is made by the connection", "leave it out", "with", "headers")
        if not (name + value).isascii() or not (name + value).isprintable() or not name.strip():
            raise ToolFault(f"the header {name!r} holds more than plain ASCII", key="with", name="headers")
    return dict(headers)


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    data: bytes


@dataclass(frozen=True, slots=True)
class Client:
    hosts: Hosts
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    max_bytes: int = MOST_BYTES
    redirects: int = MOST_REDIRECTS
    resolve: Resolve = resolve
    network: Callable[[], httpcore2.AsyncNetworkBackend] = network

    async def get(self, url: str) -> dict[str, Any]:
        """Get what a URL leads to: JSON as data, other text as it is.

        Args:
            url: the whole URL, such as https://api.example.com/orders?id=7
        """
        return await self.result(url, None)

    async def send(self, url: str, body: Body = None) -> dict[str, Any]:
        """Send a body to a URL, and give the answer.

        Args:
            url: the whole URL, such as https://api.example.com/orders
            body: a text as it is, other data as JSON
        """
        return await self.result(url, body)

    async def result(self, url: str, body: Body) -> dict[str, Any]:
        there, answer = await self.followed(destination(url), body)
        value = read(there, answer)
        if answer.status >= 400:
            phrase = http.HTTPStatus(answer.status).phrase if answer.status in {*http.HTTPStatus} else ""
            said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            raise BadAnswer(f"{there.host} answered {answer.status} {phrase}".rstrip() + f": {said[:MOST_SAID]}")
        return {"status": answer.status, "url": there.url, "body": value}

    async def followed(self, there: Destination, body: Body) -> tuple[Destination, Answer]:
        """The answer behind the redirects. Only a GET follows any, and secrets stay with the first origin."""
        first = there
        for _ in range(self.redirects + 1):
            answer = await self.asked(there, body, self.headers if there.origin == first.origin else {})
            location = answer.headers.get("location")
            if answer.status not in REDIRECTS or location is None:
                return there, answer
            if self.method != "GET":
                raise BadAnswer(f"{there.host} redirects to {brief(location)}, and a {self.method} follows no redirect")
            there = there.redirected(location)
        raise BadAnswer(f"{first.host} redirects more than {self.redirects} times")

    async def asked(self, there: Destination, body: Body, headers: Mapping[str, str]) -> Answer:
        """One request, to an address that was checked."""
        self.hosts.check(there)
        addresses = await self.addresses(there)
        import httpcore2  # see `network`

        content, kind = encoded(body)
        sent = {"host": there.authority, "accept-encoding": "identity", "user-agent": "loopworth", "accept": "*/*"}
        sent |= kind | {name.lower(): value for name, value in headers.items()}
        url = httpcore2.URL(scheme=there.scheme, host=there.host, port=there.port, target=there.target)
        backend = pinned(addresses, self.network())
        try:
            async with (
                httpcore2.AsyncConnectionPool(trust(), network_backend=backend) as pool,
                pool.stream(self.method, url, headers=list(sent.items()), content=content) as response,
            ):
                told = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
                moved = response.status in REDIRECTS
                return Answer(response.status, told, b"" if moved else await self.whole(there, response.aiter_stream()))
        except (httpcore2.NetworkError, httpcore2.TimeoutException, httpcore2.ProtocolError) as error:
            raise BadAnswer(f"{there.authority} cannot be used: {error or type(error).__name__}") from None

    async def addresses(self, there: Destination) -> list[str]:
        """What the host's name stands for now, every one of it public."""
        try:
            found = await self.resolve(there.host, there.port)
        except OSError as error:
            raise BadAnswer(f"the address of {there.host} is not known: {error.strerror or error}") from None
        private = [each for each in found if not address.public(address.read(each))]
        if private and not self.hosts.trusts(there):
            raise ArgumentFault(f"{there.host} leads to the private address {private[0]}", "not_allowed")
        return found

    async def whole(self, there: Destination, parts: Any) -> bytes:
        data = bytearray()
        async for part in parts:
            data += part
            if len(data) > self.max_bytes:
                raise BadAnswer(f"{there.host} answered more than {self.max_bytes:,} bytes")
        return bytes(data)


def encoded(body: Body) -> tuple[bytes | None, dict[str, str]]:
    """A body as it is sent, and its type."""
    if body is None:
        return None, {}
    if isinstance(body, str):
        return body.encode(), {"content-type": "text/plain; charset=utf-8"}
    return json.dumps(body, ensure_ascii=False).encode(), {"content-type": "application/json"}


def read(there: Destination, answer: Answer) -> Any:
    """The data or the text of an answer. Raises `BadAnswer` for one that is neither."""
    kind, _, rest = answer.headers.get("content-type", "").lower().partition(";")
    if (coding := answer.headers.get("content-encoding", "identity")) != "identity":
        raise BadAnswer(f"{there.host} answered in the coding {brief(coding)}, which was not asked for")
    charset = next((part.partition("=")[2].strip(' "') for part in rest.split(";") if "charset=" in part), "utf-8")
    try:
        text = answer.data.decode(charset)
    except (UnicodeDecodeError, LookupError):
        text = "\0"
    if "\0" in text:
        raise BadAnswer(f"{there.host} answered {len(answer.data):,} bytes of {kind or 'an unknown type'}, not text")
    if kind.strip() == "application/json" or kind.strip().endswith("+json"):
        try:
            return json_of(text) if text else None
        except ValueError:
            return text
    return text


def pinned(addresses: Iterable[str], network: httpcore2.AsyncNetworkBackend) -> httpcore2.AsyncNetworkBackend:
    """A network that connects to these addresses, whatever name it is asked for; TLS still checks the name."""
    import httpcore2  # see `network`

    class Pinned(httpcore2.AsyncNetworkBackend):
        async def connect_tcp(self, host: str, port: int, *rest: Any, **more: Any) -> httpcore2.AsyncNetworkStream:
            errors: list[Exception] = []
            for each in addresses:
                try:
                    return await network.connect_tcp(each, port, *rest, **more)
                except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                    errors.append(error)
            raise httpcore2.ConnectError(f"no connection to {listed(addresses)}: {errors[-1] if errors else host}")

        async def sleep(self, seconds: float) -> None:
            await network.sleep(seconds)

    return Pinned()


@cache
def trust() -> ssl.SSLContext:
    """The certificates that the machine trusts; slow to load, so they are loaded once."""
    import httpcore2  # see `network`

    return httpcore2.default_ssl_context()
