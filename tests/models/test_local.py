"""The embedded model's subprocess, and a smoke test of the real one."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import sys
import textwrap
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from loopworth.models import ModelSpec, Unavailable, open_model, prepare
from loopworth.models.local import SERVERS, LocalModel, LocalServer
from loopworth.models.weights import find
from loopworth.runs.message import Reply, Request
from loopworth.runs.outcome import Stop
from tests.endpoint import FakeEndpoint, said

ASKED = Request([{"role": "user", "content": "hello"}])
SERVER = """
    import json, os, sys, threading
    from http.server import BaseHTTPRequestHandler, HTTPServer
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        def answer(self):
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            message = {"content": os.environ["OMP_WAIT_POLICY"] + " " + raw.decode()}
            body = json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        do_GET = do_POST = answer
        def log_message(self, *_): pass
    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps({"address": f"http://127.0.0.1:{server.server_port}"}), flush=True)
    sys.stdin.read()
    os._exit(0)
"""


def python(code: str, seconds: float = 30.0) -> LocalServer:
    return LocalServer([sys.executable, "-c", textwrap.dedent(code)], seconds)


@pytest.fixture
def server() -> Iterator[LocalServer]:
    server = python(SERVER)
    yield server
    server.stop()


async def once(model: LocalModel, request: Request = ASKED) -> Reply:
    try:
        return await model.reply(request, None)
    finally:
        await model.close()


def test_a_call_sends_a_limit_and_no_prompt_cache(server: LocalServer) -> None:
    """Without these a small model runs on, and equal requests give unequal replies; threads must not spin."""
    model = LocalModel(ModelSpec("local/smollm2-135m"), server)
    text = asyncio.run(once(model)).text
    assert text.startswith("passive {")
    assert '"cache_prompt":false' in text
    assert '"max_tokens":512' in text
    assert '"temperature":0.0' in text


def test_what_the_file_sets_wins(server: LocalServer) -> None:
    """Limits, temperature and seed are the author's."""
    spec = ModelSpec("local/smollm2-135m", temperature=0.7, seed=9, max_tokens=64)
    text = asyncio.run(once(LocalModel(spec, server), Request(ASKED.messages, max_tokens=4096))).text
    assert all(part in text for part in ('"temperature":0.7', '"seed":9', '"max_tokens":64'))


def test_models_of_one_file_share_its_server_and_its_slots(server: LocalServer) -> None:
    """Two arms are two users of one endpoint."""

    async def both() -> bool:
        models = [LocalModel(ModelSpec("local/smollm2-135m"), server) for _ in range(2)]
        await asyncio.gather(*(model.prepare() for model in models))
        first, second = (model.chat for model in models)
        assert first is not None
        assert second is not None
        for model in models:
            await model.close()
        return first.server is second.server

    assert asyncio.run(both())


def test_a_server_that_died_is_started_again(server: LocalServer) -> None:
    """A crash of the native code costs one start, not the comparison."""

    async def twice(model: LocalModel) -> tuple[str, str]:
        first = (await model.reply(ASKED, None)).text
        assert server.process is not None
        server.process.kill()
        server.process.wait()
        return first, (await once(model)).text

    first, second = asyncio.run(twice(LocalModel(ModelSpec("local/smollm2-135m"), server)))
    assert first == second


def test_a_server_that_does_not_start_says_why() -> None:
    """Its last line and its status are shown, as an end of the run that is the world's fault."""
    model = LocalModel(ModelSpec("local/smollm2-135m"), python("raise SystemExit('no such file')"))
    with pytest.raises(Stop, match=r"ended with status 1 \(no such file\)") as stop:
        asyncio.run(once(model))
    assert stop.value.exit == "provider_error"


def test_a_server_that_hangs_is_killed() -> None:
    """The wait for its address is bounded."""
    server = python("import time; time.sleep(60)", seconds=0.2)
    with pytest.raises(Unavailable, match=r"did not start within 0\.2 s"):
        server.start()
    assert server.process is None


def test_a_server_ends_with_its_parent() -> None:
    """It stops when its stdin closes, so even a killed run leaves no process behind."""
    server = python(SERVER)
    server.start()
    process = server.process
    assert process is not None
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(10) == 0
    server.stop()


