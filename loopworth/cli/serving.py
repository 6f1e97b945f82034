"""`loopworth serve`: the inbox, the runs and the comparisons in a browser."""

from __future__ import annotations

import getpass
import importlib.util
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loopworth.cli.status import UserFault
from loopworth.cli.store import Place, open_store
from loopworth.cli.terminal import complain
from loopworth.runs.home import home
from loopworth.runs.secrets import learn

if TYPE_CHECKING:
    from loopworth.web.hosts import Hosts

PORT = 8420
LEAST = 16
"""Characters of a token that cannot be guessed."""
NEEDED = ("fastapi", "uvicorn")


def serve(
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, metavar="N", help="0 takes a free one.")] = PORT,
    token: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            envvar="LOOPWORTH_TOKEN",
            help="What a browser has to show; needed where other machines can come in.",
            show_default=False,
        ),
    ] = None,
    name: Annotated[
        list[str] | None, typer.Option("--name", metavar="HOST", help="Another host name it is reached by; repeatable.")
    ] = None,
    store: Place = None,
) -> None:
    """Serve what waits for a decision, the runs and the comparisons of a store, until Ctrl-C. A decision goes on with
    its run in this process."""
    if missing := [package for package in NEEDED if importlib.util.find_spec(package) is None]:
        raise UserFault(f"`serve` needs {' and '.join(missing)}: pip install 'loopworth[web]'")
    # Imported here: they are an extra, and no other command needs them.
    import uvicorn

    from loopworth.web.app import application

    hosts = admitted(host, token, tuple(name or ()))
    where = home(store)
    with open_store(store):
        pass  # there is a store from now on
    learn(token)
    app = application(where, hosts, getpass.getuser(), token)
    with listening(host, port) as socket_:
        complain(f"serving {where} until Ctrl-C at {address(socket_)}")
        config: dict[str, Any] = {"access_log": False, "server_header": False, "proxy_headers": False, "ws": "none"}
        with suppress(KeyboardInterrupt):  # Ctrl-C is how it ends
            uvicorn.Server(uvicorn.Config(app, log_level="warning", **config)).run(sockets=[socket_])


def admitted(host: str, token: str | None, names: tuple[str, ...]) -> Hosts:
    """The names under which the server answers. Raises UserFault where anybody could come in."""
    from loopworth.web.hosts import Hosts, is_loopback  # as above

    if token is not None and len(token) < LEAST:
        raise UserFault(f"--token: it has {len(token)} characters, and {LEAST} are needed so that nobody guesses it")
    if not is_loopback(host) and token is None:
        raise UserFault(
            f"--host {host}: other machines can come in there, so a token is needed\n"
            "    LOOPWORTH_TOKEN=$(openssl rand -hex 16) loopworth serve --host …, or leave --host out"
        )
    return Hosts(open=not is_loopback(host), names=tuple(name.lower() for name in names))


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens there. Raises UserFault."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as why:
        raise UserFault(f"--host {host} --port {port}: cannot listen there: {why.strerror or why}") from None


def address(listens: socket.socket) -> str:
    host, port = listens.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"
