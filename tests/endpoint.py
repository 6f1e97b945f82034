"""A scriptable OpenAI-compatible endpoint on loopback, in a thread of its own.

    with FakeEndpoint(said("hello"), Answer(429, headers={"Retry-After": "7"})) as fake:
        ... ModelSpec("openai/fake", base_url=fake.base_url) ...
        fake.requests[0].body["messages"]

A script's items are a body (200), an `Answer`, or a function from a `Received` to one of these. After the last item
every further request is answered 418, which no client tries again, unless `last=` gives something to go on with.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Received:
    """One request as it came, and the connection that it came by."""

    path: str
    headers: dict[str, str]
    raw: bytes
    client: tuple[str, int]
    connection: socket.socket

    @property
    def body(self) -> dict[str, Any]:
        return json.loads(self.raw)


@dataclass
class Answer:
    """One answer. `body` is sent as JSON unless it is text or bytes; `cut` closes the connection after that many bytes
    of it; `delay` is in seconds; `gone` closes the connection without an answer.

    `packets` are sent one after another in place of a body, each as an HTTP chunk; a function among them is called when
    its turn comes, and with `cut` the last chunk stays away. `raw` is sent as it is, status line and all, and the
    connection is closed, by a reset where `reset` says so.
    """

    status: int = 200
    body: Any = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None
    delay: float = 0.0
    gone: bool = False
    packets: Iterable[bytes | Callable[[], Any]] | None = None
    raw: bytes | None = None
    reset: bool = False

    @property
    def content(self) -> bytes:
        if isinstance(self.body, bytes):
            return self.body
        return (self.body if isinstance(self.body, str) else json.dumps(self.body)).encode()


Item = dict[str, Any] | Answer | Callable[[Received], Any]
USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


def wire(message: Any, finish: str | None = "stop", usage: Any = USAGE) -> dict[str, Any]:
    """The body of an answer with this message."""
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {"id": "chatcmpl-1", "object": "chat.completion", "model": "fake", "choices": [choice], "usage": usage}


def said(text: Any, finish: str = "stop", usage: Any = USAGE) -> dict[str, Any]:
    """The body of an answer in words."""
    return wire({"role": "assistant", "content": text}, finish, usage)


def called(*calls: tuple[str, Any], usage: Any = USAGE) -> dict[str, Any]:
    """The body of an answer that calls tools: (name, arguments)."""
    wires = [
        {"id": f"call_{k}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for k, (name, arguments) in enumerate(calls)
    ]
    return wire({"role": "assistant", "content": None, "tool_calls": wires}, "tool_calls", usage)


class FakeEndpoint:
    """Serves a script; `requests` holds what was received, `most` the most requests that were open at once."""

    def __init__(self, *script: Item, last: Item | None = None) -> None:
        self.script, self.last = list(script), last
        self.requests: list[Received] = []
        self.open = self.most = 0
        self.lock = threading.Lock()
        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.fake = self
        self.base_url = f"http://127.0.0.1:{self.server.server_port}/v1"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    def __enter__(self) -> FakeEndpoint:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.end()

    def answer(self, received: Received) -> Answer:
        with self.lock:
            n = len(self.requests)
            self.requests.append(received)
            spent = Answer(418, {"error": {"message": f"the script has only {len(self.script)} answers"}})
            item: Any = self.script[n] if n < len(self.script) else self.last or spent
        if callable(item):
            item = item(received)
        return item if isinstance(item, Answer) else Answer(200, item)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    fake: FakeEndpoint

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.sockets: set[socket.socket] = set()

    def get_request(self) -> Any:
        connection, address = super().get_request()
        self.sockets.add(connection)
        return connection, address

    def end(self) -> None:
        """Close kept-alive connections as well, so that no thread stays behind."""
        for connection in list(self.sockets):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue
        self.server_close()

    def handle_error(self, *_: object) -> None:
        """A client that went away is part of the tests."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Server

    def do_POST(self) -> None:
        fake = self.server.fake
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        with fake.lock:
            fake.open += 1
            fake.most = max(fake.most, fake.open)
        try:
            answer = fake.answer(Received(self.path, headers, raw, self.client_address, self.connection))
            time.sleep(answer.delay)
        finally:
            with fake.lock:
                fake.open -= 1
        self.send(answer)

    do_GET = do_POST

    def send(self, answer: Answer) -> None:
        if answer.gone or answer.raw is not None:
            self.wfile.write(answer.raw or b"")
            self.close(answer.reset)
            return
        if answer.packets is not None:
            self.stream(answer)
            return
        content = answer.content
        head = {"Content-Type": "application/json", "Content-Length": str(len(content))} | answer.headers
        lines = [f"HTTP/1.1 {answer.status} Fake", *(f"{name}: {value}" for name, value in head.items())]
        self.wfile.write("\r\n".join(lines).encode() + b"\r\n\r\n" + content[: answer.cut])
        self.close_connection = answer.cut is not None or self.close_connection

    def close(self, reset: bool = False) -> None:
        """Close the connection, at once and unasked where it is reset."""
        self.close_connection = True
        if reset:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()

    def stream(self, answer: Answer) -> None:
        head = {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"} | answer.headers
        lines = [f"HTTP/1.1 {answer.status} Fake", *(f"{name}: {value}" for name, value in head.items())]
        self.wfile.write("\r\n".join(lines).encode() + b"\r\n\r\n")
        for packet in answer.packets or ():
            if callable(packet):
                packet()
            elif packet:
                self.wfile.write(f"{len(packet):x}\r\n".encode() + packet + b"\r\n")
        if answer.cut is None:
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.close(answer.reset)

    def log_message(self, *_: object) -> None:
        """Silent."""
