"""The embedded model: a server of our own in a subprocess, asked like any other endpoint."""

from __future__ import annotations

import asyncio
import atexit
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

import msgspec

from loopworth.models.chat import ChatModel
from loopworth.models.endpoint import Endpoint, Hear
from loopworth.models.errors import Unavailable
from loopworth.models.quote import quote
from loopworth.models.spec import ModelSpec
from loopworth.models.weights import CHAT, ready
from loopworth.runs.message import Reply, Request
from loopworth.runs.outcome import Stop
from loopworth.runs.usage import Quote

SLOTS = 2
MOST_OUTPUT = 512
"""Output tokens of a call where the file does not say: without a limit a small model runs to the end of its context."""
START_SECONDS = 120.0


class LocalServer:
    """One subprocess that serves one file. `start` waits until it answers; `stop` ends it and nothing else."""

    def __init__(self, command: list[str], start_seconds: float = START_SECONDS) -> None:
        self.command, self.start_seconds = command, start_seconds
        self.process: subprocess.Popen[bytes] | None = None
        self.address = ""
        self.log: IO[bytes] | None = None
        self.late = False
        self.lock = threading.Lock()
        self.shared: Endpoint | None = None

    def start(self) -> str:
        """The address of the running server; starts it anew where it has ended. Raises Unavailable."""
        with self.lock:
            if self.process is None or self.process.poll() is not None:
                self.stop()
                self.launch()
            return self.address

    def endpoint(self, **seams: Any) -> Endpoint:
        """The endpoint of the running server, one for all models of its file."""
        address = self.start() + "/v1"
        with self.lock:
            if self.shared is None or self.shared.base_url != address:
                self.shared = Endpoint(address, **seams)
            return self.shared

    def expire(self) -> None:
        self.late = True
        if self.process is not None:
            self.process.kill()

    def launch(self) -> None:
        self.log = tempfile.TemporaryFile()  # noqa: SIM115  # it lives as long as the process
        environment = {**os.environ, "OMP_WAIT_POLICY": "passive"}
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, env=environment,
            start_new_session=True,  # Ctrl-C is for the run, which then ends this
        )  # fmt: skip
        atexit.register(self.stop)
        watch = threading.Timer(self.start_seconds, self.expire)
        watch.start()
        try:
            line = self.process.stdout.readline()  # type: ignore[union-attr]
            self.address = json.loads(line)["address"] if line else ""
            while not (self.address and healthy(self.address)):
                if self.process.poll() is not None or not self.address:
                    raise self.failure()
                time.sleep(0.05)
        except BaseException:
            self.stop()
            raise
        finally:
            watch.cancel()

    def failure(self) -> Unavailable:
        """Why the server is not there, with the last line that it wrote."""
        if self.late:
            return Unavailable(f"the embedded model's server did not start within {self.start_seconds:g} s")
        code = self.process.wait() if self.process is not None else None
        lines: list[bytes] = []
        if self.log is not None:
            self.log.seek(0)
            lines = self.log.read().strip().splitlines()
        last = lines[-1].decode("utf-8", "replace") if lines else "it wrote nothing"
        hint = ": this processor may lack what the xllamacpp wheel needs (AVX2)" if code == -4 else ""
        return Unavailable(f"the embedded model's server ended with status {code}{hint} ({last})")

    def stop(self) -> None:
        """End the subprocess, if it runs."""
        process, self.process = self.process, None
        if process is None:
            return
        atexit.unregister(self.stop)
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, self.log):
            if pipe is not None:
                pipe.close()


def healthy(address: str) -> bool:
    """Whether the server answers that it is ready."""
    from http.client import HTTPConnection, HTTPException  # imported on use: it loads ssl and email

    connection = HTTPConnection(urlsplit(address).netloc, timeout=5)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


class LocalModel:
    """The embedded model. Its server starts at the first call, or ahead by `prepare`, and is shared by file."""

    streams = True
    concurrency = SLOTS

    def __init__(self, spec: ModelSpec, server: LocalServer | None = None, **seams: Any) -> None:
        fields = {"temperature": 0.0, "seed": 1} | {"cache_prompt": False} | spec.extra
        set_here = {key: value for key in ("temperature", "seed") if (value := getattr(spec, key)) is not None}
        self.spec = msgspec.structs.replace(spec, temperature=None, seed=None, extra=fields | set_here)
        self.server = server
        self.seams = seams
        self.endpoint = f"local/{spec.file or spec.model}"
        self.chat: ChatModel | None = None
        self.lock = threading.Lock()

    async def prepare(self) -> None:
        """Install the weights if need be and start the server. Raises Unavailable."""
        (await asyncio.to_thread(self.running)).server.connect()

    def running(self) -> ChatModel:
        """The chat model on the running server."""
        with self.lock:
            if self.server is None:
                self.server = shared_server(self.spec)
            endpoint = self.server.endpoint(**self.seams)
            if self.chat is None or self.chat.server is not endpoint:
                self.chat = ChatModel(self.spec, endpoint, MOST_OUTPUT)
            return self.chat

    def quote(self, request: Request) -> Quote:
        """What a call may come to, before it is made: tokens only."""
        return quote(self.spec, request)

    async def reply(self, request: Request, seconds: float | None, hear: Hear | None = None) -> Reply:
        try:
            chat = self.chat
            if chat is None or not self.alive:
                chat = await self.restarted(chat)
            return await chat.reply(request, seconds, hear)
        except Unavailable as error:
            raise Stop("provider_error", None, str(error)) from error

    async def restarted(self, old: ChatModel | None) -> ChatModel:
        """The chat model on a server that runs; the connection to one that has ended is closed."""
        chat = await asyncio.to_thread(self.running)
        if old is not None and old is not chat:
            await old.close()
        return chat

    @property
    def alive(self) -> bool:
        process = self.server.process if self.server is not None else None
        return process is not None and process.poll() is None

    async def close(self) -> None:
        """Close the connection; the server goes on for the next model of this process and ends with it."""
        chat, self.chat = self.chat, None
        if chat is not None:
            await chat.close()


SERVERS: dict[Path, LocalServer] = {}
"""The servers of this process by file: loading one takes a second and 250 MB."""


def shared_server(spec: ModelSpec) -> LocalServer:
    """The server of the spec's file, not yet started."""
    if importlib.util.find_spec("xllamacpp") is None:
        raise Unavailable("the embedded model needs the package xllamacpp: pip install 'loopworth[local]'")
    path = file_of(spec)
    if path not in SERVERS:
        command = [sys.executable, "-m", "loopworth.models.local_server", str(path)]
        SERVERS[path] = LocalServer([*command, "--name", spec.model, "--slots", str(SLOTS)])
    return SERVERS[path]


def file_of(spec: ModelSpec) -> Path:
    """The GGUF: the user's own, or the weights, installed on first use and checked. Raises Unavailable."""
    if spec.file is not None:
        path = Path(spec.file).resolve()
        if not path.is_file():
            raise Unavailable(f"{spec.name}: there is no file {spec.file}")
        return path
    if spec.model not in CHAT:
        raise Unavailable(f"no embedded model {spec.model!r}: there are {', '.join(CHAT)} and, with `file`, custom")
    return ready(spec.model)[0]
