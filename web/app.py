"""The application: the pages behind the door."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files

from fastapi import Depends, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp

from loopworth.runs.database import Home, StoreFault
from loopworth.web import history, inbox, reports
from loopworth.web.activations import Activations
from loopworth.web.desk import Desk, desk_of
from loopworth.web.door import ENTER, Door
from loopworth.web.forms import Refusal, genuine
from loopworth.web.hosts import Hosts
from loopworth.web.rendering import page
from loopworth.web.session import Sessions

TYPES = {"style.css": "text/css", "live.js": "text/javascript", "icon.svg": "image/svg+xml"}
NOWHERE = "There is no such page."
SWEEP = 5.0
"""Seconds between two looks at what has expired, or was decided by others."""


def application(
    home: Home,
    hosts: Hosts,
    by: str,
    token: str | None = None,
    activations: Activations | None = None,
    sweep: float | None = SWEEP,
) -> ASGIApp:
    """The server's application over a store. `by` is who decides where a person gives no name."""
    going_on = activations or Activations(home)

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        if sweep is not None:
            going_on.watch(sweep)
        try:
            yield
        finally:
            going_on.stop()

    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, lifespan=life, dependencies=[Depends(genuine)])
    app.state.desk = Desk(home, going_on, Sessions(token), by)
    for router in (inbox.router, history.router, reports.router):
        app.include_router(router)
    app.add_api_route("/static/{name}", static, methods=["GET"])
    app.add_api_route(ENTER, entrance, methods=["GET"])
    app.add_api_route(ENTER, enter, methods=["POST"])
    app.add_exception_handler(Refusal, refused)
    app.add_exception_handler(StoreFault, unkept)
    app.add_exception_handler(HTTPException, lost)
    app.add_exception_handler(RequestValidationError, unreadable)
    return Door(app, hosts, app.state.desk.sessions)


def static(name: str) -> Response:
    if name not in TYPES:
        raise Refusal(404, "There is no such file.")
    return Response(files("loopworth.web").joinpath("static", name).read_bytes(), media_type=TYPES[name])


def entrance(request: Request) -> Response:
    """Where the token is asked for."""
    if request.state.session.entered:
        return RedirectResponse("/", 303)
    return page("enter", sign=desk_of(request).sessions.form_sign(request.state.session), trouble="")


def enter(request: Request) -> Response:
    """Begin a session of its own for who shows the token."""
    sessions = desk_of(request).sessions
    if not sessions.opens(request.state.form.get("token", "")):
        sign = sessions.form_sign(request.state.session)
        return page("enter", 403, sign=sign, trouble="This is not the token that the server was started with.")
    cookie = sessions.cookie(sessions.fresh(entered=True), request.url.scheme == "https")
    return RedirectResponse("/", 303, headers={"Set-Cookie": cookie})


async def refused(_: Request, why: Exception) -> Response:
    assert isinstance(why, Refusal)
    return page("message", why.status, why=why.why)


async def unkept(_: Request, why: Exception) -> Response:
    return page("message", 503, why=str(why))


async def lost(_: Request, why: Exception) -> Response:
    assert isinstance(why, HTTPException)
    return page("message", why.status_code, why=NOWHERE if why.status_code == 404 else why.detail)


async def unreadable(_: Request, __: Exception) -> Response:
    return page("message", 404, why=NOWHERE)
