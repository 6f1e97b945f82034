"""The handed cases of kind context-overflow: a prompt that does not fit, told or in silence."""

import pathlib
import re
from collections.abc import Callable
from typing import Any

import pytest
from ruamel.yaml import YAML

from loopworth.runs.message import user
from tests.agents.kit import make
from tests.cases.wire import Played, play
from tests.endpoint import Answer, said

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("context-overflow.yaml"))["cases"]


def overflows(status: int, error: dict[str, Any]) -> None:
    found = play({}, make(), Answer(status, {"error": error}), said("never asked for"))
    assert (found.outcome.exit, len(found.sent), found.slept) == ("context_overflow", 1, [])


def by_code_or_wording(given: dict[str, Any]) -> None:
    status, error = given["http"]["status"], given["body"]["error"]
    overflows(status, error)
    overflows(status, {**error, "message": "see the manual"})
    overflows(status, {"message": error["message"]})


def by_type(given: dict[str, Any]) -> None:
    overflows(given["http"]["status"], given["body"]["error"])


def warned(given: dict[str, Any]) -> None:
    """The run goes on, and says what was sent and what was counted."""
    [tokens] = re.findall(r"\d+", given["request"])
    counted = given["response"]["usage"]["prompt_tokens"]
    made = long(int(tokens) * 4, given["response"]["usage"])
    assert (made.outcome.exit, made.outcome.answer) == ("success", "done")
    [warning] = made.outcome.warnings
    found = [int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*", warning)]
    assert found[0] == counted
    assert abs(found[1] - int(tokens)) < 100
    assert "may have dropped part of the prompt" in warning
    assert long(int(tokens) * 4, {"prompt_tokens": 7000}).outcome.warnings == ()


def long(characters: int, usage: dict[str, Any]) -> Played:
    """A run whose prompt has so many characters."""
    made = make(tools={})
    fields = list(made.__dataclass_fields__)[1:]
    loop = type(made)(lambda _: [user("word " * (characters // 5))], *(getattr(made, name) for name in fields))
    return play({}, loop, said("done", usage={"completion_tokens": 1, **usage}))


EXPECTED: dict[str, Callable[[dict[str, Any]], None]] = {
    "Same class, also when the wording differs and only the code is known, and when the code is absent and only the "
    "wording is.": by_code_or_wording,
    "Same class from the type text with a numeric code.": by_type,
    "A warning that the server may have dropped part of the prompt, with both numbers; the run may go on.": warned,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_context_overflow(case: dict[str, Any]) -> None:
    """An overflow is an end of its own, and one that is kept quiet is found out."""
    for line in case["expect"]:
        EXPECTED[line](case["given"])