def test_a_missing_package_is_told_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra is optional."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(Unavailable, match=r"needs the package xllamacpp: pip install 'loopworth\[local\]'"):
        asyncio.run(prepare(open_model(ModelSpec("local/smollm2-135m"))))


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    """`local/custom` names a file of the user's."""
    pytest.importorskip("xllamacpp")
    model = open_model(ModelSpec("local/custom", file=str(tmp_path / "x.gguf")))
    with pytest.raises(Stop, match="local/custom: there is no file"):
        asyncio.run(model.reply(ASKED, None))


def test_prepare_sends_nothing() -> None:
    """It loads what the first call would wait for, and no more."""

    async def ready(fake: FakeEndpoint) -> int:
        model = open_model(ModelSpec("vllm/fake", base_url=fake.base_url))
        await prepare(model)
        sent = len(fake.requests)
        await model.close()
        return sent

    with FakeEndpoint(said("hi")) as fake:
        assert asyncio.run(ready(fake)) == 0


# -- the real one ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def embedded() -> Iterator[Callable[..., Reply]]:
    """Asks the real embedded model."""
    if importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("xllamacpp is not installed: pip install 'loopworth[local]'")
    if find("smollm2-135m") is None:
        pytest.skip("the weights are not installed: loopworth models install smollm2-135m")

    def ask(text: str, **fields: object) -> Reply:
        model = open_model(ModelSpec("local/smollm2-135m"))
        request = Request([{"role": "user", "content": text}], **fields)  # type: ignore[arg-type]
        reply: Awaitable[Reply] = once(model, request)  # type: ignore[arg-type]
        return asyncio.run(reply)  # type: ignore[arg-type]

    yield ask
    for server in SERVERS.values():
        server.stop()


@pytest.mark.weights
def test_the_embedded_model_answers_the_same_twice(embedded: Callable[..., Reply]) -> None:
    """Text, usage, a finish and no cost; equal requests give equal replies."""
    first, second = (embedded("What is 2 plus 3? Answer with a number.", max_tokens=12) for _ in range(2))
    assert first.text == second.text != ""
    assert first.usage.usd == 0.0
    assert first.usage.input
    assert first.usage.output
    assert first.finish in ("stop", "length")


@pytest.mark.weights
def test_the_embedded_model_keeps_to_a_schema(embedded: Callable[..., Reply]) -> None:
    """The server constrains the output."""
    schema = {
        "type": "object",
        "properties": {"code": {"enum": ["ABC", "XYZ"]}},
        "required": ["code"],
        "additionalProperties": False,
    }
    text = embedded("Say XYZ.", schema=schema, max_tokens=60).text
    assert '"ABC"' in text or '"XYZ"' in text


@pytest.mark.weights
def test_the_embedded_model_ends_badly_in_our_words(embedded: Callable[..., Reply]) -> None:
    """A cut and an overflow are told apart and named."""
    cut = embedded("Tell me a long story.", max_tokens=5)
    assert (cut.finish, cut.note) == ("length", "the reply was cut at the output limit of 5 tokens: raise max_tokens")
    assert embedded("word " * 6000).finish == "context_overflow"


@pytest.fixture(scope="module")
def served(embedded: Callable[..., Reply]) -> str:
    """The address of the real llama.cpp server, which speaks OpenAI's format and Anthropic's."""
    model = open_model(ModelSpec("local/smollm2-135m"))
    asyncio.run(prepare(model))
    assert isinstance(model, LocalModel)
    assert model.server is not None
    return model.server.address + "/v1"


def asked(served: str, dialect: str, request: Request, hear: Any = None, **fields: Any) -> Reply:
    """One call of the real server as of any endpoint, streamed where somebody hears."""
    settings = {"temperature": 0.0, "retries": 0, "max_tokens": 12, **fields}
    model = open_model(ModelSpec("llamacpp/smollm2-135m", base_url=served, dialect=dialect, **settings))

    async def main() -> Reply:
        try:
            return await model.reply(request, None, *([hear] if hear else []))
        finally:
            await model.close()

    return asyncio.run(main())


