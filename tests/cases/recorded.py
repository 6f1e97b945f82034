"""A workflow over a fake endpoint, run and kept, and run again on what was kept."""

from __future__ import annotations

import json
import pathlib
from typing import Any, NamedTuple

from typer.testing import Result

from tests.cli.kit import command
from tests.endpoint import FakeEndpoint

WORKFLOW = """
workflow: recorded
shape: constrained_loop
input: {question: str}
model: {name: vllm/fake, base_url: "BASE", api_key: {env: KEY_OF_A_TEST}, price: {input: 0, output: 100000}}
tools: {stamp: {python: "stamping:stamp", effect: read, inline: true}}
prompt: "Say what {{ question }} comes to."
use: [stamp]
finish: text
budget: {turns: 5}
"""
STAMPING = '''
import pathlib, time, uuid

def stamp() -> dict[str, str]:
    """The time and an id."""
    done = pathlib.Path("stamped.txt")
    done.write_text((done.read_text() if done.exists() else "") + "x")
    return {"time": str(time.time_ns()), "id": uuid.uuid4().hex}
'''


class Recorded(NamedTuple):
    """A run that was kept: its folder, its id, what it printed as JSON, what the endpoint was asked."""

    folder: pathlib.Path
    id: str
    printed: dict[str, Any]
    endpoint: FakeEndpoint

    def replayed(self, *words: str) -> Result:
        return command("run", self.folder / "recorded.yaml", "--replay", self.id, *words)

    @property
    def workflow(self) -> pathlib.Path:
        return self.folder / "recorded.yaml"


def record(folder: pathlib.Path, endpoint: FakeEndpoint) -> Recorded:
    (folder / "recorded.yaml").write_text(WORKFLOW.replace("BASE", endpoint.base_url), "utf-8")
    (folder / "stamping.py").write_text(STAMPING, "utf-8")
    done = command("run", folder / "recorded.yaml", "-i", "question=it", "--json")
    assert done.exit_code == 0, done.output
    printed = json.loads(done.stdout)
    return Recorded(folder, printed["id"], printed, endpoint)
