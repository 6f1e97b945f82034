"""What stands before every page: who may come in, and what every answer says of itself to the browser."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from loopworth.web.hosts import Hosts
from loopworth.web.session import Sessions

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # with no-referrer a browser says that our own forms come from nowhere
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
SAFE = ("GET", "HEAD")
OWN = ("same-origin", "none")
"""Where a form comes from, as a browser says: from us, or from the user alone, as when a tab is restored."""
ENTER = "/enter"
STATIC = "/static/"


class Door:
    """Answers what is refused, and lets the rest through, with its session in the request's state."""

    def __init__(self, app: ASGIApp, hosts: Hosts, sessions: Sessions) -> None:
        self.app, self.hosts, self.sessions = app, hosts, sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self.answer(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers, path = Headers(scope=scope), scope["path"]
        session = self.sessions.read(headers.get("cookie", ""))
        scope.setdefault("state", {})["session"] = session
        marks = dict(HEADERS)
        refusal = self.refusal(scope, headers)
        if refusal is None and not path.startswith(STATIC):
            refusal = None if session.entered or path == ENTER else closed(scope)
            if session.fresh:
                marks["Set-Cookie"] = self.sessions.cookie(session, scope["scheme"] == "https")

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                answer = MutableHeaders(scope=message)
                for name, value in marks.items():
                    answer.setdefault(name, value)
            elif scope["method"] == "HEAD":
                message = {**message, "body": b""}
            await send(message)

        # The pages know no HEAD of their own: they are asked as by GET, and what they say is left out above.
        inside = {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope
        await (refusal or self.app)(inside, receive, marked)

    def refusal(self, scope: Scope, headers: Headers) -> Response | None:
        """The answer to who asks from elsewhere."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self.hosts.admit(hosts[0]):
            return PlainTextResponse("loopworth does not answer under this host name: see --name\n", 421)
        if scope["method"] not in SAFE and not from_here(headers, hosts[0]):
            return PlainTextResponse("a form of another site is not taken\n", 403)
        return None


def from_here(headers: Headers, host: str) -> bool:
    """Whether a form was sent by a page of this server, as far as the browser says."""
    origins: Iterable[Any] = headers.getlist("origin")
    sites = headers.getlist("sec-fetch-site")
    return all(urlsplit(origin).netloc == host for origin in origins) and all(site in OWN for site in sites)


def closed(scope: Scope) -> Response:
    """The answer to who has not shown the token."""
    if scope["method"] in SAFE:
        return RedirectResponse(ENTER, 303)
    return PlainTextResponse("show the token first\n", 403)