DIALECTS = ("openai", "anthropic")
WEATHER = {
    "name": "weather",
    "description": "The weather in a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
CALL = {"id": "call:1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Paris"}'}}


@pytest.mark.weights
@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_real_server_takes_a_conversation_with_tools(served: str, dialect: str) -> None:
    """Instructions, tools, a call and its result go in; words, an end and counts come out."""
    history = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "How warm is it in Paris?"},
        {"role": "assistant", "content": "", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call:1", "content": "18 degrees"},
    ]
    request = Request(history, tools=({"type": "function", "function": WEATHER},))
    said = asked(served, dialect, request)
    assert said.text.strip()
    assert said.finish in ("stop", "length")
    assert said.usage.output in range(1, 13)
    assert said.usage.input is not None
    assert said.usage.input >= 20
    again = asked(served, dialect, request).usage
    assert (again.input, again.cached > 0) == (said.usage.input, True)


@pytest.mark.weights
@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_real_server_cuts_and_overflows_in_both_formats(served: str, dialect: str) -> None:
    """Each end is told apart."""
    cut = asked(served, dialect, Request([{"role": "user", "content": "Tell me a long story."}]), max_tokens=5)
    assert (cut.finish, cut.usage.output) == ("length", 5)
    over = asked(served, dialect, Request([{"role": "user", "content": "word " * 6000}]))
    assert (over.finish, "4096" in over.note) == ("context_overflow", True)


@pytest.mark.weights
@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_real_server_refuses_in_words_that_are_shown(served: str, dialect: str) -> None:
    """A value of the wrong type is the author's to mend: it is told with the server's own words, and asked once."""
    with pytest.raises(Stop, match="temperature") as stop:
        asked(served, dialect, ASKED, extra={"temperature": "hot"})
    assert stop.value.exit == "provider_error"


@pytest.mark.weights
def test_the_real_server_has_no_such_path_for_another_format(served: str) -> None:
    """The dialect is among what there is to look at."""
    with pytest.raises(Stop, match=r"status 404.*base_url and dialect"):
        asked(served, "ollama", ASKED)


@pytest.mark.weights
def test_the_real_server_constrains_by_a_schema_and_refuses_one_that_is_none(served: str) -> None:
    """`json_schema` holds; a schema that cannot be is the endpoint's refusal."""
    schema = {"type": "object", "properties": {"n": {"enum": [1, 2]}}, "required": ["n"]}
    said = asked(served, "openai", Request(ASKED.messages, schema=schema), max_tokens=40)
    assert json.loads(said.text)["n"] in (1, 2)
    with pytest.raises(Stop, match="unrecognized type banana"):
        asked(served, "openai", Request(ASKED.messages, schema={"type": "banana"}))


@pytest.mark.weights
@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_real_server_streams_the_same_reply(served: str, dialect: str) -> None:
    """Text, end and counts are those of the reply in one piece, in both formats; this model makes no calls."""
    heard: list[str] = []
    tools = ({"type": "function", "function": WEATHER},)
    request = Request([{"role": "user", "content": "How warm is it in Paris?"}], tools=tools)
    fields: dict[str, Any] = {"max_tokens": 60, "extra": {"seed": 1, "cache_prompt": False}}
    plain = asked(served, dialect, request, **fields)
    streamed = asked(served, dialect, request, lambda text, _: heard.append(text), **fields)
    same = ("text", "finish", "usage")
    assert [getattr(streamed, name) for name in same] == [getattr(plain, name) for name in same]
    assert "".join(heard) == plain.text != ""


@pytest.mark.weights
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_stream_of_the_real_server_that_a_deadline_cuts_keeps_its_text(served: str, dialect: str) -> None:
    """The words until then are the beginning of what would have been said."""
    model = open_model(
        ModelSpec("llamacpp/smollm2-135m", base_url=served, dialect=dialect, temperature=0.0, max_tokens=3000)
    )
    request = Request([{"role": "user", "content": "Tell me a long story."}])
    heard: list[str] = []

    async def main() -> Reply:
        try:
            return await model.reply(request, 3.0, lambda text, _: heard.append(text))
        finally:
            await model.close()

    reply = asyncio.run(main())
    assert (reply.finish, reply.message) == ("time_limit", {"role": "assistant", "content": reply.text})
    assert reply.text == "".join(heard) != ""
    assert (reply.usage.output, reply.usage.estimated) == (3000, True)
