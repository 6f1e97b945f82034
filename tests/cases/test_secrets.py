"""The handed cases of kind secrets: a key that a library logs, a tool prints or an endpoint echoes."""

from __future__ import annotations

import asyncio
import json
import logging
import pathlib
import sqlite3
import zlib
from collections.abc import Callable
from typing import Any

import pytest
from openai import AsyncOpenAI
from ruamel.yaml import YAML

from loopworth.models import ModelSpec, open_model
from loopworth.runs.message import Request, user
from tests.cli.kit import command
from tests.endpoint import Answer, FakeEndpoint, Received, called, said
from tests.spellings import SPELLINGS, left

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("secrets.yaml"))["cases"]
KEY = 'sk-handed-Zx9/+q"w&E<r>7\\=='
TOOL = '''
import os


def environment() -> str:
    """Print the environment."""
    return os.environ["SPELLED"] + " " + repr(dict(os.environ))


def variables() -> dict[str, object]:
    """Give the environment as a mapping."""
    spelled = os.environ["SPELLED"]
    return {"spelled": [spelled, {spelled: True}], "all": dict(os.environ)}
'''
AGENT = """\
workflow: agent
shape: constrained_loop
model: {{name: vllm/m, base_url: "{url}", api_key: {{env: HANDED_KEY}}, retries: 0}}
tools:
  environment: {{python: "printing:environment", effect: read}}
  variables: {{python: "printing:variables", effect: read}}
use: [environment, variables]
prompt: Look around.
finish: text
budget: {{turns: 3}}
"""
COMPARISON = """\
comparison: c
tasks: tasks.jsonl
score: equals
arms: {agent: {workflow: agent.yaml}}
"""


@pytest.fixture
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    (tmp_path / "printing.py").write_text(TOOL, "utf-8")
    (tmp_path / "c.yaml").write_text(COMPARISON, "utf-8")
    (tmp_path / "tasks.jsonl").write_text('{"id": "one", "expected": "done"}\n', "utf-8")
    monkeypatch.setenv("HANDED_KEY", KEY)
    monkeypatch.setenv("LOOPWORTH_STORE", str(tmp_path / "runs.db"))
    return tmp_path


def in_no_log_line(folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """The key reaches the endpoint, in the query and in the header, and the libraries say that they sent something."""
    with caplog.at_level(logging.DEBUG), FakeEndpoint(said("hi"), Answer(401, {"error": {"message": KEY}})) as fake:

        async def main() -> None:
            client = AsyncOpenAI(base_url=fake.base_url, api_key=KEY, default_query={"key": KEY})
            model = open_model(ModelSpec("vllm/m"), client=client)
            await model.reply(Request([user("hi")]), None)
            with pytest.raises(Exception, match="401"):
                await model.reply(Request([user("hi")]), None)
            await client.close()

        asyncio.run(main())
        assert "key=" in fake.requests[0].path
        assert fake.requests[0].headers["authorization"] == f"Bearer {KEY}"
    loggers = {record.name.partition(".")[0] for record in caplog.records}
    assert "openai" in loggers
    assert loggers & {"httpx2", "httpx", "httpcore2", "httpcore"}
    assert left(KEY, caplog.text) == []


def replaced_everywhere(
    folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """In every form that the value may have in the environment, in a text and in data, once by itself and once in a
    comparison."""
    monkeypatch.setenv("SPELLED", " ".join(spell(KEY) for spell in SPELLINGS.values()))
    turn = called(("environment", {}), ("variables", {}))
    with FakeEndpoint(turn, said("done"), turn, said("done")) as fake:
        (folder / "agent.yaml").write_text(AGENT.format(url=fake.base_url), "utf-8")
        run = command("run", folder / "agent.yaml", "--json")
        compared = command("compare", folder / "c.yaml", "--json")
        shown = command("compare", folder / "c.yaml", "--replay", "last")
    assert json.loads(run.stdout)["answer"] == "done", run.output
    told = [run.output, compared.output, shown.output, command("runs", "export").stdout, stored(folder)]
    asked = [received.raw.decode() for received in fake.requests]
    assert [left(KEY, text) for text in (*told, *asked) if left(KEY, text)] == []
    assert asked[1].count("***") > 3 * len(SPELLINGS)


def stored(folder: pathlib.Path) -> str:
    """Everything in the store, as it lies on the disk and unpacked."""
    file = folder / "runs.db"
    bodies = [zlib.decompress(row[0]) for row in sqlite3.connect(file).execute("select body from transcript")]
    return b"\n".join([file.read_bytes(), *bodies]).decode("utf-8", "replace")


def echo(received: Received) -> Answer:
    """What some servers answer to a request that they find faulty: all of it, headers too."""
    request = {"headers": received.headers, "body": received.body}
    error = {"message": f"unprocessable: {json.dumps(request)}", "request": request}
    return Answer(422, {"error": error, "detail": [{"loc": ["body"], "input": request}]})


def without_authorization(
    folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with FakeEndpoint(echo) as fake:
        (folder / "agent.yaml").write_text(AGENT.format(url=fake.base_url), "utf-8")
        done = command("run", folder / "agent.yaml", "--json")
        assert fake.requests[0].headers["authorization"] == f"Bearer {KEY}"
    found = json.loads(done.stdout)
    assert found["exit"] == "provider_error"
    assert "422" in found["note"]
    assert "authorization" in found["note"]
    for text in (done.output, stored(folder), command("runs", "export").stdout):
        assert left(KEY, text) == []


Expect = Callable[[pathlib.Path, pytest.MonkeyPatch, pytest.LogCaptureFixture], None]
EXPECTED: dict[str, Expect] = {
    "The key is in no log line, also not in those of the HTTP library.": in_no_log_line,
    "That value is replaced in transcript, report and recordings, whatever its form.": replaced_everywhere,
    "The echo is stored without the authorization value.": without_authorization,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_secrets(
    case: dict[str, Any], folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A key that is known is nowhere to be read, whoever says it."""
    for line in case["expect"]:
        EXPECTED[line](folder, monkeypatch, caplog)
