"""The handed cases of kind roles: who says what, to endpoints that are particular about it."""

import pathlib
from collections.abc import Callable
from typing import Any

import pytest
from ruamel.yaml import YAML

from loopworth.runs.message import system, user
from tests.agents.kit import make
from tests.cases.wire import play
from tests.endpoint import Answer, Received, called, said

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("roles.yaml"))["cases"]
ORDERS = "Answer in one word."


def loop(**how: Any) -> Any:
    """A loop with instructions and a prompt."""
    made = make(**how)
    fields = list(made.__dataclass_fields__)[1:]
    return type(made)(lambda _: [system(ORDERS), user("hi")], *(getattr(made, name) for name in fields))


def under_system(given: dict[str, Any]) -> None:
    """A server that hears system messages only says what it was told."""
    assert "ignores messages with the role developer" in given["endpoint"]

    def server(received: Received) -> Any:
        return said(" ".join(m["content"] for m in received.body["messages"] if m["role"] == "system") or "no orders")

    found = play({}, loop(), server)
    assert found.outcome.answer == ORDERS
    assert [message["role"] for message in found.sent[0]["messages"]] == ["system", "user"]


def no_later_system(given: dict[str, Any]) -> None:
    """Turn 4 forgets to finish by the tool, and is reminded."""
    assert "anywhere but first" in given["endpoint"]
    assert "turn 4" in given["event"]
    looks = [called(("lookup", {"code": code})) for code in ("A", "B", "C")]
    script = iter([*looks, said("It is 1."), called(("submit", {"answer": "1"}))])

    def server(received: Received) -> Any:
        roles = [message["role"] for message in received.body["messages"]]
        late = "system" in roles[1:]
        return Answer(400, {"error": {"message": "System message must be at the beginning."}}) if late else next(script)

    found = play({}, loop(finish="submit"), last=server)
    assert (found.outcome.exit, found.outcome.answer, len(found.sent)) == ("success", "1", 5)
    assert [message["role"] for message in found.sent[4]["messages"][-2:]] == ["assistant", "user"]
    assert "submit" in found.sent[4]["messages"][-1]["content"]


EXPECTED: dict[str, Callable[[dict[str, Any]], None]] = {
    "By default the instructions go out under system for servers not known to want developer; the instructions arrive.": (
        under_system
    ),
    "The reminder does not go out as a later system message on such a server; the run goes on.": no_later_system,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_roles(case: dict[str, Any]) -> None:
    """Instructions open the conversation under `system`; the loop itself speaks as the user."""
    for line in case["expect"]:
        EXPECTED[line](case["given"])
