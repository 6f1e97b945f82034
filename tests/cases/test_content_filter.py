"""The handed cases of kind content-filter: what an endpoint will not read ends the run, and says why."""

import pathlib
from collections.abc import Callable
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.agents.kit import make
from tests.cases.wire import Played, play
from tests.endpoint import Answer, said

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("content-filter.yaml"))["cases"]


def answered(status: int, error: dict[str, Any]) -> Played:
    return play({}, make(), Answer(status, {"error": error}), said("never asked for"))


def told_once(given: dict[str, Any]) -> None:
    found = answered(given["http"]["status"], given["body"]["error"])
    assert (found.outcome.exit, len(found.sent), found.slept) == ("filtered", 1, [])
    assert "self_harm" in found.outcome.note


def by_code(given: dict[str, Any]) -> None:
    status, error = given["http"]["status"], given["body"]["error"]
    for words in (error["message"], "", "See rule 7.", None):
        found = answered(status, {**error, "message": words})
        assert (found.outcome.exit, len(found.sent)) == ("filtered", 1), words
    assert answered(status, {**error, "code": None}).outcome.exit == "provider_error"


EXPECTED: dict[str, Callable[[dict[str, Any]], None]] = {
    "Not retried; exit reason filtered; the category self_harm is shown.": told_once,
    "Recognised by the code and not by the wording.": by_code,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_content_filter(case: dict[str, Any]) -> None:
    """A filter is known by its code, names its category, and is not asked twice."""
    for line in case["expect"]:
        EXPECTED[line](case["given"])
