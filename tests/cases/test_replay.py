"""The handed cases of kind replay: a run over HTTP is kept, and run again by the command on what was kept."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.cases.recorded import Recorded, record
from tests.endpoint import FakeEndpoint, called, said

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("replay.yaml"))["cases"]


def named_miss(made: Recorded) -> None:
    """One word of the prompt is another: exit 1, the message with both texts, and not one request."""
    asked = len(made.endpoint.requests)
    made.workflow.write_text(made.workflow.read_text().replace("comes to", "amounts to"))
    done = made.replayed()
    assert done.exit_code == 1
    assert "1/ask: message 1 (user) content is not the recorded one" in done.stderr
    assert 'recorded: "Say what it comes to."' in done.stderr
    assert 'now:      "Say what it amounts to."' in done.stderr
    assert len(made.endpoint.requests) == asked


def tools_replayed(made: Recorded) -> None:
    """The tool, whose result is never the same twice, is not called: its result is the recorded one."""
    stamped = pathlib.Path("stamped.txt").read_text()
    done = made.replayed("--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["transcript"] == made.printed["transcript"]
    assert pathlib.Path("stamped.txt").read_text() == stamped == "x"


def nothing_spent(made: Recorded) -> None:
    """What the run cost is as recorded, and nothing is spent now."""
    assert made.printed["usage"]["usd"] == made.printed["spent_usd"] == 0.5
    found = json.loads(made.replayed("--json").stdout)
    assert (found["spent_usd"], found["replayed"], found["usage"]["usd"]) == (0, True, 0.5)
    assert "nothing now: replayed; as recorded $0.5" in made.replayed().stdout


EXPECTED: dict[str, Callable[[Recorded], None]] = {
    "A miss that names the message and shows recorded and new text; no request leaves the machine.": named_miss,
    "Either tool results are replayed as well, or the miss names the exact field that differs.": tools_replayed,
    "New spend 0; the report says replayed and may show the old 0.50 as recorded.": nothing_spent,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_replay(case: dict[str, Any], tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a replay must say and must not do; it runs without the key that the run had."""
    monkeypatch.chdir(tmp_path)
    usage = [{"prompt_tokens": 10, "completion_tokens": n} for n in (2, 3)]
    with FakeEndpoint(called(("stamp", {}), usage=usage[0]), said("done", usage=usage[1])) as endpoint:
        monkeypatch.setenv("KEY_OF_A_TEST", "a key")
        made = record(tmp_path, endpoint)
        monkeypatch.delenv("KEY_OF_A_TEST")
        for line in case["expect"]:
            EXPECTED[line](made)
